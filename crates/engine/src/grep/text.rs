//! Text of symbols: whole, or from a newline on.

use std::ops::Range;

use super::source::Source;

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
    /// Bodies that are not yet written to their ends.
    above: Vec<Range<u32>>,
}

impl<'s, S: Source> Writer<'s, S> {
    pub(super) fn new(source: &'s S) -> Self {
        Self { source, above: Vec::new() }
    }

    /// Appends the text of a symbol. O(text).
    pub(super) fn whole(&mut self, symbol: u32, into: &mut Vec<u8>) {
        let tokens = self.source.token_count();
        let mut symbol = symbol;
        let base = self.above.len();
        loop {
            if symbol < tokens {
                into.extend_from_slice(self.source.token(symbol));
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

    /// Appends what stands behind the last newline of a symbol that has one. O(bodies on the way to it, and text).
    pub(super) fn tail(
        &mut self,
        symbol: u32,
        has_newline: impl Fn(u32) -> bool,
        into: &mut Vec<u8>,
    ) {
        let tokens = self.source.token_count();
        let mut symbol = symbol;
        let mut behind: Vec<Range<u32>> = Vec::new();
        while symbol >= tokens {
            let body = self.source.body(symbol - tokens);
            let mut places = body.clone();
            let last = places.rfind(|&place| has_newline(self.source.symbol(place)));
            let last = last.expect("a symbol with a newline has a part with it");
            symbol = self.source.symbol(last);
            behind.push(last + 1..body.end);
        }
        let token = self.source.token(symbol);
        let start = memchr::memrchr(b'\n', token).map_or(0, |newline| newline + 1);
        into.extend_from_slice(&token[start..]);
        for places in behind.into_iter().rev() {
            for place in places {
                self.whole(self.source.symbol(place), into);
            }
        }
    }

    /// Appends the text of a piece.
    pub(super) fn piece(
        &mut self,
        piece: Piece,
        has_newline: impl Fn(u32) -> bool,
        into: &mut Vec<u8>,
    ) {
        match piece {
            Piece::Whole(symbol) => self.whole(symbol, into),
            Piece::Tail(symbol) => self.tail(symbol, has_newline, into),
        }
    }
}
