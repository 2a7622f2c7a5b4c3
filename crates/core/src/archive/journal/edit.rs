//! One edit, as the journal keeps it.

use crate::archive::documents::MOST_MODE;
use crate::archive::types::Timestamp;
use crate::archive::wire::{Reader, put_varint, unzigzag, zigzag};
use crate::error::{Error, Result};

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

/// What an edit is called in a payload.
mod kind {
    pub(super) const INSERT: u8 = 0;
    pub(super) const APPEND: u8 = 1;
    pub(super) const DELETE: u8 = 2;
    pub(super) const REPLACE: u8 = 3;
    pub(super) const ADD: u8 = 4;
    pub(super) const REMOVE: u8 = 5;
    pub(super) const RENAME: u8 = 6;
}

/// Which attributes an added document has.
const HAS_TIME: u8 = 1;
const HAS_MODE: u8 = 2;

impl<'t> Edit<'t> {
    /// The bytes that come into a document by it.
    pub fn text(&self) -> &'t [u8] {
        match *self {
            Self::Insert { text, .. }
            | Self::Append { text, .. }
            | Self::Replace { text, .. }
            | Self::Add { text, .. } => text,
            Self::Delete { .. } | Self::Remove { .. } | Self::Rename { .. } => &[],
        }
    }

    /// [`Error::BadEdit`] if no archive can have it, whatever its documents are.
    pub fn check(&self) -> Result<()> {
        self.contradiction().map_or(Ok(()), |what| Err(Error::BadEdit { what }))
    }

    /// Why no archive can have it, whatever its documents are.
    fn contradiction(&self) -> Option<&'static str> {
        if let Self::Add { name, .. } | Self::Rename { name, .. } = self {
            if name.is_empty() {
                return Some("a name is empty");
            }
            if name.contains(&0) {
                return Some("a name has a NUL in it");
            }
        }
        if let Self::Add { modified, mode, .. } = self {
            if modified.is_some_and(|time| time.nanoseconds >= 1_000_000_000) {
                return Some("a time has no nanoseconds of 10^9 and more");
            }
            if mode.is_some_and(|mode| mode > MOST_MODE) {
                return Some("a mode has more than permission bits");
            }
        }
        None
    }

    /// Appends all of the edit but its text, which is to follow.
    pub(super) fn put_head(&self, into: &mut Vec<u8>) -> Result<()> {
        self.check()?;
        let text_bytes = self.text().len() as u64;
        let mut put = |kind: u8, numbers: &[u64]| {
            into.push(kind);
            numbers.iter().for_each(|&number| put_varint(into, number));
        };
        match *self {
            Self::Insert { document, offset, .. } => {
                put(kind::INSERT, &[document.into(), offset, text_bytes]);
            }
            Self::Append { document, .. } => put(kind::APPEND, &[document.into(), text_bytes]),
            Self::Delete { document, offset, length } => {
                put(kind::DELETE, &[document.into(), offset, length]);
            }
            Self::Replace { document, offset, length, .. } => {
                put(kind::REPLACE, &[document.into(), offset, length, text_bytes]);
            }
            Self::Add { name, modified, mode, .. } => {
                put(kind::ADD, &[name.len() as u64]);
                into.extend_from_slice(name);
                let time = if modified.is_some() { HAS_TIME } else { 0 };
                into.push(time | if mode.is_some() { HAS_MODE } else { 0 });
                if let Some(time) = modified {
                    put_varint(into, zigzag(time.seconds));
                    put_varint(into, time.nanoseconds.into());
                }
                if let Some(mode) = mode {
                    put_varint(into, mode.into());
                }
                put_varint(into, text_bytes);
            }
            Self::Remove { document } => put(kind::REMOVE, &[document.into()]),
            Self::Rename { document, name } => {
                put(kind::RENAME, &[document.into(), name.len() as u64]);
                into.extend_from_slice(name);
            }
        }
        Ok(())
    }

    /// Takes the next edit of a payload.
    pub(super) fn take(reader: &mut Reader<'t>) -> Result<Self> {
        let kind = reader.take(1)?[0];
        if kind > kind::RENAME {
            return Err(reader.malformed(format!("{kind} is no kind of edit")));
        }
        let bytes = |reader: &mut Reader<'t>| -> Result<&'t [u8]> {
            let length = reader.varint()?;
            reader.take(length)
        };
        if kind == kind::ADD {
            return Self::take_added(reader, bytes);
        }
        let document = reader.bounded_u32(u32::MAX, "is the number of a document")?;
        let edit = match kind {
            kind::INSERT => {
                Self::Insert { document, offset: reader.varint()?, text: bytes(reader)? }
            }
            kind::APPEND => Self::Append { document, text: bytes(reader)? },
            kind::DELETE => {
                Self::Delete { document, offset: reader.varint()?, length: reader.varint()? }
            }
            kind::REPLACE => Self::Replace {
                document,
                offset: reader.varint()?,
                length: reader.varint()?,
                text: bytes(reader)?,
            },
            kind::REMOVE => Self::Remove { document },
            _ => Self::Rename { document, name: bytes(reader)? },
        };
        edit.checked(reader)
    }

    fn take_added(
        reader: &mut Reader<'t>,
        bytes: impl Fn(&mut Reader<'t>) -> Result<&'t [u8]>,
    ) -> Result<Self> {
        let name = bytes(reader)?;
        let attributes = reader.take(1)?[0];
        if attributes & !(HAS_TIME | HAS_MODE) != 0 {
            return Err(reader.malformed("a document has unknown attributes"));
        }
        let mut modified = None;
        if attributes & HAS_TIME != 0 {
            let seconds = unzigzag(reader.varint()?);
            let nanoseconds = reader.bounded_u32(u32::MAX, "nanoseconds")?;
            modified = Some(Timestamp { seconds, nanoseconds });
        }
        let mut mode = None;
        if attributes & HAS_MODE != 0 {
            mode = Some(reader.bounded_u32(u32::MAX, "is a mode")?);
        }
        Self::Add { name, modified, mode, text: bytes(reader)? }.checked(reader)
    }

    fn checked(self, reader: &Reader<'t>) -> Result<Self> {
        match self.contradiction() {
            Some(what) => Err(reader.malformed(what)),
            None => Ok(self),
        }
    }
}
