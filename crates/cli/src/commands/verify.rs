//! `tadoc verify`: every checksum, and that every document expands to what was compressed.

use std::path::Path;

use clap::Args;
use serde::Serialize;
use tadoc::{EditsInfo, OpenOptions, VerifyReport};

use super::archives::{ArchiveArguments, ReadArguments};
use crate::arguments::examples;
use crate::failure::{self, Outcome};
use crate::progress::Progress;
use crate::{memory, output, screen, units};

/// Check that archives are whole
///
/// Checks every checksum, and that the grammar expands to the recorded digest of every document. Exit
/// code 1 means damage. Of an archive that was edited, the journal's checksums are checked as well, and that
/// documents are as long as their edits have made them; those that edits have not touched are compared with
/// their digests again. Bytes that a crash left of an unfinished edit
/// are no damage: they are ignored, and mentioned.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc verify corpus.tdc"
    "tadoc verify *.tdc --json"
))]
pub struct Verify {
    #[command(flatten)]
    archives: ArchiveArguments,

    /// Print one JSON object an archive, one a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: ReadArguments,
}

#[derive(Serialize)]
struct Report<'r> {
    archive: String,
    ok: bool,
    #[serde(flatten)]
    found: Found<'r>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found<'r> {
    Whole { documents: u64, compared: u64, bytes: u64, sections: u64, edits: u64, torn_bytes: u64 },
    Damaged { error: &'r str },
}

impl Verify {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        self.reading.install(|| {
            let mut outcome = Outcome::Done;
            // All are checked, whatever is wrong with one of them.
            for archive in &self.archives.archives {
                if self.verify(archive, quiet)? == Outcome::Negative {
                    outcome = Outcome::Negative;
                }
            }
            Ok(outcome)
        })
    }

    fn verify(&self, archive: &Path, quiet: bool) -> anyhow::Result<Outcome> {
        let progress = Progress::new(quiet);
        let result = memory::limit(OpenOptions::new())
            .archive(archive)
            .and_then(|corpus| Ok((corpus.verify(&progress)?, corpus.edits())))
            .map_err(|error| error.of_archive(archive));
        progress.finish();
        let damaged = result.as_ref().is_err_and(tadoc::Error::is_damage);
        match result.map_err(anyhow::Error::from) {
            Ok((report, edits)) => self.print_whole(archive, &report, edits)?,
            Err(error) if damaged => {
                let error = failure::message(&error);
                if self.json {
                    self.print_json(archive, false, Found::Damaged { error: &error })?;
                }
                failure::print_error(&error);
                return Ok(Outcome::Negative);
            }
            Err(error) => return Err(error),
        }
        Ok(Outcome::Done)
    }

    fn print_json(&self, archive: &Path, ok: bool, found: Found<'_>) -> anyhow::Result<()> {
        output::print_json(&Report { archive: archive.display().to_string(), ok, found })
    }

    fn print_whole(
        &self,
        archive: &Path,
        report: &VerifyReport,
        edits: Option<EditsInfo>,
    ) -> anyhow::Result<()> {
        let VerifyReport { sections, documents, compared, bytes } = *report;
        let (edits, torn_bytes) =
            edits.map_or((0, 0), |journal| (journal.edits, journal.torn_bytes));
        if self.json {
            let found = Found::Whole { documents, compared, bytes, sections, edits, torn_bytes };
            return self.print_json(archive, true, found);
        }
        let mut line = match self.archives.archives.len() {
            1 => String::new(),
            _ => format!("{}: ", screen::path(archive)),
        };
        let documents = units::counted(documents, "document");
        line += &format!("ok: {documents}, {}", units::counted(bytes, "byte"));
        if edits > 0 {
            line += &format!(
                ", with a journal of {}; digests of {} compared",
                units::counted(edits, "edit"),
                units::counted(compared, "document")
            );
        }
        line.push('\n');
        if torn_bytes > 0 {
            let verb = if torn_bytes == 1 { "is" } else { "are" };
            line += &format!(
                "note: {} of an unfinished edit at the end {verb} ignored\n",
                units::counted(torn_bytes, "byte")
            );
        }
        output::print_text(&line)
    }
}
