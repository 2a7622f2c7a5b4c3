//! Files as memory: the one place where a file is mapped, and what happens when it is cut short.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};
use signal_hook::consts::SIGBUS;
use signal_hook::low_level;

const BAD_INPUT: i32 = 2;

/// From now on, a read of a mapped file that was truncated meanwhile, or whose disk is full or failed,
/// ends the process with this message on standard error and exit code 2. Without this call it is
/// killed by SIGBUS. For commands: a library must not decide how its process ends.
///
/// # Errors
/// What the system says if the signal cannot be handled.
#[allow(unsafe_code)]
pub fn exit_on_truncated_files(message: &'static str) -> io::Result<()> {
    let end = move || {
        let _ = rustix::io::write(rustix::stdio::stderr(), message.as_bytes());
        low_level::exit(BAD_INPUT);
    };
    // SAFETY: the handler calls write and _exit, which are async-signal-safe; nothing is allocated or
    // locked, and it does not return.
    unsafe { low_level::register(SIGBUS, end) }.map(drop)
}

/// Maps the first `length` bytes of a file.
#[allow(unsafe_code)]
pub(super) fn map(file: &File, length: u64) -> std::io::Result<Mmap> {
    let length = usize::try_from(length).map_err(std::io::Error::other)?;
    // SAFETY: what is mapped of a file must not change meanwhile. Archives and stored views are written aside and renamed, so
    // tadoc never changes one: a journal is behind what is mapped of an archive. Whoever else cuts it short ends the process with SIGBUS, and whoever else writes into it gets
    // wrong answers or a panic, as every index is checked: the bytes are plain numbers of which every value is valid.
    unsafe { MmapOptions::new().len(length).map(file) }
}
