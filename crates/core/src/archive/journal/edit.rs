//! One edit, as the journal keeps it.

use crate::archive::types::Timestamp;

/// An edit of one document. Offsets are bytes of the document as all edits before this one have left it.
///
/// A document is a number that it keeps for good: those that the archive stores have their places in its table, those that were
/// added since follow, in the order in which they were added. A number is never used again, and a new name changes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit<'t> {
    /// Puts bytes into a document, before the byte at `offset`.
    Insert {
        /// The document's number.
        document: u32,
        /// Where; the document's length is its end.
        offset: u64,
        /// The bytes.
        text: &'t [u8],
    },
    /// Puts bytes at the end of a document.
    Append {
        /// The document's number.
        document: u32,
        /// The bytes.
        text: &'t [u8],
    },
    /// Takes bytes out of a document.
    Delete {
        /// The document's number.
        document: u32,
        /// Where they start.
        offset: u64,
        /// How many; all of them are there.
        length: u64,
    },
    /// Puts bytes in the place of others.
    Replace {
        /// The document's number.
        document: u32,
        /// Where those start that go.
        offset: u64,
        /// How many go; all of them are there.
        length: u64,
        /// The bytes that come.
        text: &'t [u8],
    },
    /// A new document.
    Add {
        /// Its name, which no other document has.
        name: &'t [u8],
        /// When the file was last modified.
        modified: Option<Timestamp>,
        /// The file's permission bits.
        mode: Option<u32>,
        /// Its bytes.
        text: &'t [u8],
    },
    /// Takes a document away.
    Remove {
        /// The document's number.
        document: u32,
    },
    /// Gives a document another name.
    Rename {
        /// The document's number.
        document: u32,
        /// The new name, which no other document has.
        name: &'t [u8],
    },
}
