//! Whether standard output was closed when the process was started (`>&-`).
//!
//! Before `main`, the standard library opens `/dev/null` in the place of a closed descriptor, so that all
//! that is printed is lost without an error. Nothing tells that from a caller's own `/dev/null` later on
//! (some open it for reading and writing, too), so it is looked at before: one system call.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::stdout;

static CLOSED: AtomicBool = AtomicBool::new(false);

// Sound before `main`: a system call and an atomic store need nothing of the standard library.
#[ctor::ctor(unsafe)]
fn look() {
    CLOSED.store(fcntl_getfd(stdout()) == Err(Errno::BADF), Ordering::Relaxed);
}

/// Whether what is printed would be lost.
pub fn is_standard_output_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
