//! Old rules found in new text.
//!
//! Re-Pair replaced the most frequent pair first, and how often a rule occurs in the text is still known: so the rules
//! are applied to the new text in the order of their frequency, the most frequent first and children before
//! parents, and text that was there before comes out much as it did then.
//!
//! Where a rule may begin is found by the first two symbols of its body in one table; what may be replaced waits in
//! a heap. Text is worked through in windows, at the same time; a rule that would cross the border of two is not found
//! there.
//!
//! Cost: a lookup a symbol, O(log window) for each one replaced; 13 to 26 bytes a rule.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rayon::prelude::*;

use crate::build::builder::{CancelFlag, Cancelled};
use crate::build::prune::Bodies;
use crate::build::repair::sequence::{BARRIER, Sequence};

/// Cells that are worked through at a time.
const WINDOW: usize = 1 << 15;

/// The rules, ready to be found.
pub(super) struct Replay<'b> {
    first_rule: u32,
    bodies: &'b Bodies,
    uses: &'b [u32],
    /// Each rule under the first two symbols of its body.
    starts: HashTable<Start>,
    hasher: FixedState,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    pair: (u32, u32),
    rule: u32,
}

impl<'b> Replay<'b> {
    /// Rules whose symbols begin at `first_rule`, children first, and how often each occurs.
    pub(super) fn new(first_rule: u32, bodies: &'b Bodies, uses: &'b [u32]) -> Self {
        let hasher = FixedState::default();
        let mut starts: HashTable<Start> = HashTable::with_capacity(bodies.len());
        let order = |rule: u32| (Reverse(uses[rule as usize]), rule);
        for rule in 0..bodies.len() as u32 {
            let &[first, second, ..] = bodies.body(rule as usize) else { continue };
            let start = Start { pair: (first, second), rule };
            let hash = hasher.hash_one(start.pair);
            let same = |other: &Start| other.pair == start.pair;
            match starts.entry(hash, same, |other| hasher.hash_one(other.pair)) {
                Entry::Vacant(vacant) => {
                    vacant.insert(start);
                }
                // No builder makes two; where others do, the more frequent one is found.
                Entry::Occupied(mut occupied) => {
                    if order(rule) < order(occupied.get().rule) {
                        *occupied.get_mut() = start;
                    }
                }
            }
        }
        Self { first_rule, bodies, uses, starts, hasher }
    }

    /// Puts rules into `cells`: symbols and barriers, which stay.
    pub(super) fn run(&self, cells: &[u32], cancel: &CancelFlag) -> Result<Vec<u32>, Cancelled> {
        let windows: Vec<Vec<u32>> = cells
            .par_chunks(WINDOW)
            .map_init(BinaryHeap::new, |waiting, window| {
                cancel.check()?;
                Ok(self.run_window(window, waiting))
            })
            .collect::<Result<_, _>>()?;
        Ok(windows.concat())
    }

    fn run_window(&self, cells: &[u32], waiting: &mut BinaryHeap<Reverse<Waiting>>) -> Vec<u32> {
        debug_assert!(waiting.is_empty());
        for (pair, place) in cells.windows(2).zip(1_u32..) {
            waiting.extend(self.beginning_with(pair[0], pair[1], place));
        }
        if waiting.is_empty() {
            return cells.to_vec();
        }
        let mut sequence = Sequence::new([&[BARRIER], cells, &[BARRIER]].concat());
        while let Some(Reverse(next)) = waiting.pop() {
            let Some(end) = self.end_of(&sequence, next) else { continue };
            let symbol = self.first_rule + next.rule;
            sequence.replace(next.place, end, symbol);
            let before = sequence.previous(next.place);
            waiting.extend(self.beginning_with(sequence.get(before), symbol, before));
            waiting.extend(self.beginning_with(symbol, sequence.get(end), next.place));
        }
        let mut left: Vec<u32> = sequence.symbols().skip(1).collect();
        left.pop();
        left
    }

    /// The rule that begins with two symbols.
    fn beginning_with(&self, first: u32, second: u32, place: u32) -> Option<Reverse<Waiting>> {
        let pair = (first, second);
        let start = self.starts.find(self.hasher.hash_one(pair), |start| start.pair == pair)?;
        let rarity = u32::MAX - self.uses[start.rule as usize];
        Some(Reverse(Waiting { rarity, rule: start.rule, place }))
    }

    /// The place behind the body of the rule, if it is still there as a whole.
    fn end_of(&self, sequence: &Sequence, waiting: Waiting) -> Option<u32> {
        let mut place = waiting.place;
        for &symbol in self.bodies.body(waiting.rule as usize) {
            if sequence.get(place) != symbol {
                return None;
            }
            place = sequence.next(place);
        }
        Some(place)
    }
}

/// A place where a rule may begin. The least of them comes first: the most frequent, children before parents,
/// and from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    rarity: u32,
    rule: u32,
    place: u32,
}
