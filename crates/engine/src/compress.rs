//! From files to an archive.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::build::lexer::Lexer;
use crate::error::Result;
use crate::progress::Observer;
use crate::{Level, Timestamp};

/// Which method finds the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Builder {
    /// Re-Pair: offline, the smallest grammars, on all threads.
    #[default]
    RePair,
    /// Sequitur: online, the papers' method, one thread a segment.
    Sequitur,
}

/// How files become documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Split {
    /// A file is a document.
    #[default]
    Files,
    /// A line, with its line feed, is a document: `NAME:0000000001` and so on.
    Lines,
}

/// How to compress.
#[derive(Debug, Clone, Default)]
pub struct CompressOptions {
    /// Which bytes are words.
    pub lexer: Lexer,
    /// Which method finds the repetitions.
    pub builder: Builder,
    /// How the archive is encoded.
    pub level: Level,
    /// How files become documents.
    pub split: Split,
    /// The most memory to use, in bytes; text beyond it becomes further segments. `None`: three quarters
    /// of what the machine has free.
    pub memory: Option<u64>,
    /// Threads to use; `None`: as many as the machine has cores.
    pub threads: Option<usize>,
    /// Replace the output if it exists.
    pub force: bool,
}

/// One file to compress.
pub struct Input {
    /// The document's name, `/` between folders.
    pub name: Vec<u8>,
    /// Where its bytes come from.
    pub source: Source,
    /// When it was last modified.
    pub modified: Option<Timestamp>,
    /// Its permission bits.
    pub mode: Option<u32>,
}

/// Opens a stream when its turn has come.
pub type Opener = Box<dyn FnOnce() -> std::io::Result<Box<dyn Read + Send>> + Send>;

/// Where the bytes of an input come from.
pub enum Source {
    /// A file, read up to the length that it has when it is opened.
    File(PathBuf),
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// Anything that can be read, opened when its turn has come and read to its end. The path is for
    /// error messages.
    Stream(PathBuf, Opener),
}

/// What came of compressing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressReport {
    /// Documents in the archive.
    pub documents: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Segments in the archive.
    pub segments: u64,
    /// Files that grew while they were read; what was there when they were opened is in the archive.
    pub grown: Vec<PathBuf>,
}

/// Compresses `inputs` into a new archive at `output`.
///
/// The archive appears under its name only when it is whole: it is written aside, synced and renamed.
/// Documents are stored in byte order of their names.
pub fn compress(
    inputs: Vec<Input>,
    output: &Path,
    options: &CompressOptions,
    observer: &dyn Observer,
) -> Result<CompressReport> {
    let _ = (inputs, output, options, observer);
    todo!()
}

/// Encodes the archive at `from` anew at `level` into `to`; grammars, documents and answers stay as they
/// are.
pub fn transcode(
    from: &Path,
    to: &Path,
    level: Level,
    force: bool,
    observer: &dyn Observer,
) -> Result<CompressReport> {
    let _ = (from, to, level, force, observer);
    todo!()
}
