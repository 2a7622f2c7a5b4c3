//! Where the sequences of a network are, in either direction.
//!
//! Top-down, a rule gives the sequences that cross a border in its body, and its weight goes on to the rules in it. Bottom-up, a
//! rule that has a table gives all that is in the table, and its weight stays with it. Whoever goes by [`Scope::descends`] and takes what
//! [`Source::of_rule`] gives meets every sequence as often as it occurs, and need not know which way it is.

use std::ops::Range;

use tadoc_core::{Network, Strategy};

use super::keys::Key;
use super::labels::Packing;
use super::tables::Tables;
use super::windows::Windows;
use crate::Result;
use crate::work::Work;

/// The sequences of a network.
pub(super) struct Source<'n, K, H> {
    windows: Windows<'n, K, H>,
    tables: Option<Tables<K>>,
}

/// Which rules give sequences, and whose weight goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'n> {
    pub(super) network: &'n Network,
    /// Items of a sequence.
    n: u64,
    /// The most items of a rule that has a table; 0 if none has.
    longest_table: u64,
}

impl Scope<'_> {
    /// Whether a rule gives sequences: its weight must be known.
    #[inline]
    pub(super) fn has_any(&self, rule: u32) -> bool {
        self.network.lengths()[rule as usize] >= self.n
    }

    /// Whether a rule has its sequences in a table.
    #[inline]
    fn has_table(&self, rule: u32) -> bool {
        self.network.lengths()[rule as usize] <= self.longest_table
    }

    /// Whether the weight of a rule goes on to the rules in it.
    #[inline]
    pub(super) fn descends(&self, rule: u32) -> bool {
        self.has_any(rule) && !self.has_table(rule)
    }
}

/// What one operation goes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stretch {
    /// Symbols of the root.
    Root(Range<u32>),
    /// Rules.
    Rules(Range<u32>),
}

impl<'n, K: Key, H: Key> Source<'n, K, H> {
    pub(super) fn new(
        work: &mut Work<'_>,
        network: &'n Network,
        packing: Packing,
        strategy: Strategy,
    ) -> Result<Self> {
        let windows = Windows::new(work, network, packing)?;
        let tables = match strategy {
            Strategy::TopDown => None,
            Strategy::BottomUp => Some(Tables::new(work, &windows, packing)?),
        };
        Ok(Self { windows, tables })
    }

    pub(super) fn network(&self) -> &'n Network {
        self.windows.network()
    }

    /// Which rules give sequences.
    pub(super) fn scope(&self) -> Scope<'n> {
        let longest_table = self.tables.as_ref().map_or(0, Tables::longest);
        Scope { network: self.network(), n: self.windows.n() as u64, longest_table }
    }

    /// Calls `each` with the sequences that a rule gives.
    #[inline]
    pub(super) fn of_rule(&self, rule: u32, mut each: impl FnMut(K)) {
        match &self.tables {
            Some(tables) if self.scope().has_table(rule) => {
                tables.get(rule).iter().for_each(|&key| each(key));
            }
            _ => self.windows.of_rule(rule, each),
        }
    }

    /// Calls `each` with the sequences that end in a stretch of the root, and with their document's place.
    #[inline]
    pub(super) fn of_root(&self, stretch: Range<u32>, each: impl FnMut(u32, K)) {
        self.windows.of_root(stretch, each);
    }

    /// How many sequences a symbol can end: an item one, a rule as many as its head has items.
    pub(super) fn most_of_a_symbol(&self) -> u64 {
        (self.windows.n() as u64 - 1).max(1)
    }

    /// How many sequences a rule gives, at most.
    pub(super) fn most_of(&self, rule: u32) -> u64 {
        self.most_before(rule + 1) - self.most_before(rule)
    }

    /// How many sequences all rules before one give, at most.
    fn most_before(&self, rule: u32) -> u64 {
        let symbols = u64::from(self.network().grammar().rule_starts()[rule as usize]);
        let in_tables = self.tables.as_ref().map_or(0, |tables| tables.before(rule));
        symbols * self.most_of_a_symbol() + in_tables
    }

    /// How many sequences root and rules give, at most.
    pub(super) fn most(&self) -> u64 {
        self.most_before(self.network().grammar().rule_count())
    }

    /// Cuts the root and then the rules into stretches that give at most so many sequences each; a rule is never cut.
    pub(super) fn stretches(&self, most: u64) -> Vec<Stretch> {
        let grammar = self.network().grammar();
        let mut stretches = Vec::new();
        let symbols = (most / self.most_of_a_symbol()).clamp(1, u32::MAX.into()) as u32;
        let end = grammar.root().len() as u32;
        for start in (0..end).step_by(symbols as usize) {
            stretches.push(Stretch::Root(start..end.min(start.saturating_add(symbols))));
        }
        let mut first = 0;
        while first < grammar.rule_count() {
            let limit = self.most_before(first) + most;
            let (mut low, mut high) = (first + 1, grammar.rule_count());
            while low < high {
                let middle = low + (high - low).div_ceil(2);
                if self.most_before(middle) <= limit {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            stretches.push(Stretch::Rules(first..low));
            first = low;
        }
        stretches
    }
}
