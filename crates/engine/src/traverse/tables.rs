//! For rules, the items that they expand to: tables from the rules up.
//!
//! A table has every item as often as the rule does, so its size is the length of the rule and known before:
//! all tables lie in one allocation, and the rules of a level write theirs at the same time. Rules above a length get no
//! table; they are few and long, and whoever uses them looks at their bodies instead. (Most rules are short, and most
//! items come once in a short rule: counting them would cost more than it saves.)
//!
//! Cost: every item of a table is copied once. Memory: 32 bytes a rule, and 4 an item of tables of eight and more.

use rayon::prelude::*;
use tadoc_core::Network;
use tadoc_core::parallel::split;

use crate::memory::Zeroed;

/// Rules that a thread takes at a time.
const RULES_AT_ONCE: usize = 1 << 12;
/// Longer rules have no table, however much memory there is.
const LONGEST: u64 = 64;

/// Numbers of a slot: half a line of cache.
const SLOT: usize = 8;

/// Tables of rules.
///
/// A rule has a slot: the length of its table and, if that is less than eight, its items. A longer table is elsewhere,
/// and its slot says where. So most tables take one access to memory, and not two.
#[derive(Debug)]
pub struct Tables {
    slots: Zeroed<u32>,
    items: Zeroed<u32>,
}

/// The longest rule that gets a table if the items of all tables shall fit into `memory` bytes, beside the slots; and how
/// many items they have.
pub(crate) fn table_limit(network: &Network, memory: u64) -> (u64, u64) {
    let most = (memory / 4).min(u32::MAX.into());
    let mut limit = LONGEST;
    loop {
        let items: u64 = network.lengths().iter().filter(|&&length| length <= limit).sum();
        if items <= most || limit == 0 {
            return (limit, items);
        }
        limit /= 2;
    }
}

impl Tables {
    /// Makes the tables that fit into `memory` bytes.
    pub fn new(network: &Network, memory: u64) -> Self {
        let (limit, _) = table_limit(network, memory);
        let grammar = network.grammar().slices();
        let lengths = network.lengths();
        // Where the items of each long table start, with the end behind the last.
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0;
        starts.push(0);
        for &length in lengths {
            end += if length <= limit && length >= SLOT as u64 { length as u32 } else { 0 };
            starts.push(end);
        }
        let mut slots = Zeroed::<u32>::new(lengths.len() * SLOT);
        let mut items = Zeroed::<u32>::new(end as usize);
        for level in network.levels().windows(2).rev() {
            let (first, end) = (level[0] as usize, level[1] as usize);
            let (own_slots, slots_below) = slots.split_at_mut(end * SLOT);
            let (own_items, items_below) = items.split_at_mut(starts[end] as usize);
            let table_below = |rule: u32| {
                let rule = rule as usize - end;
                let slot = &slots_below[rule * SLOT..(rule + 1) * SLOT];
                let length = slot[0] as usize;
                if length < SLOT {
                    &slot[1..1 + length]
                } else {
                    let start = (slot[1] - starts[end]) as usize;
                    &items_below[start..start + length]
                }
            };
            let chunks = (first..end).step_by(RULES_AT_ONCE);
            let sizes = chunks
                .map(|chunk| (starts[end.min(chunk + RULES_AT_ONCE)] - starts[chunk]) as usize);
            let rooms = split(&mut own_items[starts[first] as usize..], sizes);
            let slots = own_slots[first * SLOT..].par_chunks_mut(RULES_AT_ONCE * SLOT);
            rooms.into_par_iter().zip(slots).enumerate().for_each(|(chunk, (mut room, slots))| {
                let first = first + chunk * RULES_AT_ONCE;
                for (rule, slot) in (first..).zip(slots.chunks_exact_mut(SLOT)) {
                    let length = lengths[rule];
                    if length > limit {
                        continue;
                    }
                    slot[0] = length as u32;
                    let mut own = if length < SLOT as u64 {
                        &mut slot[1..]
                    } else {
                        slot[1] = starts[rule];
                        room.split_off_mut(..length as usize).expect("the room of its length")
                    };
                    for &symbol in grammar.body(rule as u32) {
                        // A child is no longer than its parent, so it has a table too.
                        let item = [symbol];
                        let from = match grammar.rule_of(symbol) {
                            None => &item[..],
                            Some(child) => table_below(child),
                        };
                        let place =
                            own.split_off_mut(..from.len()).expect("no more than its length");
                        place.copy_from_slice(from);
                    }
                }
            });
        }
        Self { slots, items }
    }

    /// The tables as slices, for loops in which every step counts.
    #[inline]
    pub fn slices(&self) -> TableSlices<'_> {
        TableSlices { slots: &self.slots, items: &self.items }
    }
}

/// Tables, wherever they lie.
#[derive(Debug, Clone, Copy)]
pub struct TableSlices<'t> {
    slots: &'t [u32],
    items: &'t [u32],
}

impl<'t> TableSlices<'t> {
    /// The items of a rule, in the order of the text. Empty if it has no table, or no items.
    #[inline]
    pub fn get(self, rule: u32) -> &'t [u32] {
        let slot = &self.slots[rule as usize * SLOT..(rule as usize + 1) * SLOT];
        let length = slot[0] as usize;
        if length < SLOT {
            &slot[1..1 + length]
        } else {
            &self.items[slot[1] as usize..slot[1] as usize + length]
        }
    }
}
