//! Telling the observer how far compressing has come, and the work that it shall end.

use std::cell::Cell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::{Input, Source};
use crate::build::builder::CancelFlag;
use crate::error::{Error, Result};
use crate::progress::{Observer, Phase};
use crate::threads;

/// How often the observer is asked while a grammar is built.
const INTERVAL: Duration = Duration::from_millis(50);
/// Of a byte's work, so many hundredths are done when it is lexed, and the others when its segment is built.
const LEXED: u64 = 30;

/// An observer, and how much was done.
pub(crate) struct Watch<'o> {
    observer: &'o dyn Observer,
    total: u64,
    hundredths: Cell<u64>,
}

impl<'o> Watch<'o> {
    pub(super) fn of_inputs(observer: &'o dyn Observer, inputs: &[Input]) -> Self {
        let length = |source: &Source| match source {
            Source::File(path) => std::fs::metadata(path).ok().map(|metadata| metadata.len()),
            Source::Bytes(bytes) => Some(bytes.len() as u64),
            Source::Stream(..) => None,
        };
        // A stream has no length beforehand, and so the whole has none.
        let total = inputs.iter().map(|input| length(&input.source)).sum::<Option<u64>>();
        Self::new(observer, total.unwrap_or(0))
    }

    /// Nothing is done yet of so many bytes; 0 if it is not known how many there are.
    pub(crate) fn new(observer: &'o dyn Observer, total: u64) -> Self {
        Self { observer, total, hundredths: Cell::new(0) }
    }

    /// Tells the observer; an error if it wants the work to end.
    pub(crate) fn check(&self) -> Result<()> {
        match self.observer.step(Phase::Compressing, self.hundredths.get() / 100, self.total) {
            std::ops::ControlFlow::Continue(()) => Ok(()),
            std::ops::ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }

    /// So many bytes were lexed.
    pub(crate) fn lexed(&self, bytes: u64) {
        self.hundredths.set(self.hundredths.get() + bytes * LEXED);
    }

    /// So many bytes are in a segment that was built.
    pub(crate) fn built(&self, bytes: u64) {
        self.hundredths.set(self.hundredths.get() + bytes * (100 - LEXED));
    }

    /// Does `work` on another thread, and ends it if the observer says so.
    pub(crate) fn during<T: Send>(&self, work: impl FnOnce(&CancelFlag) -> T + Send) -> Result<T> {
        during(|| self.check(), work)
    }
}

/// Does `work` on another thread, and ends it when `check` fails, which is asked every [`INTERVAL`].
pub(super) fn during<T: Send>(
    check: impl Fn() -> Result<()>,
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
                outcome = check();
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
