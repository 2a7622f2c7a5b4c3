//! The top-down pass on networks that are made for it, of ten million edges and more.
//!
//! A rule has one or two rules of the next level and items for the rest, so that lengths stay in bounds; items are
//! drawn as words are, few of them often. One network has levels of equal size, which is hard for a GPU, as every level is waited for; the
//! other has levels in the proportions of those of `files-linux`, as they are in grammars of text.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use tadoc_core::{Grammar, Limits, Network, Part};
use tadoc_engine::gpu::Device;
use tadoc_engine::gpu::network::ResidentNetwork;
use tadoc_engine::gpu::weights::Weights;
use tadoc_oracle::Random;

use super::result::SyntheticResult;

const SYMBOLS_OF_A_RULE: u32 = 5;

/// What a network is made like.
struct Shape {
    name: &'static str,
    items: u32,
    root: u32,
    /// Rules of each level.
    levels: Vec<u32>,
}

fn shapes() -> [Shape; 2] {
    // The levels of the view of `files-linux` (275 MB), ten times as large: a corpus of about 3 GB.
    let of_text = [
        147_494, 172_524, 103_046, 48_894, 23_080, 11_385, 5_395, 2_868, 1_490, 787, 461, 251, 161,
        87, 58, 25, 9, 1, 1, 1,
    ];
    [
        Shape {
            name: "40 levels of equal size",
            items: 500_000,
            root: 2_000_000,
            levels: vec![50_000; 40],
        },
        Shape {
            name: "levels as in text",
            items: 5_000_000,
            root: 20_000_000,
            levels: of_text.iter().map(|rules| rules * 10).collect(),
        },
    ]
}

impl Shape {
    fn network(&self) -> Result<Network> {
        let mut random = Random::new(1);
        let item = |random: &mut Random| (random.rank() % u64::from(self.items)) as u32;
        let first = self.levels[0];
        let mut symbols: Vec<u32> = (0..self.root)
            .map(|place| match place < first {
                true => self.items + place,
                false => item(&mut random),
            })
            .collect();
        let mut starts = vec![self.root];
        let mut next = 0;
        for (level, &rules) in self.levels.iter().enumerate() {
            next += rules;
            let below = self.levels.get(level + 1).copied().unwrap_or(0);
            for place in 0..rules {
                let children = if below == 0 { 0 } else { 1 + random.below(2) as u32 };
                for number in 0..SYMBOLS_OF_A_RULE {
                    symbols.push(match number < children {
                        false => item(&mut random),
                        // Every rule is used; the first of a level by the first of the one before, so that levels are these.
                        true if number == 0 && place < below => self.items + next + place,
                        true => self.items + next + random.below(below.into()) as u32,
                    });
                }
                starts.push(symbols.len() as u32);
            }
        }
        let grammar = Grammar::new(self.items, symbols, starts, vec![0, self.root])?;
        let part = Part { root: 0..self.root, rules: 0..next };
        Ok(Network::new(grammar, vec![part], vec![0])?)
    }
}

/// Measures the pass on the device, and checks it against the processor's.
pub fn measure(device: &Arc<Device>, rounds: usize) -> Result<Vec<SyntheticResult>> {
    shapes().iter().map(|shape| measure_shape(shape, device, rounds)).collect()
}

fn measure_shape(shape: &Shape, device: &Arc<Device>, rounds: usize) -> Result<SyntheticResult> {
    eprintln!("synthetic network: {}", shape.name);
    let network = shape.network()?;
    let start = Instant::now();
    let mut work = tadoc_tasks::Work::volatile(Limits::default().memory);
    let expected = tadoc_tasks::Weights::new(&mut work, &network)?;
    let processor_seconds = start.elapsed().as_secs_f64();
    let resident = ResidentNetwork::new(device, &network)?;
    let found = device.download(&Weights::new(&resident)?.items)?;
    anyhow::ensure!(found == expected.items(), "the weights of the synthetic network are wrong");
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
    let symbols = u64::from(rules) + u64::from(shape.items);
    Ok(SyntheticResult {
        shape: shape.name,
        rules,
        items: shape.items,
        levels: network.levels().len() - 1,
        edges,
        bytes: 12 * edges + 12 * symbols,
        seconds,
        processor_seconds,
    })
}
