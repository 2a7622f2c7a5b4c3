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
    /// The device is full.
    #[error(
        "the pool {} cannot grow to {needed} bytes: {source}; make room, or give it another place with --pool", path.display()
    )]
    NoRoom {
        /// Which one.
        path: PathBuf,
        /// Bytes that it should have had.
        needed: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process works in it.
    #[error(
        "the pool {} is in use by another process; wait for it, or give another file with --pool", path.display()
    )]
    InUse {
        /// Which one.
        path: PathBuf,
    },
    /// Whoever waited for another process wants no more.
    #[error("cancelled")]
    Cancelled,
    /// The file is something else.
    #[error(
        "{} is not a pool: expected the bytes that a pool begins with, found others; it was left as it is, give another file with --pool",
        path.display()
    )]
    NotAPool {
        /// Which file.
        path: PathBuf,
    },
    /// The pool is of another version of tadoc.
    #[error(
        "the pool {} has version {found}, this tadoc works in version {supported}; delete it, or give another file with --pool", path.display()
    )]
    OtherVersion {
        /// Which one.
        path: PathBuf,
        /// The version it has.
        found: u64,
        /// The version that this crate has.
        supported: u64,
    },
    /// The pool is of another archive, or of this one before it was changed.
    #[error(
        "the pool {} is of another archive, or of this one before a change (expected fingerprint {:016x}{:016x}, found {:016x}{:016x}); \
         delete it, or give another file with --pool", path.display(), expected[0], expected[1], found[0], found[1]
    )]
    OtherArchive {
        /// Which one.
        path: PathBuf,
        /// The archive's fingerprint.
        expected: [u64; 2],
        /// The fingerprint that the pool has.
        found: [u64; 2],
    },
    /// The header's checksum is wrong.
    #[error(
        "the header of the pool {} is damaged: its bytes are not those that were written; delete the file, or give another one with --pool",
        path.display()
    )]
    DamagedHeader {
        /// Which one.
        path: PathBuf,
    },
    /// What was just written is not what is read.
    #[error(
        "the pool {} has other bytes than were just written to it, so its device is failing; give it another place with --pool", path.display()
    )]
    FailingDevice {
        /// Which one.
        path: PathBuf,
    },
    /// What the view or the task is made of is wrong, or the task cannot be asked of the view.
    #[error(transparent)]
    Core(tadoc_core::Error),
    /// The pool cannot do this at all.
    #[error("the pool backend cannot do this: {what}; use --backend cpu")]
    Unsupported {
        /// What is too much for it.
        what: String,
    },
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
