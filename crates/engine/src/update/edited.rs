//! An archive with edits: what every reader of a corpus sees of them.
//!
//! Opening replays the edits into pieces and plans where documents are; a segment that edits touch is made when it is first asked
//! for, and kept. Cost: O(edits) and O(documents) to open; what `segment` says for each segment.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use tadoc_core::Share;
use tadoc_core::archive::{Archive, DocumentTable, Summary};

use super::ledger::Ledger;
use super::pieces::Piece;
use super::plan::{Plan, StoredParts};
use super::segment::{EditedSegment, Stored, Texts, edit};
use super::text::EditedText;
use crate::corpus::expand;
use crate::error::Result;
use crate::{Document, Lexer};

/// Bytes that a document takes beside its name.
const DOCUMENT: u64 = 128;
/// What memory is taken for, in errors.
pub(super) const EDITED: &str = "the text around edits";

/// A corpus as its edits have left it.
#[derive(Debug)]
pub(crate) struct Edited {
    text: Arc<EditedText>,
    plan: Plan,
    segments: Vec<OnceLock<EditedSegment>>,
    _share: Share,
}

impl Edited {
    pub(crate) fn new(
        archive: &Archive,
        table: &DocumentTable,
        ledger: &Ledger,
        text: Arc<EditedText>,
        lexer: Lexer,
    ) -> Result<Self> {
        let separators = lexer.ascii_separators();
        // All documents once more, with those that edits have added.
        let names = table.documents.iter().map(|document| document.name.len() as u64);
        let bytes = DOCUMENT * ledger.document_count() as u64 + names.sum::<u64>();
        let share = archive.budget().take(bytes, "the table of documents")?;
        let mut elsewhere = Elsewhere::default();
        let plan =
            Plan::new(table, archive.summary(), ledger, &text, |stored, document, piece| {
                elsewhere.reach(archive, stored, document, piece, &separators)
            })?;
        let segments = plan.segments.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { text, plan, segments, _share: share })
    }

    pub(crate) fn documents(&self) -> &[Document] {
        &self.plan.documents
    }

    pub(crate) fn as_stored(&self) -> &[Option<u32>] {
        &self.plan.as_stored
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.plan.summary
    }

    pub(crate) fn stored_segment(&self, number: usize) -> Option<usize> {
        let segment = &self.plan.segments[number];
        segment.stored.filter(|_| !segment.is_changed)
    }

    /// A segment that was changed; the first call makes it.
    pub(crate) fn segment(
        &self,
        archive: &Archive,
        number: usize,
        lexer: Lexer,
    ) -> Result<&EditedSegment> {
        if let Some(segment) = self.segments[number].get() {
            return Ok(segment);
        }
        let planned = &self.plan.segments[number];
        let stored = match planned.stored {
            Some(number) => {
                let (grammar, dictionary) = archive.segment(number)?;
                let tokens = dictionary.tokens(archive.summary().segments[number].text_bytes)?;
                Stored { grammar, word_tokens: dictionary.word_token_count(), tokens }
            }
            None => Stored::empty(),
        };
        let texts = TextsOf {
            archive,
            stored: &self.plan.stored,
            segment: planned.stored,
            text: &self.text,
        };
        let segment = edit(&stored, &planned.parts, &texts, lexer, archive.budget())?;
        Ok(self.segments[number].get_or_init(|| segment))
    }
}

/// The texts of pieces, seen from one segment.
struct TextsOf<'e> {
    archive: &'e Archive,
    stored: &'e StoredParts,
    segment: Option<usize>,
    text: &'e EditedText,
}

impl Texts for TextsOf<'_> {
    fn new_text(&self, piece: Piece) -> &[u8] {
        self.text.new_text(piece)
    }

    fn place(&self, document: u32, offset: u64) -> Option<(u32, u64)> {
        let part = self.stored.part_at(document, offset)?;
        (Some(part.segment as usize) == self.segment).then_some((part.place, part.offset))
    }

    fn append_elsewhere(
        &self,
        elsewhere: &mut Elsewhere,
        document: u32,
        piece: Piece,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        elsewhere.append(self.archive, self.stored, document, piece, into)
    }
}

/// Stored text of segments other than the one that is being made: of documents that were given a name that belongs there, and around
/// places where a long document goes on from one segment to the next. Segments that were looked at stay expandable.
#[derive(Default)]
pub(super) struct Elsewhere {
    segments: HashMap<u32, expand::Segment>,
}

impl Elsewhere {
    /// Appends stored bytes of a document.
    fn append(
        &mut self,
        archive: &Archive,
        stored: &StoredParts,
        document: u32,
        piece: Piece,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        let (mut start, end) = (piece.start(), piece.start() + piece.bytes());
        while start < end {
            let part = stored.part_at(document, start).ok_or_else(|| {
                tadoc_core::Error::malformed("a document is shorter than recorded")
            })?;
            let segment = match self.segments.entry(part.segment) {
                hashbrown::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                hashbrown::hash_map::Entry::Vacant(entry) => {
                    entry.insert(expand::Segment::stored(archive, part.segment as usize)?)
                }
            };
            let here = end.min(part.offset + part.bytes);
            segment.append(part.place as usize, start - part.offset..here - part.offset, into);
            start = here;
        }
        Ok(())
    }

    /// How many of the first bytes of a stored piece a word from before it can reach: up to the first place that is beside a separator.
    fn reach(
        &mut self,
        archive: &Archive,
        stored: &StoredParts,
        document: u32,
        piece: Piece,
        separators: &[bool; 256],
    ) -> Result<u64> {
        let (mut text, mut step) = (Vec::new(), 64);
        let share = archive.budget().share();
        loop {
            let left = piece.bytes() - text.len() as u64;
            share.grow(left.min(step), EDITED)?;
            let more =
                Piece::new(piece.source(), piece.start() + text.len() as u64, left.min(step));
            self.append(archive, stored, document, more, &mut text)?;
            match text.iter().position(|&byte| separators[byte as usize]) {
                Some(place) => return Ok(place as u64),
                None if text.len() as u64 == piece.bytes() => return Ok(piece.bytes()),
                None => step *= 8,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{CompressOptions, Corpus, Durability, Edit, Editor, Input, Source, compress};

    #[test]
    fn an_edited_segment_is_shared_and_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let input = Input::new("a", Source::Bytes(b"to be or not to be".to_vec()));
        compress(vec![input], &path, &CompressOptions::default(), &()).unwrap();
        let mut transaction = Editor::open(&path).unwrap().begin().unwrap();
        transaction.edit(&Edit::Append { document: 0, text: b", that" }).unwrap();
        transaction.commit(Durability::None).unwrap();
        let corpus = Corpus::open(&path).unwrap();
        let [(one, words), (other, same_words)] = [(); 2].map(|()| corpus.segment(0).unwrap());
        assert!(Arc::ptr_eq(&words, &same_words));
        assert!(Arc::ptr_eq(&words, &corpus.dictionary(0).unwrap()));
        assert!(std::ptr::eq(one.symbols(), other.symbols()));
        assert!(std::ptr::eq(one.symbols(), corpus.grammar(0).unwrap().symbols()));
    }
}
