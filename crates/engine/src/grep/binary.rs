//! Which documents have a NUL byte, and where: decided on the grammar.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::source::Source;

/// The symbols of a segment that have a NUL.
pub(super) enum Nuls {
    /// For each symbol; empty if none has.
    All(Vec<bool>),
    /// For those that were met.
    Met(HashMap<u32, bool>),
}

impl Nuls {
    /// Looks at all symbols: O(symbols) if any has a NUL, else O(bytes of tokens).
    pub(super) fn of_all<S: Source>(source: &S) -> Self {
        let tokens = source.token_count();
        if !source.any_token_has(0) {
            return Self::All(Vec::new());
        }
        let rules = source.rule_count();
        let mut marked: Vec<bool> = (0..tokens).map(|token| token_has_nul(source, token)).collect();
        marked.resize(tokens as usize + rules as usize, false);
        for rule in (0..rules).rev() {
            let any = source.body(rule).any(|place| marked[source.symbol(place) as usize]);
            marked[tokens as usize + rule as usize] = any;
        }
        Self::All(marked)
    }

    /// Looks at symbols when they are met: for a few documents.
    pub(super) fn of_met() -> Self {
        Self::Met(HashMap::new())
    }

    /// Whether a symbol's text has one.
    fn has<S: Source>(&mut self, source: &S, symbol: u32) -> bool {
        let met = match self {
            Self::All(marked) => return marked.get(symbol as usize).is_some_and(|&has| has),
            Self::Met(met) => met,
        };
        if let Some(&has) = met.get(&symbol) {
            return has;
        }
        let tokens = source.token_count();
        // Rules with what is left of their bodies; what is before that has no NUL.
        let mut open: Vec<(u32, Range<u32>)> = Vec::new();
        let mut next = symbol;
        loop {
            let known = met.get(&next).copied();
            let has = known.unwrap_or_else(|| next < tokens && token_has_nul(source, next));
            match known {
                None if next >= tokens => open.push((next, source.body(next - tokens))),
                _ => drop(met.insert(next, has)),
            }
            next = loop {
                let Some((rule, rest)) = open.last_mut() else { return has };
                if let Some(place) = rest.next().filter(|_| !has) {
                    break source.symbol(place);
                }
                met.insert(*rule, has);
                open.pop();
            };
        }
    }

    /// Where the first NUL of each of some documents is, on all threads if all symbols were looked
    /// at.
    pub(super) fn of_documents<S: Source>(
        mut self,
        source: &S,
        documents: &[(usize, usize)],
    ) -> Vec<Option<u64>> {
        match &self {
            Self::All(marked) if marked.is_empty() => vec![None; documents.len()],
            Self::All(marked) => {
                let first = |&(_, own): &(usize, usize)| {
                    let has = |symbol: u32| marked[symbol as usize];
                    first(source, source.document_root(own), has)
                };
                documents.par_iter().map(first).collect()
            }
            Self::Met(_) => {
                let places = documents.iter().map(|&(_, own)| source.document_root(own));
                places.map(|places| self.first(source, places)).collect()
            }
        }
    }

    /// Where the first NUL of some symbols of the root is, counted from the first of them.
    pub(super) fn first<S: Source>(&mut self, source: &S, places: Range<u32>) -> Option<u64> {
        first(source, places, |symbol| self.has(source, symbol))
    }
}

/// Where the first NUL of some symbols of the root is, if it is known which symbols have one.
fn first<S: Source>(
    source: &S,
    places: Range<u32>,
    mut has: impl FnMut(u32) -> bool,
) -> Option<u64> {
    let mut symbols = Vec::new();
    source.read_root(places, &mut symbols);
    let at = symbols.iter().position(|&symbol| has(symbol))?;
    let mut offset: u64 = symbols[..at].iter().map(|&symbol| source.bytes(symbol)).sum();
    let tokens = source.token_count();
    let mut symbol = symbols[at];
    while symbol >= tokens {
        for place in source.body(symbol - tokens) {
            symbol = source.symbol(place);
            if has(symbol) {
                break;
            }
            offset += source.bytes(symbol);
        }
    }
    let inside = memchr::memchr(0, source.token(symbol)).expect("a token that is marked has one");
    Some(offset + inside as u64)
}

fn token_has_nul<S: Source>(source: &S, token: u32) -> bool {
    memchr::memchr(0, source.token(token)).is_some()
}
