//! A small chain with every kind of phase, for tests of what survives; and the tables that it must give.

use tadoc_core::Array;

use tadoc_pool::{Chain, Persist, Pool, Result};
use tadoc_tasks::work::{Block, Blocks, RULES_AT_ONCE, Starts, Work};

pub const ARCHIVE: [u64; 2] = [3, 4];
/// Where the first table of a pool is.
pub const TABLES: usize = 96 << 10;
/// Rules of the chain: five levels, of which one has several operations and the others few rules.
const LEVELS: [u32; 6] = {
    let many = 2 * RULES_AT_ONCE as u32;
    [0, 3, 10, 15 + many, 60 + many, 62 + many]
};
const OPERATIONS: usize = 24;
const COUNTERS: usize = 700;

/// A random number made of another.
pub fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut number = *seed;
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// What a chain has made.
#[derive(Debug)]
pub struct Tables {
    filled: Array<u32>,
    lengths: Array<u64>,
    counters: Array<u64>,
    blocks: Blocks,
    last: Array<u16>,
}

pub fn chain() -> Chain {
    Chain { name: "a chain".into(), key: 5 }
}

/// Runs the chain in a pool.
pub fn run(pool: &mut Pool, persist: Persist) -> Result<Tables> {
    run_as(pool, persist, &chain())
}

/// The same as another chain.
pub fn run_as(pool: &mut Pool, persist: Persist, chain: &Chain) -> Result<Tables> {
    let mut work = pool.work(chain, persist, 1 << 16)?;
    let filled = fill(&mut work)?;
    run_chain(&mut work, filled)
}

pub fn fill(work: &mut Work<'_>) -> Result<Array<u32>> {
    let cuts: Vec<usize> = (0..=20).map(|cut| cut * cut * 3).collect();
    let is_filled = |operation: usize, own: &[u32]| {
        own.iter().all(|element| (operation * 1000..).contains(&(*element as usize)))
    };
    Ok(work.fill("fill", &cuts, is_filled, |operation, own| {
        for (place, element) in own.iter_mut().enumerate() {
            assert_eq!(*element, 0);
            *element = (operation * 1000 + place) as u32;
        }
    })?)
}

pub fn run_chain(work: &mut Work<'_>, filled: Array<u32>) -> Result<Tables> {
    let lengths = work.fill_upwards(
        "lengths",
        Starts::One,
        &LEVELS,
        |_, _, _| true,
        |rules, own, below| {
            for (rule, length) in rules.zip(own) {
                assert_eq!(*length, 0);
                let own = u64::from(filled[rule as usize % filled.len()]);
                *length = own + below.get(rule as usize % 40).copied().unwrap_or(1);
            }
        },
    )?;
    let counters = work.accumulate(
        "counters",
        COUNTERS,
        |range, own| {
            for (index, counter) in range.zip(own) {
                assert_eq!(*counter, 0);
                *counter = if index < 40 { index as u64 } else { 0 };
            }
        },
        &LEVELS,
        |counters| counters[COUNTERS - 1] == u64::from(LEVELS[LEVELS.len() - 1]),
        |rules, counters| {
            for rule in rules {
                let level = LEVELS.partition_point(|&start| start <= rule);
                let weight = counters.get(level * 40 - 40) + lengths[rule as usize];
                counters.add(level * 40 + rule as usize % 200, weight);
                counters.add(COUNTERS - 1, 1);
            }
        },
    )?;
    let is_block = |operation: usize, block: Block<'_>| {
        Some(block.section::<u16>(2)? == [operation as u16; 3])
    };
    let blocks = work.append("blocks", OPERATIONS, is_block, |operation, block| {
        let numbers: Vec<u64> =
            (0..operation as u64 * 7).map(|number| number * counters[40]).collect();
        block.put(&numbers);
        block.put::<u32>(&[]);
        block.put(&[operation as u16; 3]);
        Ok(())
    })?;
    let last = work.fill(
        "last",
        &[0, 5, 5, 9],
        |_, _| true,
        |operation, own| {
            own.fill(blocks.section::<u16>(operation + 7, 2)[0]);
        },
    )?;
    Ok(Tables { filled, lengths, counters, blocks, last })
}

/// What the chain must give, made without any of it.
pub fn check(tables: &Tables) {
    let filled: Vec<u32> = (0..20)
        .flat_map(|operation| {
            (0..3 * (2 * operation + 1)).map(move |place| operation * 1000 + place)
        })
        .collect();
    assert_eq!(tables.filled[..], filled);
    let rules = LEVELS[LEVELS.len() - 1] as usize;
    let mut lengths = vec![0_u64; rules];
    for rule in (0..rules).rev() {
        let level = LEVELS.partition_point(|&start| start as usize <= rule);
        let below = lengths[LEVELS[level] as usize..].get(rule % 40).copied().unwrap_or(1);
        lengths[rule] = u64::from(filled[rule % filled.len()]) + below;
    }
    assert_eq!(tables.lengths[..], lengths);
    let mut counters: Vec<u64> =
        (0..COUNTERS as u64).map(|index| if index < 40 { index } else { 0 }).collect();
    for rule in 0..rules {
        let level = LEVELS.partition_point(|&start| start as usize <= rule);
        let weight = counters[level * 40 - 40] + lengths[rule];
        counters[level * 40 + rule % 200] += weight;
        counters[COUNTERS - 1] += 1;
    }
    assert_eq!(tables.counters[..], counters);
    assert_eq!(tables.blocks.len(), OPERATIONS);
    for operation in 0..OPERATIONS {
        let numbers: Vec<u64> =
            (0..operation as u64 * 7).map(|number| number * counters[40]).collect();
        assert_eq!(tables.blocks.section::<u64>(operation, 0), numbers);
        assert_eq!(tables.blocks.section::<u32>(operation, 1), [0_u32; 0]);
        assert_eq!(tables.blocks.section::<u16>(operation, 2), [operation as u16; 3]);
    }
    assert_eq!(tables.last[..], [7, 7, 7, 7, 7, 9, 9, 9, 9]);
}
