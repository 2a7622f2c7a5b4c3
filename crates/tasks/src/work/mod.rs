//! Phases that make tables, whatever these are stored in.
//!
//! A phase has a name, and makes one table out of finished ones, by operations that are independent of each other within a
//! *wave*. There are three kinds, by what an operation may write:
//!
//! - [`Work::fill`] and [`Work::fill_upwards`]: a table of a length that is known before; each element is written once, by the one
//!   operation that it belongs to.
//! - [`Work::accumulate`]: counters of a number that is known before; operations add to any of them.
//! - [`Work::append`]: blocks, one by every operation, of a length that is known when it is done.
//!
//! A closure that is given to these must be a function of its arguments and of finished tables: durable storage calls it again for
//! an operation whose results were lost, and it must give the same. Everything is done on the rayon pool of the caller.
//!
//! Where tables are, and what survives a crash, is [`Storage`]'s: [`memory::Memory`] loses them with the process, `tadoc-pool` keeps them in a
//! file. A table is freed when its last handle is dropped, if the storage is volatile.
//!
//! Durable storage finds tables that an earlier process made. Checksums say that a table is what someone wrote, and not that a phase
//! made it; so every phase comes with a *check* of what its readers rely on: that offsets ascend and end where their rows do,
//! that numbers are below what they number. A table that fails it is made again. What was just made is not checked, but for assertions of
//! debug builds.
//!
//! # Modules
//!
//! [`fill`], [`accumulate`] and [`append`] are the three kinds, [`scratch`] rows that are lost with the process, [`memory`] the volatile storage.

pub mod accumulate;
pub mod append;
pub mod fill;
pub mod memory;
pub mod scratch;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tadoc_core::room::Room;
use tadoc_core::{Array, Steps};

pub use accumulate::{Adding, Counters, Counting};
pub use append::{Append, Block, BlockBuilder, Blocks, CheckBlock, Sections, StoredBlocks};
pub use fill::{CheckFilled, Fill, Filling};
pub use scratch::Scratch;

use crate::Result;
use memory::Memory;

/// Rules of an operation that goes over rules.
pub const RULES_AT_ONCE: usize = 1 << 14;

/// Bytes of a finished table.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// What the tables of a chain of phases are stored in.
///
/// Phases are asked for in order. One that is there already, finished and sound, need not be run again.
pub trait Storage: Send + Sync {
    /// A table whose elements are written once.
    fn fill(
        &mut self,
        phase: &'static str,
        filling: &Filling<'_>,
        check: &CheckFilled<'_>,
        work: &Fill<'_>,
    ) -> Result<Bytes>;

    /// Counters that operations add to.
    fn accumulate(&mut self, phase: &'static str, counting: &Counting<'_>) -> Result<Array<u64>>;

    /// Blocks, one by each operation.
    fn append(
        &mut self,
        phase: &'static str,
        operations: usize,
        check: &CheckBlock<'_>,
        work: &Append<'_>,
    ) -> Result<Blocks>;

    /// Zeros outside of the process's own memory, lost with the process.
    fn aside(&self, bytes: usize) -> Result<Room>;

    /// Bytes of memory that an operation may take that could be cut smaller.
    fn most_of_an_operation(&self) -> u64;
}

/// Runs the phases of a task.
pub struct Work<'s> {
    storage: Box<dyn Storage + 's>,
    memory: u64,
    /// Bytes of memory that rows to work in have now.
    taken: Arc<AtomicU64>,
    steps: Steps,
}

impl<'s> Work<'s> {
    /// Work in a storage, that takes so many bytes of memory beside it.
    pub fn new(storage: Box<dyn Storage + 's>, memory: u64) -> Self {
        Self { storage, memory, taken: Arc::default(), steps: Steps::default() }
    }

    /// Bytes of memory that the work may take, beside its storage.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// What phases took, and took to find their tables.
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Bytes of it for an operation that can be cut smaller.
    pub fn most_of_an_operation(&self) -> u64 {
        self.storage.most_of_an_operation()
    }
}

impl Work<'static> {
    /// Work whose tables are lost with the process.
    pub fn volatile(memory: u64) -> Self {
        Self::new(Box::new(Memory::new(memory)), memory)
    }
}

/// The rules of levels, cut into operations: for each level, ranges of rules.
pub fn operations_of(level: &[u32]) -> impl ExactSizeIterator<Item = Range<u32>> + use<> {
    let (start, end) = (level[0], level[1]);
    let firsts = (start..end).step_by(RULES_AT_ONCE);
    firsts.map(move |first| first..end.min(first + RULES_AT_ONCE as u32))
}

/// Where the level of a rule ends.
pub(crate) fn level_end(levels: &[u32], rule: u32) -> u32 {
    levels[levels.partition_point(|&start| start <= rule)]
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
