//! `tadoc compress`: files, folders and standard input into one archive.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use clap::{Args, ValueEnum, ValueHint};
use serde::Serialize;
use tadoc::{CompressOptions, CompressReport, NewFile, Observer, OpenOptions, Phase, Source};

use super::info::loading;
use super::summary;
use crate::arguments::{Level, Threads, examples};
use crate::failure::{Outcome, print_warning};
use crate::inputs::arguments::{InputArguments, warn_of, warn_of_unreadable};
use crate::inputs::{self, Collected, Reason, Skipped};
use crate::progress::Progress;
use crate::{output, units};

/// Compress files and folders into one archive
///
/// Folders are taken with all that is in them, except symbolic links, pipes, sockets and devices. With
/// one folder given, documents are named by their paths inside it, otherwise by the paths as given,
/// without a leading /, ./ or ../; with -C, by their paths below that folder. `tadoc add` names
/// files likewise. The archive appears under its name only when it is whole; a pipe or device is
/// written into.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc compress [OPTIONS] -o <ARCHIVE> <PATH>...",
    after_help = examples!(
        "tadoc compress notes/ -o notes.tdc"
        "tadoc compress a.log b.log -o logs.tdc --level dense"
        "tadoc compress -z /var/log -o logs.tdc --skip-unreadable"
        "tadoc compress -C /srv/host1 log --prefix host1/ -o logs.tdc"
        "journalctl | tadoc compress - --name journal -o journal.tdc"
        "tadoc compress records.jsonl --split lines -o records.tdc"
        "find src -name '*.rs' -print0 | tadoc compress --from0 - -o src.tdc"
    )
)]
pub struct Compress {
    #[command(flatten)]
    inputs: InputArguments,

    /// The archive to write
    #[arg(short, long, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// What is a document: a file, or a line of one
    #[arg(long, value_enum, default_value_t = Split::Files)]
    split: Split,

    /// Which bytes are words
    #[arg(long, value_enum, default_value_t = Lexer::Words)]
    lexer: Lexer,

    /// Which method finds the repetitions
    #[arg(long, value_enum, default_value_t = Builder::Repair)]
    builder: Builder,

    /// How the archive is encoded
    #[arg(long, value_enum, default_value_t = Level::Fast)]
    level: Level,

    /// The most memory to use, such as 512M or 1.5G [default: half of what is free, at most 8G]
    ///
    /// Text whose tokens do not fit is paired in parts, which become one segment as far as they fit
    /// together, and several beyond that. Fewer threads read where it is little.
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,

    #[command(flatten)]
    threads: Threads,

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

#[derive(Serialize)]
struct Report<'r> {
    archive: String,
    documents: u64,
    text_bytes: u64,
    archive_bytes: u64,
    fast_bytes: u64,
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
        let request = self.inputs.request(&self.output)?;
        if self.output.as_os_str() == "-" {
            bail!("an archive is written to a file, not to standard output; give -o a name");
        }
        // Before inputs are looked for, so that none of them is a file that was left behind.
        NewFile::destination(&self.output, self.force)?;
        NewFile::remove_left_behind(&self.output)?;
        let progress = Progress::new(quiet);
        let mut collected = inputs::collect(&request, &mut |found| {
            // The walk looks for the wish to stop itself.
            let _ = progress.step(Phase::Finding, found, 0);
        })?;
        warn_of(&collected);
        let options = CompressOptions {
            names_from: collected.names_from.take(),
            skip_unreadable: request.skip_unreadable,
            ..self.options()
        };
        if let Some(bytes) = length(&collected).filter(|&bytes| bytes >= WORTH_TELLING) {
            let estimate = options.estimate(bytes)?;
            let line = format!(
                "{} of text in about {}, with at most {} of memory",
                units::size(bytes),
                units::counted(estimate.segments, "segment"),
                units::size(estimate.memory),
            );
            summary(quiet, &line);
        }
        let report = tadoc::compress(collected.inputs, &self.output, &options, &progress);
        progress.finish();
        let report = report?;
        for (path, error) in &report.unreadable {
            warn_of_unreadable(path, error);
            let (path, error) = (path.clone(), Some(error.clone()));
            collected.skipped.push(Skipped { path, reason: Reason::Unreadable, error });
        }
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
        tell_of_dense(quiet, &self.output, &report, self.level.into());
        Ok(Outcome::Done)
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
            threads: self.threads.threads,
            force: self.force,
            ..CompressOptions::default()
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
            fast_bytes: report.fast_bytes,
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

/// Of shorter text no estimate is told.
const WORTH_TELLING: u64 = 256 << 20;

/// Bytes of all inputs, if that is known before they are read.
fn length(collected: &Collected) -> Option<u64> {
    let lengths = collected.inputs.iter().map(|input| match &input.source {
        Source::File(_) => Some(0),
        Source::Bytes(bytes) => Some(bytes.len() as u64),
        Source::Stream(..) => None,
    });
    Some(lengths.sum::<Option<u64>>()? + collected.file_bytes)
}

/// A dense archive that is not this much smaller than a fast one is not worth its loading.
const LEAST_SAVED: u64 = 5;

/// What loading a dense archive costs, and whether it is worth that.
pub fn tell_of_dense(quiet: bool, output: &Path, report: &CompressReport, level: tadoc::Level) {
    if level != tadoc::Level::Dense {
        return;
    }
    // Opening a pipe would wait for somebody who writes into it.
    if output.is_file()
        && let Ok(corpus) = OpenOptions::new().open(&[output])
        && let Some(loading) = corpus.archives().find_map(|(_, archive)| loading(&archive.info()))
    {
        summary(quiet, &format!("loading it takes {loading}"));
    }
    if let Some(advice) = advice(report) {
        summary(quiet, &advice);
    }
}

/// Suggests the other level where this one saves little.
fn advice(report: &CompressReport) -> Option<String> {
    let (dense, fast) = (report.archive_bytes, report.fast_bytes);
    let enough = u128::from(dense) * 100 <= u128::from(fast) * u128::from(100 - LEAST_SAVED);
    (!enough).then(|| {
        format!(
            "level dense saves less than {LEAST_SAVED}% here: --level fast takes about {} and loads \
             many times as fast",
            units::size(fast)
        )
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_is_suggested_where_dense_saves_little() {
        let report = |archive_bytes, fast_bytes| CompressReport {
            documents: 1,
            text_bytes: 1 << 20,
            archive_bytes,
            fast_bytes,
            segments: 1,
            grown: Vec::new(),
            unreadable: Vec::new(),
        };
        assert_eq!(advice(&report(95_000, 100_000)), None);
        let told = advice(&report(95_001, 100_000)).unwrap();
        assert!(told.contains("--level fast takes about 97.7 KiB"), "{told}");
        assert_eq!(advice(&report(0, 0)), None);
    }
}
