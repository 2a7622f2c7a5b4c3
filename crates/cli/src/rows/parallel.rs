//! Work on ranges of rows: done on all threads of the pool it is called in, taken in order.
//!
//! It goes in waves. While one wave is written out, the next is made, so that neither waits for the other,
//! and no more than two waves are in memory. A range costs a task; so ranges should be worth some tens of
//! microseconds.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::output::Output;
use crate::units::usize_of;
use std::io::Write;

/// Calls `make` on every range, on several threads, and `take` with what it made, in the order of ranges,
/// on one. `wave` is how many ranges are made at a time, for each thread.
pub fn in_order<T: Send>(
    mut ranges: impl Iterator<Item = Range<u64>> + Send,
    wave: usize,
    make: impl Fn(Range<u64>) -> T + Sync,
    take: impl FnMut(T) -> anyhow::Result<()> + Send,
) -> anyhow::Result<()> {
    let wave = wave * rayon::current_num_threads();
    let make_wave = || {
        let next: Vec<Range<u64>> = ranges.by_ref().take(wave).collect();
        (!next.is_empty()).then(|| Ok(next.into_par_iter().with_max_len(1).map(&make).collect()))
    };
    in_waves(make_wave, take)
}

/// Calls `make` until it gives no more waves, and `take` with what each has, in order.
pub fn in_waves<T: Send>(
    mut make: impl FnMut() -> Option<anyhow::Result<Vec<T>>> + Send,
    mut take: impl FnMut(T) -> anyhow::Result<()> + Send,
) -> anyhow::Result<()> {
    let mut ready: Vec<T> = Vec::new();
    loop {
        let (taken, made) = rayon::join(|| ready.drain(..).try_for_each(&mut take), &mut make);
        taken?;
        let Some(made) = made else { return Ok(()) };
        ready = made?;
    }
}

/// How many bytes a buffer should hold: few enough to stay in a core's cache until they are written.
const BUFFER_BYTES: u64 = 256 << 10;

/// So many rows are formatted right here; it is also the length of the first ranges, as long as nothing is
/// known of how long rows are.
const FEW_ROWS: u64 = 2048;

/// Buffers that were written out and wait to be filled again.
#[derive(Default)]
pub struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    fn take(&self) -> Vec<u8> {
        let mut buffers = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        buffers.pop().unwrap_or_else(|| Vec::with_capacity(usize_of(BUFFER_BYTES) * 3 / 2))
    }

    fn give_back(&self, mut buffer: Vec<u8>) {
        // One that had to grow for very long rows is not kept.
        if buffer.capacity() <= 16 * usize_of(BUFFER_BYTES) {
            buffer.clear();
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(buffer);
        }
    }

    /// Writes rows `0..count` that `fill` formats by range, on all threads and in order.
    pub fn write(
        &self,
        output: &mut Output,
        count: u64,
        fill: &(dyn Fn(Range<u64>, &mut Vec<u8>) + Sync),
    ) -> anyhow::Result<()> {
        let format = |rows: Range<u64>| {
            let mut buffer = self.take();
            fill(rows, &mut buffer);
            buffer
        };
        let mut write = |buffer: Vec<u8>| {
            output.write_all(&buffer)?;
            self.give_back(buffer);
            Ok(())
        };
        if count <= FEW_ROWS {
            return write(format(0..count));
        }
        // How long rows are is known from those before.
        let step = AtomicU64::new(FEW_ROWS);
        let mut start = 0;
        let ranges = std::iter::from_fn(|| {
            let range = start..count.min(start + step.load(Ordering::Relaxed));
            start = range.end;
            (!range.is_empty()).then_some(range)
        });
        let measured = |rows: Range<u64>| {
            let count = rows.end - rows.start;
            let buffer = format(rows);
            let fitting = BUFFER_BYTES * count / (buffer.len() as u64).max(1);
            step.store(fitting.clamp(1, BUFFER_BYTES), Ordering::Relaxed);
            buffer
        };
        in_order(ranges, 4, measured, write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn what_is_made_is_taken_in_order() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let alive = AtomicUsize::new(0);
            let most = AtomicUsize::new(0);
            let mut taken = Vec::new();
            pool.install(|| {
                in_order(
                    (0..1000).map(|place| place..place + 1),
                    2,
                    |range| {
                        most.fetch_max(1 + alive.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                        range.start
                    },
                    |place| {
                        alive.fetch_sub(1, Ordering::SeqCst);
                        taken.push(place);
                        Ok(())
                    },
                )
            })
            .unwrap();
            assert!(taken.iter().copied().eq(0..1000));
            let most = most.into_inner();
            assert!(most <= 4 * threads, "{most} at a time on {threads} threads");
        }
    }

    #[test]
    fn the_first_failure_ends_it() {
        let mut taken = 0;
        let result = in_order(
            (0..1_000_000).map(|place| place..place + 1),
            2,
            |range| range.start,
            |place| {
                taken += 1;
                if place == 7 { anyhow::bail!("enough") } else { Ok(()) }
            },
        );
        assert_eq!((result.unwrap_err().to_string(), taken), ("enough".into(), 8));
    }
}
