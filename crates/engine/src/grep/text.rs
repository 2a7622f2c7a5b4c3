//! Text of symbols: whole, or from a newline on.

use std::ops::Range;

use super::filter::Filter;
use super::source::Source;
use crate::texts::{Buffer, Texts};

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// All of a symbol's text.
    Whole(u32),
    /// What stands behind the last newline of a symbol's text.
    Tail(u32),
}

/// Writes out texts of a segment's symbols.
pub(super) struct Writer<'s, S> {
    /// Knows which symbols have a newline.
    filter: &'s Filter<'s, S>,
    /// Texts that are written out.
    texts: &'s Texts,
}

impl<'s, S: Source> Writer<'s, S> {
    pub(super) fn new(filter: &'s Filter<'s, S>, texts: &'s Texts) -> Self {
        Self { filter, texts }
    }

    /// How long the text of a piece is.
    pub(super) fn length(&self, piece: Piece) -> u64 {
        let source = self.filter.source;
        let (token, behind) = match piece {
            Piece::Whole(symbol) => return source.bytes(symbol),
            Piece::Tail(symbol) => self.tail_parts(symbol),
        };
        let symbols = behind.into_iter().flatten().map(|place| source.symbol(place));
        symbols.fold(token.len() as u64, |sum, symbol| sum.saturating_add(source.bytes(symbol)))
    }

    /// The part of a token behind the last newline of a symbol that has one, and the places behind
    /// it, innermost last.
    fn tail_parts(&self, symbol: u32) -> (&'s [u8], Vec<Range<u32>>) {
        let source = self.filter.source;
        let tokens = source.token_count();
        let mut symbol = symbol;
        let mut behind: Vec<Range<u32>> = Vec::new();
        while symbol >= tokens {
            let body = source.body(symbol - tokens);
            let mut places = body.clone();
            let last = places.rfind(|&place| self.filter.has_newline(source.symbol(place)));
            let last = last.expect("a symbol with a newline has a part with it");
            symbol = source.symbol(last);
            behind.push(last + 1..body.end);
        }
        let token = source.token(symbol);
        let start = memchr::memrchr(b'\n', token).map_or(0, |newline| newline + 1);
        (&token[start..], behind)
    }

    /// Appends the texts of symbols; `false` where all text would have more than `most` bytes: then
    /// some of it is missing. O(symbols and text).
    pub(super) fn whole(&self, symbols: &[u32], into: &mut Buffer, most: usize) -> bool {
        into.expand(self.filter.source, self.texts, symbols, most)
    }

    /// The same for a piece. O(bodies on the way to its newline, and text).
    pub(super) fn piece(&self, piece: Piece, into: &mut Buffer, most: usize) -> bool {
        let (token, behind) = match piece {
            Piece::Whole(symbol) => return self.whole(&[symbol], into, most),
            Piece::Tail(symbol) => self.tail_parts(symbol),
        };
        into.push(token);
        let mut places = behind.into_iter().rev().flatten();
        places.all(|place| self.whole(&[self.filter.source.symbol(place)], into, most))
    }
}
