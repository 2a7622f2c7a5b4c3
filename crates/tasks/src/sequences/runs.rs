//! Rows as runs of keys that have one count, wherever they lie in blocks.
//!
//! A run is a document (if rows have one), a count, and keys that follow each other in a block. So a part of an answer of a million rows is a list of
//! places, and nothing is copied.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::marker::PhantomData;
use std::ops::Range;

use tadoc_core::Packing;
use tadoc_core::answer::columns::{PAIR_COUNTS, SEQUENCE_COUNTS, SEQUENCE_DOCUMENTS};
use tadoc_core::answer::{Column, Labels, Rows, Value};

use super::buckets::Layout;
use super::keys::Key;
use crate::check::are_ends;
use crate::work::{Block, BlockBuilder, Blocks};

/// Rows of a part of the answer.
const ROWS_AT_ONCE: u64 = 1 << 20;

/// Sections of a block of ranked keys: the bucket above whose least key they are; keys; and each count with the end of its keys.
const BUCKET: usize = 0;
const KEYS: usize = 1;
const RUNS: usize = 2;

/// Keys of a range, by count descending and then ascending, as the block of one operation.
pub(super) fn put_ranked<H: Key>(
    block: &mut BlockBuilder<'_>,
    bucket: u32,
    keys: &[H],
    runs: &[[u64; 2]],
) {
    block.put(&[bucket]);
    block.put(keys);
    block.put(runs);
}

/// Whether a block is one of ranked keys of a piece; nothing if it lacks a section.
pub(super) fn are_ranked<K: Key, H: Key>(
    block: Block<'_>,
    packing: Packing,
    layout: Layout,
    buckets: &Range<u32>,
) -> Option<bool> {
    let keys = block.section::<H>(KEYS)?;
    let runs = block.section::<[u64; 2]>(RUNS)?;
    let least: K = layout.least(buckets.start);
    let is_key = |&key: &H| {
        layout.is_within(key, buckets.len() as u32) && least.plus(key.to()).is_sequence(packing)
    };
    Some(
        block.section::<u32>(BUCKET)? == [buckets.start]
            && are_ends(runs.iter().map(|&[_, end]| end), keys.len())
            // A reader goes on behind the count that it has come to, down to 0.
            && runs.is_sorted_by(|one, next| one[0] > next[0])
            && runs.last().is_none_or(|&[count, _]| count > 0)
            && keys.iter().all(is_key),
    )
}

/// Where the keys of a run are.
#[derive(Debug, Clone)]
pub(super) enum Place<'a> {
    /// In a block of ranked keys.
    Ranked(&'a Blocks, usize),
    /// In a section of whole keys.
    Whole(&'a Blocks, usize, usize),
}

/// Keys of one count that follow each other in a block.
#[derive(Debug)]
struct Run<'a> {
    document: &'a [u8],
    count: u64,
    place: Place<'a>,
    keys: Range<usize>,
    /// Where it ends in the rows of its part.
    end: u64,
}

/// What the rows of runs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A sequence and its count.
    Sequences,
    /// A sequence, a document, and the count of the sequence there.
    Documents,
    /// The two terms of a pair, and its count.
    Pairs,
}

impl Shape {
    /// The columns of the rows.
    pub(super) fn columns(self) -> &'static [Column] {
        match self {
            Self::Sequences => SEQUENCE_COUNTS,
            Self::Documents => SEQUENCE_DOCUMENTS,
            Self::Pairs => PAIR_COUNTS,
        }
    }
}

/// Some runs as rows.
pub(super) struct RunRows<'a, K, H> {
    packing: Packing,
    layout: Layout,
    labels: Labels<'a>,
    shape: Shape,
    runs: Vec<Run<'a>>,
    kind: PhantomData<(K, H)>,
}

impl<'a, K: Key, H: Key> RunRows<'a, K, H> {
    /// No rows yet.
    pub(super) fn new(packing: Packing, layout: Layout, labels: Labels<'a>, shape: Shape) -> Self {
        Self { packing, layout, labels, shape, runs: Vec::new(), kind: PhantomData }
    }

    /// Appends a run as far as there is room; how many of its keys there was room for.
    pub(super) fn push(
        &mut self,
        document: &'a [u8],
        count: u64,
        place: Place<'a>,
        keys: Range<usize>,
    ) -> usize {
        let before = self.len();
        let taken = keys.len().min((ROWS_AT_ONCE - before) as usize);
        if taken > 0 {
            let (keys, end) = (keys.start..keys.start + taken, before + taken as u64);
            self.runs.push(Run { document, count, place, keys, end });
        }
        taken
    }

    /// Appends the `top` first rows of ranked blocks that follow each other, without those before `at`, as far as there is room; whether
    /// that was for all. Rows of one count go block after block, as keys ascend from block to block.
    pub(super) fn push_ranked(
        &mut self,
        document: &'a [u8],
        blocks: &'a Blocks,
        range: Range<usize>,
        top: u64,
        at: &mut RankedPosition,
    ) -> bool {
        let runs_of = |block: usize| blocks.section::<[u64; 2]>(block, RUNS);
        let start_of = |block: usize, run: usize| match run {
            0 => 0,
            _ => runs_of(block)[run - 1][1],
        };
        // The next run of each block, and its first key: the highest count first, equal ones in the order of blocks.
        let mut next: BinaryHeap<(u64, Reverse<usize>, usize, u64)> = BinaryHeap::new();
        let mut given = 0;
        for block in range {
            let (run, within) = at.first_of(block, runs_of(block));
            let start = start_of(block, run) + within;
            given += start;
            if let Some(&[count, _]) = runs_of(block).get(run) {
                next.push((count, Reverse(block), run, start));
            }
        }
        let mut left = top.saturating_sub(given);
        while let Some((count, Reverse(block), run, start)) = next.pop().filter(|_| left > 0) {
            let runs = runs_of(block);
            let end = runs[run][1];
            if let Some(&[count, _]) = runs.get(run + 1) {
                next.push((count, Reverse(block), run + 1, end));
            }
            let keys = start as usize..end.min(start.saturating_add(left)) as usize;
            let (length, place) = (keys.len(), Place::Ranked(blocks, block));
            let taken = self.push(document, count, place, keys);
            if taken < length {
                let within = start + taken as u64 - start_of(block, run);
                *at = RankedPosition { below: !count, block: block as u64, within };
                return false;
            }
            left -= length as u64;
        }
        *at = RankedPosition::END;
        true
    }
}

/// Which rows of ranked blocks were given: all of a higher count, those of one count in the blocks before one, and some of that one. The
/// default is none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RankedPosition {
    /// The complement of the count.
    pub(super) below: u64,
    pub(super) block: u64,
    pub(super) within: u64,
}

impl RankedPosition {
    /// Behind all rows: no count is 0.
    const END: Self = Self { below: u64::MAX, block: 0, within: 0 };

    /// The first run of a block that was not given as a whole, and how many of its keys were.
    fn first_of(self, block: usize, runs: &[[u64; 2]]) -> (usize, u64) {
        let highest = !self.below;
        let run = runs.partition_point(|&[count, _]| count > highest);
        match runs.get(run) {
            Some(&[count, _]) if count == highest => match self.block.cmp(&(block as u64)) {
                Ordering::Greater => (run + 1, 0),
                Ordering::Equal => (run, self.within),
                Ordering::Less => (run, 0),
            },
            _ => (run, 0),
        }
    }
}

impl<K: Key, H: Key> Rows for RunRows<'_, K, H> {
    fn columns(&self) -> &'static [Column] {
        self.shape.columns()
    }

    fn len(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let mut at = rows.start;
        let first = self.runs.partition_point(|run| run.end <= at);
        for run in &self.runs[first..] {
            if at >= rows.end {
                break;
            }
            let until = run.end.min(rows.end);
            // Counted from the end of the run, which is known.
            let place = |row: u64| run.keys.end - (run.end - row) as usize;
            let keys = place(at)..place(until);
            let mut show = |key: K| {
                let (document, count) = (Value::Text(run.document), Value::Count(run.count));
                self.packing.show(self.labels, key.terms(self.packing), |terms| match self.shape {
                    Shape::Sequences => each(&[Value::Terms(terms), count]),
                    Shape::Documents => each(&[Value::Terms(terms), document, count]),
                    Shape::Pairs => each(&[Value::Text(terms[0]), Value::Text(terms[1]), count]),
                });
            };
            match run.place {
                Place::Ranked(blocks, block) => {
                    let least: K = self.layout.least(blocks.section::<u32>(block, BUCKET)[0]);
                    let all = blocks.section::<H>(block, KEYS);
                    let whole = |key: H| least.plus(key.to());
                    for place in keys {
                        let terms = |key| whole(key).terms(self.packing);
                        self.labels.terms.ask_ahead(all, place, terms);
                        show(whole(all[place]));
                    }
                }
                Place::Whole(blocks, block, section) => {
                    let all = blocks.section::<K>(block, section);
                    for place in keys {
                        self.labels.terms.ask_ahead(all, place, |key| key.terms(self.packing));
                        show(all[place]);
                    }
                }
            }
            at = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::cast_slice;

    use super::*;

    #[test]
    fn ranked_blocks_descend_to_a_count_above_0() {
        let packing = Packing::new(2, 4);
        let layout = Layout::new(packing.key_bits(), 64, 5, 100);
        let keys: [u64; 5] = [0b0001, 0b0100, 0b0010, 0b0111, 0b1111];
        for (runs, expected) in [
            (&[][..], false),
            (&[[7_u64, 2], [3, 3], [1, 5]][..], true),
            (&[[7, 5]], true),
            (&[[7, 2], [3, 3], [0, 5]], false),
            (&[[7, 2], [7, 3], [1, 5]], false),
            (&[[3, 2], [7, 3], [1, 5]], false),
            (&[[7, 2], [3, 3], [1, 4]], false),
            (&[[7, 3], [3, 2], [1, 5]], false),
        ] {
            let sections = [cast_slice(&[0_u32]), cast_slice(&keys), cast_slice(runs)];
            let found = are_ranked::<u64, u64>(Block::new(&sections), packing, layout, &(0..1));
            assert_eq!(found, Some(expected), "{runs:?}");
        }
        let sections = [cast_slice(&[0_u32]), cast_slice(&keys)];
        let lacking = are_ranked::<u64, u64>(Block::new(&sections), packing, layout, &(0..1));
        assert_eq!(lacking, None);
    }
}
