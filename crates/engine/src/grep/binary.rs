//! Which documents have a NUL byte, and where: decided on the grammar.

use std::ops::Range;

use super::source::Source;

/// The symbols of a segment that have a NUL. O(symbols) to make, if there is any.
pub(super) struct Nuls {
    /// For each symbol; empty if none has.
    marked: Vec<bool>,
}

impl Nuls {
    pub(super) fn new<S: Source>(source: &S) -> Self {
        let tokens = source.token_count();
        let has_nul = |token: u32| memchr::memchr(0, source.token(token)).is_some();
        if !source.any_token_has(0) {
            return Self { marked: Vec::new() };
        }
        let rules = source.rule_count();
        let mut marked: Vec<bool> = (0..tokens).map(has_nul).collect();
        marked.resize(tokens as usize + rules as usize, false);
        for rule in (0..rules).rev() {
            let any = source.body(rule).any(|place| marked[source.symbol(place) as usize]);
            marked[tokens as usize + rule as usize] = any;
        }
        Self { marked }
    }

    /// Where the first NUL of some symbols of the root is, counted from the first of them.
    pub(super) fn first<S: Source>(&self, source: &S, places: Range<u32>) -> Option<u64> {
        if self.marked.is_empty() {
            return None;
        }
        let mut symbols = Vec::new();
        source.read_root(places, &mut symbols);
        let at = symbols.iter().position(|&symbol| self.marked[symbol as usize])?;
        let mut offset: u64 = symbols[..at].iter().map(|&symbol| source.bytes(symbol)).sum();
        let tokens = source.token_count();
        let mut symbol = symbols[at];
        while symbol >= tokens {
            for place in source.body(symbol - tokens) {
                symbol = source.symbol(place);
                if self.marked[symbol as usize] {
                    break;
                }
                offset += source.bytes(symbol);
            }
        }
        let inside =
            memchr::memchr(0, source.token(symbol)).expect("a token that is marked has one");
        Some(offset + inside as u64)
    }
}
