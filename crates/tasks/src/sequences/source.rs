//! Where the sequences or pairs of a network are, in either direction.
//!
//! Top-down, a rule gives what crosses a border in its body, and its weight goes on to the rules in
//! it. Bottom-up, a rule that has a table gives all that is in the table, and its weight stays with
//! it. Whoever goes by [`Scope::descends`] and takes what [`Source::of_rule`] gives meets everything
//! as often as it occurs, and need not know which way it is.

use std::ops::Range;

use tadoc_core::{Network, Packing, Strategy};

use super::keys::Key;
use super::tables::Tables;
use super::windows::Windows;
use crate::Result;
use crate::work::Work;

/// What crosses the borders between the symbols of a network: sequences, or pairs.
pub(super) trait Crossings<'n, K>: Sync {
    /// The network that they are of.
    fn network(&self) -> &'n Network;

    /// Items of the shortest rule that has one.
    fn shortest(&self) -> u64;

    /// How many of them so many items in a row have, or `u64::MAX`.
    fn keys_in(&self, items: u64) -> u64;

    /// How many of them the symbols before a place of the grammar can end, each with what comes
    /// before it.
    fn most_before(&self, place: u32) -> u64;

    /// Calls `each` with those that cross a border in the body of a rule.
    fn of_rule(&self, rule: u32, each: impl FnMut(K));

    /// Calls `each` with those that end in a stretch of the root, and with their document's place.
    fn of_root(&self, stretch: Range<u32>, each: impl FnMut(u32, K));
}

/// The sequences or pairs of a network.
pub(super) struct Source<C, K> {
    crossings: C,
    tables: Option<Tables<K>>,
}

/// The sequences of a network, with keys `K` of which all but one item fit an `H`.
pub(super) type Sequences<'n, K, H> = Source<Windows<'n, K, H>, K>;

/// Which rules give keys, and whose weight goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'n> {
    pub(super) network: &'n Network,
    /// Items of the shortest rule that has a key.
    shortest: u64,
    /// The most items of a rule that has a table; 0 if none has.
    longest_table: u64,
}

impl Scope<'_> {
    /// Whether a rule gives keys: its weight must be known.
    #[inline]
    pub(super) fn has_any(&self, rule: u32) -> bool {
        self.network.lengths()[rule as usize] >= self.shortest
    }

    /// Whether a rule has its keys in a table.
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

impl<K: Key, H: Key> Sequences<'_, K, H> {
    /// How many sequences a symbol can end.
    pub(super) fn most_of_a_symbol(&self) -> u64 {
        self.crossings.most_of_a_symbol()
    }
}

impl<'n, K: Key, C: Crossings<'n, K>> Source<C, K> {
    pub(super) fn new(
        work: &mut Work<'_>,
        crossings: C,
        packing: Packing,
        strategy: Strategy,
    ) -> Result<Self> {
        let tables = match strategy {
            Strategy::TopDown => None,
            Strategy::BottomUp => Some(Tables::new(work, &crossings, packing)?),
        };
        Ok(Self { crossings, tables })
    }

    pub(super) fn network(&self) -> &'n Network {
        self.crossings.network()
    }

    /// Which rules give keys.
    pub(super) fn scope(&self) -> Scope<'n> {
        let longest_table = self.tables.as_ref().map_or(0, Tables::longest);
        Scope { network: self.network(), shortest: self.crossings.shortest(), longest_table }
    }

    /// Calls `each` with the keys that a rule gives.
    #[inline]
    pub(super) fn of_rule(&self, rule: u32, mut each: impl FnMut(K)) {
        match &self.tables {
            Some(tables) if self.scope().has_table(rule) => {
                tables.get(rule).iter().for_each(|&key| each(key));
            }
            _ => self.crossings.of_rule(rule, each),
        }
    }

    /// Calls `each` with the keys that end in a stretch of the root, and with their document's place.
    #[inline]
    pub(super) fn of_root(&self, stretch: Range<u32>, each: impl FnMut(u32, K)) {
        self.crossings.of_root(stretch, each);
    }

    /// How many keys a rule gives, at most.
    pub(super) fn most_of(&self, rule: u32) -> u64 {
        self.most_before(rule + 1) - self.most_before(rule)
    }

    /// How many keys the root and all rules before one give, at most.
    fn most_before(&self, rule: u32) -> u64 {
        let start = self.network().grammar().rule_starts()[rule as usize];
        let in_tables = self.tables.as_ref().map_or(0, |tables| tables.before(rule));
        self.crossings.most_before(start) + in_tables
    }

    /// How many keys root and rules give, at most.
    pub(super) fn most(&self) -> u64 {
        self.most_before(self.network().grammar().rule_count())
    }

    /// Cuts the root and then the rules into stretches that give at most so many keys each; symbols of
    /// the root and rules are never cut.
    pub(super) fn stretches(&self, most: u64) -> Vec<Stretch> {
        let grammar = self.network().grammar();
        let of_root = runs(grammar.root().len() as u32, most, |at| self.crossings.most_before(at));
        let of_rules = runs(grammar.rule_count(), most, |rule| self.most_before(rule));
        of_root.map(Stretch::Root).chain(of_rules.map(Stretch::Rules)).collect()
    }
}

/// Cuts the numbers up to `end` into runs of at most `most`, or of one number; `before` says how much all
/// before a number are.
fn runs(end: u32, most: u64, before: impl Fn(u32) -> u64) -> impl Iterator<Item = Range<u32>> {
    let mut first = 0;
    std::iter::from_fn(move || {
        if first == end {
            return None;
        }
        let limit = before(first).saturating_add(most);
        let (mut low, mut high) = (first + 1, end);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if before(middle) <= limit {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Some(std::mem::replace(&mut first, low)..low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_as_they_may_be() {
        let before = |number: u32| [0, 3, 3, 9, 10, 11, 30, 31][number as usize];
        let cut = |most| runs(7, most, before).collect::<Vec<_>>();
        assert_eq!(cut(0), [0..1, 1..2, 2..3, 3..4, 4..5, 5..6, 6..7]);
        assert_eq!(cut(3), [0..2, 2..3, 3..5, 5..6, 6..7]);
        assert_eq!(cut(9), [0..3, 3..5, 5..6, 6..7]);
        assert_eq!(cut(u64::MAX), vec![0..7]);
        assert_eq!(runs(0, 5, before).count(), 0);
    }
}
