//! For rules, the items that they expand to: tables from the rules up.
//!
//! A table's size is bounded by those of its children before any is made, so that all tables lie in one
//! allocation, and a level's rules write theirs at the same time. Rules whose bound is above a limit get
//! none; they are few and large, and whoever uses them looks at their bodies instead.
//!
//! Cost: a merge of its children's tables for each rule. Memory: 8 bytes for each item of a bound.

use rayon::prelude::*;
use tadoc_core::Network;

use super::fold;
use crate::parallel::split;

/// Rules that a thread takes at a time.
const RULES_AT_ONCE: usize = 1 << 10;
/// No table is larger, however much memory there is: it would be read more often than it saves.
const LARGEST_TABLE: u64 = 1 << 16;

/// Tables of rules.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// Where each rule's table starts, with the end of the room behind the last.
    starts: Vec<u64>,
    /// How many entries it has; [`NO_TABLE`] if it has none.
    lengths: Vec<u32>,
    entries: Vec<(u32, u32)>,
}

/// Stands for a rule without a table.
const NO_TABLE: u32 = u32::MAX;

/// For each rule, how many entries its table has at most.
pub(crate) fn bounds(network: &Network) -> Vec<u64> {
    let items = u64::from(network.grammar().token_count());
    let grammar = network.grammar().slices();
    let mut bounds = fold(network, |body, bound| {
        let sum = body.iter().fold(0_u64, |sum, &symbol| {
            sum.saturating_add(grammar.rule_of(symbol).map_or(1, bound))
        });
        sum.min(items)
    });
    // Counts in a table have 32 bits.
    for (bound, &length) in bounds.iter_mut().zip(network.lengths()) {
        if length > u32::MAX.into() {
            *bound = u64::MAX;
        }
    }
    bounds
}

/// The largest bound that a table may have so that all fit into `memory` bytes.
pub(crate) fn limit(bounds: &[u64], memory: u64) -> u64 {
    // By powers of two: how many entries the tables with bounds up to each have together.
    let mut limit = LARGEST_TABLE;
    while limit > 1 {
        let entries: u64 = bounds.iter().filter(|&&bound| bound <= limit).sum();
        if entries.saturating_mul(8) <= memory {
            break;
        }
        limit /= 2;
    }
    limit
}

impl Tables {
    /// Makes the tables that fit into `memory` bytes.
    pub fn new(network: &Network, memory: u64) -> Self {
        let bounds = bounds(network);
        let limit = limit(&bounds, memory);
        Self::with_bounds(network, &bounds, limit)
    }

    pub(crate) fn with_bounds(network: &Network, bounds: &[u64], limit: u64) -> Self {
        let grammar = network.grammar().slices();
        let rules = bounds.len();
        let room = |bound: u64| if bound <= limit { bound } else { 0 };
        let mut starts = Vec::with_capacity(rules + 1);
        let mut total = 0;
        starts.push(0);
        for &bound in bounds {
            total += room(bound);
            starts.push(total);
        }
        let mut entries = vec![(0_u32, 0_u32); total as usize];
        let mut lengths = vec![NO_TABLE; rules];
        for level in network.levels().windows(2).rev() {
            let (first, end) = (level[0] as usize, level[1] as usize);
            let (own, below) = entries.split_at_mut(starts[end] as usize);
            let (own_lengths, lengths_below) = lengths.split_at_mut(end);
            let table_below = |rule: u32| {
                let rule = rule as usize;
                let start = (starts[rule] - starts[end]) as usize;
                &below[start..start + lengths_below[rule - end] as usize]
            };
            let chunks = (first..end).step_by(RULES_AT_ONCE);
            let sizes = chunks
                .clone()
                .map(|chunk| (starts[end.min(chunk + RULES_AT_ONCE)] - starts[chunk]) as usize);
            let room_of_chunks = split(&mut own[starts[first] as usize..], sizes);
            room_of_chunks
                .into_par_iter()
                .zip(own_lengths[first..].par_chunks_mut(RULES_AT_ONCE))
                .enumerate()
                .for_each(|(chunk, (mut room, lengths))| {
                    let first = first + chunk * RULES_AT_ONCE;
                    let mut gathered: Vec<u64> = Vec::new();
                    for (rule, length) in (first..).zip(lengths) {
                        let size = (starts[rule + 1] - starts[rule]) as usize;
                        let own = room.split_off_mut(..size).expect("the room of its bound");
                        if bounds[rule] > limit {
                            continue;
                        }
                        gathered.clear();
                        for &symbol in grammar.body(rule as u32) {
                            match grammar.rule_of(symbol) {
                                None => gathered.push(u64::from(symbol) << 32 | 1),
                                // A child's bound is at most its parent's, so it has a table.
                                Some(child) => gathered.extend(table_below(child).iter().map(
                                    |&(item, count)| u64::from(item) << 32 | u64::from(count),
                                )),
                            }
                        }
                        *length = combine(&mut gathered, own);
                    }
                });
        }
        Self { starts, lengths, entries }
    }

    /// The table of a rule: items ascending, with counts. `None` if it was too large to be made.
    #[inline]
    pub fn get(&self, rule: u32) -> Option<&[(u32, u32)]> {
        let length = self.lengths[rule as usize];
        let start = self.starts[rule as usize] as usize;
        (length != NO_TABLE).then(|| &self.entries[start..start + length as usize])
    }
}

/// Sorts entries (an item above a count) and writes them out, counts of equal items added up; gives how many
/// are left. No count passes 32 bits, as rules that are so long have no table.
fn combine(gathered: &mut [u64], into: &mut [(u32, u32)]) -> u32 {
    if !gathered.is_sorted() {
        gathered.sort_unstable();
    }
    let mut length = 0;
    for &entry in &*gathered {
        let (item, count) = ((entry >> 32) as u32, entry as u32);
        if length > 0 && into[length - 1].0 == item {
            into[length - 1].1 += count;
        } else {
            into[length] = (item, count);
            length += 1;
        }
    }
    length as u32
}
