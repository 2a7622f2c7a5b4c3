//! The pairs of terms that stand near each other in a document, each where it crosses a border.
//!
//! A pair lies wholly in one symbol of a body, or it crosses from one symbol to another. In the first
//! case it is met in that symbol's own body; in the second it is made here, from the first and last
//! items of symbols. A key is of two items, as that of a sequence of two.
//!
//! Cost: for each symbol of a body or the root as many pairs as the window is wide, for each of its
//! first items. In the pool: for each rule 8 bytes, and its items, at most twice as many as the window
//! is wide.

use std::ops::Range;

use tadoc_core::grammar::Slices;
use tadoc_core::task::Task;
use tadoc_core::{Array, Network, Packing, parallel};

use super::source::Crossings;
use super::windows::for_each_document;
use crate::Result;
use crate::work::{Starts, Work, level_end};

/// How many pairs symbols end is known at every place that is a multiple of this.
const PLACES_AT_ONCE: usize = 1 << 8;
/// Items that are at hand while a row goes by: so many are seldom moved.
const ITEMS_AT_HAND: usize = 4 * Task::WIDEST_WINDOW;

/// The pairs of terms at a distance of at most `reach`.
pub(super) struct Pairs<'n> {
    network: &'n Network,
    reach: usize,
    bits: u32,
    /// Whether a pair is in the order of the text; otherwise the lesser item comes first.
    ordered: bool,
    ends: Ends,
    /// How many pairs the symbols before some places can end.
    most: Vec<u64>,
}

/// The first and last items of rules.
struct Ends {
    /// Where those of each rule start, and the end.
    starts: Array<u64>,
    items: Array<u32>,
}

/// The first and the last items of a rule: `reach` of each, or twice all of a shorter rule.
type End<'a> = [&'a [u32]; 2];

/// The ends of a rule that are stored so.
#[inline]
fn end(items: &[u32], reach: usize) -> End<'_> {
    match items.len() > reach {
        true => items.split_at(reach).into(),
        false => [items; 2],
    }
}

/// The ends of a symbol; `of_rule` gives those of a rule.
#[inline]
fn end_of<'a>(
    grammar: Slices<'_>,
    symbol: &'a u32,
    of_rule: impl FnOnce(u32) -> End<'a>,
) -> End<'a> {
    match grammar.rule_of(*symbol) {
        None => [std::slice::from_ref(symbol); 2],
        Some(rule) => of_rule(rule),
    }
}

impl Ends {
    fn new(work: &mut Work<'_>, network: &Network, reach: usize) -> Result<Self> {
        let lengths = network.lengths();
        let most = reach as u64;
        let items_of = |rule: usize| match lengths[rule] {
            length if length <= most => length,
            _ => 2 * most,
        };
        let rules = lengths.len();
        let follow = |_, starts: &[u64]| {
            starts[0] == 0
                && (0..rules)
                    .all(|rule| starts[rule].checked_add(items_of(rule)) == Some(starts[rule + 1]))
        };
        // One sum over all rules, so one operation.
        let starts = work.fill("starts of ends", &[0, rules + 1], follow, |_, starts| {
            for rule in 0..rules {
                starts[rule + 1] = starts[rule] + items_of(rule);
            }
        })?;
        let at = Starts::At(&starts);
        let grammar = network.grammar().slices();
        let levels = network.levels();
        // How many there are follows from lengths; items are shown as terms.
        let items = network.grammar().token_count();
        let are_items = |_, own: &[u32], _: &[u32]| own.iter().all(|&item| item < items);
        let items = work.fill_upwards("ends", at, levels, are_items, |rules, own, below| {
            let first = at.of(rules.start);
            let first_below = at.of(level_end(levels, rules.start));
            let of_child = |rule: u32| {
                end(&below[at.of(rule) - first_below..at.of(rule + 1) - first_below], reach)
            };
            for rule in rules {
                let own = &mut own[at.of(rule) - first..at.of(rule + 1) - first];
                let body = grammar.body(rule);
                let (mut head, mut tail) = (&mut own[..], &mut [][..]);
                if head.len() > reach {
                    (head, tail) = head.split_at_mut(reach);
                }
                for symbol in body {
                    if head.is_empty() {
                        break;
                    }
                    let [of_symbol, _] = end_of(grammar, symbol, of_child);
                    let count = head.len().min(of_symbol.len());
                    let room = head.split_off_mut(..count).expect("no more than there is room for");
                    room.copy_from_slice(&of_symbol[..count]);
                }
                for symbol in body.iter().rev() {
                    if tail.is_empty() {
                        break;
                    }
                    let [_, of_symbol] = end_of(grammar, symbol, of_child);
                    let count = tail.len().min(of_symbol.len());
                    let start = tail.len() - count;
                    let room = tail.split_off_mut(start..).expect("it ends there");
                    room.copy_from_slice(&of_symbol[of_symbol.len() - count..]);
                }
            }
        })?;
        Ok(Self { starts, items })
    }

    #[inline]
    fn of(&self, rule: u32, reach: usize) -> End<'_> {
        let at = Starts::At(&self.starts);
        end(&self.items[at.of(rule)..at.of(rule + 1)], reach)
    }
}

/// How many pairs a symbol of so many items can end: its first item as many as there are places before
/// it, and every further one less.
fn most_of(items: u64, reach: u64) -> u64 {
    let head = items.min(reach);
    head * reach - head * head.saturating_sub(1) / 2
}

/// How many pairs so many items have, or about `u64::MAX`: at every distance as many as there are items,
/// but for those at the end.
fn keys_in(items: u64, reach: u64) -> u64 {
    let far = reach.min(items.saturating_sub(1));
    far.saturating_mul(items) - far * (far + 1) / 2
}

impl<'n> Pairs<'n> {
    pub(super) fn new(
        work: &mut Work<'_>,
        network: &'n Network,
        packing: Packing,
        reach: usize,
        ordered: bool,
    ) -> Result<Self> {
        assert!((1..=Task::WIDEST_WINDOW).contains(&reach), "a window of {reach}");
        let ends = Ends::new(work, network, reach)?;
        let symbols: Vec<&[u32]> = network.grammar().symbols().chunks(PLACES_AT_ONCE).collect();
        let of_symbols = |symbols: &[u32]| -> u64 {
            symbols.iter().map(|&symbol| most_of(network.length_of(symbol), reach as u64)).sum()
        };
        let sums = parallel::map(symbols.len(), &|some| of_symbols(symbols[some]));
        let most = sums.iter().scan(0, |sum, more| {
            let before = *sum;
            *sum += more;
            Some(before)
        });
        let most = most.chain([sums.iter().sum()]).collect();
        Ok(Self { network, reach, bits: packing.bits, ordered, ends, most })
    }

    /// Goes over a row of symbols with items before it, and calls `each` with the pairs that cross a
    /// border in it.
    #[inline]
    fn cross(&self, before: &[u32], row: &[u32], mut each: impl FnMut(u64)) {
        let grammar = self.network.grammar().slices();
        let (reach, bits) = (self.reach, self.bits);
        // The items before a symbol are the last ones of these.
        let mut items = [0; ITEMS_AT_HAND];
        items[..before.len()].copy_from_slice(before);
        let mut count = before.len();
        for symbol in row {
            let [head, tail] = end_of(grammar, symbol, |rule| self.ends.of(rule, reach));
            let passed = &items[count.saturating_sub(reach)..count];
            for (ahead, &second) in head.iter().enumerate() {
                for &first in passed.iter().rev().take(reach - ahead) {
                    let is_swapped = !self.ordered && second < first;
                    let pair = if is_swapped { [second, first] } else { [first, second] };
                    each(u64::from(pair[0]) << bits | u64::from(pair[1]));
                }
            }
            if count + tail.len() > ITEMS_AT_HAND {
                items.copy_within(count - reach..count, 0);
                count = reach;
            }
            items[count..count + tail.len()].copy_from_slice(tail);
            count += tail.len();
        }
    }

    /// The last items of a row of symbols, at most as many as a window is wide.
    fn last_items(&self, row: &[u32]) -> Vec<u32> {
        let grammar = self.network.grammar().slices();
        let mut items = Vec::new();
        // Symbols from the last one on, and the items of each from its last one on.
        for &symbol in row.iter().rev() {
            if items.len() >= self.reach {
                break;
            }
            match grammar.rule_of(symbol) {
                None => items.push(symbol),
                Some(rule) => items.extend(self.ends.of(rule, self.reach)[1].iter().rev()),
            }
        }
        items.truncate(self.reach);
        items.reverse();
        items
    }
}

impl<'n> Crossings<'n, u64> for Pairs<'n> {
    fn network(&self) -> &'n Network {
        self.network
    }

    fn shortest(&self) -> u64 {
        2
    }

    fn keys_in(&self, items: u64) -> u64 {
        keys_in(items, self.reach as u64)
    }

    fn most_before(&self, place: u32) -> u64 {
        let place = place as usize;
        let first = place / PLACES_AT_ONCE;
        let symbols = &self.network.grammar().symbols()[first * PLACES_AT_ONCE..place];
        let reach = self.reach as u64;
        let more = symbols.iter().map(|&symbol| most_of(self.network.length_of(symbol), reach));
        self.most[first] + more.sum::<u64>()
    }

    #[inline]
    fn of_rule(&self, rule: u32, each: impl FnMut(u64)) {
        self.cross(&[], self.network.grammar().body(rule), each);
    }

    #[inline]
    fn of_root(&self, stretch: Range<u32>, mut each: impl FnMut(u32, u64)) {
        for_each_document(self.network, stretch, |document, before, row| {
            self.cross(&self.last_items(before), row, |key| each(document as u32, key));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_before_they_are_made() {
        for (items, reach) in
            (0..9_u64).flat_map(|items| (1..6_u64).map(move |reach| (items, reach)))
        {
            let pairs = (0..items).flat_map(|second| {
                (0..items).filter(move |&first| first < second && second - first <= reach)
            });
            let crossings = (0..items).map(|place| reach.saturating_sub(place)).sum::<u64>();
            assert_eq!(most_of(items, reach), crossings, "{items} items, {reach}");
            assert_eq!(keys_in(items, reach), pairs.count() as u64, "{items} items, {reach}");
        }
        assert_eq!(keys_in(u64::MAX, 1), u64::MAX - 1);
    }
}
