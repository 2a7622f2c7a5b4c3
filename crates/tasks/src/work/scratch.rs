//! Rows that are lost with the process: in memory as long as the work may take it, else where its storage puts them aside.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use tadoc_core::room::Room;

use super::Work;
use crate::Result;

impl Work<'_> {
    /// A row of zeros to work in, which is nobody else's and is lost with the process: in memory if so much is left of what the work may take
    /// and the system has it, else aside.
    pub fn scratch<T: Pod + Send + Sync>(&self, length: usize) -> Result<Scratch<T>> {
        let bytes = length * size_of::<T>();
        let more =
            |taken: u64| taken.checked_add(bytes as u64).filter(|&taken| taken <= self.memory);
        let allowed = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        let taken = allowed.then(|| Taken { bytes: bytes as u64, of: self.taken.clone() });
        let in_memory = taken.as_ref().and_then(|_| Room::in_memory(bytes).ok());
        let is_in_memory = in_memory.is_some();
        let room = match in_memory {
            Some(room) => room,
            None => self.storage.aside(bytes)?,
        };
        Ok(Scratch { room, is_in_memory, _taken: taken, kind: PhantomData })
    }
}

/// A row to work in.
#[derive(Debug)]
pub struct Scratch<T> {
    room: Room,
    is_in_memory: bool,
    _taken: Option<Taken>,
    kind: PhantomData<T>,
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

impl<T> Scratch<T> {
    /// Whether it is in memory of the process.
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        cast_slice(&self.room)
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        cast_slice_mut(&mut self.room)
    }
}
