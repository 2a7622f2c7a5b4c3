//! Ctrl-C and termination, for the subcommands that write files: the signal raises a flag, the work sees
//! it at its next step and ends in order, leaving nothing half-written behind. Where work has long steps, the
//! signal ends the process itself ([`at_once`]).

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Exit code of cancelled work, as shells have it for SIGINT.
pub const CANCELLED: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// The file that is written aside, to be removed if the process ends before it has its name.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A second signal this long after the first ends the process at once. One that comes sooner is the
/// same wish told twice, as `timeout` does.
const PATIENCE: Duration = Duration::from_secs(1);

/// From now on a signal raises the flag. Without this call it ends the process, which is right for
/// subcommands that only print.
pub fn install() {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    // It refuses where a signal is ignored, as under `nohup`: then it stays so.
    let _ = ctrlc::try_set_handler(|| {
        if AT_ONCE.load(Ordering::SeqCst) {
            crate::failure::print_error("cancelled");
            end();
        }
        if REQUESTED.swap(true, Ordering::SeqCst) {
            if FIRST.get().is_some_and(|first| first.elapsed() >= PATIENCE) {
                end();
            }
        } else {
            let _ = FIRST.set(Instant::now());
        }
    });
}

/// Ends the process.
fn end() -> ! {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(path) = unfinished.take() {
        // It may have been finished or removed in the meantime.
        let _ = fs::remove_file(path);
    }
    std::process::exit(i32::from(CANCELLED))
}

/// Takes note of a file that is written aside, under a name that no one else uses.
pub fn writes_aside(path: PathBuf) {
    *UNFINISHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(path);
}

/// Until what it gives is dropped, the first signal ends the process: for work that does not look at the flag
/// often enough, and writes no file but the one it has told of. An error if the signal has come already.
pub fn at_once() -> tadoc::Result<AtOnce> {
    AT_ONCE.store(true, Ordering::SeqCst);
    if requested() { Err(tadoc::Error::Cancelled) } else { Ok(AtOnce(())) }
}

/// See [`at_once`].
pub struct AtOnce(());

impl Drop for AtOnce {
    fn drop(&mut self) {
        AT_ONCE.store(false, Ordering::SeqCst);
    }
}

/// Whether the work should end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
