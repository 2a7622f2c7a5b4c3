//! `tadoc restore`: documents as files again, or to standard output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::{Args, ValueHint};
use tadoc::text::escape;
use tadoc::{Archive, Error, Existing, File, SkippedFile, Split, match_names};

use super::{about, open, summary};
use crate::arguments::examples;
use crate::failure::{Outcome, print_error};
use crate::output::Output;
use crate::progress::Progress;
use crate::units;

/// So many files that were not restored are named; of others the number is told.
const NAMED: usize = 20;

/// Restore documents as files, or to standard output
///
/// Files get back their bytes, modification times and modes, and are compared with their digests.
/// Nothing is written outside of the folder, and nothing there is replaced unless --force is given.
/// What cannot be written, is there already or is damaged is left out and told, all else is
/// restored, and the exit code is 1. Of an archive made with `--split lines`, the files are
/// restored and not their lines.
#[derive(Debug, Args)]
#[command(
    after_help = examples!(
        "tadoc restore corpus.tdc -C copy"
        "tadoc restore corpus.tdc -C copy notes/todo.txt '*.log'"
        "tadoc restore corpus.tdc -C copy --exclude '*.log'"
        "tadoc restore corpus.tdc -C copy --skip-existing       go on after an interruption"
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
    /// alone. Of an archive made with `--split lines`, these are names of files, without line
    /// numbers.
    #[arg(value_name = "DOCUMENT")]
    documents: Vec<OsString>,

    /// Leave out documents of this name or glob; may be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<OsString>,

    /// The folder to restore into; made if it is not there
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    directory: PathBuf,

    /// Write the documents to standard output, one after the other
    #[arg(long, conflicts_with_all = ["directory", "force", "skip_existing"])]
    stdout: bool,

    /// Replace files that exist
    #[arg(long, conflicts_with = "skip_existing")]
    force: bool,

    /// Pass over files that exist, as if they had been restored
    #[arg(long)]
    skip_existing: bool,

    /// Restore each line as a file of its own, after `--split lines`
    #[arg(long)]
    pieces: bool,
}

impl Restore {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let start = Instant::now();
        let corpus = open(&self.archive)?;
        let files = self.files(&corpus)?;
        if files.is_empty() && !self.documents.is_empty() {
            print_error("no document matches; `tadoc list` shows what the archive has");
            return Ok(Outcome::Negative);
        }
        if self.stdout {
            return self.print(&corpus, &files);
        }
        let existing = match (self.force, self.skip_existing) {
            (true, _) => Existing::Replace,
            (_, true) => Existing::Keep,
            _ => Existing::Refuse,
        };
        let progress = Progress::new(quiet);
        let report = corpus
            .restore(&files, &self.directory, existing, &progress)
            .map_err(|error| about(&self.archive, error));
        progress.finish();
        let report = report?;
        report.skipped.iter().take(NAMED).for_each(|skipped| print_error(&told(skipped)));
        let not_restored = report.skipped.len();
        if not_restored > NAMED {
            print_error(&format!("and {} more were not restored", not_restored - NAMED));
        }
        let kept = match report.kept {
            0 => String::new(),
            kept => format!(", {} there already", units::count(kept)),
        };
        summary(
            quiet,
            &format!(
                "{}: {}, {} in {}{kept}",
                self.directory.display(),
                units::counted(report.files, "file"),
                units::size(report.bytes),
                units::duration(start.elapsed())
            ),
        );
        Ok(if not_restored == 0 { Outcome::Done } else { Outcome::Negative })
    }

    /// The files that are asked for.
    fn files(&self, corpus: &Archive) -> anyhow::Result<Vec<File>> {
        let mut files = corpus.files(self.pieces).map_err(|error| about(&self.archive, error))?;
        let named: Vec<&[u8]> = files.iter().map(|file| &file.document.name[..]).collect();
        let mut asked = vec![self.documents.is_empty(); files.len()];
        for name in &self.documents {
            let found = match_names(&named, name.as_encoded_bytes());
            let found = match corpus.split() {
                Split::Lines if !self.pieces => found.context(
                    "the files of this archive were split into lines, and are asked for by their names; \
                     --pieces restores single lines",
                )?,
                _ => found?,
            };
            found.into_iter().for_each(|place| asked[place] = true);
        }
        for glob in &self.exclude {
            let excluded = match match_names(&named, glob.as_encoded_bytes()) {
                Err(Error::NoSuchDocument { .. }) => continue,
                excluded => excluded?,
            };
            excluded.into_iter().for_each(|place| asked[place] = false);
        }
        let mut asked = asked.into_iter();
        files.retain(|_| asked.next().expect("one for each file"));
        Ok(files)
    }

    /// Writes the documents to standard output.
    fn print(&self, corpus: &Archive, files: &[File]) -> anyhow::Result<Outcome> {
        let mut places: Vec<usize> = files.iter().flat_map(|file| file.places.clone()).collect();
        places.sort_unstable();
        let mut output = Output::new();
        let (written, damaged) = match corpus.write_documents(&places, &mut output, &()) {
            Err(error @ Error::WrongDigest { .. }) => (Ok(()), Some(error)),
            written => (written.map(drop).map_err(|error| about(&self.archive, error)), None),
        };
        output.finish(written)?;
        match damaged {
            None => Ok(Outcome::Done),
            Some(error) => {
                print_error(&format!("{}: {error}", self.archive.display()));
                Ok(Outcome::Negative)
            }
        }
    }
}

/// Why a file was not restored, and what to do.
fn told(skipped: &SkippedFile) -> String {
    match &skipped.error {
        Error::Exists { path } => format!(
            "{} exists already; --force replaces it, --skip-existing passes over it",
            path.display()
        ),
        error @ Error::WrongDigest { .. } => {
            format!("{:?} is not restored: {error}", escape(&skipped.name))
        }
        error => error.to_string(),
    }
}
