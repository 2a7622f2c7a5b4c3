//! How much there can be, before it is counted: bounds by summation from the rules up.
//!
//! A rule has at most as many different keys as it emits itself, and those that its sub-rules have; as it expands to items; and as there are
//! in all. It has at most as many different rules below it as its sub-rules and those below them, and as there are rules behind it. All tables that
//! count something are made for such a bound, so that none is ever made again larger.
//!
//! Cost: one sweep up over the bodies of rules. Size: 8 bytes a rule.

use std::ops::Range;

use tadoc_core::{Array, Network};

use crate::Result;
use crate::work::{Starts, Work};

/// How many different keys, and how many different rules.
pub type Bound = [u32; 2];

/// What there can be of each symbol of the root: the different keys that it has a part in, whether they are emitted by it, by all below it, or
/// by the root where it stands; and the different rules, itself included.
#[derive(Debug, Clone, Copy)]
pub struct SymbolBounds<'a> {
    /// How many symbols are items.
    pub items: u32,
    /// The keys of an item.
    pub of_item: u32,
    /// The bounds of every rule, without the rule itself.
    pub of_rules: &'a [Bound],
    /// The keys of a rule where it stands, beyond those within.
    pub beside: u32,
}

impl SymbolBounds<'_> {
    /// The bound of a symbol.
    #[inline]
    pub fn of(self, symbol: u32) -> Bound {
        match symbol.checked_sub(self.items) {
            None => [self.of_item, 0],
            Some(rule) => {
                let [keys, rules] = self.of_rules[rule as usize];
                [keys.saturating_add(self.beside), rules.saturating_add(1)]
            }
        }
    }
}

/// Two bounds together, which are no more than `most`.
#[inline]
pub fn add(one: Bound, other: Bound, most: Bound) -> Bound {
    [one[0].saturating_add(other[0]).min(most[0]), one[1].saturating_add(other[1]).min(most[1])]
}

/// The bounds of every rule: the keys that it and all below it emit, and the rules below it. `own` says how many different keys a rule emits
/// itself; `length` how many it emits with so many rules below it and with repetition, at most; `most`
/// how many there are in all.
pub fn bounds(
    work: &mut Work<'_>,
    network: &Network,
    own: impl Fn(u32) -> u64 + Sync,
    length: impl Fn(u32, u32) -> u64 + Sync,
    most: u64,
) -> Result<Array<Bound>> {
    let grammar = network.grammar().slices();
    let rules = network.grammar().rule_count();
    let narrow = |number: u64| number.min(u32::MAX.into()) as u32;
    let of_rule = |rule: u32, below: &[Bound]| {
        let first_below = rules as usize - below.len();
        let most = [narrow(most), rules - rule - 1];
        let mut sum = [narrow(own(rule)).min(most[0]), 0];
        // What is repeated adds nothing; most of it is repeated at once.
        for run in grammar.body(rule).chunk_by(|one, other| one == other) {
            if let Some(sub_rule) = grammar.rule_of(run[0]) {
                let [keys, rules] = below[sub_rule as usize - first_below];
                sum = add(sum, [keys, rules.saturating_add(1)], most);
            }
        }
        [sum[0].min(narrow(length(rule, sum[1]))), sum[1]]
    };
    // Rows are made for them, so they must be right.
    let are_right = |range: Range<u32>, table: &[Bound], below: &[Bound]| {
        range.zip(table).all(|(rule, bound)| *bound == of_rule(rule, below))
    };
    let levels = network.levels();
    work.fill_upwards("bounds of rules", Starts::One, levels, are_right, |range, table, below| {
        range.zip(table).for_each(|(rule, bound)| *bound = of_rule(rule, below));
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use tadoc_testing::networks::shapes;

    proptest! {
        #[test]
        fn no_rule_has_more(shape in shapes()) {
            let network = shape.network();
            let grammar = network.grammar();
            let mut work = Work::volatile(1 << 20);
            let found = bounds(
                &mut work, &network,
                |rule| grammar.body(rule).iter().filter(|&&symbol| grammar.rule_of(symbol).is_none()).count() as u64,
                |rule, _| network.lengths()[rule as usize],
                grammar.token_count().into(),
            ).unwrap();
            let mut below: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); found.len()];
            for rule in (0..grammar.rule_count()).rev() {
                let mut all = BTreeSet::new();
                for child in grammar.body(rule).iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
                    all.insert(child);
                    all.extend(&below[child as usize]);
                }
                let items: BTreeSet<u32> = grammar.expand(grammar.body(rule)).collect();
                let [keys, rules] = found[rule as usize];
                prop_assert!(items.len() <= keys as usize && all.len() <= rules as usize);
                prop_assert!(u64::from(keys) <= network.lengths()[rule as usize]);
                prop_assert!(keys <= grammar.token_count() && rules < grammar.rule_count());
                below[rule as usize] = all;
            }
        }
    }
}
