//! Blocks, whose lengths are known when they are done.
//!
//! The table begins with four numbers for every operation; behind them are the sections of all blocks, in the order in which they came, and for each
//! block the list of its sections. A section is copied once, to its place in the pool, which grows by steps. With
//! [`Persist::Operation`] a block also has a checksum: after a crash, an operation is done if its block has it.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use tadoc_core::{parallel, usize_of};
use tadoc_tasks::work::{Append, Block, BlockBuilder, Blocks, CheckBlock, Sections, StoredBlocks};
use xxhash_rust::xxh64::Xxh64;

use super::{Found, Phases};
use crate::layout::{ALIGNMENT, Kind, Table};
use crate::medium::space::{Shared, Space};
use crate::{Persist, Pool};

/// Numbers of a block at the beginning of the table: where its list of sections is, how many these are, its checksum, and 0.
pub(super) const BLOCK_WORDS: usize = 4;
/// Numbers of a section in a list: where it is, and how many bytes it has.
const SECTION_WORDS: usize = 2;
/// By how much a table grows: a part of what it has, within bounds.
const GROWTH: Range<u64> = 1 << 20..1 << 28;
const PART_OF_GROWTH: u64 = 4;
/// Bytes of blocks after which no operation of a wave begins any more, so that a crash costs little of what is large.
const BYTES_OF_A_WAVE: u64 = 32 << 20;
/// Bytes after which the device may begin to write what is there.
const SETTLED_AT_ONCE: u64 = 8 << 20;

impl Phases<'_> {
    pub(super) fn append_table(
        &mut self,
        phase: &'static str,
        operations: usize,
        check: &CheckBlock<'_>,
        work: &Append<'_>,
    ) -> tadoc_tasks::Result<Blocks> {
        let is_sound =
            |pool: &Pool, table: &Table| TableBlocks::of(pool, table, operations).is_sound(check);
        let shape = [operations as u64];
        let directory_bytes = (8 * BLOCK_WORDS * operations) as u64;
        let size = (1, directory_bytes);
        let (at_work, new) = match self.look(phase, Kind::Blocks, size, &shape, &is_sound) {
            Found::Finished(table) => {
                return Ok(Blocks::new(Arc::new(TableBlocks::of(self.pool, &table, operations))));
            }
            Found::Open(at_work, new) => (at_work, new),
        };
        let directory_end = |table: &Table| table.offset + directory_bytes;
        let (mut table, resumed) = self.begin(at_work, new, |_| true, directory_end)?;
        let space = self.pool.space.clone();
        let (done, end) = match resumed {
            true => done(&space, &table, operations, check),
            false => (vec![false; operations], directory_bytes),
        };
        if resumed {
            let there = done.iter().filter(|&&done| done).count();
            self.pool.resumes(phase, there as u64, operations as u64);
        }
        let durable = self.persist == Persist::Phase;
        let growth = Arc::new(Growth::new(space.clone(), table.offset, end, durable));
        let mut directory = space.region::<u64>(table.offset, BLOCK_WORDS * operations);
        let seeds = self.by_operation().then_some(table.identity);
        let (most, most_bytes) = match self.by_operation() {
            true => (self.wave(), BYTES_OF_A_WAVE),
            false => (operations, u64::MAX),
        };
        let mut waiting: Vec<usize> =
            (0..operations).filter(|&operation| !done[operation]).collect();
        while !waiting.is_empty() {
            let start = growth.end();
            let wave = waiting[..most.min(waiting.len())].par_iter().with_max_len(1);
            let blocks = wave.filter_map(|&operation| {
                // The first one that comes here finds nothing, so every wave has one.
                if growth.end() - start >= most_bytes {
                    return None;
                }
                let seed = seeds.map(|seed| seed_of(seed, operation));
                let mut block = GrowingBlock::new(growth.clone(), seed);
                let made = work(operation, &mut BlockBuilder::new(&mut block));
                let words = made.and_then(|()| {
                    let words = block.finish();
                    Ok(words.map_err(|error| self.pool.failed(error, space.len()))?)
                });
                Some(words.map(|words| (operation, words)))
            });
            let blocks = blocks.collect::<tadoc_tasks::Result<Vec<_>>>()?;
            for &(operation, words) in &blocks {
                directory[BLOCK_WORDS * operation..][..BLOCK_WORDS].copy_from_slice(&words);
            }
            if self.by_operation() {
                let entry = |operation: usize| table.offset + (8 * BLOCK_WORDS * operation) as u64;
                let (first, last) = (blocks[0].0, blocks[blocks.len() - 1].0);
                let sections = table.offset + start..table.offset + growth.end();
                self.pool.persist(&[entry(first)..entry(last + 1), sections])?;
            }
            let ran: Vec<usize> = blocks.iter().map(|&(operation, _)| operation).collect();
            waiting.retain(|operation| ran.binary_search(operation).is_err());
        }
        drop(directory);
        table.bytes = growth.end();
        if table.end() > space.len() {
            self.pool.resize(table.end())?;
        }
        self.finish(table.clone())?;
        let blocks = TableBlocks::of(self.pool, &table, operations);
        debug_assert!(blocks.is_sound(check), "{phase}");
        Ok(Blocks::new(Arc::new(blocks)))
    }
}

/// Which operations are done, and where the last of their blocks ends.
fn done(
    space: &Arc<Space>,
    table: &Table,
    operations: usize,
    check: &CheckBlock<'_>,
) -> (Vec<bool>, u64) {
    let bytes = space.shared::<u8>(table.offset, usize_of(space.len() - table.offset));
    let blocks = TableBlocks { bytes, operations };
    let end_if_done = |operation: usize| {
        let block = blocks.get(operation)?;
        let seed = seed_of(table.identity, operation);
        let is_done = block.has_sum(seed) && block.passes(operation, check);
        is_done.then_some(block.end)
    };
    let ends: Vec<Option<u64>> = parallel::map(operations, &end_if_done);
    let directory = (8 * BLOCK_WORDS * operations) as u64;
    let end = ends.iter().flatten().copied().max().unwrap_or(directory);
    (ends.iter().map(Option::is_some).collect(), end)
}

/// A block that was found: where its sections are is known to be in the table, and what is in them is not.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundBlock<'b> {
    /// From where on places are told.
    bytes: &'b [u8],
    /// Where these start in the table.
    start: u64,
    list: &'b [u64],
    sum: u64,
    /// Where it ends in the table.
    end: u64,
}

impl<'b> FoundBlock<'b> {
    /// The block that numbers of a directory tell of, if it lies in bytes of its table that start at a place of it. Sections follow each other, and their
    /// list follows them, so that reading all of a block costs no more than there are bytes.
    pub(super) fn read(bytes: &'b [u8], start: u64, words: &[u64; BLOCK_WORDS]) -> Option<Self> {
        let &[place, sections, sum, _] = words;
        let list = part(bytes, start, place, sections.checked_mul(8 * SECTION_WORDS as u64)?)?;
        let list: &[u64] = bytemuck::cast_slice(&bytes[list]);
        let mut end = start;
        for section in list.chunks_exact(SECTION_WORDS) {
            part(bytes, start, section[0], section[1])?;
            if section[0] < end {
                return None;
            }
            end = section[0] + section[1];
        }
        let whole = Self { bytes, start, list, sum, end: place + size_of_val(list) as u64 };
        (place >= end).then_some(whole)
    }

    fn passes(&self, operation: usize, check: &CheckBlock<'_>) -> bool {
        let sections: Vec<&[u8]> = self.ranges().map(|range| &self.bytes[range]).collect();
        check(operation, Block::new(&sections)) == Some(true)
    }

    /// Where its sections are in the bytes.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'b> {
        let start = self.start;
        let place = move |at: u64| usize_of(at - start);
        self.list
            .chunks_exact(SECTION_WORDS)
            .map(move |section| place(section[0])..place(section[0] + section[1]))
    }

    pub(super) fn has_sum(&self, seed: u64) -> bool {
        let mut hash = Xxh64::new(seed);
        self.ranges().for_each(|section| hash.update(&self.bytes[section]));
        hash.update(bytemuck::cast_slice(self.list));
        hash.digest().max(1) == self.sum
    }
}

/// Bytes of a table, told by their place in it, if they are among those that start at a place of it.
fn part(bytes: &[u8], start: u64, place: u64, length: u64) -> Option<Range<usize>> {
    let from = place.checked_sub(start).filter(|_| place.is_multiple_of(ALIGNMENT))?;
    let until = from.checked_add(length).filter(|&until| until <= bytes.len() as u64)?;
    Some(usize_of(from)..usize_of(until))
}

pub(super) fn seed_of(identity: u64, operation: usize) -> u64 {
    identity.wrapping_add(operation as u64)
}

/// The end of a table that grows.
pub(super) struct Growth {
    space: Arc<Space>,
    start: u64,
    /// Where the next section goes, from there on.
    next: Mutex<u64>,
    /// Whether all of it is to be made durable.
    durable: bool,
}

impl Growth {
    /// The end of a table that starts here and has so many bytes.
    pub(super) fn new(space: Arc<Space>, start: u64, bytes: u64, durable: bool) -> Self {
        Self { space, start, next: Mutex::new(bytes.next_multiple_of(ALIGNMENT)), durable }
    }

    pub(super) fn end(&self) -> u64 {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies bytes to the end; says where they are in the table.
    fn put(&self, bytes: &[u8]) -> io::Result<u64> {
        let place = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let place = *next;
            let end = (place + bytes.len() as u64).next_multiple_of(ALIGNMENT);
            let more = (end / PART_OF_GROWTH).clamp(GROWTH.start, GROWTH.end);
            self.space.grow_to(self.start + end, more)?;
            *next = end;
            place
        };
        self.space.write(self.start + place, bytes)?;
        let end = place + bytes.len() as u64;
        let settled = end - end % SETTLED_AT_ONCE;
        if self.durable && place < settled {
            // Sections before it are whole but for those that other threads copy now.
            let first = (place - place % SETTLED_AT_ONCE).saturating_sub(SETTLED_AT_ONCE);
            self.space.settle(self.start + first..self.start + settled);
        }
        Ok(place)
    }
}

/// A block that is being made: sections one after the other.
pub(super) struct GrowingBlock {
    growth: Arc<Growth>,
    /// Where each section is, and its length.
    list: Vec<u64>,
    /// What went wrong with a section; told when the block is done.
    failed: Option<io::Error>,
    hash: Option<Xxh64>,
}

impl GrowingBlock {
    pub(super) fn new(growth: Arc<Growth>, seed: Option<u64>) -> Self {
        Self { growth, list: Vec::new(), failed: None, hash: seed.map(Xxh64::new) }
    }

    /// Ends the block; gives the numbers that the table begins with.
    pub(super) fn finish(self) -> io::Result<[u64; BLOCK_WORDS]> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let list: &[u8] = bytemuck::cast_slice(&self.list);
        let place = self.growth.put(list)?;
        let sum = self.hash.map_or(0, |mut hash| {
            hash.update(list);
            hash.digest().max(1)
        });
        Ok([place, (self.list.len() / SECTION_WORDS) as u64, sum, 0])
    }
}

impl Sections for GrowingBlock {
    fn put(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        match self.growth.put(bytes) {
            Ok(place) => self.list.extend([place, bytes.len() as u64]),
            Err(error) => self.failed = Some(error),
        }
        if let Some(hash) = &mut self.hash {
            hash.update(bytes);
        }
    }
}

/// Finished blocks of a table.
struct TableBlocks {
    bytes: Shared<u8>,
    operations: usize,
}

impl TableBlocks {
    fn of(pool: &Pool, table: &Table, operations: usize) -> Self {
        let bytes = pool.space.shared(table.offset, usize_of(table.bytes));
        Self { bytes, operations }
    }

    /// A block, if it lies in its table.
    fn get(&self, block: usize) -> Option<FoundBlock<'_>> {
        let (directory, rest) = self.bytes.split_at_checked(8 * BLOCK_WORDS * self.operations)?;
        let directory: &[u64] = bytemuck::cast_slice(directory);
        let words = directory[BLOCK_WORDS * block..].first_chunk()?;
        // Sections begin where their alignment says, which need not be where the directory ends.
        let start = directory.len() as u64 * 8;
        FoundBlock::read(rest, start, words)
    }

    /// Whether all blocks are there and pass a check.
    fn is_sound(&self, check: &CheckBlock<'_>) -> bool {
        parallel::all(self.operations, &|operation| {
            self.get(operation).is_some_and(|block| block.passes(operation, check))
        })
    }
}

impl StoredBlocks for TableBlocks {
    fn len(&self) -> usize {
        self.operations
    }

    fn section(&self, block: usize, section: usize) -> &[u8] {
        let bytes: &[u8] = &self.bytes;
        let directory: &[u64] = bytemuck::cast_slice(&bytes[..8 * BLOCK_WORDS * self.operations]);
        let own = &directory[BLOCK_WORDS * block..][..BLOCK_WORDS];
        let list = &bytes[usize_of(own[0])..][..8 * SECTION_WORDS * usize_of(own[1])];
        let list: &[u64] = bytemuck::cast_slice(list);
        let place = &list[SECTION_WORDS * section..][..SECTION_WORDS];
        &bytes[usize_of(place[0])..][..usize_of(place[1])]
    }
}
