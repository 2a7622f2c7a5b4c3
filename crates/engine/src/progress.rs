//! How long work tells what it has done, and is told to stop.

use std::ops::ControlFlow;

use crate::error::{Error, Result};

/// What a long piece of work is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Looking for input files.
    Finding,
    /// Reading, lexing and building grammars; counted in bytes of the inputs as they lie.
    Compressing,
    /// Writing documents; counted in bytes of text.
    Restoring,
    /// Checking sections and documents; counted in bytes of text.
    Verifying,
    /// Re-encoding segments; counted in bytes of text.
    Transcoding,
    /// Decoding segments for a question; counted in bytes of text.
    Reading,
    /// Indexing segments for random access; counted in bytes of text.
    Indexing,
}

/// Watches long work and may end it. `done` and `total` are bytes, but for [`Phase::Finding`], which counts
/// files; a `total` of 0 is not known yet. Calls come from any thread.
///
/// Any `Fn(Phase, u64, u64) -> ControlFlow<()>` that is `Sync` is an observer, and `()` is the one
/// that only lets work go on.
pub trait Observer: Sync {
    /// Called now and then; `Break` ends the work with [`crate::Error::Cancelled`] at the next chance.
    fn step(&self, phase: Phase, done: u64, total: u64) -> ControlFlow<()>;
}

impl Observer for () {
    fn step(&self, _: Phase, _: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: Fn(Phase, u64, u64) -> ControlFlow<()> + Sync> Observer for F {
    fn step(&self, phase: Phase, done: u64, total: u64) -> ControlFlow<()> {
        self(phase, done, total)
    }
}

/// Tells the observer; an error if it wants the work to end.
pub(crate) fn step(observer: &dyn Observer, phase: Phase, done: u64, total: u64) -> Result<()> {
    match observer.step(phase, done, total) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled),
    }
}
