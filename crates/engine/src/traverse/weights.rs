//! How often rules and items occur: weights from the root down.
//!
//! First the symbols of the root are counted, then every rule gives its weight to the symbols of its
//! body. Parts go side by side; where threads are left, the root is counted in stretches with a table of
//! counters for each, and rules go level by level.
//!
//! Cost: one random access a symbol. Memory: 8 bytes a rule and an item, and for each table 4 more; tables are never
//! larger than the stretch that is counted in them.

use std::ops::{Bound, Range, RangeBounds};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use tadoc_core::{Network, Part};

use super::RULES_AT_ONCE;
use crate::parallel::split;

/// Tables of counters take at most so many bytes, all together.
const TABLE_BYTES: usize = 48 << 20;
/// With fewer threads a part, rules are not worth an atomic addition each.
const THREADS_FOR_LEVELS: usize = 4;

/// How often everything occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrences {
    /// For each rule.
    pub rules: Vec<u64>,
    /// For each item.
    pub items: Vec<u64>,
}

/// How often every rule and item occurs in a stretch of the root; `..` stands for all documents. O(symbols).
pub fn occurrences(network: &Network, root: impl RangeBounds<u32>) -> Occurrences {
    let start = match root.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start + 1,
        Bound::Unbounded => 0,
    };
    let end = match root.end_bound() {
        Bound::Included(&end) => end + 1,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => u32::MAX,
    };
    let grammar = network.grammar();
    let threads = rayon::current_num_threads();
    let concerned: Vec<(&Part, Range<u32>)> = network
        .parts()
        .iter()
        .map(|part| (part, part.root.start.max(start)..part.root.end.min(end)))
        .collect();
    let busy = concerned.iter().filter(|(_, root)| !root.is_empty()).count().max(1);
    let mut rules = vec![0_u64; grammar.rule_count() as usize];
    let mut items = vec![0_u64; grammar.token_count() as usize];
    let of_parts = split(&mut rules, network.parts().iter().map(|part| part.rules.len()));
    let jobs: Vec<Job> = concerned
        .into_iter()
        .zip(of_parts)
        .filter(|((_, root), _)| !root.is_empty())
        .map(|((part, root), weights)| Job { part, root, weights })
        .collect();
    if busy == 1 {
        jobs.into_iter().for_each(|job| job.run(network, &mut items, threads));
        return Occurrences { rules, items };
    }
    // As many groups of parts as there are threads, each with its own counters of items.
    let groups = busy.min(threads).min((TABLE_BYTES / (8 * items.len() + 1)).max(1));
    let workers = threads.div_ceil(groups);
    let mut grouped: Vec<Vec<Job>> = (0..groups).map(|_| Vec::new()).collect();
    for (number, job) in jobs.into_iter().enumerate() {
        grouped[number % groups].push(job);
    }
    let item_count = items.len();
    let counted: Vec<Vec<u64>> = grouped
        .into_par_iter()
        .map(|jobs| {
            let mut items = vec![0_u64; item_count];
            jobs.into_iter().for_each(|job| job.run(network, &mut items, workers));
            items
        })
        .collect();
    add_up(&mut items, &counted);
    Occurrences { rules, items }
}

/// Adds rows of counters to the first one, on all threads.
fn add_up<T: Copy + Into<u64> + Sync>(sums: &mut [u64], rows: &[Vec<T>]) {
    sums.par_chunks_mut(RULES_AT_ONCE).enumerate().for_each(|(chunk, sums)| {
        let first = chunk * RULES_AT_ONCE;
        for row in rows {
            for (sum, &more) in sums.iter_mut().zip(&row[first..]) {
                *sum += more.into();
            }
        }
    });
}

/// One part's share of the work.
struct Job<'a> {
    part: &'a Part,
    root: Range<u32>,
    /// The weights of its rules.
    weights: &'a mut [u64],
}

impl Job<'_> {
    fn run(self, network: &Network, items: &mut [u64], workers: usize) {
        let Self { part, root, weights } = self;
        let root = &network.grammar().root()[root.start as usize..root.end as usize];
        count_root(root, part.rules.start, items, weights, workers);
        if workers < THREADS_FOR_LEVELS {
            pass_down(network, part, items, weights);
        } else {
            pass_down_levels(network, part, items, weights, workers);
        }
    }
}

/// Counts the symbols of a stretch of the root: each worker in a table of its own, with the items first and
/// the rules of the part behind them.
fn count_root(
    root: &[u32],
    first_rule: u32,
    items: &mut [u64],
    weights: &mut [u64],
    workers: usize,
) {
    let item_count = items.len();
    let length = item_count + weights.len();
    // A table must be worth its being cleared and added up.
    let tables = workers.min(root.len() / length).min(TABLE_BYTES / (4 * length).max(1));
    let place = |symbol: u32| {
        let is_rule = symbol as usize >= item_count;
        (symbol - if is_rule { first_rule } else { 0 }) as usize
    };
    if tables < 2 {
        for &symbol in root {
            let place = place(symbol);
            if place < item_count {
                items[place] += 1;
            } else {
                weights[place - item_count] += 1;
            }
        }
        return;
    }
    let counted: Vec<Vec<u32>> = root
        .par_chunks(root.len().div_ceil(tables))
        .map(|stretch| {
            // A stretch is shorter than 2^32, so no counter can overflow.
            let mut counters = vec![0_u32; length];
            stretch.iter().for_each(|&symbol| counters[place(symbol)] += 1);
            counters
        })
        .collect();
    add_up(items, &counted);
    let rules: Vec<Vec<u32>> =
        counted.into_iter().map(|mut row| row.split_off(item_count)).collect();
    add_up(weights, &rules);
}

/// Rules in order, each giving its weight to the symbols of its body.
fn pass_down(network: &Network, part: &Part, items: &mut [u64], weights: &mut [u64]) {
    let grammar = network.grammar().slices();
    let first = part.rules.start;
    for rule in part.rules.clone() {
        let weight = weights[(rule - first) as usize];
        if weight == 0 {
            continue;
        }
        for &symbol in grammar.body(rule) {
            match grammar.rule_of(symbol) {
                None => items[symbol as usize] += weight,
                Some(child) => weights[(child - first) as usize] += weight,
            }
        }
    }
}

/// The same on many threads: rules level by level with atomic additions, then the items with a table for
/// each worker, as a frequent one is in very many rules.
fn pass_down_levels(
    network: &Network,
    part: &Part,
    items: &mut [u64],
    weights: &mut [u64],
    workers: usize,
) {
    let rule_starts = network.grammar().rule_starts();
    let grammar = network.grammar().slices();
    let first = part.rules.start;
    let shared: Vec<AtomicU64> = weights.iter().map(|&weight| AtomicU64::new(weight)).collect();
    let levels = network.levels();
    let low = levels.partition_point(|&start| start < first);
    let high = levels.partition_point(|&start| start < part.rules.end);
    for level in levels[low..=high].windows(2) {
        (level[0]..level[1]).into_par_iter().with_min_len(RULES_AT_ONCE).for_each(|rule| {
            let weight = shared[(rule - first) as usize].load(Ordering::Relaxed);
            if weight > 0 {
                let symbols = grammar.body(rule).iter();
                for child in symbols.filter_map(|&symbol| grammar.rule_of(symbol)) {
                    shared[(child - first) as usize].fetch_add(weight, Ordering::Relaxed);
                }
            }
        });
    }
    for (weight, shared) in weights.iter_mut().zip(shared) {
        *weight = shared.into_inner();
    }
    let symbols = rule_starts[part.rules.end as usize] - rule_starts[part.rules.start as usize];
    let tables = workers.min(symbols as usize / items.len().max(1)).max(1);
    let count = |rules: Range<u32>, items: &mut [u64]| {
        for rule in rules {
            let weight = weights[(rule - first) as usize];
            if weight > 0 {
                let symbols = grammar.body(rule).iter();
                symbols
                    .filter(|&&symbol| grammar.rule_of(symbol).is_none())
                    .for_each(|&item| items[item as usize] += weight);
            }
        }
    };
    if tables == 1 {
        return count(part.rules.clone(), items);
    }
    let stretch = part.rules.len().div_ceil(tables) as u32;
    let counted: Vec<Vec<u64>> = (0..tables as u32)
        .into_par_iter()
        .map(|number| {
            let mut row = vec![0_u64; items.len()];
            let start = first + number * stretch;
            count(start.min(part.rules.end)..(start + stretch).min(part.rules.end), &mut row);
            row
        })
        .collect();
    add_up(items, &counted);
}
