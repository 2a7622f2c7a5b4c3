//! The sequences of `n` items that a grammar holds, each where it crosses a border.
//!
//! A sequence lies wholly in one symbol of a body, or it crosses from one symbol to the next. In the first case it
//! is met in that symbol's own body; in the second it is made here, once, whatever the number of times that
//! the body occurs. To see it, the first and last `n - 1` items of every rule are enough; they are packed
//! into integers, so that going over a rule is: push its head item by item, then go on with its tail.
//!
//! Cost: at most `n - 1` sequences a symbol. Memory: two keys and a byte a rule.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::Network;

use super::keys::{Key, bits_for};
use super::partition::Record;
use super::sites::Crossings;
use crate::memory::Zeroed;

/// Rules that a thread takes at a time.
const RULES_AT_ONCE: usize = 1 << 12;

/// The first and last items of a rule, packed: `n - 1`, or all of a shorter rule. The head has their number as its tag.
type Ends<K> = [K; 2];

/// Rules whose ends are fetched together, so that waiting for one is waiting for all.
const FETCHED: usize = 16;

/// What is needed to make the sequences of a network.
pub(super) struct Windows<'n, K> {
    network: &'n Network,
    n: usize,
    /// Bits of an item.
    bits: u32,
    /// Masks of `n - 1` and of `n` items.
    masks: (K, K),
    ends: Zeroed<Ends<K>>,
}

/// A row of items as they go by: the last `n - 1` of them, packed.
#[derive(Debug, Clone, Copy, Default)]
struct Passed<K> {
    items: K,
    count: usize,
}

impl<'n, K: Key> Windows<'n, K> {
    /// For sequences of `n` items, which must fit into a key.
    pub(super) fn new(network: &'n Network, n: usize) -> Self {
        let bits = bits_for(network.grammar().token_count());
        assert!(n as u32 * bits <= K::BITS, "{n} items of {bits} bits");
        let masks = (K::mask((n as u32 - 1) * bits), K::mask(n as u32 * bits));
        let mut windows = Self { network, n, bits, masks, ends: Zeroed::default() };
        windows.ends = match n {
            // A sequence of one crosses no border.
            1 => Zeroed::new(network.lengths().len()),
            _ => windows.make_ends(),
        };
        windows
    }

    fn make_ends(&self) -> Zeroed<Ends<K>> {
        let (network, reach) = (self.network, self.n - 1);
        let grammar = network.grammar().slices();
        let mut ends = Zeroed::<Ends<K>>::new(network.lengths().len());
        for level in network.levels().windows(2).rev() {
            let (own, below) = ends.split_at_mut(level[1] as usize);
            let own = &mut own[level[0] as usize..];
            own.par_iter_mut().with_min_len(RULES_AT_ONCE).enumerate().for_each(|(place, own)| {
                let rule = level[0] + place as u32;
                let below = |rule: u32| &below[(rule - level[1]) as usize];
                let body = grammar.body(rule);
                let length = network.lengths()[rule as usize].min(reach as u64) as u32;
                // The head: the first items, of as many symbols as it takes.
                let mut head = Passed::<K>::default();
                for &symbol in body {
                    match grammar.rule_of(symbol) {
                        None => self.pass(&mut head, symbol),
                        Some(child) => {
                            let [child, _] = *below(child);
                            for item in self.items_of(child, child.tag()) {
                                if head.count < reach {
                                    self.pass(&mut head, item);
                                }
                            }
                        }
                    }
                    if head.count == reach {
                        break;
                    }
                }
                own[0] = head.items.with_tag(length);
                // The tail: from the last symbol that it can begin in.
                let mut first = body.len();
                let mut length = 0;
                while first > 0 && length < reach as u64 {
                    first -= 1;
                    length += network.length_of(body[first]);
                }
                let mut tail = Passed::<K>::default();
                for &symbol in &body[first..] {
                    match grammar.rule_of(symbol) {
                        None => self.pass(&mut tail, symbol),
                        Some(child) => {
                            let [head, last] = *below(child);
                            for item in self.items_of(last, head.tag()) {
                                self.pass(&mut tail, item);
                            }
                        }
                    }
                }
                own[1] = tail.items;
            });
        }
        ends
    }

    #[inline]
    fn items_of(&self, packed: K, length: u32) -> impl Iterator<Item = u32> + use<K> {
        let bits = self.bits;
        (0..length).rev().map(move |place| packed.digit(place * bits, bits))
    }

    #[inline]
    fn pass(&self, passed: &mut Passed<K>, item: u32) {
        passed.items = passed.items.push(self.bits, item, self.masks.0);
        passed.count = (passed.count + 1).min(self.n - 1);
    }

    /// Goes over a row of symbols and calls `each` with the sequences that cross a border in it.
    #[inline]
    fn cross(&self, mut passed: Passed<K>, row: &[u32], mut each: impl FnMut(K)) {
        let grammar = self.network.grammar().slices();
        let ends_of_rules = &self.ends[..];
        let (bits, reach, masks) = (self.bits, self.n - 1, self.masks);
        let mut step = |passed: &mut Passed<K>, item: u32| {
            if passed.count == reach {
                each(passed.items.push(bits, item, masks.1));
            } else {
                passed.count += 1;
            }
            passed.items = passed.items.push(bits, item, masks.0);
        };
        for block in row.chunks(FETCHED) {
            let mut fetched = [[K::default(); 2]; FETCHED];
            for (ends, &symbol) in fetched.iter_mut().zip(block) {
                if let Some(rule) = grammar.rule_of(symbol) {
                    *ends = ends_of_rules[rule as usize];
                }
            }
            for (&symbol, &[head, tail]) in block.iter().zip(&fetched) {
                if grammar.rule_of(symbol).is_none() {
                    step(&mut passed, symbol);
                    continue;
                }
                let length = head.tag();
                for item in self.items_of(head, length) {
                    step(&mut passed, item);
                }
                if length as usize == reach {
                    passed = Passed { items: tail, count: reach };
                }
            }
        }
    }

    /// The state after a row of symbols.
    fn passed(&self, row: &[u32]) -> Passed<K> {
        let mut first = row.len();
        let mut length = 0;
        while first > 0 && length < self.n as u64 - 1 {
            first -= 1;
            length += self.network.length_of(row[first]);
        }
        let mut passed = Passed::default();
        if self.n > 1 {
            for &symbol in &row[first..] {
                match self.network.grammar().rule_of(symbol) {
                    None => self.pass(&mut passed, symbol),
                    Some(rule) => {
                        let [head, tail] = self.ends[rule as usize];
                        for item in self.items_of(tail, head.tag()) {
                            self.pass(&mut passed, item);
                        }
                    }
                }
            }
        }
        passed
    }
}

impl<K: Key + Record<Key = K>> Crossings for Windows<'_, K> {
    type Key = K;

    fn key_bits(&self) -> u32 {
        self.n as u32 * self.bits
    }

    fn network(&self) -> &Network {
        self.network
    }

    /// An item ends at most one sequence, a rule as many as its head has items.
    fn most(&self) -> u64 {
        self.network.grammar().symbols().len() as u64 * (self.n as u64 - 1).max(1)
    }

    /// A sequence has an item at one place, or at several; no two of one sequence have it at the same.
    fn most_of_an_item(&self) -> u64 {
        1
    }

    #[inline]
    fn of_rule(&self, rule: u32, each: impl FnMut(K)) {
        if self.network.lengths()[rule as usize] >= self.n as u64 {
            self.cross(Passed::default(), self.network.grammar().body(rule), each);
        }
    }

    fn of_root(&self, stretch: Range<u32>, mut each: impl FnMut(usize, K)) {
        for_each_document(self.network, stretch, |document, before, row| {
            self.cross(self.passed(before), row, |key| each(document, key));
        });
    }
}

/// Cuts a stretch of the root by documents; calls `each` with a document's place, its symbols before the
/// stretch, and those in it.
pub(super) fn for_each_document<'n>(
    network: &'n Network,
    stretch: Range<u32>,
    mut each: impl FnMut(usize, &'n [u32], &'n [u32]),
) {
    let root = network.grammar().root();
    let starts = network.grammar().document_starts();
    // The last one that starts there is the one that has symbols there.
    let mut document = starts.partition_point(|&start| start <= stretch.start).max(1) - 1;
    let mut at = stretch.start;
    while at < stretch.end {
        let end = starts[document + 1].min(stretch.end);
        if at < end {
            let start = starts[document] as usize;
            each(document, &root[start..at as usize], &root[at as usize..end as usize]);
        }
        at = end;
        document += 1;
    }
}
