//! How often everything occurs: weights from the root down.
//!
//! The root is counted before: what is asked of the whole corpus needs no more of it. Then one sweep
//! over the rules gives the weight of every rule to the symbols of its body.
//!
//! Cost: an addition for every symbol of a body, most of them to any place of the counters. Size: 8
//! bytes an item and a rule.

use tadoc_core::{Array, Network};

use crate::Result;
use crate::entry::{Entry, Key};
use crate::terms::TermsOf;
use crate::work::Work;

/// How often every item and every rule occurs.
#[derive(Debug, Clone)]
pub struct Weights {
    counters: Array<u64>,
    items: usize,
}

impl Weights {
    /// Counts all occurrences.
    pub fn new(work: &mut Work<'_>, network: &Network) -> Result<Self> {
        Self::made(work, "weights", network, |_, _| false)
    }

    /// Counts the occurrences of items with tables: the weight of a rule that has one goes to the entries of it, and no further.
    /// What it says of rules is not how often they occur.
    pub fn by_tables<K: Key>(
        work: &mut Work<'_>,
        network: &Network,
        terms: &TermsOf<'_, K>,
    ) -> Result<Self> {
        Self::made(work, "weights by tables", network, |rule, add| {
            let table = terms.table(rule);
            let entries = table.into_iter().flatten().take_while(|entry| entry.count() > 0);
            entries.for_each(|entry| add(entry.key().number(), entry.count()));
            table.is_some()
        })
    }

    /// `give` gives the entries of a rule's table, or says that there is none.
    fn made(
        work: &mut Work<'_>,
        phase: &'static str,
        network: &Network,
        give: impl Fn(u32, &mut dyn FnMut(u32, u64)) -> bool + Sync,
    ) -> Result<Self> {
        let items = network.grammar().token_count() as usize;
        let grammar = network.grammar().slices();
        let root = root_counts(network);
        let counters = work.accumulate(
            phase,
            root.len(),
            |range, counters| {
                counters.iter_mut().zip(&root[range]).for_each(|(to, &from)| *to = from.into());
            },
            network.levels(),
            |counters| {
                // Items are exactly those of the text. Rules that have tables are not counted as often as they occur.
                let sum = |counters: &[u64]| {
                    counters.iter().try_fold(0_u64, |sum, &counter| sum.checked_add(counter))
                };
                sum(&counters[..items]) == Some(network.length())
                    && counters[items..].iter().all(|&weight| weight <= network.length())
            },
            |range, counters| {
                for rule in range {
                    let weight = counters.get(items + rule as usize);
                    if weight == 0
                        || give(rule, &mut |item, times| {
                            counters.add(item as usize, weight.wrapping_mul(times))
                        })
                    {
                        continue;
                    }
                    let body = grammar.body(rule).iter().map(|&symbol| symbol as usize);
                    counters.add_each(body, weight);
                }
            },
        )?;
        Ok(Self { counters, items })
    }

    /// How often every item occurs.
    pub fn items(&self) -> &[u64] {
        &self.counters[..self.items]
    }

    /// How often every rule occurs.
    pub fn rules(&self) -> &[u64] {
        &self.counters[self.items..]
    }
}

/// How often each symbol (items, then rules) stands in the root; counted at the first call, and kept with the network.
pub fn root_counts(network: &Network) -> &[u32] {
    let grammar = network.grammar();
    network.root_counts_or(|| grammar.count_symbols(&[grammar.root()]).into_array())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use tadoc_testing::networks::{counts_only, shapes, texts};

    proptest! {
        #[test]
        fn weights_are_those_of_the_text(shape in shapes()) {
            let network = shape.network();
            let mut expected = vec![0_u64; network.grammar().token_count() as usize];
            texts(&network).iter().flatten().for_each(|&item| expected[item as usize] += 1);
            for network in [counts_only(&network), network] {
                let mut work = Work::volatile(1 << 20);
                let weights = Weights::new(&mut work, &network).unwrap();
                prop_assert_eq!(weights.items(), &expected[..]);
                let mut uses: Vec<u64> = network.root_counts_or(Vec::new)[expected.len()..]
                    .iter().map(|&count| count.into()).collect();
                let grammar = network.grammar();
                for rule in 0..grammar.rule_count() {
                    for child in grammar.body(rule).iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
                        uses[child as usize] += uses[rule as usize];
                    }
                }
                prop_assert_eq!(weights.rules(), &uses[..]);
            }
        }
    }
}
