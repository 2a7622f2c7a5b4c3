//! What can go wrong, worded for the person who meets it: what was expected, what was found, what to do.

use std::path::{Path, PathBuf};

use crate::analyzer::language::names;
use crate::analyzer::{Language, StopWords};
use crate::text::{counted, escape};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong when compressing, opening, restoring, verifying, asking and editing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be read or written.
    #[error(transparent)]
    Archive(tadoc_core::Error),
    /// A file or folder could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The output is there already.
    #[error("{} exists already; give another name, or --force to replace it", path.display())]
    Exists {
        /// Which one.
        path: PathBuf,
    },
    /// Two documents have one name.
    #[error(
        "two documents are called {:?}; a name can be used once: leave one out or compress from a common folder",
        escape(name)
    )]
    DuplicateName {
        /// The name.
        name: Vec<u8>,
    },
    /// A name that no document can have.
    #[error("{:?} cannot be the name of a document: it {reason}", escape(name))]
    BadName {
        /// The name.
        name: Vec<u8>,
        /// Why not: a verb and what follows.
        reason: &'static str,
    },
    /// A document would be a file where a folder of others has to be.
    #[error(
        "{:?} cannot be both a document and a folder, as of {:?}: they could not be restored; give one of them another name",
        escape(name),
        escape(below)
    )]
    FileAndFolder {
        /// The document.
        name: Vec<u8>,
        /// A document that is in a folder of that name.
        below: Vec<u8>,
    },
    /// A file was rewritten while it was read.
    #[error("{} changed while it was read; compress a copy or a snapshot of it", path.display())]
    Changed {
        /// Which one.
        path: PathBuf,
    },
    /// A line that was to be a document is too long for the memory allowed.
    #[error(
        "{}: a line has more than {most} bytes, too much for one document; raise --memory, or take files as documents",
        path.display()
    )]
    LongLine {
        /// The file.
        path: PathBuf,
        /// How long a line may be.
        most: u64,
    },
    /// Something went wrong in one of the archives that are asked.
    #[error("{}", archive.display())]
    InArchive {
        /// Which one.
        archive: PathBuf,
        /// What went wrong.
        source: Box<Error>,
    },
    /// Several archives have a document of that name, and one is wanted.
    #[error(
        "{:?} is in {}, and one document is wanted",
        escape(name),
        archives.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and in ")
    )]
    Ambiguous {
        /// The name asked for.
        name: Vec<u8>,
        /// The archives that have it.
        archives: Vec<PathBuf>,
    },
    /// What is done to one archive was asked of several.
    #[error("edits are of one archive, and the corpus has {archives}")]
    SeveralArchives {
        /// How many the corpus has.
        archives: usize,
    },
    /// What was asked for as a document is a folder of documents.
    #[error("there is no document {:?}, but a folder of that name", escape(name))]
    IsFolder {
        /// The name asked for.
        name: Vec<u8>,
    },
    /// What was asked for is neither the name of a document nor a glob.
    #[error("no document is called {:?}, and it is no glob either: {reason}", escape(glob))]
    BadGlob {
        /// What was asked for.
        glob: Vec<u8>,
        /// Why it is no glob.
        reason: String,
    },
    /// There is no document of that name.
    #[error("the archive has no document {:?}; `tadoc list` shows what it has", escape(name))]
    NoSuchDocument {
        /// The name asked for.
        name: Vec<u8>,
    },
    /// A document's name leads out of the folder to restore into.
    #[error("document {:?} is not restored: {reason}; use `tadoc cat` to read it", escape(name))]
    UnsafeName {
        /// The name.
        name: Vec<u8>,
        /// What is wrong with it.
        reason: String,
    },
    /// A document does not expand to what was compressed.
    #[error(
        "document {:?}{} is damaged: its digest is {found:08x}, expected {expected:08x}; restore the archive from a copy",
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
        /// Digest recorded.
        expected: u32,
        /// Digest of what the archive expands to.
        found: u32,
    },
    /// The memory allowed is too little for any work.
    #[error("--memory {given} is too little: at least {least} bytes are needed")]
    TooLittleMemory {
        /// Bytes allowed.
        given: u64,
        /// Bytes needed at least.
        least: u64,
    },
    /// More of something than one view can have.
    #[error(
        "more than {most} {what} cannot be one question; ask about fewer documents or archives"
    )]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// Documents were chosen that are not there, or not in order.
    #[error(
        "document {number} cannot be chosen: numbers ascend, each is given once, and there are {documents} in all"
    )]
    BadChoice {
        /// The number of the document.
        number: u32,
        /// How many documents there are.
        documents: u64,
    },
    /// The view has counts only, and no documents.
    #[error("this view has counts only; make a whole one for any task but word count and sort")]
    CountsOnly,
    /// A number that is out of its range.
    #[error("{name} is {range}, not {given}")]
    BadParameter {
        /// What it is.
        name: &'static str,
        /// The number.
        given: f64,
        /// What is possible.
        range: &'static str,
    },
    /// A length that is not possible.
    #[error("{what} has {least} to {most} terms, not {given}")]
    BadLength {
        /// What it is the length of.
        what: &'static str,
        /// The length asked for.
        given: usize,
        /// The least that is possible.
        least: usize,
        /// The most that is possible.
        most: usize,
    },
    /// The GPU that was asked for cannot be used, or failed.
    #[error("{what}")]
    Gpu {
        /// What is wrong, and what to do.
        what: String,
    },
    /// This build cannot use GPUs.
    #[error(
        "this tadoc was built without the GPU backend; build it with the feature `gpu`, or take `--backend cpu`"
    )]
    NoGpuBackend,
    /// The pool cannot be used, or what was asked for cannot be done in it.
    #[cfg(feature = "pool")]
    #[error(transparent)]
    Pool(tadoc_pool::Error),
    /// A pool was asked for and none was named.
    #[error("--backend pool needs a file to work in; give one with --pool FILE")]
    NoPool,
    /// A view was asked in a pool that has another one.
    #[error("this view is not the one in the pool; take the one that the pool gives")]
    OtherView,
    /// This build has no pools.
    #[error(
        "this tadoc was built without the pool backend; build it with the feature `pool`, or take `--backend cpu`"
    )]
    NoPoolBackend,
    /// Edits were asked for in a pool.
    #[error("batches with edits have no pool backend; use --backend cpu")]
    NoReadsInPool,
    /// There is no language of that name.
    #[error("there is no language {given:?}; there are: {}", names(Language::ALL))]
    UnknownLanguage {
        /// The name asked for.
        given: String,
    },
    /// There are no stop words for that language.
    #[error(
        "there is no list of stop words for {language}; there is one for: {}; for another language, give \
         a list of your own",
        names(StopWords::LANGUAGES)
    )]
    NoStopWords {
        /// The language asked for.
        language: Language,
    },
    /// A regular expression cannot be read, or would be too large.
    #[error("{pattern:?} is not a regular expression that can be used: {reason}")]
    BadPattern {
        /// The regular expression.
        pattern: String,
        /// What is wrong with it; may have several lines, in which a caret points at the place.
        reason: String,
    },
    /// The archive was made with a lexer that this version does not have.
    #[error(
        "the archive was made with the lexer {name:?}, which this tadoc does not have; use a newer tadoc"
    )]
    UnknownLexer {
        /// Its name.
        name: String,
    },
    /// The archive was made with a builder that this version does not have.
    #[error(
        "the archive was made with the builder {name:?}, which this tadoc does not have; use a newer tadoc"
    )]
    UnknownBuilder {
        /// Its name.
        name: String,
    },
    /// An offset is past the end of a document.
    #[error(
        "offset {offset} is past the end of {:?}, which has {}; offsets count bytes from 0",
        escape(name),
        counted(*bytes, "byte", "bytes")
    )]
    OffsetPastEnd {
        /// The document.
        name: Vec<u8>,
        /// The offset asked for.
        offset: u64,
        /// The document's length.
        bytes: u64,
    },
    /// A range starts in a document and ends past its end.
    #[error(
        "{} from offset {offset} on {} past the end of {:?}, which has {left} from there; give \
         a smaller length",
        counted(*length, "byte", "bytes"),
        if *length == 1 { "is" } else { "are" },
        escape(name)
    )]
    RangePastEnd {
        /// The document.
        name: Vec<u8>,
        /// Where the range starts.
        offset: u64,
        /// Its length.
        length: u64,
        /// How many bytes there are from its start on.
        left: u64,
    },
    /// There is a document of that name already.
    #[error(
        "the archive has a document {:?} already; give another name, or remove or rename that one first",
        escape(name)
    )]
    DocumentExists {
        /// The name.
        name: Vec<u8>,
    },
    /// A number that no document was ever given.
    #[error("there is no document number {number}; numbers given so far are below {next}")]
    NoSuchNumber {
        /// The number.
        number: u32,
        /// The first number that is free.
        next: u32,
    },
    /// A document would become longer than one can be.
    #[error(
        "{:?} would become longer than {most} bytes, which no document can be; add the text as another document",
        escape(name)
    )]
    DocumentTooLong {
        /// The document.
        name: Vec<u8>,
        /// How long it may be.
        most: u64,
    },
    /// A corpus would have more of something than one can have.
    #[error("a corpus can have at most {most} {what}; begin another archive")]
    CorpusFull {
        /// What it would have too much of.
        what: &'static str,
        /// How much it can have.
        most: u64,
    },
    /// An edit of documents, not of text, in a batch whose offsets mean the text before it.
    #[error(
        "a batch with snapshot offsets cannot {what} documents, only change their text; put that into a batch \
         of its own, or give offsets in sequence"
    )]
    NotInSnapshot {
        /// What the edit would do to documents.
        what: &'static str,
    },
    /// An archive has edits that what is to be done would not take along.
    #[error(
        "{} has {} not part of its grammars yet; run `tadoc recompress` first",
        path.display(),
        counted(*edits, "edit that is", "edits that are")
    )]
    HasEdits {
        /// The archive.
        path: PathBuf,
        /// How many.
        edits: u64,
    },
    /// There is no word in what is to be looked for.
    #[error(
        "there is no word in {:?}; give a word or words in a row, or use `tadoc grep -F` to look for characters",
        escape(given)
    )]
    NoWord {
        /// What was given.
        given: Vec<u8>,
    },
    /// What is to be looked for has more than words and white space in it.
    #[error(
        "{:?} is not one word for this archive but {}; to look for these words in a row, give {words:?}; to look \
         for exactly these characters, use `tadoc grep -F`",
        escape(given),
        if *count == 1 { "a word and other characters".to_string() } else { format!("{count} words") }
    )]
    NotWords {
        /// What was given.
        given: Vec<u8>,
        /// How many words there are in it.
        count: usize,
        /// The words, joined by spaces.
        words: String,
    },
    /// Edits could not be written, so that what the editor knows is no longer what is on disk.
    #[error(
        "{} can no longer be edited: writing an edit has failed before; open it again to go on with what was committed",
        path.display()
    )]
    EditorFailed {
        /// The archive.
        path: PathBuf,
    },
    /// An editor has lent its archive to a transaction.
    #[error(
        "{} has a transaction that is open; commit it or roll it back first",
        path.display()
    )]
    TransactionOpen {
        /// The archive.
        path: PathBuf,
    },
    /// The system refused to start a thread.
    #[error(
        "cannot start a thread: {source}; allow more processes (`ulimit -u`) or more memory, or end others"
    )]
    Threads {
        /// What the system said.
        source: std::io::Error,
    },
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
            Self::WrongDigest { .. } => true,
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

    /// Whether what was asked for needs more memory than was allowed for the archive.
    pub fn is_memory_limit(&self) -> bool {
        matches!(self.innermost(), Self::Archive(tadoc_core::Error::MemoryLimit { .. }))
    }

    /// What a backend has errors of its own for.
    fn of_backend(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        #[cfg(feature = "gpu")]
        if let Some(error) = error.downcast_ref::<tadoc_gpu::Error>() {
            return Self::Gpu { what: error.to_string() };
        }
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
