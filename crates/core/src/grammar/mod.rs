//! A straight-line grammar over tokens: the root, cut into documents, and rules that repeat inside.
//!
//! A symbol is a `u32`. Symbols below [`Grammar::token_count`] are tokens; the symbol
//! `token_count + r` stands for rule `r`. All bodies lie in one array, the root first and the rules
//! behind it in order, so a grammar costs 4 bytes a symbol and 4 bytes a rule.
//!
//! Rules are numbered so that parents come before children: rule `r` uses only rules above `r`.
//! One pass upwards visits every parent before its children (top-down), one pass downwards every
//! child before its parents (bottom-up), and no cycle can be written down.

mod expand;

use std::ops::Range;

use rayon::prelude::*;

use crate::Array;
use crate::budget::{Budget, Counted, Share};
use crate::parallel::map_chunks;
use crate::spill::{Spill, SpillVec};

pub use expand::Expander;

/// Symbols checked by a thread at a time.
const CHECKED_AT_ONCE: usize = 1 << 14;
/// Rules checked by a thread at a time.
const RULES_AT_ONCE: u32 = 1 << 14;

/// What is wrong with a grammar that was put together by hand or read from a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// A symbol is neither a token nor a rule.
    #[error("symbol {symbol} at position {position} is beyond the {limit} symbols that exist")]
    UnknownSymbol {
        /// The symbol found.
        symbol: u32,
        /// Its position in the array of all bodies.
        position: usize,
        /// How many symbols (tokens and rules) there are.
        limit: u64,
    },
    /// A rule uses itself or a rule numbered before it.
    #[error("rule {rule} uses rule {child}, but a rule may use only rules of a higher number")]
    NotTopological {
        /// The rule whose body is wrong.
        rule: u32,
        /// The rule that it uses.
        child: u32,
    },
    /// The boundaries of rules or documents do not ascend or do not cover the bodies.
    #[error("{what} boundary {index} is {found}, outside of {low}..={high}")]
    BadBoundary {
        /// `rule` or `document`.
        what: &'static str,
        /// Which boundary.
        index: usize,
        /// The value found.
        found: u64,
        /// The least that it may be.
        low: u64,
        /// The most that it may be.
        high: u64,
    },
    /// More symbols than 32 bits can number.
    #[error("{tokens} tokens and {rules} rules are more symbols than 32 bits can number")]
    TooManySymbols {
        /// Number of tokens.
        tokens: u64,
        /// Number of rules.
        rules: u64,
    },
    /// A document would expand past 64-bit lengths.
    #[error("rule {rule} would expand to more than 2^64 units")]
    LengthOverflow {
        /// The rule whose length overflows (`u32::MAX` stands for the root).
        rule: u32,
    },
}

/// The tokens of a corpus, document after document: what a grammar builder is given, and what a
/// grammar expands to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenSequence {
    /// How many different tokens there are; every token is below it.
    pub token_count: u32,
    /// The tokens of all documents, one after the other.
    pub tokens: Vec<u32>,
    /// Where each document starts in `tokens`, and behind the last one the length of `tokens`.
    pub document_starts: Vec<u32>,
}

impl TokenSequence {
    /// Number of documents.
    pub fn document_count(&self) -> usize {
        self.document_starts.len().saturating_sub(1)
    }
}

/// A grammar, as the module's page describes it. Immutable; checked when made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar {
    token_count: u32,
    symbols: Array<u32>,
    rule_starts: Array<u32>,
    document_starts: Array<u32>,
    held: Counted<()>,
}

impl Grammar {
    /// Checks the parts and puts them together. O(symbols), on all threads.
    ///
    /// `symbols` holds the root and then the bodies of the rules; `rule_starts[r]` is where rule `r`
    /// starts, and its last entry is the length of `symbols`, so it is never empty; the root ends
    /// where the first rule starts. `document_starts` cuts the root likewise.
    pub fn new(
        token_count: u32,
        symbols: impl Into<Array<u32>>,
        rule_starts: impl Into<Array<u32>>,
        document_starts: impl Into<Array<u32>>,
    ) -> Result<Self, GrammarError> {
        let (symbols, rule_starts, document_starts) =
            (symbols.into(), rule_starts.into(), document_starts.into());
        let total = symbols.len() as u64;
        let rules = (rule_starts.len() as u64).saturating_sub(1);
        let limit = u64::from(token_count).saturating_add(rules);
        let limit = u32::try_from(limit).ok().filter(|_| total <= u64::from(u32::MAX));
        let limit =
            limit.ok_or(GrammarError::TooManySymbols { tokens: token_count.into(), rules })?;
        let root_end = u64::from(*rule_starts.first().unwrap_or(&u32::MAX));
        check_boundaries("rule", &rule_starts, 0, total, total)?;
        check_boundaries("document", &document_starts, 0, root_end, root_end)?;
        if document_starts.first() != Some(&0) {
            return Err(GrammarError::BadBoundary {
                what: "document",
                index: 0,
                found: document_starts.first().copied().unwrap_or(u32::MAX).into(),
                low: 0,
                high: 0,
            });
        }
        let held = Counted::default();
        let grammar = Self { token_count, symbols, rule_starts, document_starts, held };
        grammar.check_symbols(limit)?;
        Ok(grammar)
    }

    /// The same, with what its memory takes of a budget: given back with it.
    pub(crate) fn holding(self, share: Share) -> Self {
        Self { held: Counted::new((), share), ..self }
    }

    /// The same; large rows that are derived of it lie where `spill` says.
    pub fn spilling(self, spill: &Spill) -> Self {
        self.holding(Budget::spilling(u64::MAX, spill.clone()).share())
    }

    /// Where large rows lie that are derived of it.
    pub fn spill(&self) -> Spill {
        self.held.share().map(|share| share.spill().clone()).unwrap_or_default()
    }

    fn check_symbols(&self, limit: u32) -> Result<(), GrammarError> {
        let unknown = |position: usize, symbol: u32| GrammarError::UnknownSymbol {
            symbol,
            position,
            limit: limit.into(),
        };
        let beyond = |symbols: &[u32]| {
            symbols.par_chunks(CHECKED_AT_ONCE).enumerate().find_map_first(|(number, chunk)| {
                // Looking whether there is one is quicker than looking where.
                let highest = chunk.iter().fold(0, |highest, &symbol| highest.max(symbol));
                (highest >= limit).then_some(number * CHECKED_AT_ONCE)
            })
        };
        // A rule may use tokens and the rules above itself.
        let (rules, slices) = (self.rule_count(), self.slices());
        let is_wrong = |rule: u32| {
            let own = self.token_count + rule;
            slices.body(rule).iter().fold(false, |is_wrong, &symbol| {
                is_wrong | (symbol >= self.token_count && symbol <= own) | (symbol >= limit)
            })
        };
        let wrong = (0..rules.div_ceil(RULES_AT_ONCE)).into_par_iter().find_map_first(|number| {
            let first = number * RULES_AT_ONCE;
            (first..rules.min(first.saturating_add(RULES_AT_ONCE))).find(|&rule| is_wrong(rule))
        });
        // What is wrong is looked for anew, from the first symbol on.
        if wrong.is_some() || beyond(self.root()).is_some() {
            let position = self.symbols.iter().position(|&symbol| symbol >= limit);
            if let Some(position) = position {
                return Err(unknown(position, self.symbols[position]));
            }
        }
        let wrong = wrong.map(|rule| {
            let own = self.token_count + rule;
            let mut body = slices.body(rule).iter();
            let child = body.find(|&&symbol| symbol >= self.token_count && symbol <= own);
            (rule, child.map_or(rule, |child| child - self.token_count))
        });
        match wrong {
            Some((rule, child)) => Err(GrammarError::NotTopological { rule, child }),
            None => Ok(()),
        }
    }

    /// The arrays themselves, for loops in which every step counts.
    #[inline]
    pub fn slices(&self) -> Slices<'_> {
        Slices {
            token_count: self.token_count,
            symbols: &self.symbols,
            rule_starts: &self.rule_starts,
        }
    }

    /// How many different tokens there are.
    pub fn token_count(&self) -> u32 {
        self.token_count
    }

    /// How many rules there are; the root is not counted.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`new` has seen that rules are numbered in 32 bits"
    )]
    pub fn rule_count(&self) -> u32 {
        (self.rule_starts.len() - 1) as u32
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.document_starts.len() - 1
    }

    /// All bodies: the root, then the rules in order.
    pub fn symbols(&self) -> &[u32] {
        &self.symbols
    }

    /// Where each rule starts in [`Grammar::symbols`], with the end behind the last.
    pub fn rule_starts(&self) -> &[u32] {
        &self.rule_starts
    }

    /// Where each document starts in [`Grammar::root`], with the end behind the last.
    pub fn document_starts(&self) -> &[u32] {
        &self.document_starts
    }

    /// The symbols of all documents.
    pub fn root(&self) -> &[u32] {
        &self.symbols[..self.rule_starts[0] as usize]
    }

    /// The body of one rule.
    ///
    /// # Panics
    /// If there is no such rule.
    #[inline]
    pub fn body(&self, rule: u32) -> &[u32] {
        self.slices().body(rule)
    }

    /// The symbols of one document.
    ///
    /// # Panics
    /// If there is no such document.
    pub fn document(&self, document: usize) -> &[u32] {
        &self.root()
            [self.document_starts[document] as usize..self.document_starts[document + 1] as usize]
    }

    /// The rule that a symbol stands for, or `None` for a token.
    #[inline]
    pub fn rule_of(&self, symbol: u32) -> Option<u32> {
        symbol.checked_sub(self.token_count)
    }

    /// For each rule the sum of `weight` over the tokens that it expands to, or an error where a sum
    /// passes 2^64. With a weight of 1 these are lengths in tokens; with the tokens' lengths, bytes.
    /// O(symbols).
    pub fn rule_weights(&self, weight: impl Fn(u32) -> u64) -> Result<Vec<u64>, GrammarError> {
        let mut sums = vec![0_u64; self.rule_count() as usize];
        for rule in (0..self.rule_count()).rev() {
            let sum = self.body(rule).iter().try_fold(0_u64, |sum, &symbol| {
                sum.checked_add(match self.rule_of(symbol) {
                    None => weight(symbol),
                    Some(child) => sums[child as usize],
                })
            });
            sums[rule as usize] = sum.ok_or(GrammarError::LengthOverflow { rule })?;
        }
        Ok(sums)
    }

    /// How often each symbol stands in rows: tokens, then rules. On all threads where it is one row
    /// and that is long enough for a table each.
    pub fn count_symbols(&self, rows: &[&[u32]]) -> SpillVec<u32> {
        let spill = self.spill();
        let size = (self.token_count() + self.rule_count()) as usize;
        let count = |row: &[u32], counts: &mut [u32]| {
            row.iter().for_each(|&symbol| counts[symbol as usize] += 1);
        };
        let [row] = rows else {
            let mut counts = spill.filled(0_u32, size);
            rows.iter().for_each(|row| count(row, &mut counts));
            return counts;
        };
        let tables = rayon::current_num_threads().min(row.len() / size.max(1));
        let at_once = row.len().div_ceil(tables.max(1)).max(1);
        let counted: Vec<SpillVec<u32>> = map_chunks(row, at_once, &|_, stretch: &[u32]| {
            let mut counts = spill.filled(0_u32, size);
            count(stretch, &mut counts);
            counts
        });
        let sum = |mut sums: SpillVec<u32>, counts: SpillVec<u32>| {
            sums.par_iter_mut().zip(&counts[..]).for_each(|(sum, count)| *sum += count);
            sums
        };
        counted.into_iter().reduce(sum).unwrap_or_else(|| spill.filled(0, size))
    }

    /// The longest chain of rules below each other; 0 for a grammar without rules. O(symbols).
    pub fn depth(&self) -> u32 {
        let mut depths = vec![1_u32; self.rule_count() as usize];
        let mut deepest = 0;
        for rule in (0..self.rule_count()).rev() {
            for &symbol in self.body(rule) {
                if let Some(child) = self.rule_of(symbol) {
                    depths[rule as usize] = depths[rule as usize].max(depths[child as usize] + 1);
                }
            }
            deepest = deepest.max(depths[rule as usize]);
        }
        deepest
    }

    /// The tokens of a run of symbols, expanded one after the other in O(1) a token (amortised) and
    /// O(depth) memory.
    pub fn expand<'g>(&'g self, symbols: &'g [u32]) -> Expander<'g> {
        Expander::new(self, symbols)
    }
}

/// The arrays of a grammar, wherever they lie.
#[derive(Debug, Clone, Copy)]
pub struct Slices<'g> {
    token_count: u32,
    symbols: &'g [u32],
    rule_starts: &'g [u32],
}

impl<'g> Slices<'g> {
    /// The body of one rule.
    ///
    /// # Panics
    /// If there is no such rule.
    #[inline]
    pub fn body(self, rule: u32) -> &'g [u32] {
        let rule = rule as usize;
        &self.symbols[self.rule_starts[rule] as usize..self.rule_starts[rule + 1] as usize]
    }

    /// The rule that a symbol stands for, or `None` for a token.
    #[inline]
    pub fn rule_of(self, symbol: u32) -> Option<u32> {
        symbol.checked_sub(self.token_count)
    }

    /// Cuts rules into runs in which none uses another one, parents before children: where each run
    /// starts. A run ends before the least rule that any of it uses. Rules are numbered in the order
    /// in which their last use is read, so there are about as many runs as the grammar is deep.
    /// A pass over the bodies on all threads, and one over the rules.
    pub fn levels(self, rules: Range<u32>) -> Vec<u32> {
        let first_child = |rule: u32| {
            let children = self.body(rule).iter().filter_map(|&symbol| self.rule_of(symbol));
            children.min().unwrap_or(u32::MAX)
        };
        let numbers = rules.clone().into_par_iter().with_min_len(RULES_AT_ONCE as usize);
        let mut first_children = vec![0; rules.len()];
        numbers.map(first_child).collect_into_vec(&mut first_children);
        let (mut starts, mut end) = (Vec::new(), rules.start);
        for (rule, child) in rules.zip(first_children) {
            if rule >= end {
                starts.push(rule);
                end = u32::MAX;
            }
            end = end.min(child);
        }
        starts
    }
}

/// Whether boundaries ascend inside `low..=high` and the last is `end`. On all threads.
fn is_sound(boundaries: &[u32], low: u64, high: u64, end: u64) -> bool {
    let (Some(&first), Some(&last)) = (boundaries.first(), boundaries.last()) else {
        return false;
    };
    // Each stretch has the first one behind it too.
    let stretches = boundaries.len().div_ceil(CHECKED_AT_ONCE);
    let ascends = |stretch: usize| {
        let start = stretch * CHECKED_AT_ONCE;
        boundaries[start..boundaries.len().min(start + CHECKED_AT_ONCE + 1)].is_sorted()
    };
    let fits = low <= u64::from(first) && u64::from(last) == end && end <= high;
    fits && (0..stretches).into_par_iter().all(ascends)
}

/// Checks that boundaries ascend inside `low..=high` and that the last is `end`.
fn check_boundaries(
    what: &'static str,
    boundaries: &[u32],
    low: u64,
    high: u64,
    end: u64,
) -> Result<(), GrammarError> {
    if is_sound(boundaries, low, high, end) {
        return Ok(());
    }
    let mut least = low;
    for (index, &boundary) in boundaries.iter().enumerate() {
        let found = u64::from(boundary);
        let last = index + 1 == boundaries.len();
        if found < least || found > high || (last && found != end) {
            let low = if last { end } else { least };
            return Err(GrammarError::BadBoundary { what, index, found, low, high });
        }
        least = found;
    }
    if boundaries.is_empty() {
        return Err(GrammarError::BadBoundary { what, index: 0, found: 0, low: end, high: end });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a b a b c a b` in two documents, with one rule `a b`.
    fn sample() -> Grammar {
        Grammar::new(3, vec![3, 3, 2, 3, 0, 1], vec![4, 6], vec![0, 2, 4]).unwrap()
    }

    #[test]
    fn parts_are_where_they_belong() {
        let grammar = sample();
        assert_eq!(grammar.root(), [3, 3, 2, 3]);
        assert_eq!(grammar.body(0), [0, 1]);
        assert_eq!(grammar.document(1), [2, 3]);
        assert_eq!(grammar.depth(), 1);
        assert_eq!(grammar.rule_weights(|_| 1).unwrap(), [2]);
        let tokens: Vec<u32> = grammar.expand(grammar.root()).collect();
        assert_eq!(tokens, [0, 1, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let unknown = Grammar::new(3, vec![9], vec![1], vec![0, 1]);
        assert!(matches!(unknown, Err(GrammarError::UnknownSymbol { symbol: 9, .. })));
        let cycle = Grammar::new(1, vec![1, 1], vec![1, 2], vec![0, 1]);
        assert!(matches!(cycle, Err(GrammarError::NotTopological { rule: 0, child: 0 })));
        let short = Grammar::new(1, vec![0, 0], vec![1], vec![0, 1]);
        assert!(matches!(short, Err(GrammarError::BadBoundary { what: "rule", .. })));
        let unordered = Grammar::new(1, vec![0, 0], vec![2], vec![0, 2, 1]);
        assert!(matches!(unordered, Err(GrammarError::BadBoundary { what: "document", .. })));
        assert!(Grammar::new(1, vec![], vec![], vec![0]).is_err());
        assert!(Grammar::new(1, vec![], vec![0], vec![]).is_err());
    }

    #[test]
    fn lengths_that_pass_64_bits_are_an_error_and_never_a_wrap() {
        // 70 rules, each the next one twice: 2^70 tokens.
        let mut symbols = vec![1];
        for rule in 0..70_u32 {
            let child = if rule == 69 { 0 } else { rule + 2 };
            symbols.extend([child, child]);
        }
        let starts: Vec<u32> = (0..=70).map(|rule| 1 + 2 * rule).collect();
        let grammar = Grammar::new(1, symbols, starts, vec![0, 1]).unwrap();
        assert!(matches!(grammar.rule_weights(|_| 1), Err(GrammarError::LengthOverflow { .. })));
        assert_eq!(grammar.depth(), 70);
        assert_eq!(grammar.expand(grammar.root()).take(1000).count(), 1000);
    }
}
