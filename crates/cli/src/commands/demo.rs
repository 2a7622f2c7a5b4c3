//! `tadoc demo`: the command at work on a bundled corpus, with the commands that a person would type.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use clap::{Args, Parser, ValueHint};
use tadoc::{CompressOptions, Corpus, Document, Existing, OpenOptions};

use super::compress::told;
use super::{info, list};
use crate::arguments::{Arguments, examples};
use crate::failure::Outcome;
use crate::inputs::{self, Request};
use crate::output::check_standard_output;
use crate::progress::Progress;
use crate::screen::Limit;
use crate::temporary::TemporaryFolder;
use crate::units;

/// Names and bytes of the files in `testdata/sample`.
const SAMPLE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/sample.rs"));

const TITLE: Style = Style::new().bold();
const COMMAND: Style = AnsiColor::Cyan.on_default();

/// How many documents are listed, and which one is read.
const LISTED: usize = 6;
const READ: &str = "manual/en/operation.md";
const LINES: usize = 8;

/// Show tadoc at work on a small bundled corpus
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc demo"
    "tadoc demo --keep playground"
))]
pub struct Demo {
    /// Keep the files and the archive in DIR, to try the commands on
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    keep: Option<PathBuf>,
}

impl Demo {
    pub fn run(self) -> anyhow::Result<Outcome> {
        match &self.keep {
            Some(folder) => {
                fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
                show(folder)?;
                say(&format!("\nIt is all in {}: try the commands there.", folder.display()))?;
            }
            None => {
                let folder = TemporaryFolder::new().context("cannot make a temporary folder")?;
                show(folder.path())?;
                say("\nTo try the commands on these files: tadoc demo --keep playground")?;
            }
        }
        say("To compress your own:               tadoc compress FOLDER -o corpus.tdc")?;
        Ok(Outcome::Done)
    }
}

fn show(folder: &Path) -> anyhow::Result<()> {
    let sample = folder.join("sample");
    let archive = folder.join("sample.tdc");
    write_sample(&sample)?;
    let bytes = SAMPLE.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    say(&format!(
        "A made-up maker of tide gauges keeps {} in a folder, {} in all:\n\
         logs, a manual in three languages, web pages, records, code and mail.",
        units::counted(SAMPLE.len() as u64, "file"),
        units::size(bytes)
    ))?;

    step("Compress it into one archive", "tadoc compress sample -o sample.tdc")?;
    let progress = Progress::new(false);
    let start = Instant::now();
    let request = Request { paths: vec![sample], output: archive.clone(), ..Request::default() };
    let collected = inputs::collect(&request, &mut |_| {})?;
    let report =
        tadoc::compress(collected.inputs, &archive, &CompressOptions::default(), &progress)?;
    progress.finish();
    indented(&told(&report, start))?;

    step("See what it holds and what it costs", "tadoc info sample.tdc")?;
    let opened = OpenOptions::new().archive(&archive)?;
    indented(&info::for_people(Path::new("sample.tdc"), &opened.info()))?;

    step("List the documents", "tadoc list sample.tdc")?;
    let mut table = Vec::new();
    let documents: Vec<Document> = Corpus::open(&archive)?.documents()?.collect();
    let listed: Vec<list::Listed<'_>> = documents.iter().map(list::Listed::of).collect();
    list::table(&listed, false, false, Limit::none(), &mut table)?;
    let table = String::from_utf8_lossy(&table).into_owned();
    let rows: Vec<&str> = table.lines().collect();
    let (listed, rest) = rows.split_at(LISTED.min(rows.len()));
    indented(&listed.join("\n"))?;
    if let [_, .., total] = rest {
        indented(&format!("{:>10}\n{total}", "…"))?;
    }

    ask(
        &archive,
        "What is it about? Ask for the words, without unpacking anything",
        "tadoc word-count sample.tdc --ignore-case --stop-words english --match ^[a-z]{4,}$ --top 8",
    )?;
    ask(
        &archive,
        "Which words belong together?",
        "tadoc collocations sample.tdc --documents manual/en/* --ignore-case --match ^[a-z]+$ --top 8",
    )?;

    step("Check every byte of it", "tadoc verify sample.tdc")?;
    let verified = opened.verify(&progress)?;
    progress.finish();
    let documents = units::counted(verified.documents, "document");
    indented(&format!("ok: {documents}, {}", units::counted(verified.bytes, "byte")))?;

    step(
        "How is the gauge operated? Read it out of the archive",
        &format!("tadoc cat sample.tdc {READ} | head -{LINES}"),
    )?;
    let text = Corpus::open(&archive)?.document(READ)?.read()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    indented(&text.lines().take(LINES).collect::<Vec<_>>().join("\n"))?;

    step("Get the files back, byte by byte", "tadoc restore sample.tdc -C copy")?;
    let copy = folder.join("copy");
    let files = opened.files(false)?;
    let restored = opened.restore(&files, &copy, Existing::Refuse, &progress)?;
    progress.finish();
    indented(&format!(
        "{}, {} in copy/",
        units::counted(restored.files, "file"),
        units::size(restored.bytes)
    ))
}

/// Answers a question as its command would, and shows the answer as a terminal would have it.
fn ask(archive: &Path, title: &str, command: &str) -> anyhow::Result<()> {
    // What a shell would take for its own is in quotes on the screen.
    let quoted = |word: &str| match word.contains(['*', '^']) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    };
    step(title, &command.split(' ').map(quoted).collect::<Vec<_>>().join(" "))?;
    let folder = TemporaryFolder::new().context("cannot make a temporary folder")?;
    let answer = folder.path().join("answer");
    let words = command.split(' ').map(|word| match word {
        "sample.tdc" => archive.as_os_str(),
        word => OsStr::new(word),
    });
    let to = ["--quiet", "--format", "table", "--output"].map(OsStr::new);
    let arguments = words.chain(to).chain([answer.as_os_str()]);
    super::run(Arguments::try_parse_from(arguments)?)?;
    let table = fs::read_to_string(&answer).context("cannot read the answer")?;
    indented(&table)
}

fn write_sample(folder: &Path) -> anyhow::Result<()> {
    // One by one, so that a folder which is being removed does not come up again.
    let create = |folder: &Path| match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    };
    for (name, bytes) in SAMPLE {
        let path = folder.join(name);
        let above = path.ancestors().skip(1).take_while(|above| above.starts_with(folder));
        let above: Vec<&Path> = above.collect();
        let created = above.iter().rev().try_for_each(|above| create(above));
        created
            .and_then(|()| fs::write(&path, bytes))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn say(line: &str) -> anyhow::Result<()> {
    check_standard_output()
        .and_then(|()| writeln!(anstream::stdout(), "{line}"))
        .context("standard output")
}

fn step(title: &str, command: &str) -> anyhow::Result<()> {
    say(&format!("\n{TITLE}{title}{TITLE:#}\n  $ {COMMAND}{command}{COMMAND:#}"))
}

fn indented(text: &str) -> anyhow::Result<()> {
    text.lines().try_for_each(|line| say(format!("  {line}").trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_bundled() {
        assert!(SAMPLE.len() > LISTED);
        assert!(SAMPLE.iter().any(|(name, _)| *name == READ));
        assert!(SAMPLE.is_sorted());
    }
}
