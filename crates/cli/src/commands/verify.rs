//! `tadoc verify`: every checksum, and that every document expands to what was compressed.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde::Serialize;
use tadoc::{Corpus, EditsInfo, VerifyReport};

use super::about;
use crate::arguments::examples;
use crate::failure::{self, Outcome};
use crate::progress::Progress;
use crate::{interrupt, output, units};

/// Check that an archive is whole
///
/// Checks every checksum, and that the grammar expands to the recorded digest of every document. Exit
/// code 1 means damage. Of an archive that was edited, the journal's checksums are checked as well, and that
/// documents are as long as their edits have made them.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc verify corpus.tdc"
    "tadoc verify corpus.tdc --json"
))]
pub struct Verify {
    /// The archive
    #[arg(value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Report {
    Whole { ok: bool, documents: u64, bytes: u64, sections: u64, edits: u64 },
    Damaged { ok: bool, error: String },
}

impl Verify {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        interrupt::install();
        let progress = Progress::new(quiet);
        let result = Corpus::open(&self.archive)
            .and_then(|corpus| Ok((corpus.verify(&progress)?, corpus.edits())));
        progress.finish();
        let damaged = result.as_ref().is_err_and(tadoc::Error::is_damage);
        let result = result.map_err(|error| about(&self.archive, error));
        match result {
            Ok((report, edits)) => self.print_whole(&report, edits)?,
            Err(error) if damaged => {
                let error = failure::message(&error);
                if self.json {
                    output::print_json(&Report::Damaged { ok: false, error: error.clone() })?;
                }
                failure::print_error(&error);
                return Ok(Outcome::Negative);
            }
            Err(error) => return Err(error),
        }
        Ok(Outcome::Done)
    }

    fn print_whole(&self, report: &VerifyReport, edits: Option<EditsInfo>) -> anyhow::Result<()> {
        let VerifyReport { sections, documents, bytes, .. } = *report;
        let edits = edits.map_or(0, |edits| edits.edits);
        if self.json {
            return output::print_json(&Report::Whole {
                ok: true,
                documents,
                bytes,
                sections,
                edits,
            });
        }
        let journal = match edits {
            0 => String::new(),
            edits => format!(", with a journal of {}", units::counted(edits, "edit")),
        };
        let documents = units::counted(documents, "document");
        let bytes = units::counted(bytes, "byte");
        output::print_text(&format!("ok: {documents}, {bytes}{journal}\n"))
    }
}
