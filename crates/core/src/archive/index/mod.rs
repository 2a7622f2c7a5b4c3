//! The index of an archive: sections that can be derived from the others, and are read by mapping them.
//!
//! `NAVI` has the rules and lengths of a segment, `SYMR` the symbols of its root, `DOCW` the documents of its words. They
//! are optional: a reader that does not know them passes over them. Opening one costs a pass over its bytes (checksum, and
//! the checks that nothing leads out of anything), at the speed of memory.

mod bits;
mod rows;
mod word_documents;

use std::sync::Arc;

use memmap2::Mmap;

use self::rows::{Rows, RowsWriter};
use super::container::Kind;
use super::read::Archive;
use super::write::ArchiveWriter;
use crate::error::{Error, Result};
use crate::navigation::{Navigation, check_root};
use crate::packed::Packed;

pub use word_documents::{DocumentsOfWord, WordDocuments, WordDocumentsBuilder};

/// How much is kept for random access: the dial between time and space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Index {
    /// Nothing: segments are decoded when they are needed.
    #[default]
    None,
    /// Rules and lengths; the symbols of the documents themselves are decoded from the archive.
    Small,
    /// Also the symbols of the documents, and how often each word is in each document: nothing is decoded but words.
    Fast,
}

impl Index {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Small => "small",
            Self::Fast => "fast",
        }
    }
}

/// What of the index of a segment is only in a fast one.
#[derive(Debug)]
pub struct FastPart {
    /// The symbols of the root.
    pub root: Packed,
    /// The documents of each word.
    pub word_documents: WordDocuments,
}

impl Archive {
    /// The index that all segments have.
    pub fn index(&self) -> Index {
        let segments = self.summary().segments.len() as u32;
        let all = |kind| (0..segments).all(|number| self.has(kind, Some(number)));
        if segments == 0 || !all(Kind::NAVI) {
            Index::None
        } else if all(Kind::SYMR) && all(Kind::DOCW) {
            Index::Fast
        } else {
            Index::Small
        }
    }

    /// Rules and lengths of a segment, mapped and checked.
    pub fn navigation(&self, segment: usize) -> Result<Navigation> {
        let mut rows = Rows::new(self.map_section(Kind::NAVI, segment)?, "section NAVI")?;
        let navigation = Navigation {
            token_bytes: rows.numbers()?,
            separator_newlines: rows.numbers()?,
            rule_bytes: rows.numbers()?,
            rule_words: rows.numbers()?,
            rule_newlines: rows.numbers()?,
            rule_starts: rows.packed()?,
            bodies: rows.packed()?,
            document_starts: rows.packed()?,
            root_bytes: rows.packed()?,
            root_words: rows.packed()?,
            root_newlines: rows.packed()?,
        };
        rows.finish()?;
        let info = &self.summary().segments[segment];
        let bodies = info.symbols.saturating_sub(info.root_symbols);
        navigation.check(info.token_types, info.rules, bodies, info.root_symbols)?;
        if navigation.document_starts.len() as u64 != info.documents + 1 {
            return Err(Error::malformed("section NAVI: it has other documents than its segment"));
        }
        Ok(navigation)
    }

    /// The symbols of the root of a segment, mapped and checked.
    pub fn mapped_root(&self, segment: usize) -> Result<Packed> {
        let mut rows = Rows::new(self.map_section(Kind::SYMR, segment)?, "section SYMR")?;
        let root = rows.packed()?;
        rows.finish()?;
        let info = &self.summary().segments[segment];
        check_root(&root, info.root_symbols, info.token_types + info.rules)?;
        Ok(root)
    }

    /// The documents of the words of a segment, mapped.
    pub fn word_documents(&self, segment: usize) -> Result<WordDocuments> {
        let mut rows = Rows::new(self.map_section(Kind::DOCW, segment)?, "section DOCW")?;
        let (starts, lists) = (rows.packed()?, rows.bytes()?);
        rows.finish()?;
        let info = &self.summary().segments[segment];
        WordDocuments::new(info.words, info.documents, starts, lists)
    }

    /// A section, mapped, its checksum checked.
    fn map_section(
        &self,
        kind: Kind,
        segment: usize,
    ) -> Result<(Arc<Mmap>, std::ops::Range<usize>)> {
        let section = self.find(kind, Some(segment as u32))?;
        let map = self.map()?;
        let range = section.offset as usize..(section.offset + section.bytes) as usize;
        let bytes = map.get(range.clone()).ok_or_else(|| Error::Truncated {
            what: format!("section {kind}"),
            needed: range.end as u64,
            available: map.len() as u64,
        })?;
        section.check(bytes)?;
        Ok((map, range))
    }
}

/// Writes an archive anew with another index. Dropped before [`IndexWriter::finish`], it leaves the archive as it was.
#[derive(Debug)]
pub struct IndexWriter(ArchiveWriter);

impl IndexWriter {
    /// Starts with all that is no index.
    pub fn create(archive: &Archive) -> Result<Self> {
        Ok(Self(ArchiveWriter::copy_of(archive, |kind| !kind.is_index())?))
    }

    /// Appends the index of a segment.
    pub fn add_segment(
        &mut self,
        segment: usize,
        navigation: &Navigation,
        fast: Option<&FastPart>,
    ) -> Result<()> {
        let number = Some(segment as u32);
        let mut rows = RowsWriter::default();
        for numbers in [
            &navigation.token_bytes,
            &navigation.separator_newlines,
            &navigation.rule_bytes,
            &navigation.rule_words,
            &navigation.rule_newlines,
        ] {
            rows.numbers(numbers);
        }
        for packed in [
            &navigation.rule_starts,
            &navigation.bodies,
            &navigation.document_starts,
            &navigation.root_bytes,
            &navigation.root_words,
            &navigation.root_newlines,
        ] {
            rows.packed(packed);
        }
        self.0.add_section(Kind::NAVI, number, &rows.to_bytes())?;
        if let Some(FastPart { root, word_documents }) = fast {
            let mut rows = RowsWriter::default();
            rows.packed(root);
            self.0.add_section(Kind::SYMR, number, &rows.to_bytes())?;
            let mut rows = RowsWriter::default();
            rows.packed(word_documents.starts());
            rows.bytes(word_documents.lists());
            self.0.add_section(Kind::DOCW, number, &rows.to_bytes())?;
        }
        Ok(())
    }

    /// Syncs, and replaces the archive; gives its length.
    pub fn finish(self) -> Result<u64> {
        self.0.finish_sections(true)
    }
}
