//! The redo log of counters that change in place.
//!
//! What operations add is not put into the counters before a record of it is durable: the counters that change, with their new values. A
//! record also says how many operations are done with it, and has a digest of *all* counters as they are then. After a crash the records are
//! put into the counters again, in order; values are absolute, so it does not matter which of them were there already. If the digest is right
//! then, the counters are; else the phase begins anew.
//!
//! The log has two halves. When one is full, the counters are made durable and records go to the other, so that there is always a half
//! whose records lead to the last state. A record costs 16 bytes for each counter that changed.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tadoc_core::usize_of;

use rayon::prelude::*;

use crate::layout::{LAST_SEQUENCE, digest};
use crate::medium::space::Space;

/// Numbers of a record before its counters: checksum, sequence number, operations done, digest, how many counters, zeros.
const HEAD_WORDS: usize = 8;
/// At least so many numbers are in a half.
const LEAST_WORDS: usize = 1 << 13;

/// What a record says of all counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub operations: u64,
    pub digest: u64,
}

pub(crate) struct Log {
    space: Arc<Space>,
    identity: u64,
    /// Where it starts, and how many numbers each half has.
    start: u64,
    half_words: usize,
    half: usize,
    /// Where the next record goes in the half.
    at: usize,
    sequence: u64,
}

impl Log {
    /// Bytes of the log of so many counters: a half has room for a record of all of them.
    pub(crate) fn bytes(counters: usize) -> u64 {
        16 * Self::half_words(counters) as u64
    }

    fn half_words(counters: usize) -> usize {
        (HEAD_WORDS + 2 * counters).next_multiple_of(HEAD_WORDS).max(LEAST_WORDS)
    }

    /// An empty log at an offset, for so many counters.
    pub(crate) fn new(space: Arc<Space>, identity: u64, start: u64, counters: usize) -> Self {
        let half_words = Self::half_words(counters);
        Self { space, identity, start, half_words, half: 0, at: 0, sequence: 0 }
    }

    fn offset(&self, half: usize) -> u64 {
        self.start + 8 * (half * self.half_words) as u64
    }

    /// Writes a record and makes it durable. If the half is full, `flush` makes the counters durable before.
    pub(crate) fn record(
        &mut self,
        state: State,
        changes: &[[u64; 2]],
        flush: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let length = (HEAD_WORDS + 2 * changes.len()).next_multiple_of(HEAD_WORDS);
        if self.at + length > self.half_words {
            flush()?;
            self.half = 1 - self.half;
            self.at = 0;
        }
        self.sequence += 1;
        let offset = self.offset(self.half) + 8 * self.at as u64;
        let mut words = self.space.region::<u64>(offset, length);
        let head =
            [0, self.sequence, state.operations, state.digest, changes.len() as u64, 0, 0, 0];
        words[..HEAD_WORDS].copy_from_slice(&head);
        let (places, rest) = words[HEAD_WORDS..].split_at_mut(2 * changes.len());
        places.copy_from_slice(bytemuck::cast_slice(changes));
        rest.fill(0);
        words[0] = digest(&words[1..], self.identity);
        let range = words.range();
        drop(words);
        self.at += length;
        self.space.persist(&[range])
    }

    /// Puts what the log says into the counters, and goes on behind it; `None` if that does not lead to counters that were there.
    pub(crate) fn replay(&mut self, counters: &mut [u64]) -> Option<State> {
        let space = self.space.clone();
        let halves = [0, 1].map(|half| space.shared::<u64>(self.offset(half), self.half_words));
        let found = [0, 1].map(|half| self.records(&halves[half]));
        let last = |half: usize| found[half].last().map(|record| halves[half][record.start + 1]);
        self.half = usize::from(last(1) > last(0));
        self.sequence = last(self.half).filter(|&sequence| sequence <= LAST_SEQUENCE)?;
        let words = &halves[self.half];
        let mut state = None;
        for record in &found[self.half] {
            let record = &words[record.clone()];
            for change in record[HEAD_WORDS..].chunks_exact(2).take(usize_of(record[4])) {
                *counters.get_mut(usize::try_from(change[0]).ok()?)? = change[1];
            }
            state = Some(State { operations: record[2], digest: record[3] });
        }
        self.at = found[self.half].last()?.end;
        state.filter(|state| state.digest == digest_of(counters))
    }

    /// The records at the beginning of a half, which follow each other.
    fn records(&self, words: &[u64]) -> Vec<Range<usize>> {
        let mut records: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while let Some(head) = words.get(at..at + HEAD_WORDS) {
            let before = records.last().map(|record| words[record.start + 1]);
            let follows = before.is_none_or(|before| head[1] == before.wrapping_add(1));
            // No more than all counters are in a record.
            let Some(changes) =
                usize::try_from(head[4]).ok().filter(|&changes| changes <= words.len())
            else {
                break;
            };
            let end = at + (HEAD_WORDS + 2 * changes).next_multiple_of(HEAD_WORDS);
            let whole =
                words.get(at..end).is_some_and(|all| digest(&all[1..], self.identity) == all[0]);
            if !follows || !whole {
                break;
            }
            records.push(at..end);
            at = end;
        }
        records
    }
}

/// The digest of all counters: a sum, so that it follows their changes.
pub(crate) fn digest_of(counters: &[u64]) -> u64 {
    let each = counters.par_iter().enumerate().with_min_len(1 << 14);
    each.map(|(index, &value)| share(index as u64, value)).reduce(|| 0, u64::wrapping_add)
}

/// What a counter is in the digest.
fn share(index: u64, value: u64) -> u64 {
    mixed(mixed(index.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ value)
}

/// A number with its bits mixed; another number gives another one. (The last step of splitmix64.)
fn mixed(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// What operations add, as counters that change and their new values; and by how much the digest changes.
pub(crate) fn changes_of(mut added: Vec<[u64; 2]>, counters: &[AtomicU64]) -> (Vec<[u64; 2]>, u64) {
    added.par_sort_unstable_by_key(|&[index, _]| index);
    added.dedup_by(|next, last| {
        let same = next[0] == last[0];
        if same {
            last[1] = last[1].wrapping_add(next[1]);
        }
        same
    });
    let moved = added.par_iter_mut().with_min_len(1 << 12).map(|[index, value]| {
        let before = counters[usize_of(*index)].load(Ordering::Relaxed);
        *value = value.wrapping_add(before);
        share(*index, *value).wrapping_sub(share(*index, before))
    });
    let moved = moved.reduce(|| 0, u64::wrapping_add);
    (added, moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::mapped::Mapped;

    fn log(space: &Arc<Space>, counters: usize) -> Log {
        Log::new(space.clone(), 77, 0, counters)
    }

    fn space(counters: usize) -> Arc<Space> {
        let bytes = Log::bytes(counters);
        let space = Space::new(Arc::new(Mapped::in_memory().unwrap()));
        space.resize(bytes).unwrap();
        space
    }

    /// Whatever was written back of the counters before a crash, records lead to the last state.
    #[test]
    fn records_are_put_again_whatever_was_there() {
        let space = space(100);
        let mut writer = log(&space, 100);
        let mut counters = vec![0_u64; 100];
        let mut flushed = counters.clone();
        for round in 1..200_u64 {
            let added: Vec<[u64; 2]> =
                (0..100).map(|number| [number * round % 100, number]).collect();
            let (changes, moved) = {
                let atomics: Vec<AtomicU64> =
                    counters.iter().map(|&value| AtomicU64::new(value)).collect();
                changes_of(added, &atomics)
            };
            let state =
                State { operations: round, digest: digest_of(&counters).wrapping_add(moved) };
            let mut full = false;
            writer
                .record(state, &changes, || {
                    full = true;
                    Ok(())
                })
                .unwrap();
            if full {
                flushed.clone_from(&counters);
            }
            for change in &changes {
                counters[change[0] as usize] = change[1];
            }
            assert_eq!(state.digest, digest_of(&counters));
            for seed in 0..3 {
                let some = (0..100).map(|index| {
                    if mixed(seed ^ index).is_multiple_of(2) {
                        counters[index as usize]
                    } else {
                        flushed[index as usize]
                    }
                });
                let mut some: Vec<u64> = some.collect();
                let mut reader = log(&space, 100);
                assert_eq!(reader.replay(&mut some), Some(state));
                assert_eq!(some, counters);
                assert_eq!(
                    (reader.at, reader.half, reader.sequence),
                    (writer.at, writer.half, writer.sequence)
                );
            }
        }
    }

    #[test]
    fn a_damaged_log_or_counter_is_noticed() {
        let space = space(10);
        let mut writer = log(&space, 10);
        let mut counters = vec![0_u64; 10];
        writer
            .record(State { operations: 0, digest: digest_of(&counters) }, &[], || Ok(()))
            .unwrap();
        counters[3] = 8;
        let state = State { operations: 1, digest: digest_of(&counters) };
        writer.record(state, &[[3, 8]], || Ok(())).unwrap();
        let mut other = counters.clone();
        other[4] = 1;
        assert_eq!(log(&space, 10).replay(&mut other), None);
        for bit in 0..64 * (2 * HEAD_WORDS + 8) {
            space.region::<u64>(0, 32)[bit / 64] ^= 1 << (bit % 64);
            let mut found = counters.clone();
            assert_eq!(log(&space, 10).replay(&mut found), None, "bit {bit}");
            space.region::<u64>(0, 32)[bit / 64] ^= 1 << (bit % 64);
        }
        assert_eq!(log(&space, 10).replay(&mut counters), Some(state));
    }
}
