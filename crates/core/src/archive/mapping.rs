//! Files as memory: the one place where a file is mapped.

use std::fs::File;

use memmap2::Mmap;

#[allow(unsafe_code)]
pub(super) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: a mapped file must not change while it is mapped. Archives and stored views are written aside and renamed, so
    // tadoc never changes one; whoever else cuts it short ends the process with SIGBUS, and whoever else writes into it gets
    // wrong answers or a panic, as every index is checked: the bytes are plain numbers of which every value is valid.
    unsafe { Mmap::map(file) }
}
