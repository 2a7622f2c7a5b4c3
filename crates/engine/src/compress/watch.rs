//! Telling the observer how far compressing has come, and the work that it shall end.
//!
//! What is counted are bytes of the inputs as they lie: a compressed file counts with its own length, and how
//! much of it was read is estimated from the files before it until it ends.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rayon::ThreadPool;
use rayon::prelude::*;
use tadoc_core::archive::Level;

use super::lex::Piece;
use super::{Input, Source};
use crate::build::builder::{CancelFlag, share};
use crate::error::Result;
use crate::progress::{Observer, Phase, step};
use crate::threads;

/// How often the observer is asked while a grammar is built.
const INTERVAL: Duration = Duration::from_millis(50);
/// What lexing a segment takes, beside building it as [`share`] has it.
const LEXING: u64 = 330_000;
/// A byte of a compressed file is taken for so many bytes of text, until one has ended.
const TEXT_PER_BYTE: f64 = 5.0;

/// An observer, and how much was done.
pub(crate) struct Watch<'o> {
    observer: &'o dyn Observer,
    phase: Phase,
    /// Bytes of all inputs; 0 if it is not known how many there are.
    total: u64,
    /// The work on a segment: lexing it, and all behind that.
    lexing: u64,
    building: u64,
    streams: RefCell<Streams>,
    /// Bytes that were lexed, and those of them that are in a segment that was built.
    lexed: Cell<u64>,
    built: Cell<u64>,
}

/// What is known of inputs whose text has another length than they have.
#[derive(Default)]
struct Streams {
    /// The length of each input that is one.
    lengths: Vec<Option<u64>>,
    /// The one that is read, what was read of its text, and what that was counted as.
    open: (usize, u64, u64),
    /// Of those that have ended: their lengths, and their texts'.
    ended: (u64, u64),
}

impl<'o> Watch<'o> {
    /// Watches what is done with `inputs`, whose lengths are looked up on the threads of `pool`.
    pub(super) fn of_inputs(
        observer: &'o dyn Observer,
        inputs: &[Input],
        level: Level,
        pool: &ThreadPool,
    ) -> Self {
        let length = |path: Option<&Path>| {
            let metadata = std::fs::metadata(path?).ok()?;
            metadata.is_file().then_some(metadata.len())
        };
        let paths = inputs.iter().map(|input| match &input.source {
            Source::File(path) | Source::Stream(path, _) => Some(path.as_path()),
            Source::Bytes(_) => None,
        });
        let paths: Vec<Option<&Path>> = paths.collect();
        let found: Vec<Option<u64>> =
            pool.install(|| paths.par_iter().with_min_len(64).map(|&path| length(path)).collect());
        let mut total = Some(0_u64);
        let mut lengths = Vec::with_capacity(inputs.len());
        for (input, length) in inputs.iter().zip(found) {
            let (bytes, stream) = match &input.source {
                Source::File(_) => (length, None),
                Source::Bytes(bytes) => (Some(bytes.len() as u64), None),
                // Where it is no file, it has no length beforehand, and so the whole has none.
                Source::Stream(..) => (length, length),
            };
            total = total.zip(bytes).map(|(total, bytes)| total + bytes);
            lengths.push(stream);
        }
        let mut watch = Self::new(observer, total.unwrap_or(0), level);
        watch.streams.get_mut().lengths = lengths;
        watch
    }

    /// Nothing is done yet of so many bytes; 0 if it is not known how many there are.
    pub(crate) fn new(observer: &'o dyn Observer, total: u64, level: Level) -> Self {
        Self::of_work(observer, Phase::Compressing, total, [LEXING, share::total(level)])
    }

    /// The same for a phase whose segments are decoded at one level and encoded at another.
    pub(super) fn of_transcoding(
        observer: &'o dyn Observer,
        total: u64,
        [from, to]: [Level; 2],
    ) -> Self {
        let building = from.decoding_work() + to.encoding_work();
        Self::of_work(observer, Phase::Transcoding, total, [0, building])
    }

    fn of_work(observer: &'o dyn Observer, phase: Phase, total: u64, work: [u64; 2]) -> Self {
        let ([lexing, building], streams) = (work, RefCell::default());
        let (lexed, built) = (Cell::new(0), Cell::new(0));
        Self { observer, phase, total, lexing, building, streams, lexed, built }
    }

    /// Tells the observer; an error if it wants the work to end.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_building(0.0)
    }

    /// The same while a segment is built of what was lexed, of which so much is done.
    fn check_building(&self, part: f64) -> Result<()> {
        let (lexed, built) = (self.lexed.get(), self.built.get());
        let built = built as f64 + (lexed - built) as f64 * part.clamp(0.0, 1.0);
        let (lexing, building) = (self.lexing as f64, self.building as f64);
        let done = (lexing * lexed as f64 + building * built) / (lexing + building);
        let done = done as u64;
        // A file that grew has more than it had.
        let done = if self.total > 0 { done.min(self.total) } else { done };
        step(self.observer, self.phase, done, self.total)
    }

    /// These pieces were lexed.
    pub(super) fn lexed_pieces(&self, pieces: &[Piece]) {
        let mut streams = self.streams.borrow_mut();
        let bytes = pieces.iter().map(|piece| streams.counted(piece)).sum();
        self.lexed(bytes);
    }

    /// So many bytes were lexed.
    pub(crate) fn lexed(&self, bytes: u64) {
        self.lexed.set(self.lexed.get() + bytes);
    }

    /// All that was lexed is in segments that were built.
    pub(crate) fn built(&self) {
        self.built.set(self.lexed.get());
    }

    /// Does `work` on another thread, and ends it if the observer says so. It makes so many segments.
    pub(crate) fn during<T: Send>(
        &self,
        segments: usize,
        work: impl FnOnce(&CancelFlag) -> T + Send,
    ) -> Result<T> {
        let cancel = CancelFlag::default();
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel::<()>(1);
            let cancel = &cancel;
            let worker = threads::spawn(scope, move || {
                let result = work(cancel);
                drop(sender);
                result
            })?;
            let mut outcome = Ok(());
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(INTERVAL) {
                if outcome.is_ok() {
                    let all = self.building as f64 * segments as f64;
                    outcome = self.check_building(cancel.done() * 1e6 / all);
                    if outcome.is_err() {
                        cancel.cancel();
                    }
                }
            }
            match worker.join() {
                Ok(result) => outcome.map(|()| result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

impl Streams {
    /// What a piece of text counts as.
    fn counted(&mut self, piece: &Piece) -> u64 {
        let rest = if self.open.0 != piece.input { self.end(piece.input) } else { 0 };
        let Some(length) = self.length(piece.input) else {
            return rest + piece.bytes;
        };
        let (_, text, before) = &mut self.open;
        *text += piece.bytes;
        let ratio = match self.ended {
            (0, _) => TEXT_PER_BYTE,
            (bytes, text) => text as f64 / bytes as f64,
        };
        let counted = ((*text as f64 / ratio.max(f64::MIN_POSITIVE)) as u64).min(length);
        let more = counted.saturating_sub(*before);
        *before += more;
        rest + more
    }

    fn length(&self, input: usize) -> Option<u64> {
        self.lengths.get(input).copied().flatten()
    }

    /// The input that was read has ended, and another one begins; gives what was not counted of it.
    fn end(&mut self, next: usize) -> u64 {
        let (input, text, counted) = std::mem::replace(&mut self.open, (next, 0, 0));
        let Some(length) = self.length(input) else { return 0 };
        self.ended = (self.ended.0 + length, self.ended.1 + text);
        length - counted
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Mutex;

    use super::*;

    fn piece(input: usize, bytes: u64) -> Piece {
        Piece { input, tokens: 0, bytes, hash: None, ends: true }
    }

    #[test]
    fn compressed_files_count_with_their_own_length() {
        let told = Mutex::new(Vec::new());
        let observer = |_: Phase, done: u64, total: u64| {
            told.lock().unwrap().push((done, total));
            ControlFlow::Continue(())
        };
        let mut watch = Watch::of_work(&observer, Phase::Compressing, 300, [25, 75]);
        watch.streams.get_mut().lengths = vec![Some(100), None, Some(100)];
        // Its text is shorter than expected. That is known when the next one begins.
        watch.lexed_pieces(&[piece(0, 100), piece(0, 100)]);
        watch.check().unwrap();
        watch.lexed_pieces(&[piece(1, 100), piece(2, 100)]);
        watch.check().unwrap();
        watch.check_building(0.5).unwrap();
        watch.built();
        watch.lexed_pieces(&[piece(2, 100)]);
        watch.built();
        watch.check().unwrap();
        let told = told.into_inner().unwrap();
        assert_eq!(told, [(10, 300), (62, 300), (156, 300), (300, 300)]);
    }
}
