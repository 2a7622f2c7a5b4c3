//! A reader that can be given up: standard input and pipes may have nothing to say for hours, and Ctrl-C
//! should end the wait.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use crate::interrupt;

const CHUNK: usize = 256 << 10;
const CHUNKS_AHEAD: usize = 4;
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);

/// Reads on a thread of its own, which also does the opening, for that can take as long. Costs a copy and
/// up to five chunks of 256 KiB.
pub struct Patient {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// How much of the chunk has been taken.
    taken: usize,
}

impl Patient {
    pub fn new(open: impl FnOnce() -> io::Result<Box<dyn Read + Send>> + Send + 'static) -> Self {
        let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
        // The thread ends with the input, or when nobody wants more of it.
        thread::spawn(move || {
            let mut reader = match open() {
                Ok(reader) => reader,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut chunk = Vec::new();
                let result = reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
                let last = chunk.is_empty() || result.is_err();
                if sender.send(result.map(|_| chunk)).is_err() || last {
                    return;
                }
            }
        });
        Self { chunks, chunk: Vec::new(), taken: 0 }
    }
}

impl Read for Patient {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.chunk.len() {
            match self.chunks.recv_timeout(LOOK_UP_EVERY) {
                Ok(chunk) => {
                    self.chunk = chunk?;
                    self.taken = 0;
                }
                Err(RecvTimeoutError::Timeout) if interrupt::requested() => {
                    return Err(io::Error::other("cancelled"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let count = to.len().min(self.chunk.len() - self.taken);
        to[..count].copy_from_slice(&self.chunk[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_on_all_bytes() {
        let bytes: Vec<u8> = (0..3 * CHUNK + 17).map(|at| (at % 251) as u8).collect();
        let copy = bytes.clone();
        let mut read = Vec::new();
        let mut patient = Patient::new(move || Ok(Box::new(io::Cursor::new(copy))));
        patient.read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        assert_eq!(patient.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn passes_on_errors() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut opened = Patient::new(|| Ok(Box::new(Broken)));
        assert_eq!(opened.read(&mut [0; 8]).unwrap_err().to_string(), "broken");
        let mut unopened = Patient::new(|| Err(io::Error::other("not there")));
        assert_eq!(unopened.read(&mut [0; 8]).unwrap_err().to_string(), "not there");
    }
}
