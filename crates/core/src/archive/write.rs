//! Writing an archive: sections one behind the other into a [`NewFile`], the header last.

use std::io::{Seek, Write};
use std::path::Path;

use super::container::{
    ALIGNMENT, HEADER_BYTES, Header, Kind, Section, VERSION, checksum, write_table,
};
use super::dictionary::{self, Dictionary, Entry, Forms};
use super::documents::DocumentTable;
use super::grammar::{self, EncodedSymbols};
use super::info::Summary;
use super::journal::{ArchiveLock, Journal};
use super::read::Archive;
use super::types::Level;
use super::{documents, info, origin, word_counts};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::new_file::NewFile;
use crate::{CancelFlag, Cancelled};

/// The dictionary of a segment, encoded.
#[derive(Debug)]
pub struct EncodedDictionary {
    section: Vec<u8>,
    /// The forms of each word.
    forms: Vec<Forms>,
}

impl EncodedDictionary {
    /// Encodes words and separators, on all threads. Both must be in ascending order and distinct.
    pub fn new(
        words: &[Entry<'_>],
        separators: &[&[u8]],
        level: Level,
        cancel: &CancelFlag,
    ) -> Result<Self, Cancelled> {
        Ok(Self::of(words, dictionary::encode(words, separators, level, cancel)?))
    }

    /// The same for one that is not to be kept: larger, and soon made.
    pub fn quick(words: &[Entry<'_>], separators: &[&[u8]]) -> Self {
        let encoded = dictionary::encode_at(words, separators, 1, &CancelFlag::default());
        Self::of(words, encoded.expect("nobody cancels it"))
    }

    fn of(words: &[Entry<'_>], section: Vec<u8>) -> Self {
        Self { section, forms: words.iter().map(|word| word.forms).collect() }
    }

    /// The dictionary itself, as if it were read from an archive.
    pub fn open(&self) -> Result<Dictionary> {
        Dictionary::open(&self.section, &Budget::unlimited())
    }
}

/// One segment, encoded: what [`ArchiveWriter::add_segment`] takes.
#[derive(Debug)]
pub struct EncodedSegment {
    dictionary: EncodedDictionary,
    grammar: grammar::Encoded,
    word_counts: Vec<u8>,
}

impl EncodedSegment {
    /// Encodes a grammar and its dictionary, on all threads.
    ///
    /// # Panics
    /// If the grammar has tokens or rules that are never used, or its rules are not in Kahn's order.
    pub fn new(grammar: &Grammar, words: &[Entry<'_>], separators: &[&[u8]], level: Level) -> Self {
        let never = &CancelFlag::default();
        EncodedDictionary::new(words, separators, level, never)
            .and_then(|dictionary| Self::with_dictionary(dictionary, grammar, level, never))
            .expect("nobody cancels it")
    }

    /// The same for a dictionary that was encoded before, and for work that can be cancelled.
    ///
    /// # Panics
    /// As [`EncodedSegment::new`].
    pub fn with_dictionary(
        dictionary: EncodedDictionary,
        grammar: &Grammar,
        level: Level,
        cancel: &CancelFlag,
    ) -> Result<Self, Cancelled> {
        let forms = dictionary.forms.iter().copied();
        // A sum over all rules, on one thread: beside the coding.
        let (encoded, counts) = rayon::join(
            || grammar::encode(grammar, level, cancel),
            || word_counts::of_grammar(grammar, forms),
        );
        let word_counts = word_counts::encode(&counts);
        Ok(Self { dictionary, grammar: encoded?, word_counts })
    }
}

/// A new archive on its way to disk. Dropped before [`ArchiveWriter::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct ArchiveWriter {
    file: NewFile,
    position: u64,
    sections: Vec<Section>,
    segments: u32,
    /// Bytes that the symbols of its segments take, and those that they take at the level fast.
    symbol_bytes: [u64; 2],
    /// The edits that it is to have, and the lock of the archive that they are taken from.
    edits: Option<(Journal, ArchiveLock)>,
}

impl ArchiveWriter {
    /// Starts an archive that will be at `path`.
    pub fn create(path: &Path) -> Result<Self> {
        Self::into(NewFile::create(path)?)
    }

    /// Starts an archive that holds the text of another one, so nobody may read it who may not read that.
    pub fn create_from(path: &Path, archive: &Archive) -> Result<Self> {
        Self::into(NewFile::create_within(path, archive.permissions()?)?)
    }

    fn into(file: NewFile) -> Result<Self> {
        let (sections, segments) = (Vec::new(), 0);
        let symbol_bytes = [0; 2];
        let mut writer = Self { file, position: 0, sections, segments, symbol_bytes, edits: None };
        writer.write(&[0; HEADER_BYTES])?;
        Ok(writer)
    }

    /// Starts an archive that will replace another one, with those of its sections that `keep` chooses, and all its edits. Nobody
    /// else can edit it meanwhile.
    pub(super) fn copy_of(archive: &Archive, keep: impl Fn(Kind) -> bool) -> Result<Self> {
        let path = archive.path();
        let lock = ArchiveLock::acquire(path)?;
        // There may be more edits than when the archive was opened.
        let current = Archive::open(path)?;
        if [current.identity()?, archive.identity()?] != [lock.identity(); 2] {
            return Err(Error::Replaced { path: path.to_owned() });
        }
        let mut writer = Self::create(path)?;
        writer.edits = Some((current.journal()?, lock));
        for section in archive.sections().iter().filter(|section| keep(section.kind)) {
            writer.add_section(section.kind, section.segment, &archive.read_section(section)?)?;
        }
        Ok(writer)
    }

    /// Appends a segment of another archive of the same level as it is, but for its index.
    pub fn copy_segment(&mut self, archive: &Archive, segment: usize) -> Result<()> {
        let number = Some(self.next_segment()?);
        let own = |section: &&Section| {
            section.segment == Some(segment as u32) && !section.kind.is_index()
        };
        for section in archive.sections().iter().filter(own) {
            self.add_section(section.kind, number, &archive.read_section(section)?)?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| Error::io(self.file.path(), error))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn add_section(
        &mut self,
        kind: Kind,
        segment: Option<u32>,
        bytes: &[u8],
    ) -> Result<()> {
        let padding = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.write(&[0; ALIGNMENT as usize][..padding as usize])?;
        self.sections.push(Section {
            kind,
            segment,
            offset: self.position,
            bytes: bytes.len() as u64,
            checksum: checksum(bytes),
        });
        self.write(bytes)
    }

    /// The number of a segment that is appended. More than a reader takes would be an archive that cannot be read.
    fn next_segment(&mut self) -> Result<u32> {
        if u64::from(self.segments) >= info::MOST_SEGMENTS {
            return Err(Error::TooManySegments { most: info::MOST_SEGMENTS });
        }
        self.segments += 1;
        Ok(self.segments - 1)
    }

    /// Bytes that the symbols of the segments so far take, and those that they take at the level `fast`.
    pub fn symbol_bytes(&self) -> [u64; 2] {
        self.symbol_bytes
    }

    /// Appends a segment.
    pub fn add_segment(&mut self, segment: &EncodedSegment) -> Result<()> {
        let number = Some(self.next_segment()?);
        self.symbol_bytes[0] += segment.grammar.symbols.bytes();
        self.symbol_bytes[1] += segment.grammar.fast_symbols;
        self.add_section(Kind::DICT, number, &segment.dictionary.section)?;
        self.add_section(Kind::ITEM, number, &segment.grammar.items)?;
        match &segment.grammar.symbols {
            EncodedSymbols::Fast(symbols) => self.add_section(Kind::SYMB, number, symbols)?,
            EncodedSymbols::Dense(symbols) => self.add_section(Kind::SYMX, number, symbols)?,
        }
        self.add_section(Kind::ROOT, number, &segment.grammar.root)?;
        self.add_section(Kind::CNTW, number, &segment.word_counts)
    }

    /// Appends what is known at the end, syncs, and gives the archive its name; gives its length. An
    /// archive that is there already is replaced only if `replace` says so.
    pub fn finish(
        mut self,
        table: &DocumentTable,
        summary: &Summary,
        replace: bool,
    ) -> Result<u64> {
        let level = match summary.level {
            Level::Fast => 9,
            Level::Dense => 19,
        };
        self.add_section(Kind::DOCS, None, &documents::encode(table, level)?)?;
        if let Some(origin) = &summary.origin {
            self.add_section(Kind::ORIG, None, &origin::encode(origin))?;
        }
        self.add_section(Kind::INFO, None, &info::encode(summary))?;
        self.finish_sections(replace)
    }

    /// Ends an archive that has all its sections.
    pub(super) fn finish_sections(mut self, replace: bool) -> Result<u64> {
        let bytes = write_table(&self.sections);
        let header = Header {
            version: VERSION,
            file_bytes: self.position + bytes.len() as u64,
            table_offset: self.position,
            table_bytes: bytes.len() as u64,
            table_checksum: checksum(&bytes),
        };
        self.write(&bytes)?;
        // The lock is held until the archive has its name.
        let edits = self.edits.take();
        if let Some((journal, _)) = &edits {
            journal.copy(header.file_bytes, |bytes| self.write(bytes))?;
        }
        self.file.rewind().map_err(|error| Error::io(self.file.path(), error))?;
        self.write(&header.to_bytes())?;
        self.file.finish(replace)?;
        Ok(header.file_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Document, SegmentInfo, open_view, view_path};

    #[test]
    fn a_segment_or_document_that_32_bits_cannot_number_is_no_other_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let mut writer = ArchiveWriter::create(&path).unwrap();
        let grammar = Grammar::new(0, Vec::new(), vec![0], vec![0, 0]).unwrap();
        writer.add_segment(&EncodedSegment::new(&grammar, &[], &[], Level::Fast)).unwrap();
        let info = SegmentInfo { documents: 1, ..Default::default() };
        let summary = Summary { documents: 1, segments: vec![info], ..Default::default() };
        let mut table = DocumentTable::default();
        table.documents.push(Document { name: b"a".into(), bytes: 0, modified: None, mode: None });
        writer.finish(&table, &summary, true).unwrap();
        let archive = Archive::open(&path).unwrap();
        let beyond = 1 << 32;
        assert!(archive.grammar(0).is_ok());
        assert!(archive.grammar(beyond).is_err());
        assert!(archive.root(beyond).is_err());
        assert!(archive.dictionary(beyond).is_err());
        assert!(archive.navigation(beyond).is_err());

        // A view that is long enough for so many, in a file without blocks.
        let view = std::fs::File::create(view_path(&path)).unwrap();
        view.set_len(17 << 30).unwrap();
        let refused = open_view(&archive, (1 << 32) + 1, false).unwrap_err();
        let refused = std::error::Error::source(&refused).unwrap().to_string();
        assert!(refused.contains("more documents than a view can number"), "{refused}");
    }

    #[test]
    fn there_are_no_more_segments_than_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.tdc");
        let mut writer = ArchiveWriter::create(&path).unwrap();
        let grammar = Grammar::new(0, Vec::new(), vec![0], vec![0]).unwrap();
        let segment = EncodedSegment::new(&grammar, &[], &[], Level::Fast);
        for _ in 0..info::MOST_SEGMENTS {
            writer.add_segment(&segment).unwrap();
        }
        let error = writer.add_segment(&segment).unwrap_err();
        assert!(matches!(error, Error::TooManySegments { most: info::MOST_SEGMENTS }), "{error}");
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
