//! What a program takes: wall time, time of processors and peak memory of one run.
//!
//! The program is started by a fresh copy of this one (`measure`), which waits for it and asks the system
//! for the peak memory of its children: exact, where looking at a running process now and then misses the
//! last peak. The copy is fresh because a child counts what its parent held when it was started; so peaks
//! below that of the copy (a few MB) read as that. Memory of the program's own, without pages of files, is not told by the system
//! in the end: that is looked at every two milliseconds while the program runs, so a shorter peak may be missed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

/// What one run took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Wall time.
    pub seconds: f64,
    /// Time of processors in the program itself, those of all threads together.
    pub user_seconds: f64,
    /// The most memory that was resident at once; of several processes, that of the largest.
    pub peak_bytes: u64,
    /// The most memory of its own that was seen, without pages of files; of the first process alone.
    pub anonymous_bytes: u64,
}

/// How long it is between two looks at a program's memory.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A program with its arguments, to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    words: Vec<OsString>,
    output: Option<PathBuf>,
}

impl Job {
    /// Runs a program without arguments; what it prints is dropped.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self { words: vec![program.as_ref().to_owned()], output: None }
    }

    /// Adds arguments.
    pub fn args<T: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.words.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        self
    }

    /// Adds one argument.
    pub fn arg(self, argument: impl AsRef<OsStr>) -> Self {
        self.args([argument])
    }

    /// Sends standard output to a file.
    pub fn output(mut self, file: &Path) -> Self {
        self.output = Some(file.to_owned());
        self
    }

    /// Runs it to its end.
    pub fn measure(&self) -> Result<Measurement> {
        let helper = std::env::current_exe().context("finding this program")?;
        let mut command = Command::new(helper);
        command.arg("measure");
        if let Some(output) = &self.output {
            command.arg("--output").arg(output);
        }
        let printed = command
            .arg("--")
            .args(&self.words)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .context("starting a copy of this program")?;
        if !printed.status.success() {
            bail!("measuring `{}` failed", shown(&self.words));
        }
        serde_json::from_slice(&printed.stdout).context("reading a measurement")
    }
}

fn shown(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The copy's part: runs the program, and prints the measurement.
pub fn as_helper(output: &Path, words: &[OsString]) -> Result<()> {
    let output = File::create(output).with_context(|| format!("creating {}", output.display()))?;
    let measurement = run_here(output, words)?;
    println!("{}", serde_json::to_string(&measurement)?);
    Ok(())
}

fn run_here(output: File, words: &[OsString]) -> Result<Measurement> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(output);
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("running `{}`", shown(words)))?;
    let (status, anonymous_bytes) = watch(&mut child)?;
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        bail!("`{}` failed ({status})", shown(words));
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("asking for the peak memory")?;
    let user = usage.user_time();
    Ok(Measurement {
        seconds,
        user_seconds: user.tv_sec() as f64 + user.tv_usec() as f64 / 1e6,
        // Linux counts in KiB.
        peak_bytes: usage.max_rss() as u64 * 1024,
        anonymous_bytes,
    })
}

/// Waits for a program, and looks at its memory meanwhile.
fn watch(child: &mut Child) -> Result<(ExitStatus, u64)> {
    let status_file = format!("/proc/{}/status", child.id());
    std::thread::scope(|scope| {
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let looking = scope.spawn(move || {
            let mut most = 0;
            // Until the other end is dropped.
            while end.recv_timeout(LOOK_EVERY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let status = std::fs::read_to_string(&status_file).unwrap_or_default();
                most = most.max(anonymous_bytes(&status).unwrap_or(0));
            }
            most
        });
        let status = child.wait().context("waiting for a program")?;
        drop(ended);
        Ok((status, looking.join().expect("looking does not panic")))
    })
}

/// Memory of a process's own, in what the system tells about it.
fn anonymous_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<OsString> {
        text.iter().map(OsString::from).collect()
    }

    #[test]
    fn time_memory_and_output_are_those_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("printed");
        let sleeping = words(&["sh", "-c", "sleep 0.05; echo done"]);
        let measured = run_here(File::create(&path).unwrap(), &sleeping).unwrap();
        assert!(measured.seconds >= 0.05 && measured.seconds < 5.0, "{measured:?}");
        assert!(measured.peak_bytes > 100_000, "{measured:?}");
        assert!(measured.user_seconds < measured.seconds, "{measured:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "done\n");
    }

    #[test]
    fn memory_that_a_program_holds_is_seen() {
        let null = || File::create("/dev/null").unwrap();
        let holding =
            words(&["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1", "status=none"]);
        assert!(run_here(null(), &holding).unwrap().peak_bytes > 64 << 20);
    }

    #[test]
    fn memory_of_its_own_is_seen_while_it_runs() {
        let null = || File::create("/dev/null").unwrap();
        let holding =
            words(&["sh", "-c", "x=$(head -c 8000000 /dev/zero | tr '\\0' a); sleep 0.2"]);
        let measured = run_here(null(), &holding).unwrap();
        assert!(measured.anonymous_bytes > 8_000_000, "{measured:?}");
        assert_eq!(anonymous_bytes("Name:\tx\nRssAnon:\t    1024 kB\n"), Some(1 << 20));
        assert_eq!(anonymous_bytes(""), None);
    }

    #[test]
    fn a_program_that_fails_is_an_error() {
        let null = || File::create("/dev/null").unwrap();
        let error = run_here(null(), &words(&["false"])).unwrap_err();
        assert!(error.to_string().contains("`false` failed"), "{error}");
        assert!(run_here(null(), &words(&["no-such-program"])).is_err());
    }
}
