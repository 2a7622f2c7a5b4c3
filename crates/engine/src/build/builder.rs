//! The contract of grammar builders, and the choice of one.

pub use tadoc_core::cancel::{CancelFlag, Cancelled, Stage};
use tadoc_core::{Grammar, TokenSequence};

/// What each stage of the work on a segment takes, about, where building and encoding it fast is a million.
pub(crate) mod share {
    use tadoc_core::archive::Level;

    /// Merging the dictionaries of the threads.
    pub(crate) const MERGE: u64 = 60_000;
    /// Building the grammar.
    pub(crate) const BUILD: u64 = 780_000;
    /// Of building by Re-Pair: taking out repeated lines, and pairing what the chunks left.
    pub(crate) const LINES: u64 = 80_000;
    pub(crate) const JOINED: u64 = 200_000;
    /// All of it, with encoding.
    pub(crate) const fn total(level: Level) -> u64 {
        MERGE + BUILD + level.encoding_work()
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
