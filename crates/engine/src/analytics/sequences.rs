//! Counting sequences, top-down: every sequence that crosses a border, times how often its body occurs.
//!
//! Those of the root, which count once, are bare keys; those of rules have the rule's weight. Sorted bucket by
//! bucket ([`super::partition`]), counts are runs of equal keys. What a filter on counts can exclude
//! beforehand (a sequence occurs no more often than its rarest item, a pair at most so many times as often as
//! its window allows) is not even made; if only the most
//! frequent rows are wanted, the sequences of rules alone say how frequent those are at least.
//!
//! Cost: O(symbols) sequences, each written once into its bucket and some five times more while it is sorted. Memory:
//! a key for each sequence of the root, a key and 8 bytes for each of a rule, and a key for each row of
//! the answer. Where that is more than allowed, the work is done in passes, and the rows of each go to a
//! temporary file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Mutex;

use tadoc_core::Result;
use tadoc_core::answer::{Answer, Column, Labels, Position, Rows, Value};
use tadoc_core::parallel::map_with;

use super::columns::PAIR_COUNTS;
use super::keys::Key;
use super::labels::Packing;
use super::partition::{Record, Sorter};
use super::ranking::{Bucket, Ranking};
use super::sites::{Crossings, Filled, Sites};
use crate::traverse::Occurrences;

/// Rows that are read back from a file at a time.
const ROWS_AT_ONCE: usize = 1 << 20;

/// Sequences with their occurrences: by occurrences descending, then sequence ascending.
pub(super) struct SequenceCounts<K> {
    packing: Packing,
    passes: Vec<PassRows<K>>,
    top: usize,
}

/// The rows of a pass, whose keys are all above those of the pass before.
enum PassRows<K> {
    Memory(Ranking<K>),
    /// The keys are in a file.
    File {
        file: Mutex<File>,
        runs: Vec<(u64, u64)>,
    },
}

impl<K: Key + Record<Key = K>> SequenceCounts<K> {
    pub(super) fn new(
        crossings: impl Crossings<Key = K>,
        packing: Packing,
        occurrences: &Occurrences,
        least: u64,
        top: Option<usize>,
        memory: u64,
    ) -> io::Result<Self> {
        let most_of_an_item = crossings.most_of_an_item();
        let sites = Sites::new(crossings, memory);
        let least = match top {
            Some(top) => least.max(least_of_top(&sites, &occurrences.rules, top)),
            None => least,
        };
        // A key of rare items is rare: that is known before it is counted.
        let least_of_item = least.div_ceil(most_of_an_item);
        let keep = |key: K| {
            let places = 0..packing.n as u32;
            least_of_item <= 1
                || places
                    .map(|place| key.digit(place * packing.bits, packing.bits))
                    .all(|item| occurrences.items[item as usize] >= least_of_item)
        };
        let weights = &occurrences.rules;
        let mut passes = Vec::with_capacity(sites.passes.len());
        for pass in &sites.passes {
            let filled = sites.fill(
                pass,
                |_, key| keep(key).then_some(key),
                |rule, key| {
                    let weight = weights[rule as usize];
                    (weight > 0 && keep(key)).then_some((key, weight))
                },
            );
            let mut ranking = Ranking::new(count(&filled, pass, sites.low_bits(), least));
            drop(filled);
            if let Some(top) = top {
                ranking.truncate(top);
            }
            passes.push(if sites.passes.len() > 1 {
                PassRows::spill(ranking)?
            } else {
                PassRows::Memory(ranking)
            });
        }
        Ok(Self { packing, passes, top: top.unwrap_or(usize::MAX) })
    }
}

/// A count that the `top` most frequent sequences reach at least: the one of the last of them, if only rules are
/// looked at. 1 if rules have fewer sequences.
fn least_of_top<C: Crossings>(sites: &Sites<C>, weights: &[u64], top: usize) -> u64 {
    let mut highest: Vec<u64> = Vec::new();
    for pass in &sites.passes {
        let rules = sites.fill_rules(pass, |rule, key| {
            Some((key, weights[rule as usize])).filter(|&(_, weight)| weight > 0)
        });
        let filled = Filled::<C::Key, _> { root: Vec::new(), rules };
        let buckets = count(&filled, pass, sites.low_bits(), 1);
        for bucket in buckets {
            highest.extend(std::iter::repeat_n(1, bucket.once.len()));
            highest.extend(bucket.more.iter().map(|&(_, count)| count));
        }
        if highest.len() > top {
            highest.select_nth_unstable_by(top, |one, other| other.cmp(one));
            highest.truncate(top);
        }
    }
    if top == 0 || highest.len() < top { 1 } else { highest.into_iter().min().unwrap_or(1) }
}

/// The keys of each bucket with their counts, by key.
fn count<K: Key + Record<Key = K>>(
    filled: &Filled<K, (K, u64)>,
    pass: &Range<usize>,
    bits: u32,
    least: u64,
) -> Vec<Bucket<K>> {
    let sorters = || (Sorter::<K>::default(), Sorter::<(K, u64)>::default());
    map_with(&sorters, pass.len(), &|(of_root, of_rules), number| {
        let bucket = pass.start + number;
        let root = of_root.sorted(&filled.root, bucket, bits);
        count_bucket(root, of_rules.sorted(&filled.rules, bucket, bits), least)
    })
}

fn count_bucket<K: Key>(root: &[K], rules: &[(K, u64)], least: u64) -> Bucket<K> {
    let mut counted = Bucket::default();
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
        while let Some(&(_, weight)) = rules.get(at_rule).filter(|(other, _)| *other == key) {
            count += weight;
            at_rule += 1;
        }
        if count >= least {
            counted.push(key, count);
        }
    }
    counted
}

impl<K: Key> PassRows<K> {
    /// Writes the keys to a temporary file, which has no name and goes with the answer.
    fn spill(ranking: Ranking<K>) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
        let mut bytes = Vec::new();
        for keys in ranking.keys.chunks(1 << 12) {
            bytes.clear();
            keys.iter().for_each(|key| key.put(&mut bytes));
            file.write_all(&bytes)?;
        }
        let file = Mutex::new(file.into_inner()?);
        Ok(Self::File { file, runs: ranking.runs })
    }

    fn runs(&self) -> &[(u64, u64)] {
        match self {
            Self::Memory(ranking) => &ranking.runs,
            Self::File { runs, .. } => runs,
        }
    }

    /// Appends the keys of a range of rows.
    fn read(&self, rows: Range<u64>, into: &mut Vec<K>) -> io::Result<()> {
        match self {
            Self::Memory(ranking) => {
                into.extend_from_slice(&ranking.keys[rows.start as usize..rows.end as usize]);
            }
            Self::File { file, .. } => {
                let size = u64::from(K::BITS / 8);
                let mut bytes = vec![0; ((rows.end - rows.start) * size) as usize];
                let mut file = file.lock().expect("no thread panics while it holds the lock");
                file.seek(SeekFrom::Start(rows.start * size))?;
                file.read_exact(&mut bytes)?;
                into.extend(bytes.chunks_exact(size as usize).map(K::take));
            }
        }
        Ok(())
    }
}

struct SequenceRows<'a, K: Clone> {
    labels: Labels<'a>,
    packing: Packing,
    rows: Cow<'a, Ranking<K>>,
}

impl<K: Key> Rows for SequenceRows<'_, K> {
    fn columns(&self) -> &'static [Column] {
        PAIR_COUNTS
    }

    fn len(&self) -> u64 {
        self.rows.keys.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for (place, (key, count)) in (rows.start as usize..).zip(self.rows.rows(rows)) {
            self.labels.terms.ask_ahead(&self.rows.keys, place, |key| self.packing.terms(key));
            self.packing.show(self.labels, key, |terms| {
                let Value::Terms(&[first, second]) = terms else { return };
                each(&[Value::Text(first), Value::Text(second), Value::Count(count)]);
            });
        }
    }
}

impl<K> SequenceCounts<K> {
    /// How pairs are packed.
    pub(super) fn packing(&self) -> Packing {
        self.packing
    }
}

impl<K: Key + Record<Key = K>> SequenceCounts<K> {
    /// All keys with their counts, in memory.
    pub(super) fn rows(&self) -> io::Result<Vec<(K, u64)>> {
        let mut rows = Vec::new();
        for pass in &self.passes {
            let (mut keys, mut start) = (Vec::new(), 0);
            for &(count, end) in pass.runs() {
                keys.clear();
                pass.read(start..end, &mut keys)?;
                rows.extend(keys.iter().map(|&key| (key, count)));
                start = end;
            }
        }
        Ok(rows)
    }

    /// So many rows behind the first `skipped`: those of one count pass after pass, as keys ascend from pass to pass.
    fn batch(&self, skipped: u64) -> io::Result<Ranking<K>> {
        let mut counts: Vec<u64> =
            self.passes.iter().flat_map(|pass| pass.runs()).map(|&(count, _)| count).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        counts.dedup();
        let mut next_run = vec![0; self.passes.len()];
        let mut batch = Ranking { keys: Vec::new(), runs: Vec::new() };
        let wanted = skipped..(skipped + ROWS_AT_ONCE as u64).min(self.top as u64);
        let mut at = 0;
        for count in counts {
            for (pass, next) in self.passes.iter().zip(&mut next_run) {
                let runs = pass.runs();
                let Some(&(_, end)) = runs.get(*next).filter(|run| run.0 == count) else {
                    continue;
                };
                let start = if *next == 0 { 0 } else { runs[*next - 1].1 };
                *next += 1;
                let own = at.max(wanted.start)..(at + end - start).min(wanted.end);
                if own.start < own.end {
                    pass.read(start + own.start - at..start + own.end - at, &mut batch.keys)?;
                    batch.runs.push((count, batch.keys.len() as u64));
                }
                at += end - start;
            }
        }
        Ok(batch)
    }
}

impl<K: Key + Record<Key = K>> Answer for SequenceCounts<K> {
    fn columns(&self) -> &'static [Column] {
        PAIR_COUNTS
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let [given, ..] = at.state();
        let rows = match &self.passes[..] {
            [PassRows::Memory(ranking)] if given == 0 => Cow::Borrowed(ranking),
            [PassRows::Memory(_)] => return Ok(None),
            _ => Cow::Owned(self.batch(given).map_err(tadoc_core::Error::backend)?),
        };
        *at = Position::new([given + rows.keys.len() as u64, 0, 0, 0]);
        let packing = self.packing;
        let is_empty = rows.keys.is_empty();
        Ok((!is_empty).then(|| Box::new(SequenceRows { labels, packing, rows }) as Box<dyn Rows>))
    }
}
