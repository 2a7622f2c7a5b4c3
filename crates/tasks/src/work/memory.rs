//! Volatile storage: tables in memory, freed when nobody holds them.
//!
//! Tables take as many bytes of memory as the storage may have; what comes beyond that goes to a temporary file without a name, and only there.
//! Running a phase costs nothing beyond its operations.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tadoc_core::room::Room;
use tadoc_core::{Array, parallel};

use super::append::{Append, Block, BlockBuilder, Blocks, CheckBlock, Sections, StoredBlocks};
use super::{Bytes, CheckFilled, Counters, Counting, Fill, Filling, Storage, operations_of};
use crate::{Error, Result};

/// With fewer threads, an atomic addition costs more than they save, so one thread goes over all rules.
const THREADS_FOR_ATOMICS: usize = 4;

/// Tables in memory.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes of memory that tables may take.
    most: u64,
    taken: Arc<AtomicU64>,
}

impl Memory {
    /// Storage that takes at most so many bytes of memory.
    pub fn new(most: u64) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Zeros, in memory while there is some left.
    fn zeros(&self, bytes: usize) -> Result<Held> {
        self.hold(bytes, |fits| match fits {
            true => Room::in_memory(bytes),
            false => Room::in_file(bytes, None),
        })
    }

    /// A copy of bytes, in memory while there is some left.
    fn copy_of(&self, bytes: &[u8]) -> Result<Held> {
        self.hold(bytes.len(), |fits| {
            if fits {
                return Room::copy_of(bytes);
            }
            let mut room = Room::in_file(bytes.len(), None)?;
            room.copy_from_slice(bytes);
            Ok(room)
        })
    }

    /// Takes so many bytes; `make` is told whether they fit into memory.
    fn hold(&self, bytes: usize, make: impl FnOnce(bool) -> io::Result<Room>) -> Result<Held> {
        let before = self.taken.fetch_add(bytes as u64, Ordering::Relaxed);
        let mut held = Held { room: Room::default(), bytes: bytes as u64, of: self.taken.clone() };
        let fits = before.saturating_add(bytes as u64) <= self.most;
        held.room = make(fits).map_err(|error| Error::io("a temporary file", error))?;
        Ok(held)
    }
}

/// Bytes of a table; counted until they are freed.
struct Held {
    room: Room,
    bytes: u64,
    of: Arc<AtomicU64>,
}

impl AsRef<[u8]> for Held {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.room
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.of.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Storage for Memory {
    fn fill(
        &mut self,
        phase: &'static str,
        filling: &Filling<'_>,
        check: &CheckFilled<'_>,
        work: &Fill<'_>,
    ) -> Result<Bytes> {
        let mut table = self.zeros(filling.bytes)?;
        for level in filling.levels {
            filling.run(&mut table.room, level, level, &|_| false, work);
        }
        debug_assert!(filling.is_sound(&table.room, check), "{phase}");
        Ok(Arc::new(table))
    }

    fn accumulate(&mut self, phase: &'static str, counting: &Counting<'_>) -> Result<Array<u64>> {
        let mut values = vec![0_u64; counting.length];
        counting.set_initial(&mut values);
        // Both conversions are done in place.
        let mut values: Vec<AtomicU64> = values.into_iter().map(AtomicU64::new).collect();
        let few = rayon::current_num_threads() < THREADS_FOR_ATOMICS;
        if let Some((&first, &end)) = counting.levels.first().zip(counting.levels.last())
            && few
        {
            (counting.work)(first..end, &mut Counters::alone(&mut values));
        }
        for level in counting.levels.windows(2).filter(|_| !few) {
            let operations: Vec<_> = operations_of(level).collect();
            parallel::each(operations.len(), &|operation| {
                let mut counters = Counters::in_place(&values);
                (counting.work)(operations[operation].clone(), &mut counters);
            });
        }
        let values: Vec<u64> = values.into_iter().map(AtomicU64::into_inner).collect();
        debug_assert!((counting.check)(&values), "{phase}");
        Ok(values.into())
    }

    fn append(
        &mut self,
        phase: &'static str,
        operations: usize,
        check: &CheckBlock<'_>,
        work: &Append<'_>,
    ) -> Result<Blocks> {
        let blocks = parallel::try_map(operations, &|operation| -> Result<Vec<Held>> {
            let mut block = MemoryBlock { memory: self, sections: Vec::new(), failed: None };
            work(operation, &mut BlockBuilder::new(&mut block))?;
            block.failed.map_or(Ok(block.sections), Err)
        })?;
        let blocks = MemoryBlocks { blocks };
        debug_assert!(
            (0..operations).all(|operation| {
                let sections = blocks.blocks[operation].iter().map(Held::as_ref);
                let sections: Vec<&[u8]> = sections.collect();
                check(operation, Block::new(&sections)) == Some(true)
            }),
            "{phase}"
        );
        Ok(Blocks::new(Arc::new(blocks)))
    }

    fn aside(&self, bytes: usize) -> Result<Room> {
        Room::in_file(bytes, None).map_err(|error| Error::io("a temporary file", error))
    }
}

/// A block that is being made.
struct MemoryBlock<'m> {
    memory: &'m Memory,
    sections: Vec<Held>,
    failed: Option<Error>,
}

impl MemoryBlock<'_> {
    fn push(&mut self, section: Result<Held>) {
        match section {
            Ok(held) => self.sections.push(held),
            Err(error) => self.failed = Some(error),
        }
    }
}

impl Sections for MemoryBlock<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.push(self.memory.copy_of(bytes));
    }

    fn put_with(&mut self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) {
        let held = self.memory.zeros(bytes);
        self.push(held.map(|mut held| {
            fill(&mut held.room);
            held
        }));
    }
}

/// Finished blocks: the sections of each.
struct MemoryBlocks {
    blocks: Vec<Vec<Held>>,
}

impl StoredBlocks for MemoryBlocks {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn section(&self, block: usize, section: usize) -> &[u8] {
        &self.blocks[block][section].room
    }
}
