//! How often every rule occurs whose sequences are met.
//!
//! Weights go from the root down to the rules, level by level; where a rule has a [table](super::tables), its weight stays with it.
//!
//! Cost: one sweep over the bodies of rules. In the pool: 8 bytes a rule.

use tadoc_core::Array;

use super::source::Scope;
use crate::Result;
use crate::work::Work;

/// The weight of each rule that has sequences; what it says of others is of no use.
pub(super) fn of_rules(work: &mut Work<'_>, scope: Scope<'_>) -> Result<Array<u64>> {
    let network = scope.network;
    let grammar = network.grammar().slices();
    let items = network.grammar().token_count() as usize;
    let in_root = &crate::weights::root_counts(network)[items..];
    work.accumulate(
        "weights of rules with sequences",
        in_root.len(),
        |rules, weights| {
            for (weight, &count) in weights.iter_mut().zip(&in_root[rules]) {
                *weight = count.into();
            }
        },
        network.levels(),
        |weights| weights.iter().all(|&weight| weight <= network.length()),
        |rules, weights| {
            for rule in rules.filter(|&rule| scope.descends(rule)) {
                let weight = weights.get(rule as usize);
                if weight > 0 {
                    let body = grammar.body(rule).iter();
                    let children = body.filter_map(|&symbol| grammar.rule_of(symbol));
                    weights.add_each(children.map(|child| child as usize), weight);
                }
            }
        },
    )
}
