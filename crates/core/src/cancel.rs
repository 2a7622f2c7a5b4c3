//! Ending long work from another thread, and seeing from there how far it is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The work was ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// What long work and another thread share: a flag that ends the work, which whoever works looks at every few
/// milliseconds, and how much is done.
#[derive(Debug, Default)]
pub struct CancelFlag {
    cancelled: AtomicBool,
    /// Millionths.
    done: AtomicU64,
}

impl CancelFlag {
    /// Asks the work to end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// `Err` once [`CancelFlag::cancel`] was called. Costs one relaxed load.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }

    /// How much is done: the sum of all stages, where a million is 1.
    pub fn done(&self) -> f64 {
        self.done.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// A stage of the work: so many millionths, done when the stage is dropped.
    pub fn stage(&self, millionths: u64) -> Stage<'_> {
        Stage { flag: self, millionths, told: 0 }
    }
}

/// See [`CancelFlag::stage`].
#[derive(Debug)]
pub struct Stage<'f> {
    flag: &'f CancelFlag,
    millionths: u64,
    told: u64,
}

impl Stage<'_> {
    /// So much of the stage is done. Costs an atomic addition.
    pub fn reach(&mut self, done: u64, total: u64) {
        let part =
            u128::from(self.millionths) * u128::from(done.min(total)) / u128::from(total.max(1));
        #[expect(clippy::cast_possible_truncation, reason = "at most `millionths`")]
        let part = (part as u64).max(self.told);
        self.flag.done.fetch_add(part - self.told, Ordering::Relaxed);
        self.told = part;
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.reach(1, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_add_up() {
        let flag = CancelFlag::default();
        let mut first = flag.stage(400_000);
        first.reach(1, 4);
        assert_eq!(flag.done(), 0.1);
        // Work that was overestimated goes no way back.
        first.reach(0, 4);
        first.reach(9, 4);
        assert_eq!(flag.done(), 0.4);
        drop(first);
        drop(flag.stage(600_000));
        assert_eq!(flag.done(), 1.0);
        assert_eq!(flag.check(), Ok(()));
        flag.cancel();
        assert_eq!(flag.check(), Err(Cancelled));
    }
}
