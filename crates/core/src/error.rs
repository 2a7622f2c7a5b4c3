//! The errors of reading and writing compressed corpora: what was being done, what was found, what
//! was expected. What to do about them depends on the program, which says it.
//!
//! A cause is either in the text of an error or its [`source`](std::error::Error::source), never
//! both: print the chain to show all of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Cancelled, GrammarError};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not begin as an archive does.
    #[error("not a tadoc archive: {found}")]
    NotAnArchive {
        /// What the file holds instead.
        found: String,
    },
    /// A file is of a format that this version cannot read.
    #[error("{what} has format version {found}; versions up to {supported} are supported")]
    UnsupportedVersion {
        /// What has it: the archive, or a view that is stored.
        what: &'static str,
        /// Version in the file.
        found: u32,
        /// Highest version that can be read.
        supported: u32,
    },
    /// The archive would have more segments than can be read.
    #[error("the archive would have too many segments: at most {most} are supported")]
    TooManySegments {
        /// How many an archive can have.
        most: u64,
    },
    /// The file ends before it should.
    #[error("cut short: {what} needs {needed} bytes, {available} are there")]
    Truncated {
        /// Which part.
        what: String,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// Bytes are not those that were written.
    #[error("damaged: the checksum of {what} is {found:016x}, expected {expected:016x}")]
    Checksum {
        /// Which part.
        what: String,
        /// Checksum recorded.
        expected: u64,
        /// Checksum of what is there.
        found: u64,
    },
    /// The checksums hold, but the content cannot be.
    #[error("malformed: {what}")]
    Malformed {
        /// What is wrong.
        what: String,
    },
    /// The grammar in the archive is not one.
    #[error("malformed: {0}")]
    Grammar(GrammarError),
    /// The names of the documents are longer than an archive can hold.
    #[error("the names of the documents have {bytes} bytes together; at most {most} are supported")]
    NamesTooLong {
        /// Bytes of all names.
        bytes: u64,
        /// How many they may have.
        most: u64,
    },
    /// What is decoded would take more memory than is allowed.
    #[error(
        "{what} would pass the limit of {} of memory: {} are taken, and {} more are needed",
        size(*limit), size(*used), size(*needed)
    )]
    MemoryLimit {
        /// What would need it.
        what: &'static str,
        /// Bytes that it would need.
        needed: u64,
        /// Bytes that are taken.
        used: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// The output is there already.
    #[error("{} exists already", path.display())]
    Exists {
        /// Which one.
        path: PathBuf,
    },
    /// The view that is stored beside an archive cannot be used.
    #[error("the stored view {} cannot be used", path.display())]
    StoredView {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        source: Box<Self>,
    },
    /// Bytes follow an archive that are no journal.
    #[error(
        "the file has {length} bytes, {stored} were written, and the rest is no journal of edits"
    )]
    BytesBehindArchive {
        /// Bytes of the archive.
        stored: u64,
        /// Bytes of the file.
        length: u64,
    },
    /// The journal is of a format that this version cannot read.
    #[error(
        "the archive has edits in a journal of version {found}; version {supported} is supported"
    )]
    UnsupportedJournal {
        /// Version in the file.
        found: u32,
        /// The version that can be read.
        supported: u32,
    },
    /// Bytes of the journal are not those that were written.
    #[error(
        "the journal of edits is damaged at byte {position} of the file: {reason}; {transactions} \
         transactions with {edits} edits before it are whole"
    )]
    DamagedJournal {
        /// Where the first record starts that is not whole.
        position: u64,
        /// What was expected and found.
        reason: String,
        /// Whole transactions before it.
        transactions: u64,
        /// Edits in these.
        edits: u64,
    },
    /// Edits cannot be written, since writing or syncing failed before.
    #[error("{}: edits can no longer be written: {what}", path.display())]
    JournalFailed {
        /// The archive.
        path: PathBuf,
        /// What failed.
        what: &'static str,
        /// What the system said, if it was the system.
        source: Option<Arc<std::io::Error>>,
    },
    /// Another process edits or replaces the archive.
    #[error("{} is being edited or replaced by another process", path.display())]
    Locked {
        /// The archive.
        path: PathBuf,
    },
    /// Another file has the archive's name now.
    #[error("{} was replaced or removed while it was edited", path.display())]
    Replaced {
        /// The archive.
        path: PathBuf,
    },
    /// An edit that no archive can have.
    #[error("not an edit that an archive can have: {what}")]
    BadEdit {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The view has counts instead of a root: it does not know where terms occur.
    #[error("the view has counts only, but the task needs to know where terms occur")]
    CountsOnly,
    /// A length outside of its limits.
    #[error(
        "{what} of {given} terms was asked for: at least {least} and at most {most} are supported"
    )]
    BadLength {
        /// What has this length: a sequence or a window.
        what: &'static str,
        /// The length.
        given: usize,
        /// The least that is supported.
        least: usize,
        /// The most.
        most: usize,
    },
    /// A corpus that is too large for a task.
    #[error("{what} is not supported")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// A backend, or the storage that it works in, failed: no room, no memory, a device that does not answer.
    #[error(transparent)]
    Backend(Box<dyn std::error::Error + Send + Sync>),
    /// The work was ended by a [`crate::CancelFlag`].
    #[error("cancelled")]
    Cancelled,
    /// A temporary file could not be made or used.
    #[error("cannot use a temporary file in {}", folder.display())]
    TemporaryFile {
        /// The folder for such files.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file or folder could not be read or written.
    #[error("cannot access {}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Bytes in the largest binary unit that keeps them above 1.
fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (bytes.max(1).ilog2() / 10) as usize;
    match unit {
        0 => format!("{bytes} bytes"),
        _ => format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * unit)) as f64, units[unit]),
    }
}

impl Error {
    /// A [`Error::Malformed`] with this text.
    pub fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed { what: what.into() }
    }

    /// An [`Error::Backend`] of a backend's own error.
    pub fn backend(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Backend(Box::new(error))
    }

    /// The file that the message names, if it names one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Exists { path }
            | Self::StoredView { path, .. }
            | Self::JournalFailed { path, .. }
            | Self::Locked { path }
            | Self::Replaced { path }
            | Self::Io { path, .. } => Some(path),
            _ => None,
        }
    }

    /// An [`Error::Io`] about this path.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}

impl From<GrammarError> for Error {
    fn from(error: GrammarError) -> Self {
        Self::Grammar(error)
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
