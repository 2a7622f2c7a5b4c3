//! Rows that are lost with the process: in memory as long as the work may take it, else in a file without a name beside the pool.
//!
//! Large ones ask the system for memory themselves, on large pages where it has them: they are what is hot, so they shall be in memory even where the
//! [heap](crate::heap) puts large blocks into a file.
//!
//! (Why not in the pool's own file: tables there lie one behind the other, and a row between them would leave a hole.)

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;
use memmap2::MmapMut;

use super::Work;
use crate::Result;
use crate::heap::LEAST_SPILLED;
use crate::medium::space::Region;

impl Work<'_> {
    /// A row of zeros to work in, which is nobody else's and is lost with the process: in memory if so much is left of what the work may take
    /// and the system has it, else in a file beside the pool.
    pub fn scratch<T: Pod + Send + Sync>(&self, length: usize) -> Result<Scratch<T>> {
        let bytes = length * size_of::<T>();
        let more =
            |taken: u64| taken.checked_add(bytes as u64).filter(|&taken| taken <= self.memory);
        let allowed = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        let taken = allowed.then(|| Taken { bytes: bytes as u64, of: self.taken.clone() });
        let row = match taken {
            Some(_) if bytes < LEAST_SPILLED => Some(Row::Heap(vec![T::zeroed(); length])),
            Some(_) => MmapMut::map_anon(bytes).ok().map(|map| {
                // Only a wish: without large pages, it works all the same.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                Row::Mapped(map)
            }),
            None => None,
        };
        let row = match row {
            Some(row) => row,
            None => Row::File(self.pool().aside(bytes as u64)?.region(0, length)),
        };
        Ok(Scratch { row, _taken: taken })
    }
}

/// A row to work in.
#[derive(Debug)]
pub struct Scratch<T: Pod> {
    row: Row<T>,
    _taken: Option<Taken>,
}

#[derive(Debug)]
enum Row<T: Pod> {
    Heap(Vec<T>),
    Mapped(MmapMut),
    File(Region<T>),
}

/// Memory that the work has taken, until this is dropped.
#[derive(Debug)]
struct Taken {
    bytes: u64,
    of: Arc<AtomicU64>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.of.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl<T: Pod> Scratch<T> {
    /// Whether it is in memory of the process.
    pub fn is_in_memory(&self) -> bool {
        !matches!(self.row, Row::File(_))
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.row {
            Row::Heap(row) => row,
            // Mapped memory starts with a page.
            Row::Mapped(map) => bytemuck::cast_slice(map),
            Row::File(region) => region,
        }
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.row {
            Row::Heap(row) => row,
            Row::Mapped(map) => bytemuck::cast_slice_mut(map),
            Row::File(region) => region,
        }
    }
}
