//! The contract of grammar builders, and the choice of one.

pub use tadoc_core::cancel::{CancelFlag, Cancelled};
use tadoc_core::{Grammar, TokenSequence};

/// Turns token sequences into grammars.
///
/// Whatever the method, the grammar expands to exactly the tokens given, document by document; no rule
/// crosses a document's border, every rule has at least two symbols and is used at least twice, and
/// parents come before children. Equal input gives an equal grammar, on any number of threads.
pub trait GrammarBuilder {
    /// Builds the grammar of `tokens`, looking at `cancel` every few milliseconds.
    fn build(&self, tokens: TokenSequence, cancel: &CancelFlag) -> Result<Grammar, Cancelled>;
}
