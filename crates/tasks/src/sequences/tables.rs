//! Bottom-up: the sequences or pairs of short rules, written out.
//!
//! The table of a rule is the row of all keys inside what it expands to, as often as they occur: those
//! that cross a border in its body, and the tables of the rules in it. How many a rule has follows from
//! its length, so where each table is, is known before any is made. Long rules have no table and are
//! looked into instead, up to a bound on all tables together.
//!
//! Cost and pool: a key for each sequence or pair of each rule that has a table.

use tadoc_core::{Array, Packing};

use super::keys::Key;
use super::source::Crossings;
use crate::Result;
use crate::work::{Starts, Work, level_end};

/// All tables have at most so many entries for each symbol of the grammar.
const ENTRIES_PER_SYMBOL: u64 = 2;
/// But so many are always allowed.
const FEW_ENTRIES: u64 = 1 << 16;

/// The tables of rules.
pub(super) struct Tables<K> {
    /// Rules of more items have no table.
    longest: u64,
    /// Where the table of each rule starts, and behind the last one where it ends.
    starts: Array<u64>,
    entries: Array<K>,
}

impl<K: Key> Tables<K> {
    /// Makes the tables of all rules that are short enough.
    pub(super) fn new<'n>(
        work: &mut Work<'_>,
        crossings: &impl Crossings<'n, K>,
        packing: Packing,
    ) -> Result<Self> {
        let network = crossings.network();
        let lengths = network.lengths();
        let symbols = network.grammar().symbols().len() as u64;
        let keys_in = |items: u64| crossings.keys_in(items);
        let longest = longest(lengths, keys_in, (ENTRIES_PER_SYMBOL * symbols).max(FEW_ENTRIES));
        let entries_of = |rule: usize| match lengths[rule] {
            length if length <= longest => keys_in(length),
            _ => 0,
        };
        // One sum over all rules, so one operation.
        let follow = |_, starts: &[u64]| {
            starts[0] == 0
                && (0..lengths.len()).all(|rule| {
                    starts[rule].checked_add(entries_of(rule)) == Some(starts[rule + 1])
                })
        };
        let all = [0, lengths.len() + 1];
        let starts = work.fill("starts of tables", &all, follow, |_, starts| {
            for rule in 0..lengths.len() {
                starts[rule + 1] = starts[rule] + entries_of(rule);
            }
        })?;
        let at = Starts::At(&starts);
        let grammar = network.grammar().slices();
        let levels = network.levels();
        let are_sequences = |_, own: &[K], _: &[K]| own.iter().all(|&key| key.is_sequence(packing));
        let entries =
            work.fill_upwards("tables", at, levels, are_sequences, |rules, own, below| {
                let first = at.of(rules.start);
                let first_below = at.of(level_end(levels, rules.start));
                for rule in rules.filter(|&rule| at.of(rule) < at.of(rule + 1)) {
                    let table = &mut own[at.of(rule) - first..at.of(rule + 1) - first];
                    let mut filled = 0;
                    crossings.of_rule(rule, |key| {
                        table[filled] = key;
                        filled += 1;
                    });
                    for child in
                        grammar.body(rule).iter().filter_map(|&symbol| grammar.rule_of(symbol))
                    {
                        let of_child =
                            &below[at.of(child) - first_below..at.of(child + 1) - first_below];
                        table[filled..filled + of_child.len()].copy_from_slice(of_child);
                        filled += of_child.len();
                    }
                }
            })?;
        Ok(Self { longest, starts, entries })
    }

    /// The most items of a rule that has its sequences in a table.
    #[inline]
    pub(super) fn longest(&self) -> u64 {
        self.longest
    }

    /// The table of a rule.
    #[inline]
    pub(super) fn get(&self, rule: u32) -> &[K] {
        let at = Starts::At(&self.starts);
        &self.entries[at.of(rule)..at.of(rule + 1)]
    }

    /// The entries of all rules before one.
    pub(super) fn before(&self, rule: u32) -> u64 {
        self.starts[rule as usize]
    }
}

/// The most items that a rule may have, one below a power of two, if the tables of all such rules have at most so many entries
/// together; `keys_in` says how many entries so many items have.
fn longest(lengths: &[u64], keys_in: impl Fn(u64) -> u64, most: u64) -> u64 {
    let mut entries = [0_u64; u64::BITS as usize + 1];
    for &length in lengths {
        let class = u64::BITS - length.leading_zeros();
        let sum = &mut entries[class as usize];
        *sum = sum.saturating_add(keys_in(length));
    }
    let mut sum = 0_u64;
    let fitting = entries.iter().take_while(|&&more| {
        sum = sum.saturating_add(more);
        sum <= most
    });
    // Of class `c` are lengths below `2^c`.
    match fitting.count() as u32 {
        count @ 0..=64 => (1_u64 << (count - 1)) - 1,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rules_that_fit() {
        // Entries with n = 2: 1, 2, 3 and 8.
        let lengths = [2, 3, 4, 9];
        let keys_in = |items: u64| items - 1;
        assert_eq!(longest(&lengths, keys_in, 2), 1);
        assert_eq!(longest(&lengths, keys_in, 3), 3);
        assert_eq!(longest(&lengths, keys_in, 6), 7);
        assert_eq!(longest(&lengths, keys_in, 14), u64::MAX);
        assert_eq!(longest(&[u64::MAX >> 1], keys_in, 10), (1 << 62) - 1);
    }
}
