//! Bytes as they come: read by a thread of its own, so that nothing waits while edits are synced.
//!
//! What has come waits in one buffer, which is handed over as a whole: a copy of each byte, and memory of [`ROOM`] twice.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use std::{mem, thread};

use crate::interrupt;

/// So many bytes are enough to be handed over.
const ENOUGH: usize = 4 << 20;
/// So many bytes wait at the most, and a little more.
const ROOM: usize = 16 << 20;
/// Bytes read at a time.
const CHUNK: usize = 256 << 10;
/// So often the wish to stop is looked for.
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);

/// What can be read, and comes when it likes.
pub struct Stream(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Something has come that is waited for.
    come: Condvar,
    /// What had come was taken.
    taken: Condvar,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    ended: bool,
    failed: Option<io::Error>,
}

impl Stream {
    /// Starts to read. The thread ends with the input; one that waits for input ends with the process.
    pub fn start(from: impl Read + Send + 'static) -> tadoc::Result<Self> {
        let shared = Arc::new(Shared::default());
        let to = shared.clone();
        let started = thread::Builder::new().spawn(move || to.read(from));
        started.map_err(|source| tadoc::Error::Threads { source })?;
        Ok(Self(shared))
    }

    /// Waits until something has come, gathers for a while what comes after it, and puts it into `into`. `false` at the end of the
    /// input; when the person wants to stop, what is there, which may be nothing.
    pub fn next(&self, gather: Duration, into: &mut Vec<u8>) -> io::Result<bool> {
        into.clear();
        let mut state = self.0.lock();
        let mut first = None;
        loop {
            if !state.bytes.is_empty() {
                first.get_or_insert_with(Instant::now);
            }
            let gathered = first.map(|first| first.elapsed());
            let left = gathered.map_or(LOOK_UP_EVERY, |gathered| gather.saturating_sub(gathered));
            let is_enough = state.bytes.len() >= ENOUGH || left.is_zero();
            if is_enough || state.ended || interrupt::requested() {
                break;
            }
            let wait = left.min(LOOK_UP_EVERY);
            let waited = self.0.come.wait_timeout(state, wait);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        mem::swap(&mut state.bytes, into);
        self.0.taken.notify_one();
        if into.is_empty() && state.ended {
            return state.failed.take().map_or(Ok(false), Err);
        }
        Ok(true)
    }
}

impl Shared {
    fn read(&self, mut from: impl Read) {
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match from.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read,
            };
            let mut state = self.lock();
            while state.bytes.len() >= ROOM {
                state = self.taken.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            let waits = state.bytes.is_empty();
            match read {
                Ok(0) => state.ended = true,
                Ok(count) => state.bytes.extend_from_slice(&chunk[..count]),
                Err(error) => {
                    state.failed = Some(error);
                    state.ended = true;
                }
            }
            if waits || state.ended || state.bytes.len() >= ENOUGH {
                self.come.notify_one();
            }
            if state.ended {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn all_bytes_come_in_order() {
        let bytes: Vec<u8> = (0..3 * ROOM + 17).map(|at| (at % 251) as u8).collect();
        let stream = Stream::start(io::Cursor::new(bytes.clone())).unwrap();
        let (mut all, mut part) = (Vec::new(), Vec::new());
        while stream.next(Duration::ZERO, &mut part).unwrap() {
            assert!(!part.is_empty() && part.len() < ROOM + CHUNK);
            all.append(&mut part);
        }
        assert!(all == bytes);
        assert!(!stream.next(Duration::ZERO, &mut part).unwrap());
    }

    #[test]
    fn what_has_come_is_there_while_the_input_is_open() {
        let (reader, mut writer) = io::pipe().unwrap();
        let stream = Stream::start(reader).unwrap();
        let mut part = Vec::new();
        for text in ["one", "two\n"] {
            writer.write_all(text.as_bytes()).unwrap();
            assert!(stream.next(Duration::from_millis(1), &mut part).unwrap());
            assert_eq!(part, text.as_bytes());
        }
        drop(writer);
        assert!(!stream.next(Duration::from_millis(1), &mut part).unwrap());
    }

    #[test]
    fn what_comes_soon_is_gathered() {
        let (reader, mut writer) = io::pipe().unwrap();
        let stream = Stream::start(reader).unwrap();
        let mut part = Vec::new();
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..5 {
                    writer.write_all(b"x").unwrap();
                    thread::sleep(Duration::from_millis(2));
                }
            });
            // It ends when the writer does.
            assert!(stream.next(Duration::from_secs(60), &mut part).unwrap());
        });
        assert_eq!(part, b"xxxxx");
    }

    #[test]
    fn an_error_comes_behind_what_was_read() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let stream = Stream::start(io::Cursor::new(b"here").chain(Failing)).unwrap();
        let mut part = Vec::new();
        assert!(stream.next(Duration::from_secs(60), &mut part).unwrap());
        assert_eq!(part, b"here");
        let error = stream.next(Duration::from_secs(60), &mut part).unwrap_err();
        assert_eq!(error.to_string(), "gone");
    }
}
