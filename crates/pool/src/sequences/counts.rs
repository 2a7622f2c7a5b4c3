//! Counting sequences: every one where it is met, times how often that place occurs.
//!
//! Phase `windows` makes the sequences of root and rules and [groups](super::buckets) them; those of the root, which count once, are bare
//! keys, those of rules have the rule's weight. Phase `counts` takes a piece of the keys at a time, sorts it in the cache, adds up runs of
//! equal keys and puts them in the order of the answer. The answer reads its rows where that phase has put them: those of one count
//! piece after piece, as keys ascend from piece to piece.
//!
//! Cost: O(symbols) sequences, each written twice and then moved some five times in the cache. In the pool: a key for each sequence of the
//! root, a key and 8 bytes for each of a rule, and a key for each row of the answer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

use tadoc_core::answer::columns::SEQUENCE_COUNTS;
use tadoc_core::answer::{Answer, Column, Labels, Rows, Value};

use super::buckets::{Grouping, Layout, Piece, Records, pieces};
use super::keys::Key;
use super::labels::Packing;
use super::ranking::{Counted, Ranking};
use super::sort::{Record, Sorter};
use super::source::{Source, Stretch};
use super::{Budget, weights};
use crate::Result;
use crate::work::{Blocks, Work};

/// Rows of a part of the answer.
const ROWS_AT_ONCE: u64 = 1 << 20;

/// Sequences with their occurrences: by occurrences descending, then sequence ascending.
pub(super) struct SequenceCounts<K, H> {
    packing: Packing,
    layout: Layout,
    /// For each piece of the keys: its first bucket, its keys above the least of that bucket, and each count with the end of its keys.
    ranked: Blocks,
    top: u64,
    kind: PhantomData<(K, H)>,
}

impl<K: Key, H: Key> SequenceCounts<K, H> {
    pub(super) fn new(
        work: &mut Work<'_>,
        source: &Source<'_, K, H>,
        packing: Packing,
        least: u64,
        top: Option<usize>,
    ) -> Result<Self> {
        let budget = Budget::new(work);
        let weights = weights::of_rules(work, source)?;
        // Records of rules are the larger ones. Each is sorted, counted, ranked and made part of a block.
        let most = budget.records(Grouping::<H, u64>::BYTES);
        let at_once = budget.records((3 * size_of::<Record<H, u64>>() + 2 * size_of::<H>()) as u64);
        let layout = Layout::new(packing.key_bits(), H::BITS, source.most() / 2, at_once);
        let stretches = source.stretches(most);
        let of_root = stretches.iter().filter(|one| matches!(one, Stretch::Root(_))).count();
        let windows = work.append("windows", stretches.len(), |operation, block| {
            match stretches[operation].clone() {
                Stretch::Root(stretch) => {
                    let mut grouping = Grouping::<H, ()>::new(layout, most);
                    source.of_root(stretch, |_, key| grouping.push(key, ()));
                    grouping.put(block);
                }
                Stretch::Rules(rules) => {
                    let mut grouping = Grouping::<H, u64>::new(layout, most);
                    for rule in rules {
                        let weight = weights[rule as usize];
                        if weight > 0 {
                            source.of_rule(rule, |key| grouping.push(key, weight));
                        }
                    }
                    grouping.put(block);
                }
            }
            Ok(())
        })?;
        let root = Records::<H, ()>::new(windows.clone(), 0..of_root);
        let rules = Records::<H, u64>::new(windows, of_root..stretches.len());
        let pieces = pieces(layout, &root, &rules, at_once);
        let top = top.unwrap_or(usize::MAX);
        let ranked = work.append("counts", pieces.len(), |operation, block| {
            let piece = &pieces[operation];
            let Ranking { keys, runs } = count(layout, piece, &root, &rules, least).rank(top);
            block.put(&[piece.buckets.start]);
            block.put(&keys);
            block.put(&runs);
            Ok(())
        })?;
        Ok(Self { packing, layout, ranked, top: top as u64, kind: PhantomData })
    }
}

/// The keys of a piece, above the least of its first bucket, with their counts; without those that occur less often than `least`.
fn count<H: Key>(
    layout: Layout,
    piece: &Piece<H>,
    root: &Records<H, ()>,
    rules: &Records<H, u64>,
    least: u64,
) -> Counted<H> {
    let mut counted = Counted::default();
    if piece.is_one_key() {
        let (mut sum, mut key) = (0, None);
        let bucket = piece.buckets.start;
        root.for_each(bucket, piece, |record| (sum, key) = (sum + 1, Some(record.0)));
        rules.for_each(bucket, piece, |record| (sum, key) = (sum + record.1, Some(record.0)));
        if let Some(key) = key.filter(|_| sum >= least) {
            counted.push(key, sum);
        }
        return counted;
    }
    let (mut of_root, mut of_rules) = (Sorter::default(), Sorter::default());
    for bucket in piece.buckets.clone() {
        root.gather(bucket, piece, &mut of_root.records);
        rules.gather(bucket, piece, &mut of_rules.records);
        let above: H = layout.least(bucket - piece.buckets.start);
        let (root, rules) = (of_root.sort(layout.low_bits), of_rules.sort(layout.low_bits));
        count_sorted(root, rules, |key, count| {
            if count >= least {
                counted.push(above.plus(key), count);
            }
        });
    }
    counted
}

/// Calls `each` with every key and its count.
fn count_sorted<H: Key>(
    root: &[Record<H, ()>],
    rules: &[Record<H, u64>],
    mut each: impl FnMut(H, u64),
) {
    let (mut at_root, mut at_rule) = (0, 0);
    loop {
        let key = match (root.get(at_root), rules.get(at_rule)) {
            (Some(&(one, ())), Some(&(other, _))) => one.min(other),
            (Some(&(key, ())), None) | (None, Some(&(key, _))) => key,
            (None, None) => break,
        };
        let mut count = 0;
        while root.get(at_root) == Some(&(key, ())) {
            count += 1;
            at_root += 1;
        }
        while let Some(&(_, weight)) = rules.get(at_rule).filter(|(other, _)| *other == key) {
            count += weight;
            at_rule += 1;
        }
        each(key, count);
    }
}

/// Keys of one count that follow each other in a block.
#[derive(Debug)]
struct Run {
    count: u64,
    block: usize,
    keys: Range<usize>,
    /// Where it ends in the rows of its part.
    end: u64,
}

/// Some runs as rows.
struct CountRows<'a, K, H> {
    answer: &'a SequenceCounts<K, H>,
    labels: Labels<'a>,
    runs: &'a [Run],
}

impl<K: Key, H: Key> Rows for CountRows<'_, K, H> {
    fn columns(&self) -> &'static [Column] {
        SEQUENCE_COUNTS
    }

    fn len(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let SequenceCounts { packing, layout, ranked, .. } = self.answer;
        let mut at = rows.start;
        let first = self.runs.partition_point(|run| run.end <= at);
        for run in &self.runs[first..] {
            if at >= rows.end {
                break;
            }
            let until = run.end.min(rows.end);
            // Counted from the end of the run, which is known.
            let place = |row: u64| run.keys.end - (run.end - row) as usize;
            let least: K = layout.least(ranked.section::<u32>(run.block, 0)[0]);
            for &key in &ranked.section::<H>(run.block, 1)[place(at)..place(until)] {
                packing.show(self.labels, least.plus(key.to()), |sequence| {
                    each(&[sequence, Value::Count(run.count)]);
                });
            }
            at = until;
        }
    }
}

impl<K: Key, H: Key> Answer for SequenceCounts<K, H> {
    fn columns(&self) -> &'static [Column] {
        SEQUENCE_COUNTS
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        let runs_of = |block: usize| self.ranked.section::<[u64; 2]>(block, 2);
        // The next run of each block: the highest count first, equal ones in the order of blocks.
        let mut next: BinaryHeap<(u64, Reverse<usize>, usize)> = (0..self.ranked.len())
            .filter_map(|block| Some((runs_of(block).first()?[0], Reverse(block), 0)))
            .collect();
        let mut left = self.top;
        let mut runs: Vec<Run> = Vec::new();
        while let Some((count, Reverse(block), number)) = next.pop() {
            let of_block = runs_of(block);
            if let Some(&[count, _]) = of_block.get(number + 1) {
                next.push((count, Reverse(block), number + 1));
            }
            let mut start = if number == 0 { 0 } else { of_block[number - 1][1] };
            while start < of_block[number][1] && left > 0 {
                let before = runs.last().map_or(0, |run| run.end);
                let length = (of_block[number][1] - start).min(ROWS_AT_ONCE - before).min(left);
                let keys = start as usize..(start + length) as usize;
                runs.push(Run { count, block, keys, end: before + length });
                start += length;
                left -= length;
                if before + length == ROWS_AT_ONCE {
                    each(&CountRows { answer: self, labels, runs: &runs })?;
                    runs.clear();
                }
            }
            if left == 0 {
                break;
            }
        }
        each(&CountRows { answer: self, labels, runs: &runs })
    }
}
