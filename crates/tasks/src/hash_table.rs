//! Hash tables that never grow: open addressing over a power of two.
//!
//! A table is two rows. *Entries* are keys with their counts, in the order in which they were met, one after the other. *Status*
//! has a number for every slot: 0 if it is free, else one more than the place of its entry. A key is looked for from the slot that
//! the highest bits of its hash say, slot by slot. How many different keys there can be is known before the first of them (see `bounds`), and there
//! are at least twice as many slots, so that a table is never built again and a search always comes to a free slot.
//!
//! Only as many slots are used as the keys at hand may need, so that few keys stay in the caches of a processor however large the rows are. To empty
//! a table costs what was put in.

use crate::Result;
use crate::entry::{Entry, Key};
use crate::work::{Scratch, Work};

/// The rows of a table of keys with counts.
#[derive(Debug)]
pub struct HashTable<K: Key> {
    status: Scratch<u32>,
    entries: Scratch<K::Entry>,
}

/// Slots for so many keys.
fn slots(keys: usize) -> usize {
    (2 * keys).next_power_of_two().max(2)
}

impl<K: Key> HashTable<K> {
    /// Rows for at most so many keys.
    pub fn new(work: &Work<'_>, most: usize) -> Result<Self> {
        Ok(Self { status: work.scratch(slots(most))?, entries: work.scratch(most)? })
    }

    /// The table, for at most so many keys, which are no more than the rows are for. It must be [taken](Table::take) out at the end.
    ///
    /// # Panics
    /// If the rows are for fewer.
    pub fn table(&mut self, most: usize) -> Table<'_, K> {
        let slots = slots(most);
        let (status, entries) = (&mut self.status[..slots], &mut self.entries[..most]);
        let (mask, shift) = (slots - 1, 64 - slots.trailing_zeros());
        Table { status, entries, length: 0, mask, shift }
    }
}

/// A table of keys with counts.
#[derive(Debug)]
pub struct Table<'t, K: Key> {
    status: &'t mut [u32],
    entries: &'t mut [K::Entry],
    length: usize,
    /// One less than the slots.
    mask: usize,
    /// How far a hash is shifted to give a slot.
    shift: u32,
}

impl<'t, K: Key> Table<'t, K> {
    /// Counts more of a key, and says whether it is new.
    ///
    /// # Panics
    /// If there are more keys than it was made for.
    #[inline]
    pub fn add(&mut self, key: K, more: u64) -> bool {
        let mut slot = (key.hash() >> self.shift) as usize;
        loop {
            let status = self.status[slot];
            if status == 0 {
                self.entries[self.length] = K::Entry::new(key, more);
                self.length += 1;
                self.status[slot] = self.length as u32;
                return true;
            }
            let entry = &mut self.entries[status as usize - 1];
            if entry.key() == key {
                entry.add(more);
                return false;
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// The count of a key; 0 if it was not met.
    #[inline]
    pub fn get(&self, key: K) -> u64 {
        let mut slot = (key.hash() >> self.shift) as usize;
        loop {
            match self.status[slot] {
                0 => return 0,
                status => {
                    let entry = &self.entries[status as usize - 1];
                    if entry.key() == key {
                        return entry.count();
                    }
                }
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// Empties the rows, and gives what was in them, in the order in which it was met.
    pub fn take(self) -> &'t mut [K::Entry] {
        let entries = &mut self.entries[..self.length];
        for (place, entry) in (1..).zip(entries.iter()) {
            let mut slot = (entry.key().hash() >> self.shift) as usize;
            // Slots before it may have been freed already, so the search goes on past free ones.
            while self.status[slot] != place {
                slot = (slot + 1) & self.mask;
            }
            self.status[slot] = 0;
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_as_a_map_does(rounds in proptest::collection::vec(
            proptest::collection::vec((0_u32..50, 1_u64..9), 0..200), 1..4)) {
            let work = Work::volatile(0);
            let mut rows = HashTable::<u32>::new(&work, 64).unwrap();
            for keys in rounds {
                let mut map = HashMap::new();
                for &(key, more) in &keys {
                    *map.entry(key).or_insert(0) += more;
                }
                let mut table = rows.table(map.len());
                let mut seen = Vec::new();
                for &(key, more) in &keys {
                    let new = table.add(key, more);
                    prop_assert_eq!(new, !seen.contains(&key));
                    if new {
                        seen.push(key);
                    }
                }
                for key in 0..50 {
                    prop_assert_eq!(table.get(key), map.get(&key).copied().unwrap_or(0));
                }
                let found: Vec<(u32, u64)> =
                    table.take().iter().map(|entry| (entry.key(), entry.count())).collect();
                prop_assert!(found.iter().map(|entry| entry.0).eq(seen.iter().copied()));
                prop_assert_eq!(found.into_iter().collect::<HashMap<_, _>>(), map);
                prop_assert!(rows.status.iter().all(|&status| status == 0));
            }
        }
    }

    #[test]
    fn keys_of_one_slot() {
        // Multiples of 2^32 as wide keys share their lowest bits.
        let work = Work::volatile(0);
        let mut rows = HashTable::<u64>::new(&work, 100).unwrap();
        let mut table = rows.table(100);
        (0..100_u64).for_each(|key| assert!(table.add(key << 40, u64::from(u32::MAX) + key)));
        (0..100_u64).for_each(|key| assert_eq!(table.get(key << 40), u64::from(u32::MAX) + key));
        assert_eq!(table.take().len(), 100);
    }
}
