//! Rows that are lost with the process: in memory as long as the work may take it, else in a file without a name beside the pool.
//!
//! (Why not in the pool's own file: tables there lie one behind the other, and a row between them would leave a hole.)

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;

use super::Work;
use crate::Result;
use crate::medium::space::Region;

impl Work<'_> {
    /// A row of zeros to work in, which is nobody else's and is lost with the process: in memory if so much is left of what the work may take,
    /// else in a file beside the pool.
    pub fn scratch<T: Pod + Send + Sync>(&self, length: usize) -> Result<Scratch<T>> {
        let bytes = length as u64 * size_of::<T>() as u64;
        let allowed = |taken: u64| taken.checked_add(bytes).filter(|&taken| taken <= self.memory);
        let row = match self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, allowed) {
            Ok(_) => Row::Memory { row: vec![T::zeroed(); length], taken: self.taken.clone() },
            Err(_) => Row::File(self.pool().aside(bytes)?.region(0, length)),
        };
        Ok(Scratch { row })
    }
}

/// A row to work in.
#[derive(Debug)]
pub struct Scratch<T: Pod> {
    row: Row<T>,
}

#[derive(Debug)]
enum Row<T: Pod> {
    Memory { row: Vec<T>, taken: Arc<AtomicU64> },
    File(Region<T>),
}

impl<T: Pod> Scratch<T> {
    /// Whether it is in memory of the process.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.row, Row::Memory { .. })
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.row {
            Row::Memory { row, .. } => row,
            Row::File(region) => region,
        }
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.row {
            Row::Memory { row, .. } => row,
            Row::File(region) => region,
        }
    }
}

impl<T: Pod> Drop for Scratch<T> {
    fn drop(&mut self) {
        if let Row::Memory { row, taken } = &self.row {
            taken.fetch_sub(row.len() as u64 * size_of::<T>() as u64, Ordering::Relaxed);
        }
    }
}
