//! What is searched: a segment's symbols and tokens, mapped from an index or decoded.

use std::collections::HashSet;
use std::ops::Range;

use rayon::prelude::*;

use crate::access::{Segment, Slices};
use crate::corpus::Decoded;
use crate::error::Result;
use crate::texts::Rules;

/// A segment.
pub(super) trait Source: Rules + Sync {
    /// Makes tokens ready to be read, before any is: those that some documents use, or all.
    fn load_tokens(&self, _documents: Option<&[usize]>) -> Result<()> {
        Ok(())
    }
    /// The places of a document's symbols in the root; documents are numbered inside of the
    /// segment.
    fn document_root(&self, document: usize) -> Range<u32>;
    /// Puts symbols of the root into a buffer, which is cleared before.
    fn read_root(&self, places: Range<u32>, into: &mut Vec<u32>);
    /// Whether any token has a byte.
    fn any_token_has(&self, byte: u8) -> bool;
    /// How many newlines a symbol's text has.
    fn newlines(&self, symbol: u32) -> u64;
    /// The documents that have a word with any of these parts in it, if that is known without
    /// looking at them.
    fn documents_with(&self, _pieces: &[Vec<u8>]) -> Option<Vec<bool>> {
        None
    }
}

/// A segment whose symbols and lengths are mapped from an index.
pub(super) struct Mapped<'s> {
    segment: &'s Segment,
    slices: Slices<'s>,
}

impl<'s> Mapped<'s> {
    /// Takes the arrays of a segment.
    pub(super) fn new(segment: &'s Segment) -> Result<Self> {
        Ok(Self { segment, slices: segment.slices()? })
    }
}

impl Rules for Mapped<'_> {
    fn token_count(&self) -> u32 {
        self.slices.token_count()
    }

    fn rule_count(&self) -> u32 {
        self.slices.rule_count()
    }

    #[inline]
    fn body(&self, rule: u32) -> Range<u32> {
        let places = self.slices.body(rule);
        places.start as u32..places.end as u32
    }

    #[inline]
    fn symbol(&self, place: u32) -> u32 {
        self.slices.body_symbol(place as usize)
    }

    #[inline]
    fn token(&self, token: u32) -> &[u8] {
        self.segment.token(token).expect("loaded before")
    }

    fn bytes(&self, symbol: u32) -> u64 {
        self.slices.bytes(symbol)
    }
}

impl Source for Mapped<'_> {
    fn load_tokens(&self, documents: Option<&[usize]>) -> Result<()> {
        let Some(documents) = documents else { return self.segment.load_tokens() };
        let (mut symbols, mut met) = (Vec::new(), HashSet::new());
        for &document in documents {
            self.read_root(self.document_root(document), &mut symbols);
            while let Some(symbol) = symbols.pop() {
                if !met.insert(symbol) {
                    continue;
                }
                match symbol.checked_sub(self.token_count()) {
                    None => drop(self.segment.token(symbol)?),
                    Some(rule) => {
                        symbols.extend(self.body(rule).map(|place| self.symbol(place)));
                    }
                }
            }
        }
        Ok(())
    }

    fn document_root(&self, document: usize) -> Range<u32> {
        let places = self.segment.document_root(document);
        places.start as u32..places.end as u32
    }

    fn read_root(&self, places: Range<u32>, into: &mut Vec<u32>) {
        into.clear();
        into.extend(places.map(|place| self.slices.root(place as usize)));
    }

    fn any_token_has(&self, byte: u8) -> bool {
        let has = |token| memchr::memchr(byte, self.token(token)).is_some();
        (0..self.token_count()).into_par_iter().with_min_len(1 << 14).any(has)
    }

    fn newlines(&self, symbol: u32) -> u64 {
        self.slices.newlines(symbol)
    }

    fn documents_with(&self, pieces: &[Vec<u8>]) -> Option<Vec<bool>> {
        // Lists that cannot be read are as good as none.
        self.segment.documents_with(pieces).ok().flatten()
    }
}

impl Source for Decoded {
    fn document_root(&self, document: usize) -> Range<u32> {
        let starts = self.grammar.document_starts();
        starts[document]..starts[document + 1]
    }

    fn read_root(&self, places: Range<u32>, into: &mut Vec<u32>) {
        into.clear();
        into.extend_from_slice(&self.grammar.root()[places.start as usize..places.end as usize]);
    }

    fn any_token_has(&self, byte: u8) -> bool {
        memchr::memchr(byte, self.tokens.joined()).is_some()
    }

    fn newlines(&self, symbol: u32) -> u64 {
        self.newline_count(symbol)
    }
}
