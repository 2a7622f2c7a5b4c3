//! `tadoc index`: what can be kept with an archive so that questions are answered sooner.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};

use tadoc::OpenOptions;

use super::summary;
use crate::arguments::{self, examples};
use crate::failure::Outcome;
use crate::progress::Progress;
use crate::{memory, units};

/// Keep what questions need ready with an archive
///
/// --view stores the grammar over words in a file beside the archive (its name and .view), which is read by mapping
/// it: analytics then start without decoding. It takes about as much room as the archive takes in memory, can be
/// deleted at any time, and is left alone when it is of another archive.
///
/// --index stores in the archive itself what search, count, extract and the like need: small costs little and decodes
/// the documents that are asked, fast costs more and decodes nothing. none removes it; the archive is then what it was.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("kept").args(["view", "index"]).required(true).multiple(true)),
    after_help = examples!(
        "tadoc index --view corpus.tdc"
        "tadoc index --index fast corpus.tdc"
        "tadoc search corpus.tdc gauge --index small          use less than is stored"
    )
)]
pub struct Index {
    /// The archives
    #[arg(required = true, value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    archives: Vec<PathBuf>,

    /// Store the grammar over words, for analytics
    #[arg(long)]
    view: bool,

    /// Store an index for random access and search
    #[arg(long, value_enum)]
    index: Option<arguments::Index>,
}

impl Index {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        for archive in &self.archives {
            // First, as a view is of an archive as it is.
            if let Some(index) = self.index {
                let progress = Progress::new(quiet);
                let options = memory::limit(OpenOptions::new());
                let bytes = options.store_index(archive, index.into(), &progress);
                progress.finish();
                let bytes = bytes?;
                let line = format!("{}: {} of index", archive.display(), units::size(bytes));
                summary(quiet, &line);
            }
            if self.view {
                let progress = Progress::new(quiet);
                let options = memory::limit(OpenOptions::new());
                let bytes = options.store_view(archive, &progress);
                progress.finish();
                let bytes = bytes?;
                summary(quiet, &format!("{}.view: {}", archive.display(), units::size(bytes)));
            }
        }
        Ok(Outcome::Done)
    }
}
