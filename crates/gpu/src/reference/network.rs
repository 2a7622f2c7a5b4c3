//! A resident network, put together with plain loops.

use std::collections::BTreeMap;

use tadoc_core::Network;

/// What a resident network has.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plain {
    pub levels: Vec<u32>,
    pub bodies: Vec<Vec<u32>>,
    pub lengths: Vec<u64>,
    pub root: Vec<u32>,
    pub uses: Vec<Vec<u32>>,
    pub root_counts: Vec<u32>,
    pub postings: Vec<Vec<(u32, u32)>>,
}

/// The rules of each level, by their numbers in the grammar.
fn levels(network: &Network) -> Vec<Vec<u32>> {
    let mut levels: Vec<Vec<u32>> = Vec::new();
    for part in network.parts() {
        let runs = network.levels().windows(2).map(|run| run[0]..run[1]);
        let of_part = runs.filter(|run| !run.is_empty() && part.rules.contains(&run.start));
        for (number, run) in of_part.enumerate() {
            if levels.len() == number {
                levels.push(Vec::new());
            }
            levels[number].extend(run);
        }
    }
    levels
}

/// Puts it together.
pub fn plain(network: &Network) -> Plain {
    let grammar = network.grammar();
    let (rules, items) = (grammar.rule_count(), grammar.token_count());
    let levels = levels(network);
    let order: Vec<u32> = levels.concat();
    let numbers: BTreeMap<u32, u32> =
        order.iter().enumerate().map(|(new, &old)| (items + old, new as u32)).collect();
    let renumbered = |symbols: &[u32]| -> Vec<u32> {
        symbols.iter().map(|symbol| *numbers.get(symbol).unwrap_or(&(rules + symbol))).collect()
    };
    let mut made = Plain { levels: vec![0], ..Plain::default() };
    let mut end = 0;
    for level in &levels {
        end += level.len() as u32;
        made.levels.push(end);
    }
    made.bodies = order.iter().map(|&rule| renumbered(grammar.body(rule))).collect();
    made.lengths = order.iter().map(|&rule| network.lengths()[rule as usize]).collect();
    made.root = renumbered(grammar.root());
    let symbols = (rules + items) as usize;
    made.uses = vec![Vec::new(); symbols];
    for (rule, body) in made.bodies.iter().enumerate() {
        body.iter().for_each(|&symbol| made.uses[symbol as usize].push(rule as u32));
    }
    made.root_counts = vec![0; symbols];
    let mut postings = vec![BTreeMap::new(); symbols];
    for document in 0..grammar.document_count() {
        for symbol in renumbered(grammar.document(document)) {
            made.root_counts[symbol as usize] += 1;
            *postings[symbol as usize].entry(document as u32).or_insert(0) += 1;
        }
    }
    made.postings = postings.into_iter().map(|found| found.into_iter().collect()).collect();
    if !network.has_root() {
        let counts = network.root_counts_or(Vec::new);
        for rule in 0..rules {
            let new = numbers[&(items + rule)] as usize;
            made.root_counts[new] = counts[(items + rule) as usize];
        }
        made.root_counts[rules as usize..].copy_from_slice(&counts[..items as usize]);
    }
    for symbol in 0..symbols {
        if made.root_counts[symbol] > 0 {
            made.uses[symbol].push(rules + symbol as u32);
        }
    }
    made
}

/// How often every rule of the network and every item occurs: sums from the first level to the last.
pub fn weights(plain: &Plain) -> Vec<u64> {
    let rules = plain.bodies.len();
    let mut weights: Vec<u64> = Vec::new();
    for uses in &plain.uses {
        let weight = uses.iter().map(|&list| match list as usize {
            rule if rule < rules => weights[rule],
            list => plain.root_counts[list - rules].into(),
        });
        weights.push(weight.sum());
    }
    weights
}
