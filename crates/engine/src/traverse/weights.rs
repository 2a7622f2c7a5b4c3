//! How often rules and items occur: weights from the root down.
//!
//! First the symbols of the root are counted, then every rule gives its weight to the symbols of its
//! body. Parts go side by side; where threads are left, the root is counted in stretches with a table of
//! counters for each, and rules go level by level.
//!
//! Cost: one random access a symbol. The counts of the whole root are kept: it is most of a grammar, and the same for
//! every question, so that all but the first look at the rules only. Memory: 12 bytes a rule and an item,
//! and for each table 4 more; tables are never larger than the stretch that is counted in them.

use std::ops::{Bound, Range, RangeBounds};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use tadoc_core::parallel::split;
use tadoc_core::{Network, Part};

use super::RULES_AT_ONCE;

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

/// How often every rule and item occurs in a stretch of the root; `..` stands for all documents, for which the
/// counts of the root are kept with the network. O(symbols), and O(symbols of rules) the second time.
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
    if start == 0 && end as usize >= network.grammar().root().len() {
        pass_down(network, root_counts(network))
    } else {
        pass_down(network, &count_root(network, start..end))
    }
}

/// The counts of the whole root; made at the first call for a network, and kept with it.
fn root_counts(network: &Network) -> &[u32] {
    network.root_counts_or(|| count_root(network, 0..u32::MAX))
}

/// Jobs in as many groups as there are threads for, as long as the tables of all groups fit; and how many
/// threads each group has.
fn groups<J>(jobs: Vec<J>, table_bytes: usize) -> (Vec<Vec<J>>, usize) {
    let threads = rayon::current_num_threads();
    let most = (TABLE_BYTES / table_bytes.max(1)).clamp(1, threads);
    let count = jobs.len().clamp(1, most);
    let mut groups: Vec<Vec<J>> = (0..count).map(|_| Vec::new()).collect();
    for (number, job) in jobs.into_iter().enumerate() {
        groups[number % count].push(job);
    }
    (groups, threads.div_ceil(count))
}

/// Adds rows of counters to the first one, on all threads.
fn add_up<S, T>(sums: &mut [S], rows: &[&[T]])
where
    S: Copy + std::ops::AddAssign + From<T> + Send,
    T: Copy + Sync,
{
    sums.par_chunks_mut(RULES_AT_ONCE).enumerate().for_each(|(chunk, sums)| {
        let first = chunk * RULES_AT_ONCE;
        for row in rows {
            for (sum, &more) in sums.iter_mut().zip(&row[first..]) {
                *sum += more.into();
            }
        }
    });
}

/// How often each symbol stands in a stretch of the root: items, then rules. The root has fewer than 2^32 symbols, so
/// that no counter can overflow.
fn count_root(network: &Network, root: Range<u32>) -> Vec<u32> {
    let grammar = network.grammar();
    let item_count = grammar.token_count() as usize;
    let mut counts = vec![0_u32; item_count + grammar.rule_count() as usize];
    let (items, rules) = counts.split_at_mut(item_count);
    let of_parts = split(rules, network.parts().iter().map(|part| part.rules.len()));
    let jobs: Vec<(&Part, &[u32], &mut [u32])> = network
        .parts()
        .iter()
        .zip(of_parts)
        .map(|(part, rules)| {
            let stretch = part.root.start.max(root.start)..part.root.end.min(root.end);
            let symbols = grammar.root().get(stretch.start as usize..stretch.end as usize);
            (part, symbols.unwrap_or(&[]), rules)
        })
        .filter(|(_, symbols, _)| !symbols.is_empty())
        .collect();
    let (groups, workers) = groups(jobs, 4 * item_count);
    let tables: Vec<Vec<u32>> = groups
        .into_par_iter()
        .map(|jobs| {
            let mut items = vec![0_u32; item_count];
            for (part, symbols, rules) in jobs {
                count_stretch(symbols, part.rules.start, &mut items, rules, workers);
            }
            items
        })
        .collect();
    add_up(items, &tables.iter().map(|table| &table[..]).collect::<Vec<_>>());
    counts
}

/// Counts the symbols of a stretch that is of one part: each worker in a table of its own, with the items first and the
/// rules of the part behind them.
fn count_stretch(
    symbols: &[u32],
    first_rule: u32,
    items: &mut [u32],
    rules: &mut [u32],
    workers: usize,
) {
    let item_count = items.len();
    let length = item_count + rules.len();
    let place = |symbol: u32| {
        let is_rule = symbol as usize >= item_count;
        (symbol - if is_rule { first_rule } else { 0 }) as usize
    };
    // A table must be worth its being cleared and added up.
    let tables = workers.min(symbols.len() / length).min(TABLE_BYTES / (4 * length));
    if tables < 2 {
        for &symbol in symbols {
            let place = place(symbol);
            if place < item_count {
                items[place] += 1;
            } else {
                rules[place - item_count] += 1;
            }
        }
        return;
    }
    let counted: Vec<Vec<u32>> = symbols
        .par_chunks(symbols.len().div_ceil(tables))
        .map(|stretch| {
            let mut counters = vec![0_u32; length];
            stretch.iter().for_each(|&symbol| counters[place(symbol)] += 1);
            counters
        })
        .collect();
    let (of_items, of_rules): (Vec<&[u32]>, Vec<&[u32]>) =
        counted.iter().map(|table| table.split_at(item_count)).unzip();
    add_up(items, &of_items);
    add_up(rules, &of_rules);
}

/// From the counts of the root to those of everything.
fn pass_down(network: &Network, root_counts: &[u32]) -> Occurrences {
    let item_count = network.grammar().token_count() as usize;
    let (root_items, root_rules) = root_counts.split_at(item_count);
    let mut items = vec![0_u64; item_count];
    let mut rules = vec![0_u64; root_rules.len()];
    add_up(&mut items, &[root_items]);
    add_up(&mut rules, &[root_rules]);
    let of_parts = split(&mut rules, network.parts().iter().map(|part| part.rules.len()));
    let jobs: Vec<(&Part, &mut [u64])> = network.parts().iter().zip(of_parts).collect();
    let (mut groups, workers) = groups(jobs, 8 * item_count);
    let run = |(part, weights): (&Part, &mut [u64]), items: &mut [u64]| {
        if workers < THREADS_FOR_LEVELS {
            pass_down_rules(network, part, items, weights);
        } else {
            pass_down_levels(network, part, items, weights, workers);
        }
    };
    if groups.len() == 1 {
        groups.remove(0).into_iter().for_each(|job| run(job, &mut items));
    } else {
        let counted: Vec<Vec<u64>> = groups
            .into_par_iter()
            .map(|jobs| {
                let mut items = vec![0_u64; item_count];
                jobs.into_iter().for_each(|job| run(job, &mut items));
                items
            })
            .collect();
        add_up(&mut items, &counted.iter().map(|row| &row[..]).collect::<Vec<_>>());
    }
    Occurrences { rules, items }
}

/// Rules in order, each giving its weight to the symbols of its body.
fn pass_down_rules(network: &Network, part: &Part, items: &mut [u64], weights: &mut [u64]) {
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
    add_up(items, &counted.iter().map(|row| &row[..]).collect::<Vec<_>>());
}
