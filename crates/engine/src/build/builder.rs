//! The contract of grammar builders, and the choice of one.

use std::sync::atomic::{AtomicBool, Ordering};

use tadoc_core::{Grammar, TokenSequence};

/// The work was ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// A flag that ends work from another thread: whoever works looks at it now and then.
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

/// Turns token sequences into grammars.
///
/// Whatever the method, the grammar expands to exactly the tokens given, document by document; no rule
/// crosses a document's border, every rule has at least two symbols and is used at least twice, and
/// parents come before children. Equal input gives an equal grammar, on any number of threads.
pub trait GrammarBuilder {
    /// Builds the grammar of `tokens`, looking at `cancel` every few milliseconds.
    fn build(&self, tokens: TokenSequence, cancel: &CancelFlag) -> Result<Grammar, Cancelled>;
}
