//! The contract of grammar builders, and the choice of one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tadoc_core::{Grammar, TokenSequence};

/// The work was ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// What another thread sees of long work, and ends it with: whoever works looks at it now and then.
#[derive(Debug, Default)]
pub struct CancelFlag {
    cancelled: AtomicBool,
    /// Millionths of a segment.
    done: AtomicU64,
}

/// Millionths of the work on a segment that each stage takes. Measured on the medium corpora, as means.
pub(crate) mod share {
    /// Merging the dictionaries of the threads.
    pub(crate) const MERGE: u64 = 60_000;
    /// Building the grammar, but for what follows.
    pub(crate) const BUILD: u64 = 780_000;
    /// Of building by Re-Pair: taking out repeated lines, and pairing what the chunks left.
    pub(crate) const LINES: u64 = 80_000;
    pub(crate) const JOINED: u64 = 200_000;
    /// Encoding symbols.
    pub(crate) const ENCODE: u64 = 160_000;
    /// All.
    pub(crate) const WHOLE: u64 = MERGE + BUILD + ENCODE;
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

    /// How many segments are done, as far as that can be told.
    pub fn segments_done(&self) -> f64 {
        self.done.load(Ordering::Relaxed) as f64 / share::WHOLE as f64
    }

    /// A stage of the work on a segment: so many millionths of it, done when the stage is dropped.
    pub(crate) fn stage(&self, share: u64) -> Stage<'_> {
        Stage { flag: self, share, told: 0 }
    }
}

/// See [`CancelFlag::stage`].
pub(crate) struct Stage<'f> {
    flag: &'f CancelFlag,
    share: u64,
    told: u64,
}

impl Stage<'_> {
    /// So much of the stage is done. Costs an atomic addition.
    pub(crate) fn reach(&mut self, done: u64, total: u64) {
        let part = u128::from(self.share) * u128::from(done.min(total)) / u128::from(total.max(1));
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

/// Turns token sequences into grammars.
///
/// Whatever the method, the grammar expands to exactly the tokens given, document by document; no rule
/// crosses a document's border, every rule has at least two symbols and is used at least twice, and
/// parents come before children. Equal input gives an equal grammar, on any number of threads.
pub trait GrammarBuilder {
    /// Builds the grammar of `tokens`, looking at `cancel` every few milliseconds.
    fn build(&self, tokens: TokenSequence, cancel: &CancelFlag) -> Result<Grammar, Cancelled>;
}
