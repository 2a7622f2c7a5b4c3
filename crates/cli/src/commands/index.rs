//! `tadoc index`: what can be kept beside an archive so that questions are answered sooner.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{about, open, summary};
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::progress::Progress;
use crate::{interrupt, units};

/// Keep what questions need ready beside an archive
///
/// The grammar over words is stored in a file beside the archive (its name and .view), and read by mapping it: analytics
/// then start without decoding. It takes about as much room as the archive takes in memory, can be deleted at any
/// time, and is left alone when it is of another archive.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc index --view corpus.tdc"
    "tadoc word-count corpus.tdc --top 20 --explain"
))]
pub struct Index {
    /// The archives
    #[arg(required = true, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    archives: Vec<PathBuf>,

    /// Store the grammar over words, for analytics
    #[arg(long, required = true)]
    view: bool,
}

impl Index {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        interrupt::install();
        for archive in &self.archives {
            let corpus = open(archive)?;
            let progress = Progress::new(quiet);
            let bytes = tadoc::view::store(&corpus, &progress);
            progress.finish();
            let bytes = bytes.map_err(|error| about(archive, error))?;
            summary(quiet, &format!("{}.view: {}", archive.display(), units::size(bytes)));
        }
        Ok(Outcome::Done)
    }
}
