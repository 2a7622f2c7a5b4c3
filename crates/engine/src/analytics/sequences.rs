//! Counting sequences, top-down: every sequence that crosses a border, times how often its body occurs.
//!
//! Sequences are made by [`Windows`], put into buckets and sorted there ([`super::partition`]); those of the root, which
//! count once, as bare keys, those of rules with the rule's number. The counts of a bucket are then runs of equal
//! keys. What a filter on counts can exclude beforehand (a sequence occurs no more often than its rarest
//! item) is not even made.
//!
//! Cost: see there; on top of it one pass that puts rows by count. Memory: a key for each sequence of the root,
//! a key and 4 bytes for each of a rule, and a key for each row of the answer.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::Network;

use super::keys::Key;
use super::partition::{Buckets, Layout, Record, sorted_bucket};
use super::windows::Windows;
use crate::view::split;

/// Counts below this are put in order by counting, the others by comparing.
const CLASSES: usize = 128;
/// Stretches of root and rules a thread.
const STRETCHES_PER_THREAD: usize = 4;

/// Rows with keys and counts: by count descending, then key ascending.
#[derive(Debug)]
pub(super) struct Counted<K> {
    pub(super) keys: Vec<K>,
    /// Each count, descending, with the end of the rows that have it.
    pub(super) runs: Vec<(u64, u64)>,
}

/// Cuts `0..end` into stretches of about equal size.
pub(super) fn stretches(end: u32) -> Vec<Range<u32>> {
    let count = (rayon::current_num_threads() * STRETCHES_PER_THREAD) as u64;
    let cut = |number: u64| (u64::from(end) * number / count) as u32;
    (0..count).map(|number| cut(number)..cut(number + 1)).collect()
}

/// Counts all sequences that occur at least `least` times. `weights` has how often each rule occurs; where
/// `keep` says no to a key, it is not counted.
pub(super) fn count<K: Key + Record<Key = K>>(
    network: &Network,
    n: usize,
    weights: &[u64],
    least: u64,
    keep: impl Fn(K) -> bool + Sync,
) -> Counted<K> {
    let windows = Windows::<K>::new(network, n);
    let grammar = network.grammar();
    let layout = Layout::new(windows.key_bits(), grammar.symbols().len() as u64);
    let of_root: Vec<Buckets<K>> = stretches(grammar.root().len() as u32)
        .into_par_iter()
        .map(|stretch| {
            let mut buckets = Buckets::new(layout);
            windows.of_root(stretch, |_, key| {
                if keep(key) {
                    buckets.push(key);
                }
            });
            buckets
        })
        .collect();
    let of_rules: Vec<Buckets<(K, u32)>> = stretches(grammar.rule_count())
        .into_par_iter()
        .map(|stretch| {
            let mut buckets = Buckets::new(layout);
            for rule in stretch.filter(|&rule| weights[rule as usize] > 0) {
                windows.of_rule(rule, |key| {
                    if keep(key) {
                        buckets.push((key, rule));
                    }
                });
            }
            buckets
        })
        .collect();
    drop(windows);
    let counted: Vec<Vec<(K, u64)>> = (0..layout.buckets())
        .into_par_iter()
        .map(|bucket| {
            let root = sorted_bucket(&of_root, bucket);
            let rules = sorted_bucket(&of_rules, bucket);
            count_bucket(&root, &rules, weights, least)
        })
        .collect();
    drop((of_root, of_rules));
    by_count(counted)
}

/// The keys of a bucket with their counts, by key.
fn count_bucket<K: Key>(
    root: &[K],
    rules: &[(K, u32)],
    weights: &[u64],
    least: u64,
) -> Vec<(K, u64)> {
    let mut counted = Vec::new();
    let (mut at_root, mut at_rule) = (0, 0);
    loop {
        let key = match (root.get(at_root), rules.get(at_rule)) {
            (Some(&one), Some(&(other, _))) => one.min(other),
            (Some(&key), None) | (None, Some(&(key, _))) => key,
            (None, None) => break,
        };
        let mut count = 0;
        while root.get(at_root) == Some(&key) {
            count += 1;
            at_root += 1;
        }
        while let Some(&(_, rule)) = rules.get(at_rule).filter(|(other, _)| *other == key) {
            count += weights[rule as usize];
            at_rule += 1;
        }
        if count >= least {
            counted.push((key, count));
        }
    }
    counted
}

/// Puts rows by count. `buckets` are in the order of keys, so rows of the same count stay in order.
fn by_count<K: Key>(buckets: Vec<Vec<(K, u64)>>) -> Counted<K> {
    // Rows of high counts are few.
    let mut high: Vec<(u64, K)> = buckets
        .par_iter()
        .flatten_iter()
        .filter(|(_, count)| *count >= CLASSES as u64)
        .map(|&(key, count)| (count, key))
        .collect();
    high.par_sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    // How many rows of each low count each bucket has.
    let sizes: Vec<[u32; CLASSES]> = buckets
        .par_iter()
        .map(|bucket| {
            let mut sizes = [0; CLASSES];
            let low = bucket.iter().filter(|(_, count)| *count < CLASSES as u64);
            low.for_each(|&(_, count)| sizes[count as usize] += 1);
            sizes
        })
        .collect();
    let total: usize = buckets.iter().map(Vec::len).sum();
    let mut keys = vec![K::default(); total];
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for (place, &(count, key)) in high.iter().enumerate() {
        keys[place] = key;
        match runs.last_mut() {
            Some(last) if last.0 == count => last.1 += 1,
            _ => runs.push((count, place as u64 + 1)),
        }
    }
    let mut end = high.len() as u64;
    let mut lengths = Vec::with_capacity(CLASSES * buckets.len());
    for class in (0..CLASSES).rev() {
        let before = end;
        for sizes in &sizes {
            lengths.push(sizes[class] as usize);
            end += u64::from(sizes[class]);
        }
        if end > before {
            runs.push((class as u64, end));
        }
    }
    // The place of each class in each bucket, regrouped by bucket.
    let mut places: Vec<Vec<&mut [K]>> =
        (0..buckets.len()).map(|_| Vec::with_capacity(CLASSES)).collect();
    for (number, place) in
        split(&mut keys[high.len()..], lengths.into_iter()).into_iter().enumerate()
    {
        places[number % buckets.len()].push(place);
    }
    buckets.into_par_iter().zip(places).for_each(|(bucket, mut places)| {
        for (key, count) in bucket.into_iter().filter(|(_, count)| *count < CLASSES as u64) {
            let place = &mut places[CLASSES - 1 - count as usize];
            let first = place.split_off_first_mut().expect("as many places as rows");
            *first = key;
        }
    });
    Counted { keys, runs }
}
