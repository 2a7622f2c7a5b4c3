//! What can go wrong with a pool: facts, and no advice, which depends on the program that asks.

use std::path::PathBuf;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with a pool.
#[expect(missing_docs, reason = "messages show what fields are")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pool's file cannot be made, mapped, grown or synced.
    #[error("cannot access the pool {}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The device is full.
    #[error("the pool {} cannot grow to {needed} bytes", path.display())]
    NoRoom { path: PathBuf, needed: u64, source: std::io::Error },
    /// Another process works in it.
    #[error("the pool {} is in use by another process", path.display())]
    InUse { path: PathBuf },
    /// Whoever waited for another process wants no more.
    #[error("cancelled")]
    Cancelled,
    /// The file is something else.
    #[error(
        "{} is not a pool: expected the bytes that a pool begins with, found others; it was left \
         as it is",
        path.display()
    )]
    NotAPool { path: PathBuf },
    /// The pool is of another version of tadoc.
    #[error(
        "the pool {} has format version {found}; version {supported} is supported",
        path.display()
    )]
    OtherVersion { path: PathBuf, found: u64, supported: u64 },
    /// The pool is of another archive, or of this one before it was changed.
    #[error(
        "the pool {} is of another archive, or of this one before a change: its fingerprint is \
         {:016x}{:016x}, expected {:016x}{:016x}",
        path.display(), found[0], found[1], expected[0], expected[1]
    )]
    OtherArchive { path: PathBuf, expected: [u64; 2], found: [u64; 2] },
    /// The header's checksum is wrong.
    #[error(
        "the header of the pool {} is damaged: its bytes are not those that were written",
        path.display()
    )]
    DamagedHeader { path: PathBuf },
    /// What was just written is not what is read.
    #[error(
        "the pool {} has other bytes than were just written to it: its device is failing",
        path.display()
    )]
    FailingDevice { path: PathBuf },
    /// What the view or the task is made of is wrong, or the task cannot be asked of the view.
    #[error(transparent)]
    Core(tadoc_core::Error),
    /// The pool cannot do this at all.
    #[error("the pool backend does not support {what}")]
    Unsupported { what: String },
}

impl From<Error> for tadoc_core::Error {
    /// What was said to the pool goes on as what it was.
    fn from(error: Error) -> Self {
        match error {
            Error::Core(error) => error,
            Error::Cancelled => Self::Cancelled,
            error => Self::backend(error),
        }
    }
}

impl From<tadoc_core::Error> for Error {
    /// What a pool said to a task comes back as what it was.
    fn from(error: tadoc_core::Error) -> Self {
        match error {
            tadoc_core::Error::Backend(error) => match error.downcast() {
                Ok(own) => *own,
                Err(other) => Self::Core(tadoc_core::Error::Backend(other)),
            },
            error => Self::Core(error),
        }
    }
}
