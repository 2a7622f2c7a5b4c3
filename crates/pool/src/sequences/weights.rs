//! How often every rule occurs whose sequences are met.
//!
//! Weights go from the root down to the rules, level by level; where a rule has a [table](super::tables), its weight stays with it.
//!
//! Cost: O(symbols of rules). In the pool: 8 bytes a rule.

use tadoc_core::{Array, Network};

use super::keys::Key;
use super::source::Source;
use crate::Result;
use crate::work::Work;

/// The weight of each rule, or 0 where it has no sequences.
pub(super) fn of_rules<K: Key, H: Key>(
    work: &mut Work<'_>,
    source: &Source<'_, K, H>,
) -> Result<Array<u64>> {
    let network = source.network();
    let grammar = network.grammar().slices();
    let items = network.grammar().token_count() as usize;
    let in_root = &network.root_counts_or(|| count_root(network))[items..];
    work.accumulate(
        "weights of rules with sequences",
        in_root.len(),
        |rules, weights| {
            for (weight, &count) in weights.iter_mut().zip(&in_root[rules]) {
                *weight = count.into();
            }
        },
        network.levels(),
        |rules, weights| {
            for rule in rules.filter(|&rule| source.descends(rule)) {
                let weight = weights.get(rule as usize);
                if weight > 0 {
                    let body = grammar.body(rule).iter();
                    body.filter_map(|&symbol| grammar.rule_of(symbol))
                        .filter(|&child| source.has_any(child))
                        .for_each(|child| weights.add(child as usize, weight));
                }
            }
        },
    )
}

/// How often each symbol stands in the root, for networks that do not know it yet.
fn count_root(network: &Network) -> Vec<u32> {
    let grammar = network.grammar();
    let mut counts = vec![0; (grammar.token_count() + grammar.rule_count()) as usize];
    grammar.root().iter().for_each(|&symbol| counts[symbol as usize] += 1);
    counts
}
