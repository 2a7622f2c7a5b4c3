//! From a segment back to bytes.
//!
//! Memory: the segment's grammar and tokens, and the texts of short rules.

use std::ops::Range;

use tadoc_core::archive::Archive;
use tadoc_core::usize_of;

use super::{Corpus, Decoded};
use crate::error::{Error, Result};
use crate::texts::{Rules as _, Texts};

/// A segment, decoded for expansion.
pub(crate) struct Segment {
    decoded: Decoded,
    texts: Texts,
}

impl Segment {
    pub(super) fn load(corpus: &Corpus, number: usize) -> Result<Self> {
        let recorded = corpus.summary().segments[number].text_bytes;
        Self::of(Decoded::load(corpus, number)?, number, recorded)
    }

    /// Decodes a segment of an archive as it is stored.
    pub(crate) fn stored(archive: &Archive, number: usize) -> Result<Self> {
        let recorded = archive.summary().segments[number].text_bytes;
        let (grammar, dictionary) = archive.segment(number)?;
        let tokens = dictionary.tokens(recorded)?;
        drop(dictionary);
        Self::of(Decoded::new(grammar, tokens, archive.budget())?, number, recorded)
    }

    /// Checks that a segment is as long as recorded before anything is expanded.
    fn of(mut decoded: Decoded, number: usize, recorded: u64) -> Result<Self> {
        decoded.check_lengths().map_err(tadoc_core::Error::from)?;
        let mut segment = Self { decoded, texts: Texts::default() };
        let bytes = segment.length(segment.decoded.grammar.root());
        if bytes != recorded {
            let what =
                format!("segment {number} expands to {bytes} bytes, recorded are {recorded}");
            return Err(Error::malformed(what));
        }
        let share = &segment.decoded.share;
        segment.texts = Texts::new(&segment.decoded, share.budget());
        // There was room for them a moment ago; without them it is slower, and no less possible.
        let _ = share.grow(segment.texts.bytes(), "the texts of rules");
        Ok(segment)
    }

    fn length(&self, symbols: &[u32]) -> u64 {
        let length = |&symbol: &u32| self.decoded.bytes(symbol);
        symbols.iter().map(length).fold(0, u64::saturating_add)
    }

    /// The length of the text of a document, or of what is here of it.
    pub(crate) fn document_bytes(&self, document: usize) -> u64 {
        self.length(self.decoded.grammar.document(document))
    }

    /// Appends bytes of a document, or of what is here of it; a range past its end is cut there. O(symbols of the document + depth + bytes).
    pub(crate) fn append(&self, document: usize, range: Range<u64>, into: &mut Vec<u8>) {
        let mut offset = 0;
        let mut above = vec![self.decoded.grammar.document(document)];
        while let Some(symbols) = above.pop() {
            let Some((&symbol, rest)) = symbols.split_first() else { continue };
            above.push(rest);
            if offset >= range.end {
                return;
            }
            let bytes = self.decoded.bytes(symbol);
            if offset + bytes <= range.start {
                offset += bytes;
            } else if let Some(rule) = self.decoded.grammar.rule_of(symbol) {
                above.push(self.decoded.grammar.body(rule));
            } else {
                let from = range.start.saturating_sub(offset);
                let to = bytes.min(range.end - offset);
                into.extend_from_slice(
                    &self.decoded.tokens.get(symbol)[usize_of(from)..usize_of(to)],
                );
                offset += bytes;
            }
        }
    }

    pub(crate) fn expand(&self, document: usize) -> Pieces<'_> {
        Pieces {
            segment: self,
            current: self.decoded.grammar.document(document),
            above: Vec::new(),
        }
    }
}

pub(crate) struct Pieces<'s> {
    segment: &'s Segment,
    current: &'s [u32],
    above: Vec<&'s [u32]>,
}

impl Pieces<'_> {
    /// Appends text until `into` has at least `enough` bytes or the document ends; tells whether there is
    /// more.
    pub(crate) fn next_piece(&mut self, enough: usize, into: &mut Vec<u8>) -> bool {
        let segment = self.segment;
        while into.len() < enough {
            let Some((&symbol, rest)) = self.current.split_first() else {
                match self.above.pop() {
                    Some(above) => self.current = above,
                    None => return false,
                }
                continue;
            };
            self.current = rest;
            if let Some(text) = segment.texts.get(symbol) {
                into.extend_from_slice(text);
                continue;
            }
            let Some(rule) = segment.decoded.grammar.rule_of(symbol) else {
                into.extend_from_slice(segment.decoded.tokens.get(symbol));
                continue;
            };
            if !rest.is_empty() {
                self.above.push(rest);
            }
            self.current = segment.decoded.grammar.body(rule);
        }
        !self.current.is_empty() || !self.above.is_empty()
    }
}
