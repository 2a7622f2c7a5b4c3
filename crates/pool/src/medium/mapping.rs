//! A file mapped at an address that it keeps while it grows: far more is reserved than the file has, which costs nothing.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{Advice as FileAdvice, FallocateFlags};
use rustix::io::Errno;
use rustix::mm::{Advice as SystemAdvice, MapFlags, ProtFlags};
use tadoc_core::usize_of;

use super::{Advice, PAGE};

/// Bytes of addresses that are reserved at first, less where the system gives less.
const RESERVED: usize = 1 << 42;
/// At least so many must be reserved beyond the file's own.
const LEAST_RESERVED: usize = 1 << 30;

pub(super) struct Mapping {
    file: File,
    base: *mut u8,
    reserved: usize,
    length: AtomicU64,
    /// Whether the length has changed since it was made durable.
    resized: AtomicBool,
}

// SAFETY: the pointer is to a shared mapping that belongs to the process and not to a thread; who may touch which bytes of it
// is for `space` to say.
unsafe impl Send for Mapping {}
// SAFETY: as above; all else is atomic, and `resize` is one call at a time (`space` holds a lock).
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(super) fn new(file: File, flags: MapFlags) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let least = usize::try_from(length).map_err(io::Error::other)? + LEAST_RESERVED;
        let mut reserved = RESERVED.max(least);
        let base = loop {
            // SAFETY: a new mapping, at an address that the system chooses, overlaps nothing. Bytes behind the file's end are mapped
            // but never touched before `resize` has made them part of the file.
            let mapped = unsafe {
                let protection = ProtFlags::READ | ProtFlags::WRITE;
                rustix::mm::mmap(std::ptr::null_mut(), reserved, protection, flags, &file, 0)
            };
            match mapped {
                Ok(base) => break base.cast(),
                Err(Errno::NOMEM) if reserved / 2 >= least => reserved /= 2,
                Err(error) => return Err(error.into()),
            }
        };
        let (length, resized) = (AtomicU64::new(length), AtomicBool::new(true));
        Ok(Self { file, base, reserved, length, resized })
    }

    pub(super) fn base(&self) -> *mut u8 {
        self.base
    }

    pub(super) fn len(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    pub(super) fn resize(&self, to: u64) -> io::Result<()> {
        let from = self.len();
        if to > self.reserved as u64 {
            let what = format!("{to} bytes are more than the addresses that were reserved");
            return Err(io::Error::new(io::ErrorKind::StorageFull, what));
        }
        if to > from {
            if let Err(error) = self.grow(from, to) {
                self.file.set_len(from)?;
                return Err(error);
            }
        } else {
            self.file.set_len(to)?;
        }
        self.length.store(to, Ordering::Release);
        self.resized.store(true, Ordering::Release);
        Ok(())
    }

    /// Room for every byte: one that is only promised would end the process when it is written and the disk is full.
    fn grow(&self, from: u64, to: u64) -> io::Result<()> {
        loop {
            match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), from, to - from) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let zeros = vec![0; 1 << 20];
        let mut at = from;
        while at < to {
            let some = (to - at).min(zeros.len() as u64);
            self.file.write_all_at(&zeros[..usize_of(some)], at)?;
            at += some;
        }
        Ok(())
    }

    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    /// Makes a new length durable, and everything else of the file, if it has one; says whether.
    pub(super) fn sync_if_resized(&self) -> io::Result<bool> {
        let resized = self.resized.swap(false, Ordering::AcqRel);
        if resized {
            self.file.sync_data().inspect_err(|_| self.resized.store(true, Ordering::Release))?;
        }
        Ok(resized)
    }

    /// Where a range of whole pages is, as far as the file goes.
    pub(super) fn pages(&self, range: &Range<u64>) -> (*mut u8, usize) {
        let end = range.end.min(self.len().next_multiple_of(PAGE)).max(range.start);
        (self.base.wrapping_add(usize_of(range.start)), usize_of(end - range.start))
    }

    pub(super) fn settle(&self, range: Range<u64>) {
        // The system begins to write pages that are not needed in its cache. It would drop them then, but not those that are mapped.
        let length = NonZeroU64::new(range.end.saturating_sub(range.start));
        // What goes wrong is told when they are made durable.
        let _ = rustix::fs::fadvise(&self.file, range.start, length, FileAdvice::DontNeed);
    }

    pub(super) fn advise(&self, range: Range<u64>, advice: Advice) {
        let advice = match advice {
            Advice::Random => SystemAdvice::Random,
            Advice::WillNeed => SystemAdvice::WillNeed,
        };
        for range in super::widened(&[range], PAGE) {
            let (start, length) = self.pages(&range);
            // SAFETY: these kinds of advice change no byte, and the pages are of this mapping. That it is refused costs time only.
            let _ = unsafe { rustix::mm::madvise(start.cast(), length, advice) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length; regions of it keep the medium alive, so there are none.
        let unmapped = unsafe { rustix::mm::munmap(self.base.cast(), self.reserved) };
        debug_assert!(unmapped.is_ok());
        // A process that another thread is starting has the file too, until its program begins: it must not keep the lock as long as that.
        let _ = self.file.unlock();
    }
}
