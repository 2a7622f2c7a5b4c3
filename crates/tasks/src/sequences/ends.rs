//! The first and last items of every rule: what a sequence can reach of a rule from outside.
//!
//! A sequence of `n` items that crosses the border of a rule has at most `n - 1` items in it. So these are packed, for all rules, into
//! two integers; then going over a rule is: its head item by item, and on with its tail.
//!
//! Cost: O(symbols near the ends of bodies). In the pool: two integers a rule.

use std::ops::Range;

use tadoc_core::{Array, Network};

use super::keys::{Key, is_masked};
use crate::Result;
use crate::work::{Starts, Work, level_end};

/// The first and last items of a rule, packed: `n - 1`, or all of a shorter rule. The head has their number as its tag.
pub(super) type Ends<H> = [H; 2];

/// How items are packed at the ends of rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// Items at an end, at most.
    pub(super) items: usize,
    /// Bits of an item.
    pub(super) bits: u32,
}

/// A row of items as they go by: the last of them, packed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Passed<H> {
    pub(super) items: H,
    pub(super) count: usize,
}

impl<H: Key> Passed<H> {
    /// Goes on by one item.
    #[inline]
    pub(super) fn pass(&mut self, reach: Reach, mask: H, item: u32) {
        self.items = self.items.push(reach.bits, item, mask);
        self.count = (self.count + 1).min(reach.items);
    }
}

impl Reach {
    /// The mask of as many items as there are at an end.
    pub(super) fn mask<H: Key>(self) -> H {
        H::mask(self.items as u32 * self.bits)
    }

    /// Items at an end of a rule.
    fn length(self, network: &Network, rule: u32) -> u32 {
        network.lengths()[rule as usize].min(self.items as u64) as u32
    }

    /// The items of an end.
    #[inline]
    pub(super) fn items_of<H: Key>(self, packed: H, length: u32) -> impl Iterator<Item = u32> {
        (0..length).rev().map(move |place| packed.digit(place * self.bits, self.bits))
    }
}

/// The phase that makes the ends of all rules.
pub(super) fn make<H: Key>(
    work: &mut Work<'_>,
    network: &Network,
    reach: Reach,
) -> Result<Array<Ends<H>>> {
    let levels = network.levels();
    // How many sequences there are follows from the tags, and so from lengths; items are shown as terms.
    let items = network.grammar().token_count();
    let are_items = |packed: H, length: u32| {
        is_masked(packed, length * reach.bits)
            && reach.items_of(packed, length).all(|item| item < items)
    };
    let are_ends = |rules: Range<u32>, own: &[Ends<H>], _: &[Ends<H>]| {
        rules.zip(own).all(|(rule, &[head, tail])| {
            let length = reach.length(network, rule);
            let untagged = head.and(reach.mask());
            untagged.with_tag(length) == head
                && are_items(untagged, length)
                && are_items(tail, length)
        })
    };
    work.fill_upwards("ends of rules", Starts::One, levels, are_ends, |rules, own, below| {
        let level_end = level_end(levels, rules.start);
        let below = |rule: u32| below[(rule - level_end) as usize];
        for (rule, own) in rules.zip(own) {
            *own = of_rule(network, reach, rule, below);
        }
    })
}

fn of_rule<H: Key>(
    network: &Network,
    reach: Reach,
    rule: u32,
    below: impl Fn(u32) -> Ends<H>,
) -> Ends<H> {
    let grammar = network.grammar().slices();
    let mask = reach.mask();
    let body = grammar.body(rule);
    let length = reach.length(network, rule);
    // The head: the first items, of as many symbols as it takes.
    let mut head = Passed::<H>::default();
    for &symbol in body {
        match grammar.rule_of(symbol) {
            None => head.pass(reach, mask, symbol),
            Some(child) => {
                let [child, _] = below(child);
                let room = reach.items - head.count;
                reach.items_of(child, child.tag()).take(room).for_each(|item| {
                    head.pass(reach, mask, item);
                });
            }
        }
        if head.count == reach.items {
            break;
        }
    }
    // The tail: from the last symbol that it can begin in.
    let tail = last_items(network, reach, body, below);
    [head.items.with_tag(length), tail.items]
}

/// The last items of a row of symbols.
pub(super) fn last_items<H: Key>(
    network: &Network,
    reach: Reach,
    row: &[u32],
    ends: impl Fn(u32) -> Ends<H>,
) -> Passed<H> {
    let grammar = network.grammar().slices();
    let mask = reach.mask();
    let mut first = row.len();
    let mut length = 0_u64;
    while first > 0 && length < reach.items as u64 {
        first -= 1;
        length += network.length_of(row[first]);
    }
    let mut passed = Passed::default();
    for &symbol in &row[first..] {
        match grammar.rule_of(symbol) {
            None => passed.pass(reach, mask, symbol),
            Some(rule) => {
                let [head, tail] = ends(rule);
                reach.items_of(tail, head.tag()).for_each(|item| passed.pass(reach, mask, item));
            }
        }
    }
    passed
}
