//! The text that edits make: for each document whose text was edited its pieces, and the new text that they are of.
//!
//! New text is put one behind the other and never moved, also when it is deleted later. So memory is the text of all edits
//! and 16 bytes or a bit more for each piece; a document that no edit has touched costs nothing.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use tadoc_core::archive::journal::Edit;

use super::ledger::Ledger;
use super::pieces::{Piece, Pieces, Source};

/// Documents as edits have left them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EditedText {
    new_text: Vec<u8>,
    documents: HashMap<u32, Pieces, FixedState>,
}

impl EditedText {
    /// Takes an edit that the ledger has just taken: [`Ledger::apply`] comes first, this right behind it.
    pub(crate) fn apply(&mut self, edit: &Edit<'_>, ledger: &Ledger) {
        let stored = |document: u32| ledger.stored().documents[document as usize].bytes;
        self.apply_to(edit, stored, ledger);
    }

    /// The same, where pieces are of other texts than the stored ones; `bytes` gives how long they are.
    pub(crate) fn apply_to(
        &mut self,
        edit: &Edit<'_>,
        bytes: impl Fn(u32) -> u64,
        ledger: &Ledger,
    ) {
        match *edit {
            Edit::Insert { document, offset, text } => {
                self.replace(document, offset, 0, text, bytes);
            }
            Edit::Append { document, text } => {
                if let Some(piece) = self.put(text) {
                    self.pieces(document, bytes).append(piece);
                }
            }
            Edit::Delete { document, offset, length } => {
                self.replace(document, offset, length, &[], bytes);
            }
            Edit::Replace { document, offset, length, text } => {
                self.replace(document, offset, length, text, bytes);
            }
            Edit::Add { text, .. } => {
                let mut pieces = Pieces::empty();
                if let Some(piece) = self.put(text) {
                    pieces.append(piece);
                }
                self.documents.insert(ledger.next_number() - 1, pieces);
            }
            Edit::Remove { document } => {
                self.documents.remove(&document);
            }
            Edit::Rename { .. } => {}
        }
    }

    /// The pieces of a document; `None` if its text is as it is stored, or if the document was removed.
    pub(crate) fn document(&self, number: u32) -> Option<&Pieces> {
        self.documents.get(&number)
    }

    /// The documents that have pieces, in no order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (u32, &Pieces)> {
        self.documents.iter().map(|(&number, pieces)| (number, pieces))
    }

    /// The bytes of a piece of new text.
    pub(crate) fn new_text(&self, piece: Piece) -> &[u8] {
        debug_assert_eq!(piece.source(), Source::New);
        &self.new_text[piece.start() as usize..piece.end() as usize]
    }

    /// How much new text there is, with that which is no longer used.
    pub(crate) fn new_bytes(&self) -> u64 {
        self.new_text.len() as u64
    }

    fn replace(
        &mut self,
        document: u32,
        offset: u64,
        length: u64,
        text: &[u8],
        bytes: impl Fn(u32) -> u64,
    ) {
        let piece = self.put(text);
        if length == 0 && piece.is_none() {
            return;
        }
        let pieces = self.pieces(document, bytes);
        pieces.delete(offset, length);
        if let Some(piece) = piece {
            pieces.insert(offset, piece);
        }
    }

    /// Puts text behind the new text that there is; gives where it is, unless it is empty.
    fn put(&mut self, text: &[u8]) -> Option<Piece> {
        let start = self.new_text.len() as u64;
        self.new_text.extend_from_slice(text);
        (!text.is_empty()).then(|| Piece::new(Source::New, start, text.len() as u64))
    }

    /// The pieces of a document that is there. If no edit has changed its text yet, it is as it is stored.
    fn pieces(&mut self, document: u32, bytes: impl Fn(u32) -> u64) -> &mut Pieces {
        self.documents.entry(document).or_insert_with(|| Pieces::stored(bytes(document)))
    }
}
