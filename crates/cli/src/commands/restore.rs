//! `tadoc restore`: documents as files again, or to standard output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueHint};

use super::{about, documents, open, summary};
use crate::arguments::examples;
use crate::failure::{Outcome, print_error};
use crate::output::Output;
use crate::progress::Progress;
use crate::{select, units};

/// Restore documents as files, or to standard output
///
/// Files get back their bytes, modification times and modes. Nothing is written outside of the folder,
/// and nothing there is replaced unless --force is given.
#[derive(Debug, Args)]
#[command(
    after_help = examples!(
        "tadoc restore corpus.tdc -C copy"
        "tadoc restore corpus.tdc -C copy notes/todo.txt '*.log'"
        "tadoc restore corpus.tdc --stdout | wc -w"
    )
)]
pub struct Restore {
    /// The archive
    #[arg(value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// Names or globs of documents [default: all]
    ///
    /// A name is as `tadoc list` prints it. Where no document has that name it is a glob: * stands for any
    /// characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the shell leaves them
    /// alone.
    #[arg(value_name = "DOCUMENT")]
    documents: Vec<OsString>,

    /// The folder to restore into; made if it is not there
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    directory: PathBuf,

    /// Write the documents to standard output, one after the other
    #[arg(long, conflicts_with_all = ["directory", "force"])]
    stdout: bool,

    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

impl Restore {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let start = Instant::now();
        let corpus = open(&self.archive)?;
        let places = select::find_all(&[documents(&corpus, &self.archive)?], &self.documents)?;
        if places.is_empty() && !self.documents.is_empty() {
            print_error("no document matches; `tadoc list` shows what the archive has");
            return Ok(Outcome::Negative);
        }
        let progress = Progress::new(quiet || self.stdout);
        if self.stdout {
            let mut output = Output::new();
            let result = corpus
                .write_documents(&places, &mut output, &progress)
                .map_err(|error| about(&self.archive, error));
            output.finish(result)?;
            return Ok(Outcome::Done);
        }
        let report = corpus
            .restore(&places, &self.directory, self.force, &progress)
            .map_err(|error| about(&self.archive, error));
        progress.finish();
        let report = report?;
        summary(
            quiet,
            &format!(
                "{}: {}, {} in {}",
                self.directory.display(),
                units::counted(report.documents, "document"),
                units::size(report.bytes),
                units::duration(start.elapsed())
            ),
        );
        Ok(Outcome::Done)
    }
}
