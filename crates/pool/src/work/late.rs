//! Blocks that are checked one by one, when they are first read: for a table that is far larger than what is read of it at a time.
//!
//! The table is as that of [`Work::append`](tadoc_tasks::Work::append), but every block has its checksum at all levels of [`Persist`], and the table has no others.
//! Opening it costs nothing for what is in it. A block that is found damaged is made again by the operation that made it, behind the last
//! one, and nothing else of the table is read or made; the place of the damaged one is not used again until all of the table is made anew.
//!
//! An operation is a large one here, and may use all threads: they are run one after the other, and with [`Persist::Operation`] each is
//! durable when it is done. The phase is the only one of its chain and has the pool for itself, so that its table may grow at any time.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;
use rayon::prelude::*;
use tadoc_core::usize_of;
use tadoc_tasks::work::BlockBuilder;

use super::Found;
use super::append::{BLOCK_WORDS, FoundBlock, GrowingBlock, Growth, seed_of};
use crate::layout::{ALIGNMENT, Kind, Table, WORKING, digest};
use crate::medium::space::Shared;
use crate::pool::{Chain, Pool, Resumption};
use crate::{Error, Persist, Result};

/// Blocks in a pool, each checked when it is first asked for.
pub struct LateBlocks {
    making: Mutex<Making>,
    /// Those that were found right.
    blocks: Vec<Mutex<Option<Arc<LateBlock>>>>,
    checks: AtomicUsize,
}

/// What makes blocks.
struct Making {
    pool: Pool,
    table: Table,
    persist: Persist,
    operations: usize,
    again: Vec<usize>,
}

impl LateBlocks {
    /// Takes the blocks of a chain's only phase from a pool; makes those that it does not have. What it has is not read, unless the phase was
    /// interrupted.
    ///
    /// # Errors
    /// Those of the pool, and of the operations.
    pub fn new<E: From<Error>>(
        mut pool: Pool,
        chain: &Chain,
        persist: Persist,
        phase: &'static str,
        operations: usize,
        mut work: impl FnMut(usize, &mut BlockBuilder<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut phases = pool.phases(chain, persist);
        // What is in blocks is looked at when they are asked for.
        let shape = [operations as u64];
        let size = (1, directory_end(operations));
        let has_directory = |table: &Table| table.bytes >= size.1;
        let is_sound = |_: &Pool, table: &Table| has_directory(table);
        let found = phases.look(phase, Kind::LateBlocks, size, &shape, &is_sound);
        let (mut table, finished, resumed) = match found {
            Found::Finished(table) => (table, true, false),
            Found::Open(at_work, new) => {
                let (table, resumed) = phases.begin(at_work, new, has_directory, Table::end)?;
                (table, false, resumed)
            }
        };
        table.sums = digest(&[], table.identity);
        // The table grows, so nothing may be behind it.
        if finished {
            pool.directory.cut(WORKING, 1);
        }
        let making = Making { pool, table, persist, operations, again: Vec::new() };
        let late = Self {
            making: Mutex::new(making),
            blocks: (0..operations).map(|_| Mutex::default()).collect(),
            checks: AtomicUsize::new(0),
        };
        if !finished {
            late.make_missing(resumed, &mut work)?;
        }
        Ok(late)
    }

    /// Runs the operations whose blocks are not there.
    fn make_missing<E: From<Error>>(
        &self,
        resumed: bool,
        work: &mut impl FnMut(usize, &mut BlockBuilder<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut making = self.lock();
        if resumed {
            let making = &*making;
            let numbers = (0..self.blocks.len()).into_par_iter();
            numbers.for_each(|number| {
                if let Some(block) = self.check(making.whereabouts(number)) {
                    self.keep(number, block);
                }
            });
        }
        let missing: Vec<usize> =
            (0..self.blocks.len()).filter(|&number| self.known(number).is_none()).collect();
        if resumed {
            let done = (self.blocks.len() - missing.len()) as u64;
            let name = making.table.name.clone();
            making.pool.resumes(&name, done, self.blocks.len() as u64);
        }
        for number in missing {
            let own = making.make(number, |block| work(number, block))?;
            if making.persist == Persist::Operation {
                making.record(&own)?;
            }
        }
        making.finish()?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Making> {
        // An operation that panics leaves the table as it was: its block is not in the directory yet.
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block. The first call reads it for its checksum; if that is wrong, `work` makes it again, as the operation of this number made it.
    ///
    /// Other threads may wait until it is made, so `work` must not need threads that may ask for a block.
    ///
    /// # Errors
    /// If a block that is damaged cannot be made again.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block<E: From<Error>>(
        &self,
        number: usize,
        work: impl FnOnce(&mut BlockBuilder<'_>) -> Result<(), E>,
    ) -> Result<Arc<LateBlock>, E> {
        if let Some(block) = self.known(number) {
            return Ok(block);
        }
        let place = self.lock().whereabouts(number);
        if let Some(block) = self.check(place) {
            return Ok(self.keep(number, block));
        }
        let mut making = self.lock();
        match self.known(number) {
            Some(block) => Ok(block),
            None => self.make_again(&mut making, number, work),
        }
    }

    /// The same block, made again: for one that has its checksum and is not what whoever reads it needs. If that was done since `found` was
    /// given, nothing is made.
    ///
    /// # Errors
    /// If it cannot be made.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn instead_of<E: From<Error>>(
        &self,
        found: &Arc<LateBlock>,
        number: usize,
        work: impl FnOnce(&mut BlockBuilder<'_>) -> Result<(), E>,
    ) -> Result<Arc<LateBlock>, E> {
        let mut making = self.lock();
        match self.known(number).filter(|known| !Arc::ptr_eq(known, found)) {
            Some(block) => Ok(block),
            None => self.make_again(&mut making, number, work),
        }
    }

    fn make_again<E: From<Error>>(
        &self,
        making: &mut Making,
        number: usize,
        work: impl FnOnce(&mut BlockBuilder<'_>) -> Result<(), E>,
    ) -> Result<Arc<LateBlock>, E> {
        making.make_again(number, work)?;
        let path = making.pool.path().to_owned();
        let block = self.check(making.whereabouts(number)).ok_or(Error::FailingDevice { path })?;
        *self.blocks[number].lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(self.keep(number, block))
    }

    /// A block that was found right.
    fn known(&self, number: usize) -> Option<Arc<LateBlock>> {
        self.blocks[number].lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a block, unless another thread has found it meanwhile.
    fn keep(&self, number: usize, block: LateBlock) -> Arc<LateBlock> {
        let mut own = self.blocks[number].lock().unwrap_or_else(PoisonError::into_inner);
        own.get_or_insert_with(|| Arc::new(block)).clone()
    }

    /// How often a block was read for its checksum.
    pub fn checks(&self) -> usize {
        self.checks.load(Ordering::Relaxed)
    }

    /// Blocks that were found damaged when they were asked for, and were made again.
    pub fn made_again(&self) -> Vec<usize> {
        self.lock().again.clone()
    }

    /// What the phase found in the pool.
    pub fn resumption(&self) -> Resumption {
        self.lock().pool.resumption().clone()
    }

    /// The block at a place, if it is one and has its checksum.
    fn check(&self, place: Whereabouts) -> Option<LateBlock> {
        self.checks.fetch_add(1, Ordering::Relaxed);
        let Whereabouts { bytes, start, words, seed } = place;
        let block = FoundBlock::read(&bytes, start, &words).filter(|block| block.has_sum(seed))?;
        let sections = block.ranges().collect();
        Some(LateBlock { bytes, sections })
    }
}

impl fmt::Debug for LateBlocks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LateBlocks").field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

/// What is said of a block, none of which is believed.
struct Whereabouts {
    /// All blocks of the table as it is now.
    bytes: Shared<u8>,
    /// Where these start in it.
    start: u64,
    words: [u64; BLOCK_WORDS],
    seed: u64,
}

impl Making {
    /// What is said of a block.
    fn whereabouts(&self, number: usize) -> Whereabouts {
        let start = directory_end(self.operations);
        let Table { offset, bytes, identity, .. } = self.table;
        let words = self.pool.space.shared::<u64>(offset + entry(number), BLOCK_WORDS);
        let words = words[..].try_into().expect("as many as were asked for");
        let bytes = self.pool.space.shared(offset + start, usize_of(bytes - start));
        Whereabouts { bytes, start, words, seed: seed_of(identity, number) }
    }

    /// Makes a block behind the last one, and puts it into the directory; says what has changed in the table.
    fn make<E: From<Error>>(
        &mut self,
        number: usize,
        work: impl FnOnce(&mut BlockBuilder<'_>) -> Result<(), E>,
    ) -> Result<[Range<u64>; 2], E> {
        let Table { offset, bytes, identity, .. } = self.table;
        let space = self.pool.space.clone();
        let durable = self.persist == Persist::Phase;
        let growth = Arc::new(Growth::new(space.clone(), offset, bytes, durable));
        let mut block = GrowingBlock::new(growth.clone(), Some(seed_of(identity, number)));
        work(&mut BlockBuilder::new(&mut block))?;
        let words = block.finish().map_err(|error| self.pool.failed(error, space.len()))?;
        space.region(offset + entry(number), BLOCK_WORDS).copy_from_slice(&words);
        self.table.bytes = growth.end();
        let own = offset + entry(number)..offset + entry(number + 1);
        Ok([own, offset + bytes..offset + self.table.bytes])
    }

    /// Makes what has changed in the table durable, and the table as it is now a part of the next checkpoint.
    fn record(&mut self, changed: &[Range<u64>]) -> Result<()> {
        if self.persist != Persist::None {
            self.pool.persist(changed)?;
        }
        *self.pool.directory.tables.last_mut().expect("it was entered") = self.table.clone();
        self.pool.checkpoint(self.persist)
    }

    fn make_again<E: From<Error>>(
        &mut self,
        number: usize,
        work: impl FnOnce(&mut BlockBuilder<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let made = self.make(number, work);
        let made = made.and_then(|changed| Ok(self.record(&changed)?));
        // Whatever more the file has got.
        self.pool.resize(self.pool.next_offset())?;
        made?;
        self.again.push(number);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.pool.finish(WORKING, self.table.clone(), self.persist)
    }
}

/// Where the numbers of a block are in the table.
fn entry(number: usize) -> u64 {
    (8 * BLOCK_WORDS * number) as u64
}

/// Where the first block may be.
fn directory_end(operations: usize) -> u64 {
    entry(operations).next_multiple_of(ALIGNMENT)
}

/// A block that has its checksum.
#[derive(Debug)]
pub struct LateBlock {
    bytes: Shared<u8>,
    /// Where its sections are in these.
    sections: Vec<Range<usize>>,
}

impl LateBlock {
    /// A section.
    ///
    /// # Panics
    /// If there is no such section, or it was not put as numbers of this size.
    #[inline]
    pub fn section<T: Pod>(&self, section: usize) -> &[T] {
        bytemuck::cast_slice(&self.bytes[self.sections[section].clone()])
    }

    /// Whether there is such a section, and its bytes are numbers of this size.
    pub fn has<T: Pod>(&self, section: usize) -> bool {
        let range = self.sections.get(section);
        range.is_some_and(|range| range.len().is_multiple_of(size_of::<T>()))
    }
}
