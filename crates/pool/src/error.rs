//! What can go wrong with a pool, worded for the person who meets it: what was expected, what was found, what to do.

use std::path::PathBuf;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with a pool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pool's file cannot be made, mapped, grown or synced.
    #[error("the pool {}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What the view or the task is made of is wrong.
    #[error(transparent)]
    Core(#[from] tadoc_core::Error),
    /// The view has counts only, and no documents.
    #[error("this view has counts only; make a whole one for any task but word count and sort")]
    CountsOnly,
    /// A task that a pool cannot run on this view.
    #[error("the pool backend cannot do this: {what}; use --backend cpu")]
    Unsupported {
        /// What is too much for it.
        what: String,
    },
}
