//! Memory with a durable shadow, for tests of what survives.
//!
//! Bytes become durable by lines of 64: a flush notes what is in the lines of a range, a fence makes durable what was noted. Flushes and fences are
//! counted as events. At an event that a test chooses the power goes: from then on everything fails, and what is left is the shadow, in
//! which each line that had changed is there or not, as a function of the test's says. It also gets full, and fails to flush.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use memmap2::MmapMut;

use tadoc_pool::medium::{Advice, Medium, widened};

const LINE: usize = 64;

/// Memory that a test takes the power from.
pub struct Simulated {
    memory: MmapMut,
    base: *mut u8,
    length: AtomicU64,
    state: Mutex<State>,
}

// SAFETY: the pointer is to `memory`, which does not move; who may touch which bytes of it is for `space` to say.
unsafe impl Send for Simulated {}
// SAFETY: as above; everything else is atomic or under a lock.
unsafe impl Sync for Simulated {}

struct State {
    durable: Vec<u8>,
    durable_length: u64,
    /// Lines that were flushed since the last fence, as they were then.
    flushed: BTreeMap<usize, [u8; LINE]>,
    events: u64,
    power_goes_at: Option<u64>,
    fails_at: Option<u64>,
    /// What was in memory when the power went.
    lost: Option<Vec<u8>>,
}

impl Simulated {
    /// With room for so many bytes, and nothing in it.
    pub fn new(room: usize) -> Self {
        Self::from_image(&[], room)
    }

    /// What a power loss has left, with room for so many bytes.
    ///
    /// # Panics
    /// If there is less room than that, or no memory.
    pub fn from_image(image: &[u8], room: usize) -> Self {
        let mut memory =
            MmapMut::map_anon(room.next_multiple_of(LINE).max(LINE)).expect("memory for a test");
        memory[..image.len()].copy_from_slice(image);
        let durable = memory.to_vec();
        let base = memory.as_mut_ptr();
        let length = image.len() as u64;
        let state = State {
            durable,
            durable_length: length,
            flushed: BTreeMap::new(),
            events: 0,
            power_goes_at: None,
            fails_at: None,
            lost: None,
        };
        Self { memory, base, length: AtomicU64::new(length), state: Mutex::new(state) }
    }

    /// The power goes at this event, counted from 0 at the beginning: instead of that flush or fence.
    pub fn power_goes_at(&self, event: u64) {
        self.state().power_goes_at = Some(event);
    }

    /// This event is an error, and does nothing.
    pub fn fails_at(&self, event: u64) {
        self.state().fails_at = Some(event);
    }

    /// Flushes and fences so far.
    pub fn events(&self) -> u64 {
        self.state().events
    }

    /// What is left if the power goes now, or is left as it has gone. `random` gives numbers that decide which lines are there.
    pub fn image(&self, mut random: impl FnMut() -> u64) -> Vec<u8> {
        let state = self.state();
        let now = match &state.lost {
            Some(lost) => lost.clone(),
            None => self.bytes(),
        };
        let mut image = state.durable.clone();
        let durable_length = state.durable_length as usize;
        let length = if random().is_multiple_of(2) { durable_length } else { now.len() };
        let whole = length.max(durable_length).max(now.len()).next_multiple_of(LINE);
        for line in (0..whole).step_by(LINE) {
            let place = &mut image[line..line + LINE];
            let last = line_of(&now, line);
            let flushed = state.flushed.get(&line);
            if *place == last && flushed.is_none() {
                continue;
            }
            match (random() % 3, flushed) {
                (0, _) => {}
                (1, Some(flushed)) => place.copy_from_slice(flushed),
                _ => place.copy_from_slice(&last),
            }
        }
        image.truncate(length);
        image
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics with the state")
    }

    fn bytes(&self) -> Vec<u8> {
        let length = self.len() as usize;
        let mut bytes = vec![0; length];
        // SAFETY: `length` bytes from `base` on are those of `memory`. Whoever makes something durable, or takes an image, does so between operations,
        // when nobody writes: that is the contract of `persist`.
        unsafe { std::ptr::copy_nonoverlapping(self.base, bytes.as_mut_ptr(), length) };
        bytes
    }

    /// Counts an event; an error if it is the one at which the power goes, or has gone.
    fn event(&self, state: &mut State) -> io::Result<()> {
        let event = state.events;
        state.events += 1;
        if state.power_goes_at == Some(event) {
            state.lost = Some(self.bytes());
        }
        has_power(state)?;
        if state.fails_at == Some(event) {
            return Err(io::Error::other("a flush that fails, as the test wants"));
        }
        Ok(())
    }
}

/// A line of bytes, with zeros behind their end.
fn line_of(bytes: &[u8], start: usize) -> [u8; LINE] {
    let mut line = [0; LINE];
    let there = bytes.get(start..bytes.len().min(start + LINE)).unwrap_or_default();
    line[..there.len()].copy_from_slice(there);
    line
}

fn has_power(state: &State) -> io::Result<()> {
    match state.lost {
        Some(_) => Err(io::Error::other("the power is gone")),
        None => Ok(()),
    }
}

// SAFETY: `memory` is as long as the room from the start, does not move, and `len` never passes its end.
unsafe impl Medium for Simulated {
    fn base(&self) -> *mut u8 {
        self.base
    }

    fn len(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    fn resize(&self, to: u64) -> io::Result<()> {
        let state = self.state();
        has_power(&state)?;
        if to > self.memory.len() as u64 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let (from, to) = (self.len() as usize, to as usize);
        if to < from {
            // SAFETY: the bytes are of `memory`, and nobody has a region of what is cut off: `space` sees to that.
            unsafe { std::ptr::write_bytes(self.base.add(to), 0, from - to) };
        }
        self.length.store(to as u64, Ordering::Release);
        Ok(())
    }

    fn persist(&self, ranges: &[Range<u64>]) -> io::Result<()> {
        let mut state = self.state();
        for range in widened(ranges, LINE as u64) {
            self.event(&mut state)?;
            let bytes = self.bytes();
            for line in (range.start as usize..range.end as usize).step_by(LINE) {
                state.flushed.insert(line, line_of(&bytes, line));
            }
        }
        self.event(&mut state)?;
        let flushed = std::mem::take(&mut state.flushed);
        for (line, bytes) in flushed {
            state.durable[line..line + LINE].copy_from_slice(&bytes);
        }
        state.durable_length = self.len();
        Ok(())
    }

    fn advise(&self, _: Range<u64>, _: Advice) {}

    fn kind(&self) -> &'static str {
        "simulated memory"
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use tadoc_pool::medium::space::Space;

    #[test]
    fn what_is_not_made_durable_is_there_or_not() {
        let medium = Arc::new(Simulated::new(1024));
        let space = Space::new(medium.clone());
        space.resize(512).unwrap();
        space.region::<u8>(0, 512).fill(1);
        space.persist(&[0..128]).unwrap();
        assert_eq!(medium.events(), 2);
        let none = medium.image(|| 0);
        assert_eq!(none[..128], [1; 128]);
        assert!(none[128..].iter().all(|&byte| byte == 0));
        assert_eq!(medium.image(|| 5), [1; 512]);
        medium.power_goes_at(3);
        space.region::<u8>(128, 64).fill(2);
        assert!(space.persist(&[128..192]).is_err());
        space.region::<u8>(128, 64).fill(3);
        assert!(space.persist(&[]).is_err() && space.resize(600).is_err());
        assert_eq!(medium.image(|| 0)[128..192], [0; 64]);
        assert_eq!(medium.image(|| 5)[128..192], [2; 64]);
    }

    #[test]
    fn it_gets_full_and_fails() {
        let medium = Arc::new(Simulated::new(1024));
        let space = Space::new(medium.clone());
        assert_eq!(space.resize(1025).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(space.len(), 0);
        medium.fails_at(0);
        assert!(space.persist(&[0..64]).is_err());
        space.resize(64).unwrap();
        space.persist(&[0..64]).unwrap();
    }
}
