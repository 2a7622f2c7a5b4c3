//! An ordinary file. Making a range durable costs writing its changed pages to the device, and a wait for that.

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, MsyncFlags};

use super::mapping::Mapping;
use super::{Advice, Medium, PAGE, widened};

/// A file that is mapped.
pub struct Mapped {
    mapping: Mapping,
}

impl Mapped {
    /// Maps a file, which nobody else may write to or cut.
    pub fn new(file: File) -> io::Result<Self> {
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        Ok(Self { mapping: Mapping::new(file, flags)? })
    }

    /// A file in memory, for tests.
    pub fn in_memory() -> io::Result<Self> {
        Self::new(rustix::fs::memfd_create("tadoc-pool", MemfdFlags::CLOEXEC)?.into())
    }
}

// SAFETY: the mapping is at one address while it lives, and `resize` has the file as long as `len` says, with room for
// every byte. That nobody else cuts it is what `new` asks for; a pool's file is locked for that.
unsafe impl Medium for Mapped {
    fn base(&self) -> *mut u8 {
        self.mapping.base()
    }

    fn len(&self) -> u64 {
        self.mapping.len()
    }

    fn resize(&self, to: u64) -> io::Result<()> {
        self.mapping.resize(to)
    }

    unsafe fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // A call for all of them costs less than a fault for each page; what is mapped is the same memory.
        self.mapping.write(offset, bytes)
    }

    fn persist(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        if self.mapping.sync_if_resized()? {
            return Ok(());
        }
        for range in widened(ranges, PAGE) {
            let (start, length) = self.mapping.pages(&range);
            // SAFETY: the pages are of this mapping, and writing them to the device changes none of them.
            unsafe { rustix::mm::msync(start.cast(), length, MsyncFlags::SYNC)? };
        }
        Ok(())
    }

    fn settle(&self, range: Range<u64>) {
        self.mapping.settle(range);
    }

    fn advise(&self, range: Range<u64>, advice: Advice) {
        self.mapping.advise(range, advice);
    }

    fn kind(&self) -> &'static str {
        "mapped file"
    }
}
