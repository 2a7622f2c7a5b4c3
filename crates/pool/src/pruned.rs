//! The pruned rules: of every rule its different sub-rules and its different words, each with how often it stands in the body.
//!
//! Order within a rule matters to sequences alone; all that counts words needs no more than this. The pairs of a rule stand together,
//! sub-rules first, and rules follow each other in their order, which is the order of a sweep: from the first to the last, all users of a rule
//! come before it. So a sweep down, and one up, read the pool from end to end.
//!
//! Made once for a pool, by three phases: how many pairs each rule has, where they start, and the pairs. Cost: every body is sorted twice. Size: 20
//! bytes a rule (8 of them sizes, which only the phase behind them needs) and 8 a pair.

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
        let sizes =
            work.fill("sizes of pruned rules", &cuts, |operation, own: &mut [[u32; 2]]| {
                let mut body = Vec::new();
                for (rule, size) in (cuts[operation]..).zip(own) {
                    sort(grammar.body(rule as u32), &mut body);
                    body.dedup();
                    let words = body.partition_point(|&symbol| symbol < items);
                    *size = [(body.len() - words) as u32, words as u32];
                }
            })?;
        let all = [0, rules + 1];
        let places = work.fill("places of pruned rules", &all, |_, own: &mut [Place]| {
            let mut start = 0;
            for (place, &[sub_rules, words]) in own.iter_mut().zip(&sizes[..]) {
                *place = [start, sub_rules, words];
                start += sub_rules + words;
            }
            own[rules] = [start, 0, 0];
        })?;
        let of_rules: Vec<usize> = cuts.iter().map(|&rule| places[rule][0] as usize).collect();
        let pairs = work.fill("pruned rules", &of_rules, |operation, own: &mut [Pair]| {
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
    use crate::reference::shapes;

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
