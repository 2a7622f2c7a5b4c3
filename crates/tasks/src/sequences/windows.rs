//! The sequences of `n` items that a grammar holds, each where it crosses a border.
//!
//! A sequence lies wholly in one symbol of a body, or it crosses from one symbol to the next. In the first case it is met in that
//! symbol's own body; in the second it is made here, once, whatever the number of times that the body occurs. Sequences do not
//! go from one document into the next; in the root they go from part to part, as documents may.
//!
//! Cost: at most `n - 1` sequences a symbol, and a read of the [ends](super::ends) of every rule that is met.

use std::marker::PhantomData;
use std::ops::Range;

use tadoc_core::{Array, Network, Packing};

use super::ends::{self, Ends, Passed, Reach};
use super::keys::Key;
use super::source::Crossings;
use crate::Result;
use crate::work::Work;

/// Rules whose ends are fetched together, so that waiting for one is waiting for all.
const FETCHED: usize = 16;

/// What is needed to make the sequences of a network: keys of type `K`, of which all but one item fit an `H`.
pub(super) struct Windows<'n, K, H> {
    network: &'n Network,
    n: usize,
    reach: Reach,
    /// The mask of `n` items.
    mask: K,
    ends: Array<Ends<H>>,
    keys: PhantomData<K>,
}

impl<'n, K: Key, H: Key> Windows<'n, K, H> {
    /// For sequences of `n` items of so many bits, which must fit into a key.
    pub(super) fn new(work: &mut Work<'_>, network: &'n Network, packing: Packing) -> Result<Self> {
        let Packing { n, bits, .. } = packing;
        assert!(n as u32 * bits <= K::BITS, "{n} items of {bits} bits");
        let reach = Reach { items: n - 1, bits };
        // A sequence of one crosses no border.
        let ends = if n == 1 { Array::default() } else { ends::make(work, network, reach)? };
        Ok(Self { network, n, reach, mask: K::mask(n as u32 * bits), ends, keys: PhantomData })
    }

    /// How many sequences a symbol can end: an item one, a rule as many as its head has items.
    pub(super) fn most_of_a_symbol(&self) -> u64 {
        (self.n as u64 - 1).max(1)
    }

    /// Goes over a row of symbols and calls `each` with the sequences that cross a border in it.
    #[inline]
    fn cross(&self, mut passed: Passed<H>, row: &[u32], mut each: impl FnMut(K)) {
        let grammar = self.network.grammar().slices();
        let Reach { items: reach, bits } = self.reach;
        if reach == 0 {
            let items = row.iter().filter(|&&symbol| grammar.rule_of(symbol).is_none());
            return items.for_each(|&item| each(K::default().push(bits, item, self.mask)));
        }
        let ends_of_rules = &self.ends[..];
        let (mask, short_mask) = (self.mask, self.reach.mask());
        let mut step = |passed: &mut Passed<H>, item: u32| {
            if passed.count == reach {
                each(passed.items.to::<K>().push(bits, item, mask));
            } else {
                passed.count += 1;
            }
            passed.items = passed.items.push(bits, item, short_mask);
        };
        for block in row.chunks(FETCHED) {
            let mut fetched = [[H::default(); 2]; FETCHED];
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
                for item in self.reach.items_of(head, length) {
                    step(&mut passed, item);
                }
                if length as usize == reach {
                    passed = Passed { items: tail, count: reach };
                }
            }
        }
    }
}

impl<'n, K: Key, H: Key> Crossings<'n, K> for Windows<'n, K, H> {
    fn network(&self) -> &'n Network {
        self.network
    }

    fn shortest(&self) -> u64 {
        self.n as u64
    }

    fn keys_in(&self, items: u64) -> u64 {
        items.saturating_add(1).saturating_sub(self.n as u64)
    }

    fn most_before(&self, place: u32) -> u64 {
        u64::from(place) * self.most_of_a_symbol()
    }

    #[inline]
    fn of_rule(&self, rule: u32, each: impl FnMut(K)) {
        if self.network.lengths()[rule as usize] >= self.n as u64 {
            self.cross(Passed::default(), self.network.grammar().body(rule), each);
        }
    }

    #[inline]
    fn of_root(&self, stretch: Range<u32>, mut each: impl FnMut(u32, K)) {
        for_each_document(self.network, stretch, |document, before, row| {
            let passed = match self.n {
                1 => Passed::default(),
                _ => ends::last_items(self.network, self.reach, before, |rule| {
                    self.ends[rule as usize]
                }),
            };
            self.cross(passed, row, |key| each(document as u32, key));
        });
    }
}

/// Cuts a stretch of the root by documents; calls `each` with a document's place, its symbols before the stretch, and those in
/// it.
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
