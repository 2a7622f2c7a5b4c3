//! What a pool lies in: bytes at a fixed address, that grow in place and are made durable by range.
//!
//! - [`mapped`]: an ordinary file; durable by `msync`.
//! - [`dax`]: persistent memory through a file system that maps it directly; durable by flushing lines of cache.
//!
//! Tests have a third one, which loses power, gets full and fails to flush when a test says so.
//!
//! [`space`] hands out disjoint regions of a medium, so that everything above this module is safe code.

#![allow(unsafe_code)]

pub mod dax;
pub mod mapped;
mod mapping;
pub mod space;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use tadoc_core::usize_of;

/// What is made durable at once by an ordinary file, and the unit of what it maps.
pub const PAGE: u64 = 4096;

/// How a range will be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Here and there.
    Random,
    /// Soon, and all of it.
    WillNeed,
}

/// Bytes that a pool lies in.
///
/// # Safety
/// From [`Medium::base`] on, which never changes, [`Medium::len`] bytes can be read and written for as long as the medium lives; every value of
/// them is valid. Those that [`Medium::resize`] cuts off cannot be until they are there again, and are zero then.
pub unsafe trait Medium: Send + Sync {
    /// Where the first byte is: at a multiple of [`PAGE`].
    fn base(&self) -> *mut u8;

    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Grows, with room on the device for every byte, or cuts. What is new is zero. If it fails, the length is what it was.
    fn resize(&self, to: u64) -> io::Result<()>;

    /// Writes bytes that are there; nobody else may have to do with them meanwhile.
    ///
    /// # Safety
    /// Nobody has a reference to these bytes, and they end before [`Medium::len`].
    unsafe fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: the bytes are there, and nobody else uses them, as the caller says.
        unsafe {
            let place = self.base().add(usize_of(offset));
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
        }
        Ok(())
    }

    /// Makes ranges durable, and the length. When it returns, they are; when it does not, any part of them may be. Nobody may write to the
    /// medium meanwhile.
    fn persist(&self, ranges: &[Range<u64>]) -> io::Result<()>;

    /// Says that a range will not change soon, so that the device may begin to write it.
    fn settle(&self, _: Range<u64>) {}

    /// Says how a range will be read.
    fn advise(&self, range: Range<u64>, advice: Advice);

    /// What it is, in a word or two.
    fn kind(&self) -> &'static str;
}

/// The medium that fits a file: persistent memory if its file system maps that directly.
pub fn of_file(file: File) -> io::Result<Arc<dyn Medium>> {
    match dax::Dax::new(file.try_clone()?) {
        Ok(dax) => Ok(Arc::new(dax)),
        // The kernel, the file system or the processor has no such thing.
        Err(_) => Ok(Arc::new(mapped::Mapped::new(file)?)),
    }
}

/// Ranges widened to multiples of `unit`, in order, and those that touch made one.
pub fn widened(ranges: &[Range<u64>], unit: u64) -> Vec<Range<u64>> {
    let mut wide: Vec<Range<u64>> = ranges
        .iter()
        .filter(|range| !range.is_empty())
        .map(|range| range.start / unit * unit..range.end.next_multiple_of(unit))
        .collect();
    wide.sort_unstable_by_key(|range| range.start);
    wide.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    wide
}
