//! Files as memory: the one place where a file is mapped, and what happens when it is cut short.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::sync::OnceLock;

use memmap2::{Mmap, MmapOptions};
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

const BAD_INPUT: c_int = 2;

/// What is said before the process ends.
static MESSAGE: OnceLock<&str> = OnceLock::new();

/// From now on, a read of a mapped file that was truncated meanwhile, or whose disk is full or failed,
/// ends the process with this message on standard error and exit code 2. Without this call it is
/// killed by SIGBUS. For commands: a library must not decide how its process ends.
///
/// # Errors
/// What the system says if the signal cannot be handled.
#[allow(unsafe_code)]
pub fn exit_on_truncated_files(message: &'static str) -> io::Result<()> {
    MESSAGE.get_or_init(|| message);
    // Nothing is handed on to the handler of the standard library, which is for overflows of stacks
    // and takes the handling of the signal back: another thread that reads beyond the end meanwhile
    // would end the process by the signal.
    let action = SigAction::new(SigHandler::Handler(end), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler calls write and _exit, which are async-signal-safe; nothing is allocated or
    // locked, and it does not return.
    unsafe { sigaction(Signal::SIGBUS, &action) }?;
    Ok(())
}

/// Handles the signal.
#[allow(unsafe_code)]
extern "C" fn end(_: c_int) {
    let message = MESSAGE.get().map_or(&b""[..], |message| message.as_bytes());
    let _ = rustix::io::write(rustix::stdio::stderr(), message);
    // SAFETY: it ends the process, and nothing of this program runs any more.
    unsafe { libc::_exit(BAD_INPUT) }
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
