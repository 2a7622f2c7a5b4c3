//! Whether the command prints, byte for byte, what a plain-text program prints of the same folder: the rival, or
//! the oracle.
//!
//! Both streams are read side by side and none is kept, so that answers of any length can be compared.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::oracle;
pub use super::result::CheckResult;
use crate::corpus::Corpus;
use crate::task::TaskName;

/// Bytes of a stream that are compared at once.
const BUFFER: usize = 1 << 18;
/// Bytes that are shown of a difference.
const SHOWN: usize = 60;

/// Compares the command with the plain-text program.
pub fn with_rival(
    tadoc: &Path,
    archive: &Path,
    corpus: &Corpus,
    task: TaskName,
    threads: usize,
) -> Result<CheckResult> {
    rows_with_rival(&mut command(tadoc, archive, task, threads), corpus, task, threads, "rival")
}

/// Compares the rows that a command prints of a task with those of the plain-text program; `with` names the comparison.
pub fn rows_with_rival(
    command: &mut Command,
    corpus: &Corpus,
    task: TaskName,
    threads: usize,
    with: &'static str,
) -> Result<CheckResult> {
    let this = std::env::current_exe().context("finding this program")?;
    let mut rival = Command::new(this);
    rival.args(["rival", task.name()]).arg(&corpus.folder);
    rival.args(["--output", "tsv", "--threads", &threads.to_string()]);
    let (mut child, rows) = start(&mut rival)?;
    let result = compare_command(command, task, rows, with);
    finish(&mut child, result, "the rival")
}

/// Compares the command with the oracle, which takes its time and memory.
pub fn with_oracle(
    tadoc: &Path,
    archive: &Path,
    corpus: &Corpus,
    task: TaskName,
    threads: usize,
) -> Result<CheckResult> {
    let rows = oracle::rows(corpus, task)?;
    compare_command(&mut command(tadoc, archive, task, threads), task, &rows[..], "oracle")
}

/// The command for a task on an archive.
fn command(tadoc: &Path, archive: &Path, task: TaskName, threads: usize) -> Command {
    let mut command = Command::new(tadoc);
    command.arg(task.name()).arg(archive);
    command.args(["--format", "tsv", "--threads", &threads.to_string()]);
    command
}

fn compare_command(
    command: &mut Command,
    task: TaskName,
    other: impl Read,
    with: &'static str,
) -> Result<CheckResult> {
    let (mut child, rows) = start(command)?;
    let compared =
        compare(BufReader::with_capacity(BUFFER, rows), BufReader::with_capacity(BUFFER, other))
            .context("reading rows");
    let result = compared.map(|Compared { rows, bytes, difference }| CheckResult {
        task,
        with,
        rows,
        bytes,
        difference,
    });
    finish(&mut child, result, "tadoc")
}

/// Starts a program whose output is read.
fn start(command: &mut Command) -> Result<(Child, ChildStdout)> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("running {command:?}"))?;
    let output = child.stdout.take().context("the output is a pipe")?;
    Ok((child, output))
}

/// Waits for a program that was read to its end, or ends it where that did not come.
fn finish(child: &mut Child, result: Result<CheckResult>, what: &str) -> Result<CheckResult> {
    if !result.as_ref().is_ok_and(|result| result.difference.is_none()) {
        let _ = child.kill();
    }
    let status = child.wait().with_context(|| format!("waiting for {what}"))?;
    let result = result?;
    if result.difference.is_none() && !status.success() {
        bail!("{what} failed ({status})");
    }
    Ok(result)
}

/// How far two streams are the same.
#[derive(Debug, PartialEq, Eq)]
struct Compared {
    rows: u64,
    bytes: u64,
    difference: Option<String>,
}

fn compare(mut left: impl BufRead, mut right: impl BufRead) -> io::Result<Compared> {
    let (mut rows, mut bytes) = (0, 0);
    loop {
        let (one, other) = (left.fill_buf()?, right.fill_buf()?);
        let length = one.len().min(other.len());
        let equal = match one[..length] == other[..length] {
            true => length,
            false => one.iter().zip(other).take_while(|(one, other)| one == other).count(),
        };
        rows += memchr::memchr_iter(b'\n', &one[..equal]).count() as u64;
        bytes += equal as u64;
        let differs = equal < length || length == 0 && one.len() != other.len();
        if differs || length == 0 {
            let difference = differs.then(|| {
                format!("row {}: {} / {}", rows + 1, shown(one, equal), shown(other, equal))
            });
            return Ok(Compared { rows, bytes, difference });
        }
        left.consume(length);
        right.consume(length);
    }
}

/// The row that holds a place, as far as it is at hand.
fn shown(bytes: &[u8], place: usize) -> String {
    if bytes.is_empty() {
        return "nothing".into();
    }
    let start = memchr::memrchr(b'\n', &bytes[..place]).map_or(0, |end| end + 1);
    let row = &bytes[start..];
    let row = &row[..memchr::memchr(b'\n', row).unwrap_or(row.len())];
    format!("{:?}", String::from_utf8_lossy(&row[..row.len().min(SHOWN)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(left: &str, right: &str) -> Compared {
        // Buffers of different lengths, so that they are never filled alike.
        let left = BufReader::with_capacity(3, left.as_bytes());
        compare(left, right.as_bytes()).unwrap()
    }

    #[test]
    fn equal_streams_are_counted() {
        let expected = Compared { rows: 3, bytes: 12, difference: None };
        assert_eq!(compared("a\t1\nb\t2\nc\t3\n", "a\t1\nb\t2\nc\t3\n"), expected);
        assert_eq!(compared("", ""), Compared { rows: 0, bytes: 0, difference: None });
    }

    #[test]
    fn the_first_difference_is_told() {
        let found = compared("a\t1\nb\t2\n", "a\t1\nb\t3\n");
        assert_eq!((found.rows, found.bytes), (1, 6));
        assert!(found.difference.unwrap().starts_with("row 2: "));
        let found = compare("a\t1\nb\t2\n".as_bytes(), "a\t1\nb\t3\n".as_bytes()).unwrap();
        assert_eq!(found.difference.unwrap(), r#"row 2: "b\t2" / "b\t3""#);
    }

    #[test]
    fn a_stream_that_ends_before_the_other_differs() {
        let found = compared("a\t1\n", "a\t1\nb\t2\n");
        assert_eq!(found.difference.unwrap(), r#"row 2: nothing / "b\t2""#);
        assert!(compared("a\t1\nb\t2\n", "a\t1\n").difference.is_some());
    }
}
