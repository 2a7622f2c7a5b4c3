//! The index of an archive: sections that can be derived from the others, and are read by mapping them.
//!
//! `NAVI` has the rules and lengths of a segment, `SYMR` the symbols of its root, `DOCW` the documents of its words. They
//! are optional: a reader that does not know them passes over them. Opening one costs a pass over its bytes (checksum, and
//! the checks that nothing leads out of anything), at the speed of memory. What they are made of, `sections`, may lie anywhere.

mod bits;
mod rows;
pub mod sections;
mod word_documents;

use crate::usize_of;
use std::ops::Range;
use std::sync::Arc;

use memmap2::Mmap;

use super::container::{Kind, number_of};
use super::read::Archive;
use super::write::ArchiveWriter;
use crate::Array;
use crate::error::{Error, Result};
use crate::navigation::Navigation;
use crate::packed::Packed;
use crate::spill::Spill;

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
        let segments = number_of(self.summary().segments.len());
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
        let section = self.map_section(Kind::NAVI, segment)?;
        sections::read_navigation(section, &self.summary().segments[segment])
    }

    /// How many words the text of a segment has. A pass over the checksum of its section.
    pub fn word_total(&self, segment: usize) -> Result<u64> {
        sections::read_word_total(self.map_section(Kind::NAVI, segment)?)
    }

    /// The symbols of the root of a segment, mapped and checked.
    pub fn mapped_root(&self, segment: usize) -> Result<Packed> {
        let section = self.map_section(Kind::SYMR, segment)?;
        sections::read_root(section, &self.summary().segments[segment])
    }

    /// The documents of the words of a segment, mapped.
    pub fn word_documents(&self, segment: usize) -> Result<WordDocuments> {
        let section = self.map_section(Kind::DOCW, segment)?;
        sections::read_word_documents(section, &self.summary().segments[segment])
    }

    /// A section, mapped, its checksum checked.
    fn map_section(&self, kind: Kind, segment: usize) -> Result<Array<u8>> {
        let section = self.find(kind, Some(number_of(segment)))?;
        let map = self.map()?;
        let range = usize_of(section.offset)..usize_of(section.offset + section.bytes);
        let bytes = map.get(range.clone()).ok_or_else(|| Error::Truncated {
            what: format!("section {kind}"),
            needed: range.end as u64,
            available: map.len() as u64,
        })?;
        section.check(bytes)?;
        Ok(Array::Shared(Arc::new(MappedBytes { map, range })))
    }
}

/// A stretch of a mapped file.
struct MappedBytes {
    map: Arc<Mmap>,
    range: Range<usize>,
}

impl AsRef<[u8]> for MappedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.map[self.range.clone()]
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
        let (number, spill) = (Some(number_of(segment)), &Spill::default());
        self.0.add_section(Kind::NAVI, number, &sections::write_navigation(navigation, spill))?;
        if let Some(FastPart { root, word_documents }) = fast {
            self.0.add_section(Kind::SYMR, number, &sections::write_root(root, spill))?;
            let lists = sections::write_word_documents(word_documents, spill);
            self.0.add_section(Kind::DOCW, number, &lists)?;
        }
        Ok(())
    }

    /// Syncs, and replaces the archive; gives its length.
    pub fn finish(self) -> Result<u64> {
        self.0.finish_sections(true)
    }
}
