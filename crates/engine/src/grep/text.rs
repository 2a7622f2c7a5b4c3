//! Text of symbols: whole, or from a newline on.

use std::ops::Range;

use super::filter::Filter;
use super::source::Source;
use crate::texts::Texts;

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
    source: &'s S,
    /// Knows which symbols have a newline.
    filter: &'s Filter<'s, S>,
    /// Texts that are written out.
    texts: Option<&'s Texts>,
    /// Bodies that are not yet written to their ends.
    above: Vec<Range<u32>>,
}

impl<'s, S: Source> Writer<'s, S> {
    pub(super) fn new(filter: &'s Filter<'s, S>, texts: Option<&'s Texts>) -> Self {
        Self { source: filter.source, filter, texts, above: Vec::new() }
    }

    /// Appends the text of a symbol. O(text).
    pub(super) fn whole(&mut self, symbol: u32, into: &mut Vec<u8>) {
        let tokens = self.source.token_count();
        let mut symbol = symbol;
        let base = self.above.len();
        loop {
            if symbol < tokens {
                into.extend_from_slice(self.source.token(symbol));
            } else if let Some(text) = self.texts.and_then(|texts| texts.get(symbol - tokens)) {
                into.extend_from_slice(text);
            } else {
                self.above.push(self.source.body(symbol - tokens));
            }
            loop {
                if self.above.len() == base {
                    return;
                }
                let top = self.above.last_mut().expect("not down to the base");
                match top.next() {
                    Some(place) => {
                        symbol = self.source.symbol(place);
                        if top.start == top.end {
                            self.above.pop();
                        }
                        break;
                    }
                    None => drop(self.above.pop()),
                }
            }
        }
    }

    /// How long the text of a piece is.
    pub(super) fn length(&self, piece: Piece) -> u64 {
        let (token, behind) = match piece {
            Piece::Whole(symbol) => return self.source.bytes(symbol),
            Piece::Tail(symbol) => self.tail_parts(symbol),
        };
        let symbols = behind.into_iter().flatten().map(|place| self.source.symbol(place));
        symbols
            .fold(token.len() as u64, |sum, symbol| sum.saturating_add(self.source.bytes(symbol)))
    }

    /// The part of a token behind the last newline of a symbol that has one, and the places behind it, innermost last.
    fn tail_parts(&self, symbol: u32) -> (&'s [u8], Vec<Range<u32>>) {
        let tokens = self.source.token_count();
        let mut symbol = symbol;
        let mut behind: Vec<Range<u32>> = Vec::new();
        while symbol >= tokens {
            let body = self.source.body(symbol - tokens);
            let mut places = body.clone();
            let last = places.rfind(|&place| self.filter.has_newline(self.source.symbol(place)));
            let last = last.expect("a symbol with a newline has a part with it");
            symbol = self.source.symbol(last);
            behind.push(last + 1..body.end);
        }
        let token = self.source.token(symbol);
        let start = memchr::memrchr(b'\n', token).map_or(0, |newline| newline + 1);
        (&token[start..], behind)
    }

    /// Appends the text of a piece. O(bodies on the way to its newline, and text).
    pub(super) fn piece(&mut self, piece: Piece, into: &mut Vec<u8>) {
        let (token, behind) = match piece {
            Piece::Whole(symbol) => return self.whole(symbol, into),
            Piece::Tail(symbol) => self.tail_parts(symbol),
        };
        into.extend_from_slice(token);
        for place in behind.into_iter().rev().flatten() {
            self.whole(self.source.symbol(place), into);
        }
    }
}
