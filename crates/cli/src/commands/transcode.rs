//! `tadoc transcode`: an archive at the other level.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueHint};
use tadoc::OpenOptions;

use super::compress::{tell_of_dense, told};
use super::summary;
use crate::arguments::{Level, examples};
use crate::failure::Outcome;
use crate::memory;
use crate::progress::Progress;

/// Encode an archive anew, at another level
///
/// Documents, grammars and answers stay as they are.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc transcode corpus.tdc -o small.tdc --level dense"
    "tadoc transcode small.tdc -o corpus.tdc --level fast --force"
))]
pub struct Transcode {
    /// The archive
    #[arg(value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// The archive to write
    #[arg(short, long, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// How the new archive is encoded
    #[arg(long, value_enum)]
    level: Level,

    /// Replace the archive if it exists
    #[arg(long)]
    force: bool,
}

impl Transcode {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let start = Instant::now();
        let progress = Progress::new(quiet);
        let options = memory::limit(OpenOptions::new());
        let level = self.level.into();
        let report = options.transcode(&self.archive, &self.output, level, self.force, &progress);
        progress.finish();
        let report = report?;
        summary(quiet, &format!("{}: {}", self.output.display(), told(&report, start)));
        tell_of_dense(quiet, &self.output, &report, level);
        Ok(Outcome::Done)
    }
}
