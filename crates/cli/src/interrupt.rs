//! SIGINT, SIGTERM and SIGHUP end every command at once, with exit code 128 + the signal's number.
//!
//! A thread waits for signals. It removes the files that are unfinished and ends the process, whatever the
//! other threads do: what is written under its own name (journals, pools) survives that at any point. Work
//! that must end in order takes a [`Hold`]: then the signal raises a flag ([`requested`]), and the process
//! ends when the hold is dropped.
//!
//! SIGINT and SIGHUP stay ignored where they were so at the start, as under `nohup` and in the background
//! of a script. That is read from `/proc`; where there is none, they are handled all the same. SIGXFSZ is
//! caught and does nothing, so that a write past the limit for files fails with `EFBIG`.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Once, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::failure::{print_error, print_warning};
use crate::temporary;

/// The first signal that has come; 0 before.
static SIGNAL: AtomicUsize = AtomicUsize::new(0);
/// Holds that are not dropped yet, and whether there are none.
static HOLDS: AtomicUsize = AtomicUsize::new(0);
static NO_HOLDS: AtomicBool = AtomicBool::new(true);

/// A second signal this long after the first ends the process in spite of a hold. One that comes sooner is
/// the same wish told twice, as `timeout` does.
const PATIENCE: Duration = Duration::from_secs(1);
/// So often a dropped hold and a second signal are looked for, after the first.
const LOOK_UP_EVERY: Duration = Duration::from_millis(5);
/// Printing a line and removing files takes little of it.
const STACK_BYTES: usize = 256 << 10;

/// Handles signals from now on. One that cannot be handled is told as a warning, and does what it does by
/// default.
pub fn install() {
    static IGNORED: AtomicBool = AtomicBool::new(false);
    if let Err(error) = flag::register(SIGXFSZ, &IGNORED) {
        cannot_handle("SIGXFSZ", &error);
    }
    let ignored = ignored_signals();
    let is_handled = |&(signal, _): &(i32, &str)| {
        // A termination has to be heard, even by who was told to live on without a terminal.
        signal == SIGTERM || ignored & 1 << (signal - 1) == 0
    };
    let signals = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")];
    let handled: Vec<(i32, &str)> = signals.into_iter().filter(is_handled).collect();
    let (ready, start) = mpsc::channel();
    // Started first: a handler without a thread behind it would swallow signals.
    let thread = thread::Builder::new().name("signals".into()).stack_size(STACK_BYTES);
    let has_thread = thread.spawn(move || start.into_iter().for_each(watch)).is_ok();
    let watched = has_thread.then(|| Signals::new::<_, i32>([]).ok()).flatten();
    for (signal, name) in handled {
        // Each on its own terms: one that cannot be handled leaves the others as they are.
        let result = match &watched {
            Some(watched) => watched.add_signal(signal),
            None => handle_without_thread(signal),
        };
        result.unwrap_or_else(|error| cannot_handle(name, &error));
    }
    if let Some(watched) = watched {
        let _ = ready.send(watched);
    }
}

fn cannot_handle(name: &str, error: &io::Error) {
    print_warning(&format!("{name} cannot be handled: {error}"));
}

/// The signals that were ignored when the process was started: bit n - 1 stands for signal n. None where
/// the system does not tell.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

#[expect(clippy::cast_sign_loss, reason = "signals are numbered from 1")]
fn usize_of(signal: i32) -> usize {
    signal as usize
}

/// Waits for the first signal, and ends the process.
fn watch(mut signals: Signals) {
    let Some(signal) = signals.forever().next() else { return };
    SIGNAL.store(usize_of(signal), Ordering::SeqCst);
    let first = Instant::now();
    while HOLDS.load(Ordering::SeqCst) > 0 {
        let has_come_again = signals.pending().next().is_some();
        if has_come_again && first.elapsed() >= PATIENCE {
            break;
        }
        thread::sleep(LOOK_UP_EVERY);
    }
    tadoc::NewFile::remove_all_unfinished();
    temporary::remove_all();
    print_cancelled();
    // Without the hooks of drivers and libraries, whose threads are still at work.
    low_level::exit(exit_code().into())
}

/// Where no thread can be started, the handler itself ends the process, and raises the flag if there is a
/// hold. Unfinished files are then left to the next process that writes in their place.
fn handle_without_thread(signal: i32) -> io::Result<()> {
    flag::register_conditional_shutdown(signal, 128 + signal, &NO_HOLDS)?;
    flag::register_usize(signal, &SIGNAL, usize_of(signal))?;
    Ok(())
}

/// Until it is dropped, a signal raises the flag and does nothing else: for work that would lose what it
/// was given. Taken and dropped by the main thread alone.
pub struct Hold(());

impl Hold {
    pub fn new() -> Self {
        HOLDS.fetch_add(1, Ordering::SeqCst);
        NO_HOLDS.store(false, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let others = HOLDS.fetch_sub(1, Ordering::SeqCst) - 1;
        NO_HOLDS.store(others == 0, Ordering::SeqCst);
    }
}

/// Whether the work should end.
pub fn requested() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0
}

/// The exit code of cancelled work, as shells have it; that of SIGINT if no signal has come.
#[expect(clippy::cast_possible_truncation, reason = "signals have numbers below 128")]
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => 128 + SIGINT as u8,
        signal => 128 + signal as u8,
    }
}

/// Says that the work was cancelled, once. Who comes second waits until it is said.
pub fn print_cancelled() {
    static PRINTED: Once = Once::new();
    PRINTED.call_once(|| print_error("cancelled"));
}
