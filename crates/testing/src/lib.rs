//! What the tests of several crates share. Nothing that is installed depends on it.
//!
//! - [`mend_checksums`] and its like put the checksums of changed files right, so that tests and
//!   fuzzers get past them;
//!   [`mutate`] changes files as attackers and broken disks do, [`watched`] ends readers that hang.
//! - `networks` and `texts`, of the feature `generators`: random and awkward ones, for property
//!   tests.
//! - `archives`, of the feature `archives`: documents as archives, the engine's options as the
//!   oracle's, threads;
//!   `TASKS` are all tasks, for both features;
//!   `model`, of the same feature: documents as plain bytes, and what operations must do to them.
//!
//! A crate's unit tests are another build of it than the one that this crate sees. They share types
//! with it only where these are of `tadoc-core` or the oracle, of which there is one.

#[cfg(feature = "archives")]
pub mod archives;
mod mend;
#[cfg(feature = "archives")]
pub mod model;
mod mutate;
#[cfg(feature = "generators")]
pub mod networks;
#[cfg(any(feature = "archives", feature = "generators"))]
mod tasks;
#[cfg(feature = "generators")]
pub mod texts;

pub use mend::{mend_checksums, mend_journal, mend_pool, mend_view, pool_parts};
pub use mutate::{mutants, mutate, watched};
#[cfg(any(feature = "archives", feature = "generators"))]
pub use tasks::TASKS;

use tadoc_oracle::Document;

/// Documents with the numbers 0000 and so on as their names.
pub fn numbered(texts: impl IntoIterator<Item = Vec<u8>>) -> Vec<Document> {
    let texts = texts.into_iter().enumerate();
    texts.map(|(number, bytes)| (format!("{number:04}"), bytes)).collect()
}

/// The processor time that all threads of a process have taken so far, in steps of 10 ms: a measure
/// of its work, whatever else the machine does meanwhile. Zero if there is no such process.
#[cfg(target_os = "linux")]
pub fn processor_time(process: u32) -> std::time::Duration {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind its name, which may have anything in it.
    let fields = status.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number"));
    std::time::Duration::from_millis(10 * ticks.sum::<u64>())
}

/// The most memory that this process had, in bytes.
#[cfg(target_os = "linux")]
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
