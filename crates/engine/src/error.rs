//! What can go wrong: what was being done, what was found, what was expected. What to do about it
//! depends on the program, which says it.
//!
//! A cause is either in the text of an error or its [`source`](std::error::Error::source), never
//! both: print the chain to show all of it.

use std::path::{Path, PathBuf};

use crate::analyzer::language::names;
use crate::analyzer::{Language, StopWords};
use crate::text::{counted, escape};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong when compressing, opening, restoring, verifying, asking and editing.
#[expect(missing_docs, reason = "messages show what fields are")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be read or written.
    #[error(transparent)]
    Archive(tadoc_core::Error),
    /// A file or folder could not be read or written.
    #[error("cannot access {}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The output is there already.
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    /// Two documents have one name.
    #[error("two documents are called {:?}", escape(name))]
    DuplicateName { name: Vec<u8> },
    /// A name that no document can have.
    #[error("{:?} cannot be the name of a document: it {reason}", escape(name))]
    BadName {
        name: Vec<u8>,
        /// Why not: a verb and what follows.
        reason: &'static str,
    },
    /// A document would be a file where a folder of others has to be.
    #[error(
        "{:?} cannot be both a document and a folder, as of {:?}: they could not be restored",
        escape(name),
        escape(below)
    )]
    FileAndFolder {
        name: Vec<u8>,
        /// A document that is in a folder of that name.
        below: Vec<u8>,
    },
    /// A file was rewritten while it was read.
    #[error("{} changed while it was read", path.display())]
    Changed { path: PathBuf },
    /// A line that was to be a document is too long for the memory allowed.
    #[error(
        "{}: a line has more than {most} bytes, too long for one document in the memory allowed",
        path.display()
    )]
    LongLine { path: PathBuf, most: u64 },
    /// Something went wrong in one of the archives that are asked.
    #[error("{}", archive.display())]
    InArchive { archive: PathBuf, source: Box<Error> },
    /// Several archives have a document of that name, and one is wanted.
    #[error(
        "{:?} is in {}, and one document is wanted",
        escape(name),
        archives.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and in ")
    )]
    Ambiguous { name: Vec<u8>, archives: Vec<PathBuf> },
    /// What is done to one archive was asked of several.
    #[error("edits are of one archive, and the corpus has {archives}")]
    SeveralArchives { archives: usize },
    /// What was asked for as a document is a folder of documents.
    #[error("there is no document {:?}, but a folder of that name", escape(name))]
    IsFolder { name: Vec<u8> },
    /// What was asked for is neither the name of a document nor a glob.
    #[error("no document is called {:?}, and it is no glob either: {reason}", escape(glob))]
    BadGlob { glob: Vec<u8>, reason: String },
    /// There is no document of that name.
    #[error("the archive has no document {:?}", escape(name))]
    NoSuchDocument { name: Vec<u8> },
    /// A document's name leads out of the folder to restore into.
    #[error("document {:?} is not restored: {reason}", escape(name))]
    UnsafeName { name: Vec<u8>, reason: String },
    /// A document does not expand to what was compressed.
    #[error(
        "document {:?}{} is damaged: its digest is {found:08x}, expected {expected:08x}",
        escape(name),
        match others {
            0 => String::new(),
            1 => " or the one behind it".into(),
            others => format!(" or one of the {others} behind it"),
        }
    )]
    WrongDigest {
        /// The document, or the first of several that have one digest together.
        name: Vec<u8>,
        /// How many documents behind it have the same digest.
        others: u64,
        expected: u32,
        /// Digest of what the archive expands to.
        found: u32,
    },
    /// The index of a segment is not the one that its text gives.
    #[error("the index of segment {segment} is not that of its text")]
    WrongIndex { segment: usize },
    /// The memory allowed is too little for any work.
    #[error("too little memory: at least {least} bytes are needed, {given} are allowed")]
    TooLittleMemory { given: u64, least: u64 },
    /// More of something than one view can have.
    #[error("too many {what}: at most {most} are supported")]
    TooMany { what: &'static str, most: u64 },
    /// Documents were chosen that are not there, or not in order.
    #[error(
        "document {number} cannot be chosen: numbers ascend, each is given once, and there are \
         {documents} in all"
    )]
    BadChoice { number: u32, documents: u64 },
    /// The view has counts only, and no documents.
    #[error("the view has counts only, but the task needs to know where terms occur")]
    CountsOnly,
    /// A number that is out of its range.
    #[error("{name} is {range}, not {given}")]
    BadParameter { name: &'static str, given: f64, range: &'static str },
    /// A length that is not possible.
    #[error("{what} of {given} terms: at least {least} and at most {most} are supported")]
    BadLength { what: &'static str, given: usize, least: usize, most: usize },
    /// The GPU that was asked for cannot be used, or failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] tadoc_gpu::Error),
    /// This build cannot use GPUs.
    #[error("the GPU backend is not part of this build, which has no feature `gpu`")]
    NoGpuBackend,
    /// The pool cannot be used, or what was asked for cannot be done in it.
    #[cfg(feature = "pool")]
    #[error(transparent)]
    Pool(tadoc_pool::Error),
    /// A pool was asked for and none was named.
    #[error("the pool backend needs a file to work in")]
    NoPool,
    /// A view was asked in a pool that has another one.
    #[error("the view is not the one that the pool gave")]
    OtherView,
    /// This build has no pools.
    #[error("the pool backend is not part of this build, which has no feature `pool`")]
    NoPoolBackend,
    /// A batch with edits was to run in a pool.
    #[error("the pool backend does not support batches with edits")]
    NoReadsInPool,
    /// There is no language of that name.
    #[error("there is no language {given:?}; there are: {}", names(Language::ALL))]
    UnknownLanguage { given: String },
    /// There are no stop words for that language.
    #[error(
        "there is no list of stop words for {language}; there is one for: {}",
        names(StopWords::LANGUAGES)
    )]
    NoStopWords { language: Language },
    /// A regular expression cannot be read, or would be too large.
    #[error("{pattern:?} is not a regular expression that can be used: {reason}")]
    BadPattern {
        pattern: String,
        /// What is wrong with it; may have several lines, in which a caret points at the place.
        reason: String,
    },
    /// The archive was made with a lexer that this version does not have.
    #[error("the archive was made with the lexer {name:?}, which this version does not have")]
    UnknownLexer { name: String },
    /// The archive was made with a builder that this version does not have.
    #[error("the archive was made with the builder {name:?}, which this version does not have")]
    UnknownBuilder { name: String },
    /// An offset is past the end of a document.
    #[error(
        "offset {offset} is past the end of {:?}, which has {}; offsets count bytes from 0",
        escape(name),
        counted(*bytes, "byte", "bytes")
    )]
    OffsetPastEnd { name: Vec<u8>, offset: u64, bytes: u64 },
    /// A range starts in a document and ends past its end.
    #[error(
        "{} from offset {offset} on {} past the end of {:?}, which has {left} from there",
        counted(*length, "byte", "bytes"),
        if *length == 1 { "is" } else { "are" },
        escape(name)
    )]
    RangePastEnd {
        name: Vec<u8>,
        offset: u64,
        length: u64,
        /// How many bytes there are from its start on.
        left: u64,
    },
    /// There is a document of that name already.
    #[error("the archive has a document {:?} already", escape(name))]
    DocumentExists { name: Vec<u8> },
    /// A number that no document was ever given.
    #[error("there is no document number {number}; numbers given so far are below {next}")]
    NoSuchNumber { number: u32, next: u32 },
    /// A document would become longer than one can be.
    #[error(
        "{:?} would become too long for a document: at most {most} bytes are supported",
        escape(name)
    )]
    DocumentTooLong { name: Vec<u8>, most: u64 },
    /// A corpus would have more of something than one can have.
    #[error("the corpus would have too many {what}: at most {most} are supported")]
    CorpusFull { what: &'static str, most: u64 },
    /// An edit of documents, not of text, in a batch whose offsets mean the text before it.
    #[error("a batch with snapshot offsets cannot {what} documents, only change their text")]
    NotInSnapshot {
        /// What the edit would do to documents.
        what: &'static str,
    },
    /// An archive has edits that what is to be done would not take along.
    #[error(
        "{} has {} not part of its grammars yet",
        path.display(),
        counted(*edits, "edit that is", "edits that are")
    )]
    HasEdits { path: PathBuf, edits: u64 },
    /// There is no word in what is to be looked for.
    #[error("there is no word in {:?}", escape(given))]
    NoWord { given: Vec<u8> },
    /// What is to be looked for has more than words and white space in it.
    #[error(
        "{:?} is not one word for this archive but {}",
        escape(given),
        if *count == 1 { "a word and other characters".to_string() } else { format!("{count} words") }
    )]
    NotWords {
        given: Vec<u8>,
        count: usize,
        /// The words, joined by spaces.
        words: String,
    },
    /// Edits could not be written, so that what the editor knows is no longer what is on disk.
    #[error("{} can no longer be edited: writing an edit has failed before", path.display())]
    EditorFailed { path: PathBuf },
    /// An editor has lent its archive to a transaction.
    #[error(
        "{} has a transaction that is open; commit it or roll it back first",
        path.display()
    )]
    TransactionOpen { path: PathBuf },
    /// The system refused to start a thread.
    #[error("cannot start a thread")]
    Threads { source: std::io::Error },
    /// The observer ended the work.
    #[error("cancelled")]
    Cancelled,
}

impl From<tadoc_core::Error> for Error {
    /// What is about a file, and not about an archive, is the same error here.
    fn from(error: tadoc_core::Error) -> Self {
        match error {
            tadoc_core::Error::Exists { path } => Self::Exists { path },
            tadoc_core::Error::Io { path, source } => Self::Io { path, source },
            tadoc_core::Error::CountsOnly => Self::CountsOnly,
            tadoc_core::Error::BadLength { what, given, least, most } => {
                Self::BadLength { what, given, least, most }
            }
            tadoc_core::Error::Backend(error) => Self::of_backend(error),
            other => Self::Archive(other),
        }
    }
}

impl Error {
    /// Whether an archive holds other bytes than were written, or fewer.
    pub fn is_damage(&self) -> bool {
        use tadoc_core::Error as Archive;
        match self.innermost() {
            Self::WrongDigest { .. } | Self::WrongIndex { .. } => true,
            Self::Archive(error) => matches!(
                error,
                Archive::Truncated { .. }
                    | Archive::Checksum { .. }
                    | Archive::Malformed { .. }
                    | Archive::Grammar(_)
                    | Archive::BytesBehindArchive { .. }
                    | Archive::DamagedJournal { .. }
            ),
            _ => false,
        }
    }

    /// What a backend has errors of its own for.
    fn of_backend(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        #[cfg(feature = "gpu")]
        let error = match error.downcast::<tadoc_gpu::Error>() {
            Ok(error) => return Self::Gpu(*error),
            Err(error) => error,
        };
        #[cfg(feature = "pool")]
        let error = match error.downcast::<tadoc_pool::Error>() {
            Ok(error) => return (*error).into(),
            Err(error) => error,
        };
        match error.downcast::<Self>() {
            Ok(own) => *own,
            Err(error) => Self::Archive(tadoc_core::Error::Backend(error)),
        }
    }

    /// The same error, in an archive; one that names a file already, or is nobody's, stays as it is.
    #[must_use]
    pub fn of_archive(self, path: &Path) -> Self {
        match self {
            Self::Io { .. } | Self::Exists { .. } | Self::Cancelled | Self::InArchive { .. } => {
                self
            }
            error if error.path() == Some(path) => error,
            error => Self::InArchive { archive: path.to_owned(), source: Box::new(error) },
        }
    }

    /// What went wrong, without the archive that it went wrong in.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::InArchive { source, .. } => source.innermost(),
            error => error,
        }
    }

    /// The file that the message names, if it names one that is no pool.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Archive(error) => error.path(),
            Self::Io { path, .. }
            | Self::Exists { path }
            | Self::Changed { path }
            | Self::LongLine { path, .. }
            | Self::HasEdits { path, .. }
            | Self::EditorFailed { path }
            | Self::TransactionOpen { path } => Some(path),
            _ => None,
        }
    }

    /// An archive that contradicts itself.
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::Archive(tadoc_core::Error::malformed(what))
    }

    /// An [`Error::Io`] about this path.
    pub(crate) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}

impl From<crate::build::builder::Cancelled> for Error {
    fn from(_: crate::build::builder::Cancelled) -> Self {
        Self::Cancelled
    }
}

#[cfg(feature = "pool")]
impl From<tadoc_pool::Error> for Error {
    fn from(error: tadoc_pool::Error) -> Self {
        match error {
            tadoc_pool::Error::Cancelled => Self::Cancelled,
            error => Self::Pool(error),
        }
    }
}
