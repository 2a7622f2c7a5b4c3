//! The pruned rules: of every rule its different sub-rules and its different words, each with how often it stands in the body.
//!
//! Order within a rule matters to sequences alone; all that counts words needs no more than this. The pairs of a rule stand together,
//! sub-rules first, and rules follow each other in their order, which is the order of a sweep: from the first to the last, all users of a rule
//! come before it. So a sweep down, and one up, read the pool from end to end.
//!
//! Made once for a pool, by three phases: how many pairs each rule has, where they start, and the pairs. Cost: every body is sorted twice. Size: 20
//! bytes a rule (8 of them sizes, which only the phase behind them needs) and 8 a pair. Taking them from a pool costs a look at every body: they are exactly
//! what the bodies have, so that weights and bounds made of them are those of the grammar.

use tadoc_core::{Array, Network};

use crate::Result;
use crate::work::{RULES_AT_ONCE, Work};

/// A sub-rule or a word (by number), and how often.
pub type Pair = [u32; 2];

/// Where the pairs of a rule start, how many are sub-rules, and how many are words.
type Place = [u32; 3];

/// The pruned rules of a network.
#[derive(Debug, Clone)]
pub struct Pruned {
    /// For every rule, and one behind the last.
    places: Array<Place>,
    pairs: Array<Pair>,
    /// Where every operation that goes over rules starts, and the end.
    cuts: Vec<usize>,
}

impl Pruned {
    /// Makes them.
    pub fn new(work: &mut Work<'_>, network: &Network) -> Result<Self> {
        let grammar = network.grammar().slices();
        let items = network.grammar().token_count();
        let rules = network.grammar().rule_count() as usize;
        let cuts: Vec<usize> = (0..rules).step_by(RULES_AT_ONCE).chain([rules]).collect();
        let cuts = if rules == 0 { vec![0, 0] } else { cuts };
        let has_sizes = |operation: usize, own: &[[u32; 2]]| {
            let mut body = Vec::new();
            (cuts[operation] as u32..)
                .zip(own)
                .all(|(rule, size)| *size == sizes_of(grammar.body(rule), items, &mut body))
        };
        let sizes =
            work.fill("sizes of pruned rules", &cuts, has_sizes, |operation, own: &mut [_]| {
                let mut body = Vec::new();
                for (rule, size) in (cuts[operation] as u32..).zip(own) {
                    *size = sizes_of(grammar.body(rule), items, &mut body);
                }
            })?;
        let all = [0, rules + 1];
        let follow = |_, own: &[Place]| {
            let mut start = 0;
            let sizes = sizes.iter().chain([&[0, 0]]);
            own.iter().zip(sizes).all(|(place, &[sub_rules, words])| {
                let expected = [start, sub_rules, words];
                start += sub_rules + words;
                *place == expected
            })
        };
        let places =
            work.fill("places of pruned rules", &all, follow, |_, own: &mut [Place]| {
                let mut start = 0;
                for (place, &[sub_rules, words]) in own.iter_mut().zip(&sizes[..]) {
                    *place = [start, sub_rules, words];
                    start += sub_rules + words;
                }
                own[rules] = [start, 0, 0];
            })?;
        let of_rules: Vec<usize> = cuts.iter().map(|&rule| places[rule][0] as usize).collect();
        let are_of_bodies = |operation: usize, own: &[Pair]| {
            let mut rest = own;
            let mut body = Vec::new();
            (cuts[operation]..cuts[operation + 1]).all(|rule| {
                let [_, sub_rules, words] = places[rule];
                let (sub_rules, behind) = rest.split_at(sub_rules as usize);
                let (words, behind) = behind.split_at(words as usize);
                rest = behind;
                let symbol_of = |&[rule, times]: &Pair| [rule.wrapping_add(items), times];
                let pairs = words.iter().copied().chain(sub_rules.iter().map(symbol_of));
                counts(grammar.body(rule as u32), pairs, &mut body)
            })
        };
        let pairs = work.fill("pruned rules", &of_rules, are_of_bodies, |operation, own| {
            let mut body = Vec::new();
            let mut rest = own.iter_mut();
            for rule in cuts[operation]..cuts[operation + 1] {
                sort(grammar.body(rule as u32), &mut body);
                let words = body.partition_point(|&symbol| symbol < items);
                let sub_rules = body[words..].chunk_by(|one, other| one == other);
                for same in sub_rules {
                    let pair = rest.next().expect("as many places as pairs");
                    *pair = [same[0] - items, same.len() as u32];
                }
                for same in body[..words].chunk_by(|one, other| one == other) {
                    let pair = rest.next().expect("as many places as pairs");
                    *pair = [same[0], same.len() as u32];
                }
            }
        })?;
        Ok(Self { places, pairs, cuts })
    }

    /// The tables as slices, for loops in which every step counts.
    #[inline]
    pub fn slices(&self) -> PrunedSlices<'_> {
        PrunedSlices { places: &self.places, pairs: &self.pairs }
    }

    /// How many rules there are.
    pub fn rules(&self) -> u32 {
        self.places.len() as u32 - 1
    }

    /// Rules in runs for the operations of a phase: where each starts, and the end.
    pub fn cuts(&self) -> &[usize] {
        &self.cuts
    }
}

/// Bodies of at most so many symbols are searched from the start, which is less than sorting them.
const SHORT: usize = 16;

/// How many different sub-rules and words a body has.
fn sizes_of(body: &[u32], items: u32, room: &mut Vec<u32>) -> [u32; 2] {
    let mut sizes = [0, 0];
    let mut count = |symbol: u32| sizes[usize::from(symbol < items)] += 1;
    if body.len() <= SHORT {
        for (place, &symbol) in body.iter().enumerate() {
            if !body[..place].contains(&symbol) {
                count(symbol);
            }
        }
    } else {
        sort(body, room);
        room.dedup();
        room.iter().for_each(|&symbol| count(symbol));
    }
    sizes
}

/// Whether these are all symbols of a body, ascending, each with how often it stands there.
fn counts(body: &[u32], pairs: impl Iterator<Item = Pair>, room: &mut Vec<u32>) -> bool {
    let is_short = body.len() <= SHORT;
    if !is_short {
        sort(body, room);
    }
    let (mut last, mut sum) = (None, 0);
    for [symbol, times] in pairs {
        let found = match is_short {
            true => body.iter().filter(|&&other| other == symbol).count(),
            false => {
                let start = room.partition_point(|&other| other < symbol);
                room[start..].partition_point(|&other| other == symbol)
            }
        };
        if last >= Some(symbol) || times == 0 || found != times as usize {
            return false;
        }
        (last, sum) = (Some(symbol), sum + found);
    }
    sum == body.len()
}

/// A body in ascending order: words, then rules.
fn sort(body: &[u32], into: &mut Vec<u32>) {
    into.clear();
    into.extend_from_slice(body);
    into.sort_unstable();
}

/// Pruned rules, wherever they lie.
#[derive(Debug, Clone, Copy)]
pub struct PrunedSlices<'a> {
    places: &'a [Place],
    pairs: &'a [Pair],
}

impl<'a> PrunedSlices<'a> {
    /// The different sub-rules of a rule, ascending, each with how often it is used.
    #[inline]
    pub fn sub_rules(self, rule: u32) -> &'a [Pair] {
        let [start, sub_rules, _] = self.places[rule as usize];
        &self.pairs[start as usize..start as usize + sub_rules as usize]
    }

    /// The different words of a rule, ascending, each with how often it stands in the body.
    #[inline]
    pub fn words(self, rule: u32) -> &'a [Pair] {
        let [start, sub_rules, words] = self.places[rule as usize];
        let start = start as usize + sub_rules as usize;
        &self.pairs[start..start + words as usize]
    }

    /// Both.
    #[inline]
    pub fn get(self, rule: u32) -> (&'a [Pair], &'a [Pair]) {
        let [start, sub_rules, words] = self.places[rule as usize];
        let all = &self.pairs[start as usize..][..sub_rules as usize + words as usize];
        all.split_at(sub_rules as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use tadoc_testing::networks::shapes;

    proptest! {
        #[test]
        fn pairs_are_those_of_the_bodies(shape in shapes()) {
            let network = shape.network();
            let pruned = Pruned::new(&mut Work::volatile(1 << 20), &network).unwrap();
            prop_assert_eq!(pruned.rules(), network.grammar().rule_count());
            let items = network.grammar().token_count();
            for rule in 0..pruned.rules() {
                let mut expected = std::collections::BTreeMap::new();
                for &symbol in network.grammar().body(rule) {
                    *expected.entry(symbol).or_insert(0) += 1;
                }
                let (sub_rules, words) = pruned.slices().get(rule);
                prop_assert_eq!(sub_rules, pruned.slices().sub_rules(rule));
                prop_assert_eq!(words, pruned.slices().words(rule));
                let symbols = words.iter().map(|&[word, times]| (word, times));
                let symbols = symbols.chain(sub_rules.iter().map(|&[rule, times]| (rule + items, times)));
                prop_assert!(symbols.eq(expected));
            }
        }
    }
}
