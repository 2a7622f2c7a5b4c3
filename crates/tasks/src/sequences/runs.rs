//! Rows as runs of keys that have one count, wherever they lie in blocks.
//!
//! A run is a document (if rows have one), a count, and keys that follow each other in a block. So a part of an answer of a million rows is a list of
//! places, and nothing is copied.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

use tadoc_core::answer::columns::{SEQUENCE_COUNTS, SEQUENCE_DOCUMENTS};
use tadoc_core::answer::{Column, Labels, Rows, Value};

use super::buckets::Layout;
use super::keys::Key;
use super::labels::Packing;
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
        layout.is_within(key, buckets.len() as u32) && packing.is_sequence(least.plus(key.to()))
    };
    Some(
        block.section::<u32>(BUCKET)? == [buckets.start]
            && are_ends(runs.iter().map(|&[_, end]| end), keys.len())
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

/// Some runs as rows.
pub(super) struct RunRows<'a, K, H> {
    packing: Packing,
    layout: Layout,
    labels: Labels<'a>,
    of_documents: bool,
    runs: Vec<Run<'a>>,
    kind: PhantomData<(K, H)>,
}

impl<'a, K: Key, H: Key> RunRows<'a, K, H> {
    /// No rows yet; rows have a document, or they have none.
    pub(super) fn new(
        packing: Packing,
        layout: Layout,
        labels: Labels<'a>,
        of_documents: bool,
    ) -> Self {
        Self { packing, layout, labels, of_documents, runs: Vec::new(), kind: PhantomData }
    }

    /// Appends a run; calls `each` with the rows when there are enough.
    pub(super) fn push(
        &mut self,
        document: &'a [u8],
        count: u64,
        place: Place<'a>,
        mut keys: Range<usize>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        while !keys.is_empty() {
            let before = self.len();
            let length = (keys.len() as u64).min(ROWS_AT_ONCE - before);
            let own = keys.start..keys.start + length as usize;
            keys.start = own.end;
            let place = place.clone();
            self.runs.push(Run { document, count, place, keys: own, end: before + length });
            if before + length == ROWS_AT_ONCE {
                each(self)?;
                self.runs.clear();
            }
        }
        Ok(())
    }

    /// Appends the `top` first rows of ranked blocks that follow each other: rows of one count block after block, as keys ascend
    /// from block to block.
    pub(super) fn push_ranked(
        &mut self,
        document: &'a [u8],
        blocks: &'a Blocks,
        range: Range<usize>,
        top: u64,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        let runs_of = |block: usize| blocks.section::<[u64; 2]>(block, RUNS);
        // The next run of each block: the highest count first, equal ones in the order of blocks.
        let mut next: BinaryHeap<(u64, Reverse<usize>, usize)> = range
            .filter_map(|block| Some((runs_of(block).first()?[0], Reverse(block), 0)))
            .collect();
        let mut left = top;
        while let Some((count, Reverse(block), number)) = next.pop() {
            let runs = runs_of(block);
            if let Some(&[count, _]) = runs.get(number + 1) {
                next.push((count, Reverse(block), number + 1));
            }
            let start = if number == 0 { 0 } else { runs[number - 1][1] };
            let end = runs[number][1].min(start.saturating_add(left));
            let keys = start as usize..end as usize;
            self.push(document, count, Place::Ranked(blocks, block), keys, each)?;
            left -= end - start;
            if left == 0 {
                break;
            }
        }
        Ok(())
    }
}

impl<K: Key, H: Key> Rows for RunRows<'_, K, H> {
    fn columns(&self) -> &'static [Column] {
        if self.of_documents { SEQUENCE_DOCUMENTS } else { SEQUENCE_COUNTS }
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
                self.packing.show(self.labels, key, |sequence| match self.of_documents {
                    true => each(&[sequence, document, count]),
                    false => each(&[sequence, count]),
                });
            };
            match run.place {
                Place::Ranked(blocks, block) => {
                    let least: K = self.layout.least(blocks.section::<u32>(block, BUCKET)[0]);
                    let all = blocks.section::<H>(block, KEYS);
                    let whole = |key: H| least.plus(key.to());
                    for place in keys {
                        let terms = |key| self.packing.terms(whole(key));
                        self.labels.terms.ask_ahead(all, place, terms);
                        show(whole(all[place]));
                    }
                }
                Place::Whole(blocks, block, section) => {
                    let all = blocks.section::<K>(block, section);
                    for place in keys {
                        self.labels.terms.ask_ahead(all, place, |key| self.packing.terms(key));
                        show(all[place]);
                    }
                }
            }
            at = until;
        }
    }
}
