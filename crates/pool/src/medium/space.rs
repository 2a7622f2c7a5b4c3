//! Regions of a medium: each is given out to one owner who may write, or to any number who may read.
//!
//! A space knows the ranges that are given out, and panics rather than give out one twice or cut one off: a mistake above this module is a
//! panic and never two owners of the same byte. A region costs an entry in a short list while it lives.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut, Range};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;
use tadoc_core::{Array, usize_of};

use super::{Advice, Medium};

/// A medium, and who has which bytes of it.
pub struct Space {
    medium: Arc<dyn Medium>,
    held: Mutex<Vec<Held>>,
}

/// A range that is given out.
struct Held {
    range: Range<u64>,
    writable: bool,
}

impl Space {
    /// All of a medium, which nobody else may have regions of.
    pub fn new(medium: Arc<dyn Medium>) -> Arc<Self> {
        Arc::new(Self { medium, held: Mutex::new(Vec::new()) })
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.medium.len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it lies in, in a word or two.
    pub fn kind(&self) -> &'static str {
        self.medium.kind()
    }

    /// Where the last region that is given out ends.
    pub fn held_end(&self) -> u64 {
        self.held().iter().map(|held| held.range.end).max().unwrap_or(0)
    }

    fn held(&self) -> MutexGuard<'_, Vec<Held>> {
        // Whoever panics with the list does so before it is changed.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grows or cuts.
    ///
    /// # Panics
    /// If a region that is given out would be cut.
    pub fn resize(&self, to: u64) -> io::Result<()> {
        let held = self.held();
        assert!(held.iter().all(|held| held.range.end <= to), "a region that is in use is cut off");
        self.medium.resize(to)
    }

    /// Grows if it is shorter than this: by `more` than is asked for if there is room. Other threads may do the same.
    pub fn grow_to(&self, least: u64, more: u64) -> io::Result<()> {
        let _held = self.held();
        if self.medium.len() >= least {
            return Ok(());
        }
        self.medium.resize(least + more).or_else(|_| self.medium.resize(least))
    }

    /// Makes ranges durable.
    pub fn persist(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        self.medium.persist(ranges)
    }

    /// Says that a range will not change soon, so that the device may begin to write it.
    pub fn settle(&self, range: Range<u64>) {
        self.medium.settle(range);
    }

    /// Says how a range will be read.
    pub fn advise(&self, range: Range<u64>, advice: Advice) {
        self.medium.advise(range, advice);
    }

    /// A region to write: `length` numbers from an offset on.
    ///
    /// # Panics
    /// If the space is shorter, the offset is no multiple of the numbers' alignment, or a part of it is given out.
    pub fn region<T: Pod>(self: &Arc<Self>, offset: u64, length: usize) -> Region<T> {
        Region { place: Place::take(self, offset, length, true) }
    }

    /// Writes bytes to where nobody has a region, in the way that costs least.
    ///
    /// # Panics
    /// As [`Space::region`].
    pub fn write(self: &Arc<Self>, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let region = self.region::<u8>(offset, bytes.len());
        // SAFETY: the region is there and the only one of its range, and no reference into it is made.
        let written = unsafe { self.medium.write(offset, bytes) };
        drop(region);
        written
    }

    /// A region to read.
    ///
    /// # Panics
    /// As [`Space::region`]; a part of it may be given out to others who read.
    pub fn shared<T: Pod>(self: &Arc<Self>, offset: u64, length: usize) -> Shared<T> {
        Shared { place: Place::take(self, offset, length, false) }
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Space")
            .field("kind", &self.kind())
            .field("len", &self.len())
            .finish()
    }
}

/// A range that is held while this lives.
struct Place<T> {
    space: Arc<Space>,
    range: Range<u64>,
    writable: bool,
    /// The first of its numbers: where a medium begins never changes.
    first: *mut T,
}

// SAFETY: it leads to numbers as a slice does, to read or, from a place that is the only one of its range, to write; the pointer is only a
// shorter way to what `space` and `range` say.
unsafe impl<T: Send> Send for Place<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Place<T> {}

impl<T: Pod> Place<T> {
    fn take(space: &Arc<Space>, offset: u64, length: usize, writable: bool) -> Self {
        let bytes = length.checked_mul(size_of::<T>()).expect("regions are smaller than memory");
        let end = offset.checked_add(bytes as u64).expect("regions end before 2^64");
        let range = offset..end;
        let mut held = space.held();
        assert!(end <= space.medium.len(), "a region behind the end");
        let first = space.medium.base().wrapping_add(usize_of(offset)).cast::<T>();
        assert!(first.is_aligned());
        let overlaps =
            |held: &Held| length > 0 && held.range.start < end && offset < held.range.end;
        let free = |held: &Held| !overlaps(held) || (!writable && !held.writable);
        assert!(held.iter().all(free), "a region that is in use is given out again");
        if !range.is_empty() {
            held.push(Held { range: range.clone(), writable });
        }
        drop(held);
        Self { space: space.clone(), range, writable, first }
    }

    fn len(&self) -> usize {
        usize_of(self.range.end - self.range.start) / size_of::<T>()
    }

    fn numbers(&self) -> &[T] {
        // SAFETY: the bytes are there while the medium lives, which this keeps alive: `take` has found them to be, and `resize` cuts nothing
        // that is held. They are aligned, every value of them is a `T` (Pod), and nobody writes to them while
        // this is borrowed: a writable place is the only one of its range, and others have no writable one beside them.
        unsafe { std::slice::from_raw_parts(self.first, self.len()) }
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        if !self.range.is_empty() {
            let mut held = self.space.held();
            let own = |held: &Held| held.range == self.range && held.writable == self.writable;
            let place = held.iter().position(own).expect("a place is held while it lives");
            held.swap_remove(place);
        }
    }
}

/// A region that its owner may write to.
pub struct Region<T> {
    place: Place<T>,
}

impl<T: Pod> Region<T> {
    /// Its range of the space, in bytes.
    pub fn range(&self) -> Range<u64> {
        self.place.range.clone()
    }

    /// The same region, to be read only.
    pub fn share(self) -> Shared<T> {
        let space = self.place.space.clone();
        let (offset, length) = (self.place.range.start, self.place.len());
        drop(self);
        space.shared(offset, length)
    }
}

impl Region<u64> {
    /// The numbers as what several threads may add to.
    pub fn atomics(&mut self) -> &[AtomicU64] {
        // SAFETY: as `Place::numbers`. An `AtomicU64` has the size and alignment of a `u64`, and this is borrowed mutably while the result lives, so
        // there is no other way to these bytes.
        unsafe { std::slice::from_raw_parts(self.place.first.cast(), self.place.len()) }
    }
}

impl<T: Pod> Deref for Region<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.place.numbers()
    }
}

impl<T: Pod> DerefMut for Region<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as `Place::numbers`; the place is the only one of its range, and is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.place.first, self.place.len()) }
    }
}

impl<T: Pod> fmt::Debug for Region<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Region").field("range", &self.place.range).finish()
    }
}

/// A region that does not change while this lives.
pub struct Shared<T> {
    place: Place<T>,
}

impl<T: Pod> Deref for Shared<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.place.numbers()
    }
}

impl<T: Pod> AsRef<[T]> for Shared<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Pod + Send + Sync> From<Shared<T>> for Array<T> {
    fn from(shared: Shared<T>) -> Self {
        Self::Shared(Arc::new(shared))
    }
}

impl<T: Pod> fmt::Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shared").field("range", &self.place.range).finish()
    }
}
