//! Volatile storage: tables in memory, freed when nobody holds them.
//!
//! Tables take a part of the memory that the work may have. What comes beyond that goes to temporary
//! files without names, one for each phase: their pages are the system's to write out. Where there is
//! no room for a file, tables take the rest of the memory too.
//! Running a phase costs nothing beyond its operations.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tadoc_core::room::{Room, SpillFile};
use tadoc_core::{Array, parallel};

use super::append::{Append, Block, BlockBuilder, Blocks, CheckBlock, Sections, StoredBlocks};
use super::{Bytes, CheckFilled, Counting, Fill, Filling, Storage};
use crate::{Error, Result};

/// The part of the memory that tables take before there are files: small enough for a command to be a
/// good neighbour, and large enough for most questions.
const PART_BEFORE_FILES: u64 = 8;

/// An operation takes no more: longer ones would read in longer stretches, but miss the caches.
const MOST_OF_AN_OPERATION: u64 = 32 << 20;

/// Tables in memory.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes of memory that the work may take.
    most: u64,
    taken: Arc<AtomicU64>,
}

impl Memory {
    /// Storage for work that may take so many bytes of memory.
    pub fn new(most: u64) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Zeros, in memory while there is some left, else in a file of their own.
    fn zeros(&self, bytes: usize) -> Result<Held> {
        let zeros = |held: Held| Ok(held.with(Room::in_memory(bytes)?));
        let made = self.take(bytes, PART_BEFORE_FILES).map(zeros).unwrap_or_else(|| {
            match (Room::in_file(bytes, None), self.take(bytes, 1)) {
                (Ok(room), _) => Ok(Held { room, bytes: 0, of: self.taken.clone() }),
                (Err(_), Some(held)) => zeros(held),
                (Err(error), None) => Err(error),
            }
        });
        made.map_err(temporary)
    }

    /// Takes so many bytes of memory, if they are left of this part of it; with no room yet.
    fn take(&self, bytes: usize, part: u64) -> Option<Held> {
        let bytes = bytes as u64;
        let most = self.most / part;
        let more = |taken: u64| taken.checked_add(bytes).filter(|&taken| taken <= most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Held { room: Room::default(), bytes, of: self.taken.clone() })
    }
}

fn temporary(source: io::Error) -> Error {
    Error::TemporaryFile { folder: std::env::temp_dir(), source }
}

/// Bytes of a table; counted until they are freed.
struct Held {
    room: Room,
    bytes: u64,
    of: Arc<AtomicU64>,
}

impl Held {
    /// The same with its room.
    fn with(mut self, room: Room) -> Self {
        self.room = room;
        self
    }
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
        let values: Vec<AtomicU64> = values.into_iter().map(AtomicU64::new).collect();
        counting.add_up(&values);
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
        let spill = Spill::default();
        let blocks = parallel::try_map(operations, &|operation| -> Result<Vec<Section>> {
            let (memory, spill) = (&*self, &spill);
            let mut block = MemoryBlock { memory, spill, sections: Vec::new(), failed: None };
            work(operation, &mut BlockBuilder::new(&mut block))?;
            block.failed.map_or(Ok(block.sections), Err)
        })?;
        let spilled = spill.into_inner().unwrap_or_else(PoisonError::into_inner);
        let spilled = spilled.and_then(Arc::into_inner).map(SpillFile::into_room).transpose();
        let blocks =
            MemoryBlocks { blocks, spilled: spilled.map_err(temporary)?.unwrap_or_default() };
        debug_assert!(
            (0..operations).all(|operation| {
                let sections = 0..blocks.blocks[operation].len();
                let sections: Vec<&[u8]> =
                    sections.map(|section| blocks.section(operation, section)).collect();
                check(operation, Block::new(&sections)) == Some(true)
            }),
            "{phase}"
        );
        Ok(Blocks::new(Arc::new(blocks)))
    }

    fn aside(&self, bytes: usize) -> Result<Room> {
        Room::in_file(bytes, None).map_err(temporary)
    }

    fn most_of_an_operation(&self) -> u64 {
        MOST_OF_AN_OPERATION
    }
}

/// A section of a block.
enum Section {
    Held(Held),
    /// In the file of its phase.
    Spilled(Range<usize>),
}

/// The file of a phase, made when there is no memory left for a section.
type Spill = Mutex<Option<Arc<SpillFile>>>;

/// A block that is being made.
struct MemoryBlock<'m> {
    memory: &'m Memory,
    spill: &'m Spill,
    sections: Vec<Section>,
    failed: Option<Error>,
}

impl MemoryBlock<'_> {
    fn push(&mut self, section: io::Result<Section>) {
        match section {
            Ok(section) => self.sections.push(section),
            Err(error) => self.failed = Some(temporary(error)),
        }
    }

    fn spilled(&self, bytes: &[u8]) -> io::Result<Section> {
        let file = {
            let mut spill = self.spill.lock().unwrap_or_else(PoisonError::into_inner);
            match &*spill {
                Some(file) => file.clone(),
                None => spill.insert(Arc::new(SpillFile::new()?)).clone(),
            }
        };
        let start = file.append(bytes)? as usize;
        Ok(Section::Spilled(start..start + bytes.len()))
    }
}

impl Sections for MemoryBlock<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let copy = |held: Held| Ok(Section::Held(held.with(Room::copy_of(bytes)?)));
        let section = match self.memory.take(bytes.len(), PART_BEFORE_FILES) {
            Some(held) => copy(held),
            None => self
                .spilled(bytes)
                .or_else(|error| self.memory.take(bytes.len(), 1).map_or(Err(error), copy)),
        };
        self.push(section);
    }

    fn put_with(&mut self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) {
        let section = Room::in_memory(bytes).and_then(|mut room| {
            fill(&mut room);
            match self.memory.take(bytes, PART_BEFORE_FILES) {
                Some(held) => Ok(Section::Held(held.with(room))),
                None => self.spilled(&room).or_else(|error| match self.memory.take(bytes, 1) {
                    Some(held) => Ok(Section::Held(held.with(room))),
                    None => Err(error),
                }),
            }
        });
        self.push(section);
    }
}

/// Finished blocks: the sections of each, and the file of those that are not in memory.
struct MemoryBlocks {
    blocks: Vec<Vec<Section>>,
    spilled: Room,
}

impl StoredBlocks for MemoryBlocks {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn section(&self, block: usize, section: usize) -> &[u8] {
        match &self.blocks[block][section] {
            Section::Held(held) => &held.room,
            Section::Spilled(range) => &self.spilled[range.clone()],
        }
    }
}
