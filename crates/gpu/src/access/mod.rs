//! Random access in batches: the text of a segment on the device, and many questions about it at once.
//!
//! [`ResidentText::load`] brings the grammar of a segment to the device and makes there what operations need: lengths and offsets
//! of all symbols, where each is used and how often it occurs, a table of words, and the documents of words. An operation is
//! a batch of requests; each batch is two phases, one that finds out how long results are and one that makes them. Requests are
//! brought to the device, run and fetched in three steps, so that each can be timed.
//!
//! - An extract goes down from the root to its place ([`ResidentText::extract`]); a lane makes a stretch of the result.
//! - A word is found in the table, and counted by how often its tokens occur or by its documents ([`ResidentText::count`]).
//! - A search has a lane for each occurrence of its word in the segment, which goes up from use to use until it is in the root: how often each
//!   user occurs says which way the lane has to take. Searches in one document that is short beside that go through its
//!   text ([`ResidentText::search`]).
//! - Inserts, all at once, change the pieces that documents are made of ([`ResidentText::insert`]). Extracts see them; counts and searches are
//!   of the text as it was loaded.
//!
//! Cost: about 40 bytes of device memory for each symbol of the grammar, 9 for each word in a document, a sixteenth of a
//! byte for each of the text; see [`ResidentText::needed`].

pub(crate) mod batch;
pub(crate) mod load;
pub(crate) mod pieces;
mod sequence;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::batch::{Counted, Extract, Extracted, Extracts, Found, Words};
use self::pieces::Pieces;
pub use self::pieces::{Insert, InsertPlaces, Inserted, Inserts, Ordered, order};
pub use self::sequence::{InSequence, OutsideDocument, Together, in_sequence};
use crate::device::{Buffer, Device};

/// Stands for all documents.
pub const ALL: u32 = u32::MAX;

/// A segment, as it is on the host. Symbols below the number of tokens are tokens, those above it rules; rules use only rules
/// of a higher number, and none is empty.
#[derive(Debug, Clone, Copy)]
pub struct SegmentText<'t> {
    /// The bytes of all tokens, one after the other; none is empty.
    pub token_bytes: &'t [u8],
    /// Where each token ends.
    pub token_ends: &'t [u32],
    /// The first token of each word, and the end behind the last: a word has one or two tokens, with and without a space before it, and all
    /// tokens below that end are of words.
    pub word_starts: &'t [u32],
    /// Where each rule starts in `bodies`, and the end behind the last.
    pub rule_starts: &'t [u32],
    /// The symbols of all rules.
    pub bodies: &'t [u32],
    /// The symbols of all documents.
    pub root: &'t [u32],
    /// Where each document starts in the root, and the end behind the last.
    pub document_starts: &'t [u32],
    /// Bytes of all documents.
    pub text_bytes: u64,
}

impl SegmentText<'_> {
    /// How many tokens there are.
    pub fn tokens(&self) -> usize {
        self.token_ends.len()
    }

    /// How many words there are.
    pub fn words(&self) -> usize {
        self.word_starts.len() - 1
    }

    /// How many rules there are.
    pub fn rules(&self) -> usize {
        self.rule_starts.len() - 1
    }

    /// How many documents there are.
    pub fn documents(&self) -> usize {
        self.document_starts.len() - 1
    }
}

/// A segment on a device, ready for batches.
#[derive(Debug)]
pub struct ResidentText {
    device: Arc<Device>,
    tokens: u32,
    words: u32,
    documents: u32,
    places: u32,
    body_symbols: u32,
    text_bytes: u32,
    token_bytes: Buffer<u8>,
    token_ends: Buffer<u32>,
    word_starts: Buffer<u32>,
    rule_starts: Buffer<u32>,
    bodies: Buffer<u32>,
    root: Buffer<u32>,
    document_starts: Buffer<u32>,
    /// Where each symbol of a body starts in the text of its rule, and whose it is.
    body_offsets: Buffer<u32>,
    owners: Buffer<u32>,
    /// Where each place of the root starts in the text, and the end behind the last.
    root_offsets: Buffer<u32>,
    /// The place of every [`SAMPLE_BYTES`](crate::tuning::SAMPLE_BYTES)th byte of the text.
    samples: Buffer<u32>,
    document_offsets: Buffer<u32>,
    /// The length of each symbol's text, and how often it occurs.
    bytes: Buffer<u32>,
    weights: Buffer<u32>,
    /// For each rule a bit for every word in it, 64 of them for all words.
    marks: Buffer<u64>,
    /// Where the uses of each symbol start, and the end behind the last; the uses, places of bodies and behind these of the root; and how
    /// often what has the uses before occurs, which may have gone round.
    use_starts: Buffer<u32>,
    uses: Buffer<u32>,
    use_before: Buffer<u32>,
    /// Words by their hashes: a power of two places.
    table: Buffer<u32>,
    /// Where the documents of each word start; the documents, ascending, and how often it is in each.
    posting_starts: Buffer<u32>,
    posting_documents: Buffer<u32>,
    posting_counts: Buffer<u32>,
    pieces: Pieces,
}

impl ResidentText {
    /// The device that it is on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// How many documents it has.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Bytes of its text, without inserts.
    pub fn text_bytes(&self) -> u32 {
        self.text_bytes
    }

    /// Bytes of the device's memory that it takes.
    pub fn memory(&self) -> u64 {
        let narrow = [
            &self.token_ends,
            &self.word_starts,
            &self.rule_starts,
            &self.bodies,
            &self.root,
            &self.document_starts,
            &self.body_offsets,
            &self.owners,
            &self.root_offsets,
            &self.samples,
            &self.document_offsets,
            &self.bytes,
            &self.weights,
            &self.use_starts,
            &self.uses,
            &self.use_before,
            &self.table,
            &self.posting_starts,
            &self.posting_documents,
            &self.posting_counts,
        ];
        let narrow: usize = narrow.iter().map(|row| row.len()).sum();
        (self.token_bytes.len() + 4 * narrow + 8 * self.marks.len()) as u64 + self.pieces.memory()
    }
}
