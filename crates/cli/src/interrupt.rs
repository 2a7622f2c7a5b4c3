//! Ctrl-C and termination, for the subcommands that write files: the signal raises a flag, the work sees
//! it at its next step and ends in order, leaving nothing half-written behind.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit code of cancelled work, as shells have it for SIGINT.
pub const CANCELLED: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// A second signal this long after the first ends the process at once. One that comes sooner is the
/// same wish told twice, as `timeout` does.
const PATIENCE: Duration = Duration::from_secs(1);

/// From now on a signal raises the flag. Without this call it ends the process, which is right for
/// subcommands that only print.
pub fn install() {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    // It refuses where a signal is ignored, as under `nohup`: then it stays so.
    let _ = ctrlc::try_set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            if FIRST.get().is_some_and(|first| first.elapsed() >= PATIENCE) {
                std::process::exit(i32::from(CANCELLED));
            }
        } else {
            let _ = FIRST.set(Instant::now());
        }
    });
}

/// Whether the work should end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
