//! A heap whose large blocks lie in a file: for everything that was not written for a pool.
//!
//! Decoding an archive, making a view of it and reading names take as much memory as they need. A command that answers from a pool
//! makes [`SpillingHeap`] its allocator and tells it a folder: from then on blocks of [`LEAST_SPILLED`] bytes and more are stretches of a temporary file
//! that has no name, mapped and shared, so that the system can write their pages out instead of keeping them. Smaller blocks,
//! and all blocks before that, are the system allocator's. A block that is in the file is known by its address.
//!
//! Room is reserved in the file before a block is given out; if the disk is full, the block is the system allocator's, and nothing ends
//! with a SIGBUS. Stretches that were given back keep their pages for the next block, up to a part of the machine's memory; the others are
//! punched out of the file.
//!
//! Off, it costs a comparison of the size and, for large blocks, the look at a flag. On, a large block costs a lock, a search in a tree and a call
//! of the system.

#![allow(unsafe_code)]

mod extents;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{FallocateFlags, fallocate, fstatvfs};

use self::extents::{Extent, Extents};

/// Smaller blocks are never in the file.
pub const LEAST_SPILLED: usize = 256 << 10;
/// Free stretches keep their pages up to this part of the machine's memory: what is used again soon costs nothing then, and a system that is short of memory
/// has not much to write out that nobody needs.
const KEPT_PAGES: u64 = 16;
/// Stretches of the file start at multiples of this, and have multiples of it as lengths.
const GRAIN: usize = 64 << 10;
/// What the addresses of stretches are multiples of, whatever the mapping starts at.
const PAGE: usize = 4 << 10;
/// The longest range of addresses that is reserved, and the shortest that is worth it.
const RANGE: std::ops::RangeInclusive<usize> = 1 << 30..=1 << 44;

/// The allocator of a process.
pub struct SpillingHeap {
    /// Where the mapped range starts and how long it is; 0 until there is one.
    base: AtomicUsize,
    length: AtomicUsize,
    /// Whether new blocks go to the file.
    is_on: AtomicBool,
    file: Mutex<Option<SpillFile>>,
}

struct SpillFile {
    file: File,
    /// Holds the range; never unmapped while the heap is there.
    _map: MmapRaw,
    extents: Extents,
    /// Bytes of free stretches that may keep their pages.
    kept: usize,
}

impl SpillingHeap {
    /// A heap that is the system allocator until it is told to spill.
    pub const fn new() -> Self {
        Self {
            base: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            is_on: AtomicBool::new(false),
            file: Mutex::new(None),
        }
    }

    /// Puts large blocks into a file in this folder from now on.
    ///
    /// # Errors
    /// If no file can be made there, it cannot be mapped, or its file system does not reserve room; or if it was called before.
    pub fn spill_into(&self, folder: &Path) -> io::Result<()> {
        let file = tempfile::tempfile_in(folder)?;
        fallocate(file.as_fd(), FallocateFlags::empty(), 0, GRAIN as u64)?;
        // More than there is on the disk is never reserved.
        let disk = fstatvfs(file.as_fd())?;
        let available = usize::try_from(disk.f_bavail.saturating_mul(disk.f_frsize));
        let mut length = available.unwrap_or(usize::MAX).clamp(*RANGE.start(), *RANGE.end());
        length = length.next_multiple_of(GRAIN);
        // The range of addresses may be limited.
        let map = loop {
            match MmapOptions::new().len(length).map_raw(&file) {
                Ok(map) => break map,
                Err(_) if length / 2 >= *RANGE.start() => length /= 2,
                Err(error) => return Err(error),
            }
        };
        let mut own = self.lock();
        if own.is_some() {
            return Err(io::Error::other("large blocks of memory are in a file already"));
        }
        self.base.store(map.as_mut_ptr() as usize, Ordering::Release);
        self.length.store(length, Ordering::Release);
        let memory = rustix::system::sysinfo();
        let memory = memory.totalram.saturating_mul(memory.mem_unit.into());
        let kept = usize::try_from(memory / KEPT_PAGES).unwrap_or(usize::MAX);
        let extents = Extents::new(length / GRAIN * GRAIN);
        *own = Some(SpillFile { file, _map: map, extents, kept });
        self.is_on.store(true, Ordering::Release);
        Ok(())
    }

    /// The longest that the file has been: bytes of blocks at one time, and of gaps between them.
    pub fn spilled(&self) -> u64 {
        self.lock().as_ref().map_or(0, |own| own.extents.end() as u64)
    }

    fn lock(&self) -> MutexGuard<'_, Option<SpillFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a block is in the file; its offset there.
    fn offset(&self, block: *mut u8) -> Option<usize> {
        let base = self.base.load(Ordering::Acquire);
        let offset = (block as usize).wrapping_sub(base);
        (base != 0 && offset < self.length.load(Ordering::Acquire)).then_some(offset)
    }

    /// Where a stretch of the file is.
    fn at(&self, offset: usize) -> *mut u8 {
        // The range was mapped by other means than Rust's, so its provenance is exposed.
        ptr::with_exposed_provenance_mut(self.base.load(Ordering::Acquire) + offset)
    }

    /// Takes a stretch of the file, with room reserved for it, and says whether it has zeros; `None` if there is no room.
    fn take(&self, bytes: usize) -> Option<(*mut u8, bool)> {
        let length = rounded(bytes)?;
        let mut own = self.lock();
        let own = own.as_mut()?;
        let extent = own.extents.take(length)?;
        if !extent.is_reserved && !own.reserve(extent.start, length) {
            own.extents.give(extent);
            return None;
        }
        Some((self.at(extent.start), extent.is_zero))
    }

    /// Gives a stretch back.
    fn give(&self, start: usize, length: usize) {
        if let Some(own) = self.lock().as_mut() {
            own.give(start, length);
        }
    }

    /// Makes a block that is in the file longer or shorter where it is; whether that could be done.
    fn resize(&self, start: usize, old: usize, new: usize) -> bool {
        let (Some(old), Some(new)) = (rounded(old), rounded(new)) else {
            return false;
        };
        let mut own = self.lock();
        let Some(own) = own.as_mut() else {
            return false;
        };
        if new < old {
            own.give(start + new, old - new);
        }
        if new <= old {
            return true;
        }
        let Some(extent) = own.extents.take_at(start + old, new - old) else {
            return false;
        };
        if !extent.is_reserved && !own.reserve(extent.start, extent.length) {
            own.extents.give(extent);
            return false;
        }
        true
    }

    /// A block for which the system allocator is asked only if there is no room in the file.
    ///
    /// # Safety
    /// As for [`GlobalAlloc::alloc`].
    #[inline]
    unsafe fn make(&self, layout: Layout, zeroed: bool) -> *mut u8 {
        if self.is_spilled(layout)
            && let Some((block, is_zero)) = self.take(layout.size())
        {
            if zeroed && !is_zero {
                // SAFETY: the block was just taken, and has at least so many bytes.
                unsafe { ptr::write_bytes(block, 0, layout.size()) };
            }
            return block;
        }
        // SAFETY: what is asked of it is what was asked of us.
        unsafe { if zeroed { System.alloc_zeroed(layout) } else { System.alloc(layout) } }
    }

    /// Whether a new block of this kind belongs into the file.
    #[inline]
    fn is_spilled(&self, layout: Layout) -> bool {
        layout.size() >= LEAST_SPILLED
            && self.is_on.load(Ordering::Acquire)
            && layout.align() <= PAGE
    }
}

impl Default for SpillingHeap {
    fn default() -> Self {
        Self::new()
    }
}

impl SpillFile {
    /// Reserves room; whether there is some.
    fn reserve(&self, start: usize, length: usize) -> bool {
        let reserve =
            || fallocate(self.file.as_fd(), FallocateFlags::empty(), start as u64, length as u64);
        rustix::io::retry_on_intr(reserve).is_ok()
    }

    fn give(&mut self, start: usize, length: usize) {
        let mut extent = Extent { start, length, is_zero: false, is_reserved: true, kept: length };
        if self.extents.kept() + length > self.kept {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let punch = || fallocate(self.file.as_fd(), flags, start as u64, length as u64);
            if rustix::io::retry_on_intr(punch).is_ok() {
                extent = Extent { is_zero: true, is_reserved: false, kept: 0, ..extent };
            }
        }
        self.extents.give(extent);
    }
}

/// The length of the stretch for a block.
fn rounded(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(GRAIN)
}

// SAFETY: a block is either the system allocator's, or a stretch of a mapped range that is nobody else's until it is given back, at
// a multiple of `PAGE` and as long as was asked for at least. Which of the two it is, its address says, and blocks below
// `LEAST_SPILLED` are always the system's. Nothing here unwinds: the tree of extents allocates small blocks only, for which no lock is taken.
unsafe impl GlobalAlloc for SpillingHeap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        unsafe { self.make(layout, false) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        unsafe { self.make(layout, true) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() >= LEAST_SPILLED
            && let Some(offset) = self.offset(block)
            && let Some(length) = rounded(layout.size())
        {
            return self.give(offset, length);
        }
        // SAFETY: it is not in the file, so it is the system's.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller answers for the new size, as for that of a layout.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let offset = if layout.size() >= LEAST_SPILLED { self.offset(block) } else { None };
        match offset {
            Some(offset)
                if new_size >= LEAST_SPILLED && self.resize(offset, layout.size(), new_size) =>
            {
                return block;
            }
            // SAFETY: it is not in the file, so it is the system's.
            None if !self.is_spilled(new_layout) => unsafe {
                return System.realloc(block, layout, new_size);
            },
            _ => {}
        }
        // SAFETY: the layout is that of the new block.
        let moved = unsafe { self.make(new_layout, false) };
        if !moved.is_null() {
            let bytes = layout.size().min(new_size);
            // SAFETY: both blocks have so many bytes, and the new one is another one than the old one, which is given back as
            // what it was made as.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, bytes);
                self.dealloc(block, layout);
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests;
