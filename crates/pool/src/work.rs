//! What algorithms see of a pool: phases that make tables.
//!
//! A phase has a name, and makes one table out of finished ones, by operations that are independent of each other within a
//! *wave*. There are three kinds, by what an operation may write:
//!
//! - [`Work::fill`] and [`Work::fill_upwards`]: a table of a length that is known before; each element is written once, by the one
//!   operation that it belongs to.
//! - [`Work::accumulate`]: counters of a number that is known before; operations add to any of them.
//! - [`Work::append`]: blocks, one by every operation, of a length that is known when it is done.
//!
//! A closure that is given to these must be a function of its arguments and of finished tables: it may be called again for an
//! operation whose results were lost, and must give the same. Everything is done on the rayon pool of the caller.
//!
//! A phase that was finished before a crash is not run again; its table is given as it is.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;
use rayon::prelude::*;
use tadoc_core::Array;

use crate::Result;

/// Rules of an operation that goes over rules.
pub const RULES_AT_ONCE: usize = 1 << 14;

/// Sections of blocks begin at multiples of this.
pub const BLOCK_ALIGNMENT: usize = 256;

/// Runs the phases of a task.
pub struct Work<'p> {
    memory: u64,
    pool: std::marker::PhantomData<&'p ()>,
}

impl<'p> Work<'p> {
    /// Work that is lost with the process; for tests.
    pub fn volatile(memory: u64) -> Self {
        Self { memory, pool: std::marker::PhantomData }
    }

    /// Bytes of memory that the work may take, beside the pool.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// A table of `cuts.last()` elements, of which operation `i` fills those from `cuts[i]` to `cuts[i + 1]`; they are zero before. `cuts` begins
    /// with 0 and does not descend.
    pub fn fill<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        cuts: &[usize],
        work: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Array<T>> {
        let _ = phase;
        let mut table = vec![T::zeroed(); *cuts.last().expect("cuts begin with 0")];
        let mut rest = &mut table[..];
        let mut ranges = Vec::new();
        for cut in cuts.windows(2) {
            ranges.push(rest.split_off_mut(..cut[1] - cut[0]).expect("cuts ascend"));
        }
        ranges.into_par_iter().enumerate().for_each(|(operation, own)| work(operation, own));
        Ok(table.into())
    }

    /// A table with elements for every rule, of which those of rule `r` are `starts.of(r)`; rules of higher numbers first. `levels` are as those of a
    /// [`tadoc_core::Network`]. `work` gets some rules of one level, their elements (zero before), and the elements of all rules behind that
    /// level, of which the first belongs to the rule that the level ends with.
    pub fn fill_upwards<T: Pod + Send + Sync>(
        &mut self,
        phase: &'static str,
        starts: Starts<'_>,
        levels: &[u32],
        work: impl Fn(Range<u32>, &mut [T], &[T]) + Sync,
    ) -> Result<Array<T>> {
        let _ = phase;
        let rules = levels.last().copied().unwrap_or(0);
        let mut table = vec![T::zeroed(); starts.of(rules)];
        for level in levels.windows(2).rev() {
            let (own, below) = table.split_at_mut(starts.of(level[1]));
            let mut own = &mut own[starts.of(level[0])..];
            let mut operations = Vec::new();
            for first in (level[0]..level[1]).step_by(RULES_AT_ONCE) {
                let end = level[1].min(first + RULES_AT_ONCE as u32);
                let length = starts.of(end) - starts.of(first);
                operations.push((first..end, own.split_off_mut(..length).expect("starts ascend")));
            }
            operations.into_par_iter().for_each(|(rules, own)| work(rules, own, below));
        }
        Ok(table.into())
    }

    /// Counters, of which `initial` gives the first values (it gets a range, and its counters, which are zero). `levels` are as those of a
    /// [`tadoc_core::Network`]; level by level `work` is called with rules of it, and adds to counters. What it reads of the counters must not be
    /// added to by rules of the same level.
    pub fn accumulate(
        &mut self,
        phase: &'static str,
        length: usize,
        initial: impl Fn(Range<usize>, &mut [u64]) + Sync,
        levels: &[u32],
        work: impl Fn(Range<u32>, &mut Counters<'_>) + Sync,
    ) -> Result<Array<u64>> {
        let _ = phase;
        let mut table = vec![0_u64; length];
        initial(0..length, &mut table);
        let table: Vec<AtomicU64> = table.into_iter().map(AtomicU64::new).collect();
        for level in levels.windows(2) {
            let firsts = (level[0]..level[1]).into_par_iter().step_by(RULES_AT_ONCE);
            firsts.for_each(|first| {
                let end = level[1].min(first + RULES_AT_ONCE as u32);
                work(first..end, &mut Counters { values: &table });
            });
        }
        Ok(table.into_iter().map(AtomicU64::into_inner).collect::<Vec<_>>().into())
    }

    /// Blocks, one by each of so many operations, in the order of operations.
    pub fn append(
        &mut self,
        phase: &'static str,
        operations: usize,
        work: impl Fn(usize, &mut BlockBuilder) -> Result<()> + Sync,
    ) -> Result<Blocks> {
        let _ = phase;
        let blocks = (0..operations).into_par_iter().with_max_len(1).map(|operation| {
            let mut block = BlockBuilder::default();
            work(operation, &mut block)?;
            Ok(block)
        });
        Ok(Blocks { blocks: Arc::new(blocks.collect::<Result<_>>()?) })
    }

    /// A row of zeros to work in, which is nobody else's and is lost with the process: in memory if so much is left of what the work may take,
    /// else in the pool.
    pub fn scratch<T: Pod + Send + Sync>(&self, length: usize) -> Result<Scratch<T>> {
        Ok(Scratch { row: vec![T::zeroed(); length] })
    }
}

/// Where the elements of rules are in a table.
#[derive(Debug, Clone, Copy)]
pub enum Starts<'a> {
    /// Every rule has one.
    One,
    /// Where those of each rule start, with the end behind the last.
    At(&'a [u64]),
}

impl Starts<'_> {
    /// Where the elements of a rule start.
    #[inline]
    pub fn of(self, rule: u32) -> usize {
        match self {
            Self::One => rule as usize,
            Self::At(starts) => starts[rule as usize] as usize,
        }
    }
}

/// Counters that an operation reads and adds to.
pub struct Counters<'a> {
    values: &'a [AtomicU64],
}

impl Counters<'_> {
    /// A counter that nothing of this level adds to.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.values[index].load(Ordering::Relaxed)
    }

    /// Adds to a counter.
    #[inline]
    pub fn add(&mut self, index: usize, more: u64) {
        self.values[index].fetch_add(more, Ordering::Relaxed);
    }
}

/// A block that is being made: sections one after the other.
#[derive(Debug, Default)]
pub struct BlockBuilder {
    bytes: Vec<u8>,
    /// Where each section is in `bytes`.
    sections: Vec<Range<usize>>,
}

impl BlockBuilder {
    /// Appends a section.
    pub fn put<T: Pod>(&mut self, numbers: &[T]) {
        let start = self.bytes.len().next_multiple_of(BLOCK_ALIGNMENT);
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(bytemuck::cast_slice(numbers));
        self.sections.push(start..self.bytes.len());
    }
}

/// Finished blocks. A clone is another handle to them.
#[derive(Debug, Clone)]
pub struct Blocks {
    blocks: Arc<Vec<BlockBuilder>>,
}

impl Blocks {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// A section of a block.
    ///
    /// # Panics
    /// If there is no such block or section, or it was not put as numbers of this size.
    pub fn section<T: Pod>(&self, block: usize, section: usize) -> &[T] {
        let block = &self.blocks[block];
        let bytes = &block.bytes[block.sections[section].clone()];
        // A vector of bytes need not lie where these numbers may.
        if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
    }
}

/// A row to work in.
#[derive(Debug)]
pub struct Scratch<T> {
    row: Vec<T>,
}

impl<T> Deref for Scratch<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.row
    }
}

impl<T> DerefMut for Scratch<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.row
    }
}
