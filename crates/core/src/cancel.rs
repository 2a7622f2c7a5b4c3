//! Ending long work from another thread.

use std::sync::atomic::{AtomicBool, Ordering};

/// The work was ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// A flag that ends work from another thread: whoever works looks at it every few milliseconds.
#[derive(Debug, Default)]
pub struct CancelFlag(AtomicBool);

impl CancelFlag {
    /// Asks the work to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// `Err` once [`CancelFlag::cancel`] was called. Costs one relaxed load.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.0.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }
}
