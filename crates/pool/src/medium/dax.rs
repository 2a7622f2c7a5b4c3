//! Persistent memory, mapped without a copy in between (`MAP_SYNC`). Making a range durable costs an instruction for every line of 64 bytes
//! and one fence; the system is asked only when the length has changed.

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::mm::MapFlags;
use tadoc_core::usize_of;

use super::mapping::Mapping;
use super::{Advice, Medium, widened};

/// Bytes of a line of cache.
const LINE: u64 = 64;

/// A file in persistent memory.
pub struct Dax {
    mapping: Mapping,
    flush: Flush,
}

impl Dax {
    /// Maps a file, which nobody else may write to or cut; an error if its file system cannot map it directly, or the processor has no
    /// instruction to flush a line.
    pub fn new(file: File) -> io::Result<Self> {
        let flush = Flush::best().ok_or(io::ErrorKind::Unsupported)?;
        let flags = MapFlags::SHARED_VALIDATE | MapFlags::SYNC;
        Ok(Self { mapping: Mapping::new(file, flags)?, flush })
    }
}

// SAFETY: as that of a mapped file.
unsafe impl Medium for Dax {
    fn base(&self) -> *mut u8 {
        self.mapping.base()
    }

    fn len(&self) -> u64 {
        self.mapping.len()
    }

    fn resize(&self, to: u64) -> io::Result<()> {
        self.mapping.resize(to)
    }

    fn persist(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        let mut ranges = widened(ranges, LINE);
        // Lines of bytes that are gone have nothing to flush.
        ranges.iter_mut().for_each(|range| range.end = range.end.min(self.len()));
        for range in ranges {
            for line in range.step_by(usize_of(LINE)) {
                self.flush.line(self.mapping.base().wrapping_add(usize_of(line)));
            }
        }
        fence();
        self.mapping.sync_if_resized()?;
        Ok(())
    }

    fn advise(&self, range: Range<u64>, advice: Advice) {
        self.mapping.advise(range, advice);
    }

    fn kind(&self) -> &'static str {
        self.flush.kind()
    }
}

/// How a line of cache is written to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
enum Flush {
    /// It stays in the cache.
    WriteBack,
    /// It leaves the cache; in any order.
    Optimised,
    /// It leaves the cache; one after the other.
    Ordered,
}

impl Flush {
    /// The best that this processor has.
    #[cfg(target_arch = "x86_64")]
    fn best() -> Option<Self> {
        use std::arch::x86_64::{__cpuid, __cpuid_count};

        let features = if __cpuid(0).eax >= 7 { __cpuid_count(7, 0).ebx } else { 0 };
        if features & 1 << 24 != 0 {
            Some(Self::WriteBack)
        } else if features & 1 << 23 != 0 {
            Some(Self::Optimised)
        } else {
            (__cpuid(1).edx & 1 << 19 != 0).then_some(Self::Ordered)
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn best() -> Option<Self> {
        None
    }

    fn kind(self) -> &'static str {
        match self {
            Self::WriteBack => "persistent memory (clwb)",
            Self::Optimised => "persistent memory (clflushopt)",
            Self::Ordered => "persistent memory (clflush)",
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn line(self, address: *mut u8) {
        use std::arch::asm;

        // SAFETY: these instructions take the address of a byte that is mapped, and change no byte; `best` has found the processor to
        // have the one that is used.
        unsafe {
            match self {
                Self::WriteBack => {
                    asm!("clwb [{}]", in(reg) address, options(nostack, preserves_flags))
                }
                Self::Optimised => {
                    asm!("clflushopt [{}]", in(reg) address, options(nostack, preserves_flags));
                }
                Self::Ordered => std::arch::x86_64::_mm_clflush(address),
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn line(self, _: *mut u8) {
        unreachable!("`best` finds none")
    }
}

/// Waits until everything that was flushed is durable.
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this architecture has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that is flushed keeps its bytes, by every instruction that this processor has.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn flushing_changes_nothing() {
        let mut bytes = vec![7_u8; 4096];
        let best = Flush::best().expect("every such processor can flush a line");
        for flush in [best, Flush::Ordered] {
            for at in (0..bytes.len()).step_by(LINE as usize) {
                flush.line(&raw mut bytes[at]);
            }
            fence();
        }
        assert!(bytes.iter().all(|&byte| byte == 7));
    }
}
