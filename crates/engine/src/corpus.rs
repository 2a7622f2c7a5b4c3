//! An open archive.

use std::io::Write;
use std::path::Path;

use crate::error::Result;
use crate::progress::Observer;
use crate::{Document, Info};

/// A compressed corpus, opened for reading. Opening reads the table of sections and the documents;
/// grammars are decoded when they are needed.
pub struct Corpus {}

/// What came of restoring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Documents written.
    pub documents: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// What came of verifying.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Sections whose checksums hold.
    pub sections: u64,
    /// Documents whose digests hold.
    pub documents: u64,
    /// Bytes of text that they expand to.
    pub bytes: u64,
}

impl Corpus {
    /// Opens an archive. Checks header, table and the sections that it reads.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let _ = path;
        todo!()
    }

    /// What the archive holds and what it costs. O(sections); no grammar is decoded.
    pub fn info(&self) -> Result<Info> {
        todo!()
    }

    /// The documents, in byte order of their names.
    pub fn documents(&self) -> &[Document] {
        todo!()
    }

    /// The place of a document in [`Corpus::documents`]. O(log documents).
    pub fn find(&self, name: &[u8]) -> Result<usize> {
        let _ = name;
        todo!()
    }

    /// Writes the bytes of documents (places in [`Corpus::documents`], ascending), one after the other.
    pub fn write_documents(
        &self,
        documents: &[usize],
        to: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<u64> {
        let _ = (documents, to, observer);
        todo!()
    }

    /// Writes documents (places in [`Corpus::documents`], ascending) as files below `folder`, with their
    /// times and modes. Nothing is written outside of it, no link is followed, and a file that is there
    /// already is an error unless `force` is given.
    pub fn restore(
        &self,
        documents: &[usize],
        folder: &Path,
        force: bool,
        observer: &dyn Observer,
    ) -> Result<RestoreReport> {
        let _ = (documents, folder, force, observer);
        todo!()
    }

    /// Checks every checksum, and that every document expands to what was compressed.
    pub fn verify(&self, observer: &dyn Observer) -> Result<VerifyReport> {
        let _ = observer;
        todo!()
    }
}
