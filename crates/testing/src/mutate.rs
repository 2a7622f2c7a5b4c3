//! Files changed at random places, as attackers and broken disks change them, and a watch over
//! those who read them.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tadoc_oracle::Random;

/// A reader that needs longer for a file of a few kilobytes hangs.
const HANG: Duration = Duration::from_secs(300);

/// Changes one to four bytes or numbers within some parts of a file; says which. The new ones are
/// likely to matter: near the old ones, at the ends of what they can be, small.
pub fn mutate(file: &mut [u8], parts: &[Range<usize>], random: &mut Random) -> Vec<String> {
    let mut told = Vec::new();
    for _ in 0..1 + random.below(4) {
        let part = random.choose(parts).clone();
        let width = *random.choose(&[1, 4, 8]);
        let at = part.start + random.below(part.len() as u64) as usize / width * width;
        let Some(place) = file.get_mut(at..at + width) else { continue };
        let mut before = [0; 8];
        before[..width].copy_from_slice(place);
        let after = number(random, u64::from_le_bytes(before));
        place.copy_from_slice(&after.to_le_bytes()[..width]);
        told.push(format!("{width} bytes at {at} become {after:x}"));
    }
    told
}

fn number(random: &mut Random, before: u64) -> u64 {
    match random.below(8) {
        0 => 0,
        1 => u64::MAX >> random.below(64),
        2 => before.wrapping_add(1 + random.below(4)),
        3 => before.wrapping_sub(1 + random.below(4)),
        4 => before ^ (1 << random.below(64)),
        5 => random.below(1 << 20),
        6 => random.below(64),
        _ => random.next_u64(),
    }
}

/// How many files are changed: a few, or as many as `TADOC_MUTANTS` says, for longer than a test
/// has time for.
pub fn mutants(few: u64) -> u64 {
    std::env::var("TADOC_MUTANTS").map_or(few, |more| more.parse().expect("a number"))
}

/// Runs work that counts its steps, and ends the process if it makes none for five minutes: then a
/// step hangs.
pub fn watched(work: impl FnOnce(&AtomicU64)) {
    let (steps, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let watchdog = scope.spawn(|| {
            let mut seen = 0;
            while !is_over.load(Ordering::Relaxed) {
                std::thread::park_timeout(HANG);
                let now = steps.load(Ordering::Relaxed);
                if now == seen && !is_over.load(Ordering::Relaxed) {
                    eprintln!("step {now} hangs");
                    std::process::abort();
                }
                seen = now;
            }
        });
        let ended = catch_unwind(AssertUnwindSafe(|| work(&steps)));
        is_over.store(true, Ordering::Relaxed);
        watchdog.thread().unpark();
        ended.unwrap_or_else(|panic| resume_unwind(panic));
    });
}
