//! Text of symbols: whole, or from a newline on.
//!
//! Where much is written, the texts of short rules are written out once ([`Texts`]), so that most is copied in runs of
//! dozens of bytes and not token by token.

use std::ops::Range;

use tadoc_core::Budget;

use super::source::Source;

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// All of a symbol's text.
    Whole(u32),
    /// What stands behind the last newline of a symbol's text.
    Tail(u32),
}

/// Rules of a longer text are not written out.
const LONGEST_TEXT: u64 = 256;
/// Bytes of texts for each symbol of the rules, and for all.
const TEXT_PER_SYMBOL: usize = 16;
const MOST_TEXT: usize = 1 << 30;
/// The text of this rule is not written out.
const NOT_WRITTEN: u32 = u32::MAX;

/// The texts of short rules.
pub(super) struct Texts {
    bytes: Vec<u8>,
    /// Where the text of each rule starts and how long it is.
    places: Vec<(u32, u16)>,
}

impl Texts {
    /// Writes out texts, children first, until there is no more room. O(symbols and texts).
    pub(super) fn new<S: Source>(source: &S, budget: &Budget) -> Self {
        let (tokens, rules) = (source.token_count(), source.rule_count());
        let symbols: usize = (0..rules).map(|rule| source.body(rule).len()).sum();
        let room = (symbols * TEXT_PER_SYMBOL).min(MOST_TEXT);
        let room = room.min((budget.left() / 4) as usize);
        let mut bytes: Vec<u8> = Vec::with_capacity(room);
        let mut places = vec![(NOT_WRITTEN, 0); rules as usize];
        for rule in (0..rules).rev() {
            let start = bytes.len();
            let length = source.bytes(tokens + rule);
            if length > LONGEST_TEXT || start + length as usize > room {
                continue;
            }
            let written = source.body(rule).all(|place| {
                let symbol = source.symbol(place);
                let Some(child) = symbol.checked_sub(tokens) else {
                    bytes.extend_from_slice(source.token(symbol));
                    return true;
                };
                let (from, length) = places[child as usize];
                let is_written = from != NOT_WRITTEN;
                if is_written {
                    bytes.extend_from_within(from as usize..from as usize + usize::from(length));
                }
                is_written
            });
            match written {
                true => places[rule as usize] = (start as u32, (bytes.len() - start) as u16),
                false => bytes.truncate(start),
            }
        }
        Self { bytes, places }
    }

    #[inline]
    fn get(&self, rule: u32) -> Option<&[u8]> {
        let (start, length) = self.places[rule as usize];
        let start = start as usize;
        (start != NOT_WRITTEN as usize).then(|| &self.bytes[start..start + usize::from(length)])
    }
}

/// Writes out texts of a segment's symbols.
pub(super) struct Writer<'s, S> {
    source: &'s S,
    texts: Option<&'s Texts>,
    /// Bodies that are not yet written to their ends.
    above: Vec<Range<u32>>,
}

impl<'s, S: Source> Writer<'s, S> {
    pub(super) fn new(source: &'s S) -> Self {
        Self { source, texts: None, above: Vec::new() }
    }

    /// Uses texts that are written out.
    pub(super) fn with_texts(source: &'s S, texts: &'s Texts) -> Self {
        Self { source, texts: Some(texts), above: Vec::new() }
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
    pub(super) fn length(&self, piece: Piece, has_newline: impl Fn(u32) -> bool) -> u64 {
        let (token, behind) = match piece {
            Piece::Whole(symbol) => return self.source.bytes(symbol),
            Piece::Tail(symbol) => self.tail_parts(symbol, has_newline),
        };
        let symbols = behind.into_iter().flatten().map(|place| self.source.symbol(place));
        symbols
            .fold(token.len() as u64, |sum, symbol| sum.saturating_add(self.source.bytes(symbol)))
    }

    /// The part of a token behind the last newline of a symbol that has one, and the places behind it, innermost last.
    fn tail_parts(
        &self,
        symbol: u32,
        has_newline: impl Fn(u32) -> bool,
    ) -> (&'s [u8], Vec<Range<u32>>) {
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
        (&token[start..], behind)
    }

    /// Appends what stands behind the last newline of a symbol that has one. O(bodies on the way to it, and text).
    pub(super) fn tail(
        &mut self,
        symbol: u32,
        has_newline: impl Fn(u32) -> bool,
        into: &mut Vec<u8>,
    ) {
        let (token, behind) = self.tail_parts(symbol, has_newline);
        into.extend_from_slice(token);
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
