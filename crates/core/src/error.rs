//! The errors of reading and writing compressed corpora, worded for the person who meets them: what
//! was expected, what was found, what to do.

use std::path::{Path, PathBuf};

use crate::{Cancelled, GrammarError};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not begin as an archive does.
    #[error("not a tadoc archive: {found}; expected a file made by `tadoc compress`")]
    NotAnArchive {
        /// What the file holds instead.
        found: String,
    },
    /// The archive is of a format that this version cannot read.
    #[error(
        "the archive has format version {found}, this tadoc reads up to version {supported}; use a newer tadoc"
    )]
    UnsupportedVersion {
        /// Version in the file.
        found: u32,
        /// Highest version that can be read.
        supported: u32,
    },
    /// The archive would have more segments than can be read.
    #[error(
        "the archive would have more than {most} segments, which none can have; nothing was written; give more memory, so that segments are larger"
    )]
    TooManySegments {
        /// How many an archive can have.
        most: u64,
    },
    /// The file ends before it should.
    #[error(
        "the archive is cut short: {what} needs {needed} bytes, {available} are there; fetch or copy it again"
    )]
    Truncated {
        /// Which part.
        what: String,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// Bytes are not those that were written.
    #[error(
        "the archive is damaged: checksum of {what} is {found:016x}, expected {expected:016x}; restore it from a copy"
    )]
    Checksum {
        /// Which part.
        what: String,
        /// Checksum recorded.
        expected: u64,
        /// Checksum of what is there.
        found: u64,
    },
    /// The checksums hold, but the content cannot be.
    #[error(
        "the archive is malformed: {what}; it was not written by tadoc, or by a broken version"
    )]
    Malformed {
        /// What is wrong.
        what: String,
    },
    /// The grammar in the archive is not one.
    #[error("the archive is malformed: {0}; it was not written by tadoc, or by a broken version")]
    Grammar(#[from] GrammarError),
    /// The names of the documents are longer than an archive can hold.
    #[error(
        "the names of the documents have {bytes} bytes together, more than the {most} that an archive can hold; use shorter names or several archives"
    )]
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
    #[error("{} exists already; give another name, or --force to replace it", path.display())]
    Exists {
        /// Which one.
        path: PathBuf,
    },
    /// The view that is stored beside an archive cannot be used.
    #[error(
        "the stored view {} cannot be used: {reason}; delete it, or make it again with `tadoc index --view`",
        path.display()
    )]
    StoredView {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Bytes follow an archive that are no journal.
    #[error(
        "the file has {length} bytes, where {stored} were written, and the rest is no journal of edits; fetch or copy it again"
    )]
    BytesBehindArchive {
        /// Bytes of the archive.
        stored: u64,
        /// Bytes of the file.
        length: u64,
    },
    /// The journal is of a format that this version cannot read.
    #[error(
        "the archive has edits in a journal of version {found}, this tadoc reads version {supported}; use a newer tadoc"
    )]
    UnsupportedJournal {
        /// Version in the file.
        found: u32,
        /// The version that can be read.
        supported: u32,
    },
    /// Bytes of the journal are not those that were written.
    #[error(
        "the journal of edits is damaged at byte {position} of the file: {reason}; {transactions} transactions with {edits} edits \
         before it are whole: restore the archive from a copy, or keep these and drop the rest with `tadoc recompress --keep-whole`"
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
    #[error(
        "{}: edits can no longer be written: {reason}; what was acknowledged is kept: when the cause is gone, make the others again",
        path.display()
    )]
    JournalFailed {
        /// The archive.
        path: PathBuf,
        /// What failed.
        reason: String,
    },
    /// Another process edits or replaces the archive.
    #[error(
        "{} is being edited or replaced by another process; wait until it ends, or work on a copy",
        path.display()
    )]
    Locked {
        /// The archive.
        path: PathBuf,
    },
    /// Another file has the archive's name now.
    #[error(
        "{} was replaced or removed while it was edited; open it again, and make the edits again that were not acknowledged",
        path.display()
    )]
    Replaced {
        /// The archive.
        path: PathBuf,
    },
    /// An edit that no archive can have.
    #[error("this cannot be an edit: {what}")]
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
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
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

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
