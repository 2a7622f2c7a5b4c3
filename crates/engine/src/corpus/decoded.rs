//! A segment as it is decoded: its grammar and its tokens, and the lengths of its rules once they are asked for.

use std::ops::Range;
use std::sync::OnceLock;

use tadoc_core::archive::Tokens;
use tadoc_core::{Budget, Grammar, GrammarError, Share};

use super::Corpus;
use crate::error::Result;
use crate::texts::Rules;

/// A decoded segment. Lengths and newlines are summed up when they are first asked for: O(symbols).
pub(crate) struct Decoded {
    pub(crate) grammar: Grammar,
    pub(crate) tokens: Tokens,
    rule_bytes: OnceLock<Vec<u64>>,
    rule_newlines: OnceLock<Vec<u64>>,
    /// What all that is derived takes.
    pub(super) share: Share,
}

impl Decoded {
    /// Decodes a segment.
    pub(crate) fn load(corpus: &Corpus, number: usize) -> Result<Self> {
        let recorded = corpus.summary().segments[number].text_bytes;
        let (grammar, tokens) = rayon::join(
            || corpus.grammar(number),
            || -> Result<Tokens> { Ok(corpus.dictionary(number)?.tokens(recorded)?) },
        );
        Self::new(grammar?, tokens?, corpus.budget())
    }

    /// Puts grammar and tokens together; what is derived of them is taken of the budget.
    pub(super) fn new(grammar: Grammar, tokens: Tokens, budget: &Budget) -> Result<Self> {
        let bytes = 2 * size_of::<u64>() as u64 * u64::from(grammar.rule_count());
        let share = budget.take(bytes, "the lengths of rules")?;
        let (rule_bytes, rule_newlines) = (OnceLock::new(), OnceLock::new());
        Ok(Self { grammar, tokens, rule_bytes, rule_newlines, share })
    }

    /// Sums up the lengths of all rules; an error where one passes 2^64.
    pub(super) fn check_lengths(&mut self) -> Result<(), GrammarError> {
        let lengths = self.grammar.rule_weights(|token| self.tokens.length(token))?;
        self.rule_bytes = OnceLock::from(lengths);
        Ok(())
    }

    /// How many newlines a symbol's text has.
    pub(crate) fn newline_count(&self, symbol: u32) -> u64 {
        self.sum(symbol, &self.rule_newlines, |token| count_newlines(self.tokens.get(token)))
    }

    /// The weight of a token, or the sum of those of a rule's.
    fn sum(&self, symbol: u32, sums: &OnceLock<Vec<u64>>, weigh: impl Fn(u32) -> u64) -> u64 {
        match self.grammar.rule_of(symbol) {
            None => weigh(symbol),
            Some(rule) => sums.get_or_init(|| rule_sums(&self.grammar, weigh))[rule as usize],
        }
    }
}

impl Rules for Decoded {
    fn token_count(&self) -> u32 {
        self.grammar.token_count()
    }

    fn rule_count(&self) -> u32 {
        self.grammar.rule_count()
    }

    #[inline]
    fn body(&self, rule: u32) -> Range<u32> {
        let starts = self.grammar.rule_starts();
        starts[rule as usize]..starts[rule as usize + 1]
    }

    #[inline]
    fn symbol(&self, place: u32) -> u32 {
        self.grammar.symbols()[place as usize]
    }

    #[inline]
    fn token(&self, token: u32) -> &[u8] {
        self.tokens.get(token)
    }

    fn bytes(&self, symbol: u32) -> u64 {
        self.sum(symbol, &self.rule_bytes, |token| self.tokens.length(token))
    }
}

/// Newlines in some bytes.
pub(crate) fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// For each rule the sum of `weight` over its tokens; sums that pass 64 bits stay at the end of those.
fn rule_sums(grammar: &Grammar, weight: impl Fn(u32) -> u64) -> Vec<u64> {
    let mut sums = vec![0_u64; grammar.rule_count() as usize];
    for rule in (0..grammar.rule_count()).rev() {
        let weigh = |&symbol: &u32| match grammar.rule_of(symbol) {
            None => weight(symbol),
            Some(child) => sums[child as usize],
        };
        sums[rule as usize] = grammar.body(rule).iter().map(weigh).fold(0, u64::saturating_add);
    }
    sums
}
