//! Expansion of symbols to tokens, one token at a time.

use super::Grammar;

/// Iterates over the tokens that a run of symbols expands to.
///
/// O(1) amortised a token, O(depth) memory: it never holds more than one body position a level, so a
/// grammar that would expand to exabytes is read as far as the caller wants and no further.
#[derive(Debug, Clone)]
pub struct Expander<'g> {
    grammar: &'g Grammar,
    current: std::slice::Iter<'g, u32>,
    above: Vec<std::slice::Iter<'g, u32>>,
}

impl<'g> Expander<'g> {
    pub(super) fn new(grammar: &'g Grammar, symbols: &'g [u32]) -> Self {
        Self { grammar, current: symbols.iter(), above: Vec::new() }
    }
}

impl Iterator for Expander<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            match self.current.next() {
                Some(&symbol) => match self.grammar.rule_of(symbol) {
                    None => return Some(symbol),
                    Some(rule) => {
                        let body = self.grammar.body(rule).iter();
                        let rest = std::mem::replace(&mut self.current, body);
                        // A finished body needs no place on the stack: chains stay O(1).
                        if !rest.as_slice().is_empty() {
                            self.above.push(rest);
                        }
                    }
                },
                None => self.current = self.above.pop()?,
            }
        }
    }
}
