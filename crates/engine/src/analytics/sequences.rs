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

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Mutex;

use tadoc_core::answer::{Answer, Column, Labels, Rows, Value};
use tadoc_core::parallel::map_with;

use super::columns::{PAIR_COUNTS, SEQUENCE_COUNTS};
use super::keys::Key;
use super::labels::{Packing, SequenceNames};
use super::partition::{Record, Sorter};
use super::ranking::{Bucket, Ranking, rank_items};
use super::sites::{Crossings, Filled, Sites};
use crate::traverse::Occurrences;

/// Rows that are read back from a file at a time.
const ROWS_AT_ONCE: usize = 1 << 20;

/// Sequences with their occurrences: by occurrences descending, then sequence ascending.
pub(super) struct SequenceCounts<K> {
    packing: Packing,
    /// Rows show two terms in two columns.
    pairs: bool,
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
        pairs: bool,
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
        Ok(Self { packing, pairs, passes, top: top.unwrap_or(usize::MAX) })
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

struct SequenceRows<'a, K> {
    labels: Labels<'a>,
    packing: Packing,
    pairs: bool,
    rows: &'a Ranking<K>,
}

impl<K: Key> Rows for SequenceRows<'_, K> {
    fn columns(&self) -> &'static [Column] {
        if self.pairs { PAIR_COUNTS } else { SEQUENCE_COUNTS }
    }

    fn len(&self) -> u64 {
        self.rows.keys.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for (place, (key, count)) in (rows.start as usize..).zip(self.rows.rows(rows)) {
            self.labels.terms.ask_ahead(&self.rows.keys, place, |key| self.packing.terms(key));
            self.packing.show(self.labels, key, |terms| match terms {
                Value::Terms(&[first, second]) if self.pairs => {
                    each(&[Value::Text(first), Value::Text(second), Value::Count(count)]);
                }
                terms => each(&[terms, Value::Count(count)]),
            });
        }
    }
}

impl<K> SequenceCounts<K> {
    fn shown<'a>(&self, labels: Labels<'a>, rows: &'a Ranking<K>) -> SequenceRows<'a, K> {
        SequenceRows { labels, packing: self.packing, pairs: self.pairs, rows }
    }

    /// How pairs or sequences are packed.
    pub(super) fn packing(&self) -> Packing {
        self.packing
    }

    /// All rows, if they are in memory.
    fn ranking(&self) -> Option<&Ranking<K>> {
        match &self.passes[..] {
            [PassRows::Memory(ranking)] => Some(ranking),
            _ => None,
        }
    }
}

impl<K: Key + Record<Key = K>> SequenceCounts<K> {
    /// Sequences that were counted as items of a network.
    pub(super) fn of_items(
        counts: &[u64],
        names: SequenceNames<K>,
        least: u64,
        top: Option<usize>,
    ) -> Self {
        let ranked = rank_items(counts, least);
        let keys = ranked.keys.iter().map(|&item| names.keys[item as usize]).collect();
        let mut ranking = Ranking { keys, runs: ranked.runs };
        let top = top.unwrap_or(usize::MAX);
        ranking.truncate(top);
        let passes = vec![PassRows::Memory(ranking)];
        Self { packing: names.packing, pairs: false, passes, top }
    }

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
}

impl<K: Key> Answer for SequenceCounts<K> {
    fn columns(&self) -> &'static [Column] {
        if self.pairs { PAIR_COUNTS } else { SEQUENCE_COUNTS }
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(rows) = self.ranking() {
            return each(&self.shown(labels, rows));
        }
        // Rows of one count: pass after pass, as keys ascend from pass to pass.
        let mut counts: Vec<u64> =
            self.passes.iter().flat_map(|pass| pass.runs()).map(|&(count, _)| count).collect();
        counts.sort_unstable_by(|one, other| other.cmp(one));
        counts.dedup();
        let mut next_run = vec![0; self.passes.len()];
        let mut left = self.top as u64;
        let mut batch = Ranking { keys: Vec::new(), runs: Vec::new() };
        for count in counts {
            for (pass, next) in self.passes.iter().zip(&mut next_run) {
                let runs = pass.runs();
                let Some(&(_, end)) = runs.get(*next).filter(|run| run.0 == count) else {
                    continue;
                };
                let mut start = if *next == 0 { 0 } else { runs[*next - 1].1 };
                *next += 1;
                while start < end && left > 0 {
                    let room = (ROWS_AT_ONCE - batch.keys.len()) as u64;
                    let rows = start..end.min(start + room.min(left));
                    left -= rows.end - rows.start;
                    start = rows.end;
                    pass.read(rows, &mut batch.keys)?;
                    batch.runs.push((count, batch.keys.len() as u64));
                    if batch.keys.len() == ROWS_AT_ONCE {
                        each(&self.shown(labels, &batch))?;
                        batch.keys.clear();
                        batch.runs.clear();
                    }
                }
            }
        }
        each(&self.shown(labels, &batch))
    }
}
