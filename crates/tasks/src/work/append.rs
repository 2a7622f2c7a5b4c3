//! Blocks, whose lengths are known when they are done: each a list of sections of numbers.

use std::fmt;
use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut, try_cast_slice};

use super::Work;
use crate::Result;

/// What makes the block of an operation.
pub type Append<'a> = dyn Fn(usize, &mut BlockBuilder<'_>) -> Result<()> + Sync + 'a;
/// What checks the block of an operation; nothing is as good as a no.
pub type CheckBlock<'a> = dyn Fn(usize, Block<'_>) -> Option<bool> + Sync + 'a;

impl Work<'_> {
    /// Blocks, one by each of so many operations, in the order of operations. `check` gets an operation and its block as it was found; nothing
    /// is as good as a no.
    pub fn append(
        &mut self,
        phase: &'static str,
        operations: usize,
        check: impl Fn(usize, Block<'_>) -> Option<bool> + Sync,
        work: impl Fn(usize, &mut BlockBuilder<'_>) -> Result<()> + Sync,
    ) -> Result<Blocks> {
        let storage = &mut self.storage;
        self.steps.measure(phase, 0, || storage.append(phase, operations, &check, &work))
    }
}

/// A block that was found: nothing is known of what is in its sections.
#[derive(Debug, Clone, Copy)]
pub struct Block<'b> {
    sections: &'b [&'b [u8]],
}

impl<'b> Block<'b> {
    /// A block of these sections.
    pub fn new(sections: &'b [&'b [u8]]) -> Self {
        Self { sections }
    }

    /// A section, if there is one and its bytes are numbers of this size.
    pub fn section<T: Pod>(&self, section: usize) -> Option<&'b [T]> {
        try_cast_slice(self.sections.get(section)?).ok()
    }
}

/// Where the sections of a block go.
pub trait Sections: Send {
    /// Appends a section. A failure is told when the block is done.
    fn put(&mut self, bytes: &[u8]);

    /// Appends a section of so many bytes, which `fill` is given as zeros, aligned to at least 16.
    fn put_with(&mut self, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) {
        let mut row = vec![0_u128; bytes.div_ceil(size_of::<u128>())];
        let row = &mut cast_slice_mut(&mut row)[..bytes];
        fill(row);
        self.put(row);
    }
}

/// A block that is being made: sections one after the other.
pub struct BlockBuilder<'s> {
    sections: &'s mut dyn Sections,
}

impl<'s> BlockBuilder<'s> {
    /// A block whose sections go there.
    pub fn new(sections: &'s mut dyn Sections) -> Self {
        Self { sections }
    }

    /// Appends a section. If there is no room for it, the operation fails when it is done.
    pub fn put<T: Pod>(&mut self, numbers: &[T]) {
        self.sections.put(cast_slice(numbers));
    }

    /// Appends a section of so many numbers, which `fill` is given as zeros: where it is large, it is written where it stays.
    pub fn put_with<T: Pod>(&mut self, length: usize, mut fill: impl FnMut(&mut [T])) {
        let fill = &mut |bytes: &mut [u8]| fill(cast_slice_mut(bytes));
        self.sections.put_with(length * size_of::<T>(), fill);
    }
}

impl fmt::Debug for BlockBuilder<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BlockBuilder").finish_non_exhaustive()
    }
}

/// Finished blocks as a storage keeps them.
pub trait StoredBlocks: Send + Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A section of a block.
    ///
    /// # Panics
    /// If there is no such block or section.
    fn section(&self, block: usize, section: usize) -> &[u8];
}

/// Finished blocks. A clone is another handle to them.
#[derive(Clone)]
pub struct Blocks {
    stored: Arc<dyn StoredBlocks>,
}

impl Blocks {
    /// Those of a storage.
    pub fn new(stored: Arc<dyn StoredBlocks>) -> Self {
        Self { stored }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A section of a block.
    ///
    /// # Panics
    /// If there is no such block or section, or it was not put as numbers of this size.
    #[inline]
    pub fn section<T: Pod>(&self, block: usize, section: usize) -> &[T] {
        cast_slice(self.stored.section(block, section))
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Blocks").field("blocks", &self.len()).finish_non_exhaustive()
    }
}
