//! Edits of an archive: what they are checked against, and the text and the grammars that they make.
//!
//! A document that was edited is a sequence of pieces (`pieces`), each a range of the text that the archive stores or of
//! text that is new (`text`). Names and lengths, which is all that an edit has to be checked against, are kept apart
//! (`ledger`), so that a writer needs no text. A batch whose offsets all mean the text before it is turned into edits in
//! sequence (`offsets`), on a GPU if there is one (`device`).
//!
//! Readers get ordinary grammars: `plan` says which document is in which segment, and `segment` makes the grammar of a
//! segment that edits have touched, with its `dictionary`; `edited` keeps both for a corpus.
//!
//! Writers have an [`Editor`] (`editor`), which lends the archive to one [`Transaction`] at a time
//! (`transaction`), which journals edits. It runs batches in which reads see the edits before them
//! (`batch`): on a base and what was edited since (`recent`), whose words are in `zones`.
//! `recompress` writes the archive anew, and `digests` has those of the documents that have
//! changed.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod batch;
#[cfg(feature = "gpu")]
mod device;
mod dictionary;
mod digests;
mod edited;
mod editor;
mod folders;
mod ledger;
mod offsets;
mod pieces;
mod plan;
mod recent;
mod recompress;
mod segment;
mod text;
mod transaction;
mod zones;

use std::sync::Arc;

use tadoc_core::archive::DocumentTable;
use tadoc_core::archive::journal::Journal;

use crate::error::Result;

pub use batch::{BatchOptions, Batches, Operation, Outcome, Outcomes, Transactions};
pub(crate) use edited::Edited;
pub use editor::{Durability, Editor, Offsets};
pub(crate) use ledger::Ledger;
pub use recompress::{RecompressOptions, RecompressReport};
pub(crate) use segment::EditedSegment;
pub use tadoc_core::archive::journal::Edit;
pub(crate) use text::EditedText;
pub use transaction::Transaction;

/// What the edits of a journal have made of stored documents. O(edits).
pub(crate) fn replay(
    stored: Arc<DocumentTable>,
    journal: &Journal,
) -> Result<(Ledger, EditedText)> {
    let (mut ledger, mut text) = (Ledger::new(stored), EditedText::default());
    let share = journal.replay(|edit| -> Result<()> {
        ledger.apply(&edit).map_err(impossible)?;
        text.apply(&edit, &ledger);
        Ok(())
    })?;
    text.hold(share);
    Ok((ledger, text))
}

/// A journal has only edits that were possible when they were made.
fn impossible(error: crate::Error) -> crate::Error {
    use crate::Error;
    let name = |name: &[u8]| crate::text::escape(name).to_string();
    // What is told to somebody who edits is no help to somebody who reads.
    let reason = match &error {
        Error::NoSuchDocument { name: of } => format!("document {:?} is not there", name(of)),
        Error::NoSuchNumber { number, .. } => format!("document {number} is not there"),
        Error::DocumentExists { name: of } => format!("two documents are called {:?}", name(of)),
        Error::OffsetPastEnd { name: of, offset, .. } => {
            format!("offset {offset} is past the end of {:?}", name(of))
        }
        Error::RangePastEnd { name: of, offset, length, .. } => {
            format!("the end of {length} bytes from {offset} is past the end of {:?}", name(of))
        }
        other => other.to_string(),
    };
    Error::malformed(format!("its journal has an edit that is not possible: {reason}"))
}
