//! `tadoc compress`: files, folders and standard input into one archive.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::bail;
use clap::{ArgGroup, Args, ValueEnum, ValueHint};
use serde::Serialize;
use tadoc::{CompressOptions, CompressReport, Observer, Phase};

use super::summary;
use crate::arguments::{Level, examples};
use crate::failure::{Outcome, print_warning};
use crate::inputs::{self, Reason, Request, Skipped, list};
use crate::progress::Progress;
use crate::{interrupt, output, units};

/// Compress files and folders into one archive
///
/// Folders are taken with all that is in them, except symbolic links, pipes, sockets and devices. With
/// one folder given, documents are named by their paths inside it, otherwise by the paths as given,
/// without a leading /, ./ or ../. The archive appears under its name only when it is whole.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc compress [OPTIONS] -o <ARCHIVE> <PATH>...",
    group(ArgGroup::new("input").args(["paths", "from", "from0"]).required(true).multiple(true)),
    after_help = examples!(
        "tadoc compress notes/ -o notes.tdc"
        "tadoc compress a.log b.log -o logs.tdc --level dense"
        "tadoc compress -z /var/log -o logs.tdc --skip-unreadable"
        "journalctl | tadoc compress - --name journal -o journal.tdc"
        "tadoc compress records.jsonl --split lines -o records.tdc"
        "find src -name '*.rs' -print0 | tadoc compress --from0 - -o src.tdc"
    )
)]
pub struct Compress {
    /// Files and folders, and - for standard input
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,

    /// The archive to write
    #[arg(short, long, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Take the paths in FILE too, one a line (- is standard input)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,

    /// Take the paths in FILE too, each ended by a NUL as of find -print0 (- is standard input)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    from0: Option<PathBuf>,

    /// Name of the document that standard input becomes [default: stdin]
    #[arg(long)]
    name: Option<std::ffi::OsString>,

    /// What is a document: a file, or a line of one
    #[arg(long, value_enum, default_value_t = Split::Files)]
    split: Split,

    /// Take .gz, .zst, .xz and .bz2 files as their content, named without that suffix
    #[cfg(feature = "decompress")]
    #[arg(short = 'z', long)]
    decompress: bool,

    /// Leave out what cannot be read, with a warning, rather than fail
    #[arg(long)]
    skip_unreadable: bool,

    /// Which bytes are words
    #[arg(long, value_enum, default_value_t = Lexer::Words)]
    lexer: Lexer,

    /// Which method finds the repetitions
    #[arg(long, value_enum, default_value_t = Builder::Repair)]
    builder: Builder,

    /// How the archive is encoded
    #[arg(long, value_enum, default_value_t = Level::Fast)]
    level: Level,

    /// The most memory to use, such as 512M or 1.5G [default: 1G, or three quarters of what is free if that is less]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,

    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,

    /// Replace the archive if it exists
    #[arg(long)]
    force: bool,

    /// Print a report as one JSON object
    #[arg(long)]
    json: bool,
}

/// `--split`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Split {
    /// A file is a document
    Files,
    /// A line is a document, named NAME:0000000001 and so on
    Lines,
}

/// `--lexer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lexer {
    /// Runs of Unicode word characters; single characters in scripts without spaces
    Words,
    /// Runs of bytes between white space
    Whitespace,
}

/// `--builder`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Builder {
    /// Re-Pair: the smallest archives, on all threads
    Repair,
    /// Sequitur: online, as in the papers
    Sequitur,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of threads, 1 or more".into()),
        Ok(threads) => Ok(threads),
    }
}

#[derive(Serialize)]
struct Report<'r> {
    archive: String,
    documents: u64,
    text_bytes: u64,
    archive_bytes: u64,
    segments: u64,
    seconds: f64,
    skipped: Vec<SkippedReport<'r>>,
    grown: Vec<String>,
}

#[derive(Serialize)]
struct SkippedReport<'r> {
    path: String,
    reason: &'static str,
    error: Option<&'r str>,
}

impl Compress {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let start = Instant::now();
        interrupt::install();
        let request = self.request()?;
        if !self.force && self.output.symlink_metadata().is_ok() {
            return Err(tadoc::Error::Exists { path: self.output }.into());
        }
        let progress = Progress::new(quiet);
        let collected = inputs::collect(&request, &mut |found| {
            // The walk looks for the wish to stop itself.
            let _ = progress.step(Phase::Finding, found, 0);
        })?;
        warn_of_skipped(&collected.skipped);
        let report = tadoc::compress(collected.inputs, &self.output, &self.options(), &progress);
        progress.finish();
        let report = report?;
        for path in &report.grown {
            print_warning(&format!(
                "{} grew while it was read; what it held before is in the archive",
                path.display()
            ));
        }
        if self.json {
            self.print_report(&report, &collected.skipped, start)?;
        }
        summary(quiet, &format!("{}: {}", self.output.display(), told(&report, start)));
        Ok(Outcome::Done)
    }

    fn request(&self) -> anyhow::Result<Request> {
        let is_dash = |path: &PathBuf| path.as_os_str() == "-";
        let (dashes, mut paths): (Vec<PathBuf>, Vec<PathBuf>) =
            self.paths.iter().cloned().partition(is_dash);
        let lists = [&self.from, &self.from0];
        let dash_lists = lists.iter().filter(|list| list.as_ref().is_some_and(is_dash)).count();
        if dashes.len() + dash_lists > 1 {
            bail!("standard input can be read once; give - only once");
        }
        if self.name.is_some() && dashes.is_empty() {
            bail!("--name names standard input; give - as a PATH too");
        }
        if is_dash(&self.output) {
            bail!("an archive is written to a file, not to standard output; give -o a name");
        }
        if let Some(list) = &self.from {
            paths.append(&mut list::read(list, b'\n')?);
        }
        if let Some(list) = &self.from0 {
            paths.append(&mut list::read(list, 0)?);
        }
        let name = self.name.as_ref().map_or(&b"stdin"[..], |name| name.as_encoded_bytes());
        Ok(Request {
            paths,
            standard_input: (!dashes.is_empty()).then(|| name.to_vec()),
            #[cfg(feature = "decompress")]
            decompress: self.decompress,
            #[cfg(not(feature = "decompress"))]
            decompress: false,
            skip_unreadable: self.skip_unreadable,
            output: self.output.clone(),
        })
    }

    fn options(&self) -> CompressOptions {
        CompressOptions {
            lexer: match self.lexer {
                Lexer::Words => tadoc::Lexer::Words,
                Lexer::Whitespace => tadoc::Lexer::Whitespace,
            },
            builder: match self.builder {
                Builder::Repair => tadoc::Builder::RePair,
                Builder::Sequitur => tadoc::Builder::Sequitur,
            },
            level: self.level.into(),
            split: match self.split {
                Split::Files => tadoc::Split::Files,
                Split::Lines => tadoc::Split::Lines,
            },
            memory: self.memory,
            threads: self.threads,
            force: self.force,
        }
    }

    fn print_report(
        &self,
        report: &CompressReport,
        skipped: &[Skipped],
        start: Instant,
    ) -> anyhow::Result<()> {
        output::print_json(&Report {
            archive: self.output.display().to_string(),
            documents: report.documents,
            text_bytes: report.text_bytes,
            archive_bytes: report.archive_bytes,
            segments: report.segments,
            seconds: start.elapsed().as_secs_f64(),
            skipped: skipped
                .iter()
                .map(|skipped| SkippedReport {
                    path: skipped.path.display().to_string(),
                    reason: skipped.reason.key(),
                    error: skipped.error.as_deref(),
                })
                .collect(),
            grown: report.grown.iter().map(|path| path.display().to_string()).collect(),
        })
    }
}

/// What came of it, in a line.
pub fn told(report: &CompressReport, start: Instant) -> String {
    format!(
        "{}, {} of text in {} ({}), {}",
        units::counted(report.documents, "document"),
        units::size(report.text_bytes),
        units::size(report.archive_bytes),
        units::share(report.archive_bytes, report.text_bytes),
        units::duration(start.elapsed())
    )
}

/// A line for each reason, with a few of the paths; every unreadable file has its own.
fn warn_of_skipped(skipped: &[Skipped]) {
    for skipped in skipped {
        if let Some(error) = &skipped.error {
            print_warning(&format!("left out {}: {error}", skipped.path.display()));
        }
    }
    for reason in [Reason::SymbolicLink, Reason::Special] {
        let paths: Vec<&PathBuf> = skipped
            .iter()
            .filter(|skipped| skipped.reason == reason)
            .map(|skipped| &skipped.path)
            .collect();
        if paths.is_empty() {
            continue;
        }
        let some: Vec<String> =
            paths.iter().take(3).map(|path| path.display().to_string()).collect();
        let more = if paths.len() > some.len() { ", …" } else { "" };
        print_warning(&format!(
            "left out {}: {}{more}",
            reason.counted(paths.len() as u64),
            some.join(", ")
        ));
    }
}
