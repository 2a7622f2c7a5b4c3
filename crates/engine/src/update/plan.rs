//! Which document of an edited corpus is in which segment, and what it is made of there.
//!
//! A document that is stored and keeps its name stays in its segments, so that its symbols stay what they are. One that was added
//! or has a new name goes where its name belongs: into the segment of the document before it. Cost: O(documents), and O(pieces) of those that were
//! touched; no segment is read.

use tadoc_core::archive::{DocumentTable, Summary};

use super::ledger::Ledger;
use super::pieces::{Piece, Source};
use super::text::EditedText;
use crate::corpus::{Part, parts_of};
use crate::error::Result;
use crate::{Document, SegmentInfo};

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) segments: Vec<PlannedSegment>,
    /// The documents, in byte order of their names.
    pub(crate) documents: Vec<Document>,
    /// For each of them the number of a stored one whose text it has, unless that was edited.
    pub(crate) as_stored: Vec<Option<u32>>,
    /// What the corpus is now. The figures of grammars are those of the archive as it is stored.
    pub(crate) summary: Summary,
    pub(crate) stored: StoredParts,
}

/// The parts of the stored documents, in order.
#[derive(Debug)]
pub(crate) struct StoredParts {
    parts: Vec<Part>,
    first_parts: Vec<u32>,
}

impl StoredParts {
    pub(crate) fn of(&self, document: u32) -> &[Part] {
        let document = document as usize;
        &self.parts[self.first_parts[document] as usize..self.first_parts[document + 1] as usize]
    }

    /// Pieces of a stored document, cut so that each is in one part.
    fn cut(&self, document: u32, pieces: impl Iterator<Item = Piece>) -> Vec<Piece> {
        let mut cut = Vec::new();
        for piece in pieces {
            let (mut start, end) = (piece.start(), piece.start() + piece.bytes());
            while start < end {
                let own = Some(piece).filter(|piece| piece.source() == Source::Stored);
                let part = own.and_then(|_| self.part_at(document, start));
                let here = part.map_or(end, |part| end.min(part.offset + part.bytes));
                cut.push(Piece::new(piece.source(), start, here - start));
                start = here;
            }
        }
        cut
    }

    /// The part of a stored document that has the byte at an offset.
    pub(crate) fn part_at(&self, document: u32, offset: u64) -> Option<&Part> {
        let parts = self.of(document);
        parts.get(parts.partition_point(|part| part.offset + part.bytes <= offset))
    }
}

#[derive(Debug)]
pub(crate) struct PlannedSegment {
    /// The stored segment that it comes of.
    pub(crate) stored: Option<usize>,
    /// Whether it is other than that.
    pub(crate) is_changed: bool,
    /// What its documents are made of, in order.
    pub(crate) parts: Vec<PlannedPart>,
}

/// What a document is made of in a segment.
#[derive(Debug)]
pub(crate) enum PlannedPart {
    /// What the stored segment has at this place.
    Whole {
        /// Its number among the documents of the stored segment.
        place: u32,
    },
    /// Pieces of a stored document and of new text.
    Edited {
        document: u32,
        /// The pieces; offsets of those that are stored count from the start of the document.
        pieces: Vec<Piece>,
    },
}

impl Plan {
    /// `reach` tells how many of the first bytes of a stored piece of a document a word from before it can reach.
    pub(crate) fn new(
        table: &DocumentTable,
        summary: &Summary,
        ledger: &Ledger,
        text: &EditedText,
        mut reach: impl FnMut(&StoredParts, u32, Piece) -> Result<u64>,
    ) -> Result<Self> {
        let (parts, first_parts) = parts_of(&table.documents, &summary.segments)?;
        let stored = StoredParts { parts, first_parts };
        let now = ledger.documents();
        let mut drafts: Vec<Draft> = summary
            .segments
            .iter()
            .enumerate()
            .map(|(number, info)| Draft { stored: Some((number, *info)), ..Draft::default() })
            .collect();
        if drafts.is_empty() {
            drafts.push(Draft::default());
        }
        let mut last = 0;
        for (index, (number, document)) in now.iter().enumerate() {
            let number = *number;
            let is_stored = (number as usize) < table.documents.len();
            let keeps_its_name =
                is_stored && table.documents[number as usize].name == document.name;
            match text.document(number) {
                None if keeps_its_name => {
                    for part in stored.of(number) {
                        last = part.segment as usize;
                        let whole = PlannedPart::Whole { place: part.place };
                        drafts[last].push(index, part.bytes, whole);
                    }
                }
                None => {
                    let whole = (document.bytes > 0)
                        .then(|| Piece::new(Source::Stored, 0, document.bytes))
                        .into_iter();
                    drafts[last].push_pieces(index, number, stored.cut(number, whole));
                }
                Some(pieces) if keeps_its_name => {
                    let reach = |piece| reach(&stored, number, piece);
                    for (part, pieces) in cut_by_parts(stored.of(number), pieces.iter(), reach)? {
                        last = part.segment as usize;
                        drafts[last].push_pieces(index, number, pieces);
                    }
                }
                Some(pieces) if is_stored => {
                    drafts[last].push_pieces(index, number, stored.cut(number, pieces.iter()));
                }
                Some(pieces) => drafts[last].push_pieces(index, number, pieces.iter().collect()),
            }
        }
        let as_stored = now
            .iter()
            .map(|&(number, _)| {
                let is_stored = (number as usize) < table.documents.len();
                (is_stored && text.document(number).is_none()).then_some(number)
            })
            .collect();
        let documents: Vec<Document> = now.into_iter().map(|(_, document)| document).collect();
        let (mut segments, mut infos) = (Vec::new(), Vec::new());
        for draft in drafts.into_iter().filter(|draft| !draft.parts.is_empty()) {
            let stored = draft.stored.map(|(number, _)| number);
            let before = draft.stored.map(|(_, info)| info).unwrap_or_default();
            let is_changed = stored.is_none()
                || before.documents != draft.parts.len() as u64
                || draft.parts.iter().any(|part| matches!(part, PlannedPart::Edited { .. }));
            infos.push(SegmentInfo {
                first_document: draft.first_document,
                documents: draft.parts.len() as u64,
                text_bytes: draft.text_bytes,
                ..before
            });
            // Of a segment that is as it is stored, no more is asked.
            let parts = if is_changed { draft.parts } else { Vec::new() };
            segments.push(PlannedSegment { stored, is_changed, parts });
        }
        let summary = Summary {
            documents: documents.len() as u64,
            text_bytes: documents.iter().map(|document| document.bytes).sum(),
            segments: infos,
            ..summary.clone()
        };
        Ok(Self { segments, documents, as_stored, summary, stored })
    }
}

/// A segment that documents are still put into.
#[derive(Default)]
struct Draft {
    stored: Option<(usize, SegmentInfo)>,
    first_document: u64,
    text_bytes: u64,
    parts: Vec<PlannedPart>,
}

impl Draft {
    fn push(&mut self, index: usize, bytes: u64, part: PlannedPart) {
        if self.parts.is_empty() {
            self.first_document = index as u64;
        }
        self.text_bytes += bytes;
        self.parts.push(part);
    }

    fn push_pieces(&mut self, index: usize, document: u32, pieces: Vec<Piece>) {
        let bytes = pieces.iter().map(|piece| piece.bytes()).sum();
        self.push(index, bytes, PlannedPart::Edited { document, pieces });
    }
}

/// The pieces of a document by the parts that it is stored in; new text goes with what is before it.
///
/// Where a part no longer starts with what it started with, or the one before no longer ends with what it ended with, a word may reach from
/// one to the other. Then so many bytes as `reach` says of the piece that comes next go with what is before, too.
fn cut_by_parts(
    parts: &[Part],
    pieces: impl Iterator<Item = Piece>,
    mut reach: impl FnMut(Piece) -> Result<u64>,
) -> Result<Vec<(&Part, Vec<Piece>)>> {
    let mut cut: Vec<(&Part, Vec<Piece>)> = parts.iter().map(|part| (part, Vec::new())).collect();
    // Where the last piece went, and where it ends in the stored document, if what is stored there is in its own part.
    let (mut current, mut is_start, mut stored_end) = (0, true, None);
    for piece in pieces {
        if piece.source() == Source::New {
            cut[current].1.push(piece);
            (is_start, stored_end) = (false, None);
            continue;
        }
        let (mut start, end) = (piece.start(), piece.start() + piece.bytes());
        while start < end {
            let own = parts[..parts.len() - 1]
                .partition_point(|part| part.offset + part.bytes <= start)
                .max(current);
            let part = &parts[own];
            // What is behind all parts is left to the last one, which will not find it.
            let mut here =
                if own + 1 == parts.len() { end } else { end.min(part.offset + part.bytes) };
            let mut to = own;
            if own != current && !is_start && stored_end != Some(start) {
                let reached = reach(Piece::new(Source::Stored, start, here - start))?;
                if reached > 0 {
                    (to, here) = (current, start + reached);
                }
            }
            cut[to].1.push(Piece::new(Source::Stored, start, here - start));
            (current, is_start, stored_end) = (to, false, Some(here).filter(|_| to == own));
            start = here;
        }
    }
    Ok(cut)
}
