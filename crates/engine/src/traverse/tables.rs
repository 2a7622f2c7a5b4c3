//! For rules, the items that they expand to: tables from the rules up.
//!
//! A table has every item as often as the rule does, so its size is the length of the rule and known before:
//! all tables lie in one allocation, and the rules of a level write theirs at the same time. Rules above a length get no
//! table; they are few and long, and whoever uses them looks at their bodies instead. (Most rules are short, and most
//! items come once in a short rule: counting them would cost more than it saves.)
//!
//! Cost: every item of a table is copied once. Memory: 4 bytes an item, and 4 a rule.

use rayon::prelude::*;
use tadoc_core::Network;

use crate::parallel::split;

/// Rules that a thread takes at a time.
const RULES_AT_ONCE: usize = 1 << 12;
/// Longer rules have no table, however much memory there is.
const LONGEST: u64 = 64;

/// Tables of rules.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// Where each rule's table starts, with the end behind the last. A rule without one has no room.
    starts: Vec<u32>,
    items: Vec<u32>,
}

/// The longest rule that gets a table if all tables shall fit into `memory` bytes; and how many items they have.
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
        let (limit, total) = table_limit(network, memory);
        let grammar = network.grammar().slices();
        let lengths = network.lengths();
        let room = |length: u64| if length <= limit { length as u32 } else { 0 };
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0;
        starts.push(0);
        for &length in lengths {
            end += room(length);
            starts.push(end);
        }
        let mut items = vec![0_u32; total as usize];
        for level in network.levels().windows(2).rev() {
            let (first, end) = (level[0] as usize, level[1] as usize);
            let (own, below) = items.split_at_mut(starts[end] as usize);
            let chunks = (first..end).step_by(RULES_AT_ONCE);
            let sizes = chunks
                .map(|chunk| (starts[end.min(chunk + RULES_AT_ONCE)] - starts[chunk]) as usize);
            let rooms = split(&mut own[starts[first] as usize..], sizes);
            rooms.into_par_iter().enumerate().for_each(|(chunk, mut room)| {
                let first = first + chunk * RULES_AT_ONCE;
                for rule in first..end.min(first + RULES_AT_ONCE) {
                    if starts[rule] == starts[rule + 1] {
                        continue;
                    }
                    for &symbol in grammar.body(rule as u32) {
                        // A child is no longer than its parent, so it has a table too.
                        let item = [symbol];
                        let from = match grammar.rule_of(symbol) {
                            None => &item[..],
                            Some(child) => {
                                let child = child as usize;
                                let base = starts[end];
                                &below[(starts[child] - base) as usize
                                    ..(starts[child + 1] - base) as usize]
                            }
                        };
                        let own = room.split_off_mut(..from.len()).expect("the room of its length");
                        own.copy_from_slice(from);
                    }
                }
            });
        }
        Self { starts, items }
    }

    /// The items of a rule, in the order of the text. Empty if it has no table, or no items.
    #[inline]
    pub fn get(&self, rule: u32) -> &[u32] {
        let rule = rule as usize;
        &self.items[self.starts[rule] as usize..self.starts[rule + 1] as usize]
    }
}
