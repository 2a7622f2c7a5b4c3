//! The top-down pass on a network that is made for it: ten million edges in two million rules of forty levels.
//!
//! A rule has one or two rules of the next level and items for the rest, so that lengths stay in bounds; items are
//! drawn as words are, few of them often.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use tadoc::gpu::Device;
use tadoc::gpu::network::ResidentNetwork;
use tadoc::gpu::weights::Weights;
use tadoc::traverse::occurrences;
use tadoc_core::{Grammar, Network, Part};
use tadoc_oracle::Random;

use super::result::SyntheticResult;

const LEVELS: u32 = 40;
const RULES_OF_A_LEVEL: u32 = 50_000;
const SYMBOLS_OF_A_RULE: u32 = 5;
const ITEMS: u32 = 500_000;
const ROOT: u32 = 2_000_000;

/// The network.
fn network() -> Result<Network> {
    let mut random = Random::new(1);
    let rules = LEVELS * RULES_OF_A_LEVEL;
    let item = |random: &mut Random| (random.rank() % u64::from(ITEMS)) as u32;
    let mut symbols: Vec<u32> = (0..ROOT)
        .map(|place| match place < RULES_OF_A_LEVEL {
            true => ITEMS + place,
            false => item(&mut random),
        })
        .collect();
    let mut starts = vec![ROOT];
    for rule in 0..rules {
        let next = (rule / RULES_OF_A_LEVEL + 1) * RULES_OF_A_LEVEL;
        let place = rule % RULES_OF_A_LEVEL;
        let children = if next == rules { 0 } else { 1 + random.below(2) as u32 };
        for number in 0..SYMBOLS_OF_A_RULE {
            symbols.push(match number < children {
                false => item(&mut random),
                // Every rule is used; the first of a level by the first of the one before, so that levels are these.
                true if number == 0 => ITEMS + next + place,
                true => ITEMS + next + random.below(RULES_OF_A_LEVEL.into()) as u32,
            });
        }
        starts.push(symbols.len() as u32);
    }
    let grammar = Grammar::new(ITEMS, symbols, starts, vec![0, ROOT])?;
    Ok(Network::new(grammar, vec![Part { root: 0..ROOT, rules: 0..rules }], vec![0])?)
}

/// Measures the pass on the device, and checks it against the processor's.
pub fn measure(device: &Arc<Device>, rounds: usize) -> Result<SyntheticResult> {
    eprintln!("synthetic network");
    let network = network()?;
    let start = Instant::now();
    let expected = occurrences(&network, ..);
    let processor_seconds = start.elapsed().as_secs_f64();
    let resident = ResidentNetwork::new(device, &network)?;
    let found = device.download(&Weights::new(&resident)?.items)?;
    anyhow::ensure!(found == expected.items, "the weights of the synthetic network are wrong");
    let mut seconds = Vec::new();
    for _ in 0..rounds {
        device.finish()?;
        let start = device.mark()?;
        let weights = Weights::new(&resident)?;
        let end = device.mark()?;
        seconds.push(end.since(&start)?.as_secs_f64());
        drop(weights);
    }
    let rules = network.grammar().rule_count();
    // An edge is read (4 bytes), with the weight that it gets from (8); every symbol's weight is written (8), and where its
    // edges start is read (4).
    let edges = u64::from(resident.level_edges.last().copied().unwrap_or(0));
    let symbols = u64::from(rules) + u64::from(ITEMS);
    Ok(SyntheticResult {
        rules,
        items: ITEMS,
        levels: network.levels().len() - 1,
        edges,
        bytes: 12 * edges + 12 * symbols,
        seconds,
        processor_seconds,
    })
}
