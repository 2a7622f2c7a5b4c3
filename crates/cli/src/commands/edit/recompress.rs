//! `tadoc recompress`: the edits behind an archive made part of its grammars.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueHint};
use serde::Serialize;
use tadoc::edit::{RecompressOptions, RecompressReport};

use super::cannot_write;
use crate::arguments::{Index, Threads, examples};
use crate::commands::summary;
use crate::failure::Outcome;
use crate::progress::Progress;
use crate::{output, units};

/// Compress an edited archive again
///
/// Its edits become part of its grammars, without unpacking it; what no edit has touched is copied. Text and answers stay
/// as they are. The new archive takes the old one's place when it is whole, and who is reading the old one goes on undisturbed.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc recompress corpus.tdc"
    "tadoc recompress corpus.tdc --index fast"
    "tadoc recompress corpus.tdc --keep-whole          after damage: what was edited before it"
))]
pub struct Recompress {
    /// The archive
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// The index that the archive is to have [default: the one that it has]
    #[arg(long, value_enum)]
    index: Option<Index>,

    /// The most memory to use, such as 512M or 1.5G [default: half of what is free, at most 8G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,

    #[command(flatten)]
    threads: Threads,

    /// Where bytes of the journal are damaged, keep the edits before them and drop the others
    #[arg(long)]
    keep_whole: bool,

    /// Print a report as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    archive: String,
    edits: u64,
    documents: u64,
    text_bytes: u64,
    bytes_before: u64,
    archive_bytes: u64,
    segments: u64,
    segments_made: u64,
    seconds: f64,
}

impl Recompress {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let start = Instant::now();
        let options = RecompressOptions {
            index: self.index.map(Into::into),
            memory: self.memory,
            threads: self.threads.threads,
            keep_whole: self.keep_whole,
        };
        let progress = Progress::new(quiet);
        let report = options.recompress(&self.archive, &progress);
        progress.finish();
        let report = report.map_err(|error| cannot_write(&self.archive, error))?;
        if self.json {
            let RecompressReport { edits, documents, text_bytes, .. } = report;
            let RecompressReport { bytes_before, archive_bytes, .. } = report;
            let RecompressReport { segments, segments_made, .. } = report;
            output::print_json(&Report {
                archive: self.archive.display().to_string(),
                edits,
                documents,
                text_bytes,
                bytes_before,
                archive_bytes,
                segments,
                segments_made,
                seconds: start.elapsed().as_secs_f64(),
            })?;
        }
        let took = units::duration(start.elapsed());
        summary(quiet, &format!("{}: {}, {took}", self.archive.display(), told(&report)));
        Ok(Outcome::Done)
    }
}

/// What came of it, in a line.
pub fn told(report: &RecompressReport) -> String {
    format!(
        "{} taken in, {}, {} of text in {} ({}) where it was {}",
        units::counted(report.edits, "edit"),
        units::counted(report.documents, "document"),
        units::size(report.text_bytes),
        units::size(report.archive_bytes),
        units::share(report.archive_bytes, report.text_bytes),
        units::size(report.bytes_before)
    )
}
