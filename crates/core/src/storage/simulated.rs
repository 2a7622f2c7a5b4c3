//! A file in memory that fails as disks do.

use std::io::{self, ErrorKind};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard};

use super::Storage;
use crate::usize_of;

/// Bytes that a disk writes as a whole or not at all.
pub const SECTOR: u64 = 512;

/// What was done since the last sync.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    Truncate(u64),
}

#[derive(Debug, Default)]
struct State {
    /// What is there after a loss of power for certain.
    synced: Vec<u8>,
    /// What is read.
    current: Vec<u8>,
    /// What leads from the one to the other.
    unsynced: Vec<Change>,
    /// The longest that it can be.
    room: Option<u64>,
    failing_syncs: bool,
    failing_truncates: bool,
}

/// A file in memory, which all its clones share. Made for tests of those who write into files: see
/// [`crate::storage`].
#[derive(Debug, Clone, Default)]
pub struct SimulatedStorage(Arc<Mutex<State>>);

impl SimulatedStorage {
    /// A file with these bytes, synced.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let synced = bytes.into();
        let current = synced.clone();
        Self(Arc::new(Mutex::new(State { synced, current, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// Its bytes as they are read now.
    pub fn contents(&self) -> Vec<u8> {
        self.state().current.clone()
    }

    /// How much can be written: the file gets no longer than this. A write that would make it longer is done as far as it goes, and
    /// fails with [`ErrorKind::StorageFull`].
    pub fn set_room(&self, bytes: Option<u64>) {
        self.state().room = bytes;
    }

    /// Whether syncs fail from now on.
    pub fn fail_syncs(&self, fail: bool) {
        self.state().failing_syncs = fail;
    }

    /// Whether the file can no longer be cut.
    pub fn fail_truncates(&self, fail: bool) {
        self.state().failing_truncates = fail;
    }

    /// What may be there after a loss of power. `kept` is asked about every sector of every write since the last sync, and about
    /// every cut, whether it had reached the disk; the file then gets a length that `length` chooses among those that it may
    /// have. What is missing reads as what was there before, or as zeros.
    pub fn after_power_loss(
        &self,
        mut kept: impl FnMut() -> bool,
        length: impl FnOnce(RangeInclusive<u64>) -> u64,
    ) -> Vec<u8> {
        let state = self.state();
        let mut bytes = state.synced.clone();
        let (mut least, mut most) = (bytes.len() as u64, bytes.len() as u64);
        for change in &state.unsynced {
            match change {
                Change::Write { offset, bytes: written } => {
                    let end = offset + written.len() as u64;
                    most = most.max(end);
                    let mut at = *offset;
                    while at < end {
                        let next = end.min((at / SECTOR + 1) * SECTOR);
                        if kept() {
                            let part = &written[usize_of(at - offset)..usize_of(next - offset)];
                            put(&mut bytes, part, at);
                        }
                        at = next;
                    }
                }
                Change::Truncate(length) => {
                    least = least.min(*length);
                    most = most.max(*length);
                    if kept() {
                        bytes.truncate(usize_of(*length));
                    }
                }
            }
        }
        bytes.resize(usize_of(length(least..=most)), 0);
        bytes
    }
}

/// Writes into bytes, with zeros in between where they end before.
fn put(bytes: &mut Vec<u8>, part: &[u8], offset: u64) {
    let (start, end) = (usize_of(offset), usize_of(offset) + part.len());
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[start..end].copy_from_slice(part);
}

impl Storage for SimulatedStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().current.len() as u64)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let state = self.state();
        let found = usize::try_from(offset).ok().and_then(|start| state.current.get(start..));
        let found = found.and_then(|bytes| bytes.get(..into.len()));
        into.copy_from_slice(found.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.state();
        let room = state.room.map_or(u64::MAX, |room| room.saturating_sub(offset));
        let fits = usize_of((bytes.len() as u64).min(room));
        if fits > 0 {
            put(&mut state.current, &bytes[..fits], offset);
            state.unsynced.push(Change::Write { offset, bytes: bytes[..fits].to_vec() });
        }
        if fits < bytes.len() {
            return Err(ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.state();
        if state.failing_truncates {
            return Err(io::Error::other("the simulated file cannot be cut"));
        }
        state.current.resize(usize_of(length), 0);
        state.unsynced.push(Change::Truncate(length));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.state();
        if state.failing_syncs {
            return Err(io::Error::other("the simulated disk does not answer"));
        }
        state.unsynced.clear();
        state.synced = state.current.clone();
        Ok(())
    }

    fn handle(&self) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_synced_stays_and_the_rest_is_there_as_it_was_kept() {
        let mut storage = SimulatedStorage::new(vec![1; 500]);
        storage.write_at(&[2; 600], 500).unwrap();
        assert_eq!(storage.len().unwrap(), 1100);
        assert_eq!(
            storage.after_power_loss(
                || false,
                |lengths| {
                    assert_eq!(lengths, 500..=1100);
                    500
                }
            ),
            [1; 500]
        );
        assert_eq!(storage.after_power_loss(|| true, |_| 1100), storage.contents());
        let mut sectors = [false, true, false].into_iter();
        let second = storage.after_power_loss(|| sectors.next().unwrap(), |_| 1100);
        assert_eq!(second, [vec![1; 500], vec![0; 12], vec![2; 512], vec![0; 76]].concat());
        storage.sync().unwrap();
        assert_eq!(storage.after_power_loss(|| false, |_| 1100), storage.contents());
        storage.truncate(3).unwrap();
        assert_eq!(storage.after_power_loss(|| true, |_| 3), [1; 3]);
    }

    #[test]
    fn a_full_disk_takes_what_fits() {
        let mut storage = SimulatedStorage::new(*b"ab");
        storage.set_room(Some(4));
        let error = storage.write_at(b"cdef", 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(storage.contents(), b"abcd");
        storage.write_at(b"xy", 0).unwrap();
        let mut bytes = [0; 5];
        let read = storage.read_at(&mut bytes, 0);
        assert_eq!(read.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        storage.read_at(&mut bytes[..2], 2).unwrap();
        assert_eq!(&bytes[..2], b"cd");
        storage.fail_syncs(true);
        assert!(storage.sync().is_err());
    }
}
