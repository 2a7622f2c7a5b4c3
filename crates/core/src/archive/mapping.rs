//! Files as memory: the one place where a file is mapped.

use std::fs::File;

use memmap2::{Mmap, MmapOptions};

/// Maps the first `length` bytes of a file.
#[allow(unsafe_code)]
pub(super) fn map(file: &File, length: u64) -> std::io::Result<Mmap> {
    let length = usize::try_from(length).map_err(std::io::Error::other)?;
    // SAFETY: what is mapped of a file must not change meanwhile. Archives and stored views are written aside and renamed, so
    // tadoc never changes one: a journal is behind what is mapped of an archive. Whoever else cuts it short ends the process with SIGBUS, and whoever else writes into it gets
    // wrong answers or a panic, as every index is checked: the bytes are plain numbers of which every value is valid.
    unsafe { MmapOptions::new().len(length).map(file) }
}
