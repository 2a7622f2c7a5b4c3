//! Compressing an edited archive again, without expanding it.
//!
//! Segments that no edit has touched are copied. Those of others become again what a fresh archive would have: their roots and rules are
//! paired once more, with old rules as symbols like others. The new archive is written aside and renamed, so that at any
//! moment there is a whole one; readers that have the old one open go on with it.

use std::path::Path;

use super::editor::Editor;
use crate::access::Index;
use crate::error::Result;
use crate::progress::Observer;

/// How to compress again.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecompressOptions {
    /// The index that the archive is to have; `None`: the one that it has.
    pub index: Option<Index>,
    /// The most memory to use, in bytes; as in [`crate::CompressOptions`].
    pub memory: Option<u64>,
    /// Threads to use; `None`: as many as the machine has cores.
    pub threads: Option<usize>,
    /// If bytes of the journal are damaged: keep the edits before them, and drop the others.
    pub keep_whole: bool,
}

/// What came of compressing again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecompressReport {
    /// Edits that are part of the archive now.
    pub edits: u64,
    /// Documents in the archive.
    pub documents: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// Bytes of the file before.
    pub bytes_before: u64,
    /// Bytes of the file now.
    pub archive_bytes: u64,
    /// Segments in the archive, and how many of them are new.
    pub segments: u64,
    /// Segments that were compressed again.
    pub segments_made: u64,
}

/// Compresses an edited archive again, so that edits are part of it and the journal is empty. One without edits is left as it is,
/// unless another index is asked for.
pub fn recompress(
    path: impl AsRef<Path>,
    options: &RecompressOptions,
    observer: &dyn Observer,
) -> Result<RecompressReport> {
    let _ = (path.as_ref(), options, observer);
    todo!()
}

impl Editor {
    /// Commits, and compresses the archive again; then goes on with it. Numbers of documents are those of the new archive.
    pub fn recompress(
        &mut self,
        options: &RecompressOptions,
        observer: &dyn Observer,
    ) -> Result<RecompressReport> {
        let _ = (options, observer);
        todo!()
    }
}
