//! The text that edits make: for each document whose text was edited its pieces, and the new text that they are of.
//!
//! New text is put one behind the other and never moved, also when it is deleted later. So memory is the text of all edits
//! and 16 bytes or a bit more for each piece; a document that no edit has touched costs nothing.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use tadoc_core::archive::journal::Edit;
use tadoc_core::{Counted, Share, usize_of};

use super::ledger::Ledger;
use super::pieces::{Piece, Pieces, Source};

/// Documents as edits have left them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EditedText {
    new_text: Vec<u8>,
    documents: HashMap<u32, Pieces, FixedState>,
    held: Counted<()>,
}

impl EditedText {
    /// Keeps what its memory takes of a budget as long as itself.
    pub(crate) fn hold(&mut self, share: Share) {
        self.held = Counted::new((), share);
    }

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

    pub(crate) fn new_text(&self, piece: Piece) -> &[u8] {
        debug_assert_eq!(piece.source(), Source::New);
        &self.new_text[usize_of(piece.start())..usize_of(piece.end())]
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
        if self.new_text.capacity() - self.new_text.len() < text.len() {
            // All text there is may be half of what memory is left for: doubling would take too much.
            self.new_text.reserve_exact(text.len().max(self.new_text.len() / 4));
        }
        self.new_text.extend_from_slice(text);
        (!text.is_empty()).then(|| Piece::new(Source::New, start, text.len() as u64))
    }

    /// The pieces of a document that is there. If no edit has changed its text yet, it is as it is stored.
    fn pieces(&mut self, document: u32, bytes: impl Fn(u32) -> u64) -> &mut Pieces {
        self.documents.entry(document).or_insert_with(|| Pieces::stored(bytes(document)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use tadoc_core::archive::DocumentTable;

    use super::*;
    use crate::{Document, Error};

    /// Documents as plain bytes, and as edits leave them.
    pub(in crate::update) struct Corpus {
        pub(in crate::update) stored: Vec<Vec<u8>>,
        pub(in crate::update) ledger: Ledger,
        pub(in crate::update) text: EditedText,
    }

    impl Corpus {
        /// Documents `0`, `1` and so on, no more than 10.
        pub(in crate::update) fn new(stored: Vec<Vec<u8>>) -> Self {
            let documents = stored.iter().enumerate().map(|(number, text)| Document {
                name: number.to_string().into(),
                bytes: text.len() as u64,
                modified: None,
                mode: None,
            });
            let table = DocumentTable { documents: documents.collect(), digests: Vec::new() };
            Self { ledger: Ledger::new(Arc::new(table)), text: EditedText::default(), stored }
        }

        pub(in crate::update) fn apply(&mut self, edit: &Edit<'_>) -> Result<Option<u32>, Error> {
            let added = self.ledger.apply(edit)?;
            self.text.apply(edit, &self.ledger);
            Ok(added)
        }

        pub(in crate::update) fn document(&self, number: u32) -> Vec<u8> {
            let Some(pieces) = self.text.document(number) else {
                return self.stored[number as usize].clone();
            };
            assert_eq!(pieces.bytes(), self.ledger.bytes(number));
            let bytes = pieces.iter().flat_map(|piece| match piece.source() {
                Source::New => self.text.new_text(piece),
                Source::Stored => {
                    &self.stored[number as usize][piece.start() as usize..piece.end() as usize]
                }
            });
            bytes.copied().collect()
        }
    }

    #[test]
    fn only_edited_documents_have_pieces() {
        let mut corpus = Corpus::new(vec![b"zero".to_vec(), b"one".to_vec(), b"two".to_vec()]);
        let edits = [
            Edit::Rename { document: 0, name: b"nought" },
            Edit::Insert { document: 0, offset: 2, text: b"" },
            Edit::Delete { document: 0, offset: 2, length: 0 },
            Edit::Append { document: 1, text: b" and more" },
            Edit::Delete { document: 2, offset: 0, length: 3 },
            Edit::Add { name: b"3", modified: None, mode: None, text: b"" },
            Edit::Remove { document: 1 },
        ];
        for edit in &edits {
            corpus.apply(edit).unwrap();
        }
        let mut numbers: Vec<u32> = corpus.text.documents.keys().copied().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [2, 3]);
        assert_eq!((corpus.document(2), corpus.document(3)), (Vec::new(), Vec::new()));
        assert_eq!(corpus.text.new_text.len(), 9);
    }
}
