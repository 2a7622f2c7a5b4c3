//! Keys with their occurrences: by count, or by key.

use std::iter::once;
use std::ops::Range;

use tadoc_core::answer::columns::TERM_COUNTS;
use tadoc_core::answer::{Answer, Column, Labels, Position, Rows, Value, for_each_run};

use super::next_block;
use crate::Result;
use crate::entry::Key;
use crate::rank::{KEYS, RUNS};
use crate::weights::Weights;
use crate::work::Blocks;

/// Terms that become one part of an answer by term.
const TERMS_AT_ONCE: usize = 1 << 16;

/// Keys by count descending, then key ascending.
pub struct RankedCounts<K> {
    blocks: Blocks,
    keys: std::marker::PhantomData<K>,
}

impl<K: Key> RankedCounts<K> {
    /// What [`rank`](crate::rank::rank) made.
    pub fn new(blocks: Blocks) -> Self {
        Self { blocks, keys: std::marker::PhantomData }
    }
}

/// A block of them.
struct RankedRows<'a, K> {
    labels: Labels<'a>,
    keys: &'a [K],
    /// Where the keys of each count end.
    ends: Vec<u64>,
    runs: &'a [[u64; 2]],
}

impl<K: Key> Rows for RankedRows<'_, K> {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn len(&self) -> u64 {
        self.keys.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for_each_run(&self.ends, rows, |run, rows| {
            let count = Value::Count(self.runs[run][0]);
            for row in rows {
                let texts = self.labels.terms;
                texts.ask_ahead(self.keys, row, |key| once(key.number()));
                each(&[Value::Text(texts.get(self.keys[row].number())), count]);
            }
        });
    }
}

impl<K: Key> Answer for RankedCounts<K> {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let Some(block) = next_block(at, self.blocks.len()) else { return Ok(None) };
        let keys = self.blocks.section::<K>(block, KEYS);
        let runs = self.blocks.section::<[u64; 2]>(block, RUNS);
        let ends = runs.iter().map(|&[_, end]| end).collect();
        Ok(Some(Box::new(RankedRows { labels, keys, ends, runs })))
    }
}

/// Terms by term, straight from the weights.
pub struct SortedCounts {
    weights: Weights,
    least: u64,
    top: usize,
}

impl SortedCounts {
    /// Terms that occur at least so often, the first of them.
    pub fn new(weights: Weights, least: u64, top: Option<usize>) -> Self {
        Self { weights, least: least.max(1), top: top.unwrap_or(usize::MAX) }
    }
}

/// Some of them.
struct SortedRows<'a> {
    labels: Labels<'a>,
    counts: &'a [u64],
    terms: Vec<u32>,
}

impl Rows for SortedRows<'_> {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn len(&self) -> u64 {
        self.terms.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for &term in &self.terms[rows.start as usize..rows.end as usize] {
            let count = self.counts[term as usize];
            each(&[Value::Text(self.labels.terms.get(term)), Value::Count(count)]);
        }
    }
}

impl Answer for SortedCounts {
    fn columns(&self) -> &'static [Column] {
        TERM_COUNTS
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let counts = self.weights.items();
        let [first, given, ..] = at.state().map(|number| number as usize);
        if first >= counts.len() || given >= self.top {
            return Ok(None);
        }
        let some = first..counts.len().min(first + TERMS_AT_ONCE);
        let behind = some.end as u64;
        let kept = some.filter(|&term| counts[term] >= self.least).take(self.top - given);
        let terms: Vec<u32> = kept.map(|term| term as u32).collect();
        *at = Position::new([behind, (given + terms.len()) as u64, 0, 0]);
        Ok(Some(Box::new(SortedRows { labels, counts, terms })))
    }
}
