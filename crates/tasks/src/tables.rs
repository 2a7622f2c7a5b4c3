//! For rules, the keys that they and all below them emit, with counts: tables from the rules up.
//!
//! A table is made for the bound of its rule, so that the sizes of all are known before any is made, and they stand in one region in the order of
//! rules. What a table has less than its bound is entries without a count, behind the others. Rules with a bound above a limit get none: they are few and
//! large, and whoever meets one looks at its sub-rules. The limit is such that the region stays in proportion to the rules.
//!
//! Cost: every entry of a table is read once for every rule that uses it. Size: an entry for each of the bound, and 8 bytes a rule.

use std::ops::Range;

use tadoc_core::{Array, Network};

use crate::Result;
use crate::bounds::Bound;
use crate::entry::{Count, Entry, Key};
use crate::work::{Starts, Work};

/// Rules with a bound of more keys have no table.
const LONGEST: u32 = 64;
/// A region has at most so many entries for every rule.
const ENTRIES_A_RULE: u64 = 16;

/// Tables of rules.
#[derive(Debug)]
pub struct RuleTables<K: Key> {
    /// Where the entries of each rule start, and the end.
    starts: Array<u64>,
    entries: Array<K::Entry>,
}

/// The largest bound that gets a table, and the entries of all tables.
pub fn limit(bounds: &[Bound]) -> (u32, u64) {
    let most = ENTRIES_A_RULE * bounds.len() as u64;
    let mut limit = LONGEST;
    loop {
        let sizes = bounds.iter().map(|bound| bound[0]).filter(|&keys| keys <= limit);
        let entries: u64 = sizes.map(u64::from).sum();
        if entries <= most || limit == 0 {
            return (limit, entries);
        }
        limit /= 2;
    }
}

impl<K: Key> RuleTables<K> {
    /// Makes the tables of terms; `bounds` are those of rules.
    pub fn new(work: &mut Work<'_>, network: &Network, bounds: &[Bound]) -> Result<Self> {
        let (limit, _) = limit(bounds);
        let grammar = network.grammar().slices();
        // A table has counts, which must not be too large for it.
        let fits = |rule: usize| {
            bounds[rule][0] <= limit && network.lengths()[rule] <= <K::Count as Count>::MOST
        };
        let all = [0, bounds.len() + 1];
        let size = |rule: usize| if fits(rule) { u64::from(bounds[rule][0]) } else { 0 };
        let follow = |_, own: &[u64]| {
            own[0] == 0
                && (0..bounds.len())
                    .all(|rule| own[rule].checked_add(size(rule)) == Some(own[rule + 1]))
        };
        let starts = work.fill("starts of tables", &all, follow, |_, own: &mut [u64]| {
            for rule in 0..bounds.len() {
                own[rule + 1] = own[rule] + size(rule);
            }
        })?;
        let at = Starts::At(&starts);
        let items = network.grammar().token_count();
        // A table has no more entries than its rule may have keys, and no key twice: what is counted of it stays within bounds.
        let is_table = |rule: u32, table: &[K::Entry]| {
            let used = table.iter().position(|entry| entry.count() == 0).unwrap_or(table.len());
            let (used, rest) = table.split_at(used);
            let most = network.lengths()[rule as usize];
            let mut sum = 0_u64;
            used.iter().enumerate().all(|(place, entry)| {
                sum = sum.saturating_add(entry.count());
                entry.key().number() < items
                    && K::of_number(entry.key().number()) == entry.key()
                    && used[..place].iter().all(|other| other.key() != entry.key())
            }) && rest.iter().all(|entry| entry.count() == 0)
                && sum == if table.is_empty() { 0 } else { most }
        };
        let are_tables = |range: Range<u32>, table: &[K::Entry], _: &[K::Entry]| {
            let first = at.of(range.start);
            range
                .clone()
                .all(|rule| is_table(rule, &table[at.of(rule) - first..at.of(rule + 1) - first]))
        };
        let levels = network.levels();
        let entries =
            work.fill_upwards("tables", at, levels, are_tables, |range, table, below| {
                let first = at.of(range.start);
                let first_below = at.of(bounds.len() as u32) - below.len();
                for rule in range.filter(|&rule| fits(rule as usize)) {
                    let room = &mut table[at.of(rule) - first..at.of(rule + 1) - first];
                    let mut length = 0;
                    for &symbol in grammar.body(rule) {
                        let Some(sub_rule) = grammar.rule_of(symbol) else {
                            add(room, &mut length, K::of_number(symbol), 1);
                            continue;
                        };
                        // A sub-rule has no more keys than its user, so it has a table too.
                        let entries = &below
                            [at.of(sub_rule) - first_below..at.of(sub_rule + 1) - first_below];
                        for entry in
                            entries.iter().take_while(|entry: &&K::Entry| entry.count() > 0)
                        {
                            add(room, &mut length, entry.key(), entry.count());
                        }
                    }
                }
            })?;
        Ok(Self { starts, entries })
    }

    /// The entries of a rule; those without a count are no entries, and end it. Empty if it has no table.
    #[inline]
    pub fn get(&self, rule: u32) -> &[K::Entry] {
        let at = Starts::At(&self.starts);
        &self.entries[at.of(rule)..at.of(rule + 1)]
    }
}

/// Counts more of a key in a table that is so long; tables are short enough for a search from the start.
fn add<E: Entry>(table: &mut [E], length: &mut usize, key: E::Key, count: u64) {
    match table[..*length].iter_mut().find(|entry| entry.key() == key) {
        Some(entry) => entry.add(count),
        None => {
            table[*length] = E::new(key, count);
            *length += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::bounds::bounds;
    use tadoc_testing::networks::shapes;

    proptest! {
        #[test]
        fn tables_are_as_the_text(shape in shapes()) {
            let network = shape.network();
            let grammar = network.grammar();
            let mut work = Work::volatile(1 << 20);
            let own = |rule| {
                let is_item = |&&symbol: &&u32| grammar.rule_of(symbol).is_none();
                grammar.body(rule).iter().filter(is_item).count() as u64
            };
            let length = |rule: u32, _| network.lengths()[rule as usize];
            let bounds =
                bounds(&mut work, &network, own, length, grammar.token_count().into()).unwrap();
            let tables = RuleTables::<u32>::new(&mut work, &network, &bounds).unwrap();
            let (limit, entries) = limit(&bounds);
            prop_assert!(entries <= ENTRIES_A_RULE * bounds.len() as u64);
            prop_assert_eq!(tables.entries.len() as u64, entries);
            for rule in 0..grammar.rule_count() {
                let mut expected = BTreeMap::new();
                if bounds[rule as usize][0] <= limit {
                    for item in grammar.expand(grammar.body(rule)) {
                        *expected.entry(item).or_default() += 1;
                    }
                }
                let table = tables.get(rule).iter().take_while(|entry| entry.count() > 0);
                let found: BTreeMap<u32, u64> =
                    table.clone().map(|entry| (entry.key(), entry.count())).collect();
                prop_assert_eq!(found.len(), table.count());
                prop_assert_eq!(found, expected);
            }
        }
    }
}
