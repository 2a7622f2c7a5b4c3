//! Reading an archive: the table first, every section when it is asked for.

use crate::usize_of;
use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use memmap2::Mmap;
use rayon::prelude::*;

use super::container::{HEADER_BYTES, Header, Kind, Section, checksum, number_of, parse_table};
use super::dictionary::{Dictionary, Tokens};
use super::documents::{self, DocumentTable};
use super::grammar::{self, CodedGrammar, OpenedGrammar, Symbols};
use super::info::{self, Summary};
use super::journal::{self, Journal};
use super::origin;
use super::types::{Info, Level, SectionInfo};
use super::word_counts;
use crate::CancelFlag;
use crate::budget::{Budget, Counted, MemoryLimit};
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::new_file::Permissions;
use crate::spill::{Spill, SpillVec};
use crate::storage::FileStorage;

/// Bytes of a section that a thread reads at a time.
const READ_AT_ONCE: usize = 1 << 20;

/// Bytes of text at the most: sums of lengths stay clear of 2^64.
const MOST_TEXT: u64 = i64::MAX as u64;

fn missing(kind: Kind) -> Error {
    Error::malformed(format!("section {kind} is missing"))
}

/// An archive, opened. Holds the table of sections and the summary; sections are read, checked against
/// their checksums and decoded when they are asked for.
#[derive(Debug)]
pub struct Archive {
    file: File,
    path: PathBuf,
    header: Header,
    sections: Vec<Section>,
    summary: Summary,
    journal: Journal,
    map: OnceLock<Arc<Mmap>>,
    budget: Budget,
}

impl Archive {
    /// Opens an archive; reads its header, table and summary. If it was edited, its journal is gone through once, and what is opened is
    /// what it holds at this moment; whether that is damaged is told when it is asked for.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_within(path, MemoryLimit::Default)
    }

    /// The same, with a limit on the memory that all that is decoded of it may take together.
    pub fn open_within(path: &Path, memory: MemoryLimit) -> Result<Self> {
        Self::open_spilling(path, memory, Spill::default())
    }

    /// The same; large rows of what is decoded lie where `spill` says. What is not in the machine's
    /// memory is not limited by that.
    pub fn open_spilling(path: &Path, memory: MemoryLimit, spill: Spill) -> Result<Self> {
        let memory = match memory {
            MemoryLimit::Default if spill.is_on() => MemoryLimit::ByLength,
            memory => memory,
        };
        let io = |error| Error::io(path, error);
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if metadata.is_dir() {
            return Err(Error::NotAnArchive { found: format!("{} is a folder", path.display()) });
        }
        let file_bytes = metadata.len();
        let mut start = vec![0; usize_of(file_bytes.min(HEADER_BYTES as u64))];
        file.read_exact_at(&mut start, 0).map_err(io)?;
        let header = Header::parse(&start, file_bytes)?;
        let mut table = vec![0; usize_of(header.table_bytes)];
        file.read_exact_at(&mut table, header.table_offset).map_err(io)?;
        let found = checksum(&table);
        if found != header.table_checksum {
            let expected = header.table_checksum;
            return Err(Error::Checksum { what: "the table of sections".into(), expected, found });
        }
        let sections = parse_table(&table, header.table_offset)?;
        let mut archive = Self {
            file,
            path: path.to_owned(),
            header,
            sections,
            summary: Summary::default(),
            journal: Journal::none(header.file_bytes),
            map: OnceLock::new(),
            budget: Budget::spilling(memory.bytes(file_bytes), spill),
        };
        archive.summary = info::decode(&archive.section(Kind::INFO, None)?)?;
        if archive.has(Kind::ORIG, None) {
            let origin = origin::decode(&archive.section(Kind::ORIG, None)?)?;
            archive.summary.origin = Some(origin);
        }
        archive.check_segments()?;
        if file_bytes > header.file_bytes {
            archive.journal = archive.read_journal(file_bytes)?;
        }
        Ok(archive)
    }

    /// The same archive once more, whatever is under its path by now.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            file: self.file.try_clone().map_err(|error| Error::io(&self.path, error))?,
            path: self.path.clone(),
            header: self.header,
            sections: self.sections.clone(),
            summary: self.summary.clone(),
            map: self.map.clone(),
            journal: self.journal.clone(),
            budget: self.budget.clone(),
        })
    }

    /// Reads the journal of a file that is longer than the archive that was stored.
    fn read_journal(&self, length: u64) -> Result<Journal> {
        let io = |error| Error::io(&self.path, error);
        let storage = Arc::new(FileStorage(self.file.try_clone().map_err(io)?));
        let stored = self.header.file_bytes;
        let journal = Journal::read(storage, stored, length).map_err(io)??;
        let journal = journal.ok_or(Error::BytesBehindArchive { stored, length })?;
        Ok(journal.within(self.budget.clone()))
    }

    /// The edits behind the archive, as they were when it was opened; [`Error::DamagedJournal`] if bytes of them are not those that
    /// were written.
    pub fn journal(&self) -> Result<Journal> {
        match self.journal.damage() {
            Some(error) => Err(error),
            None => Ok(self.journal.clone()),
        }
    }

    /// The edits before the first damaged one, and what is wrong with that.
    pub fn journal_until_damage(&self) -> (Journal, Option<Error>) {
        (self.journal.clone(), self.journal.damage())
    }

    /// What may be taken for all that is decoded of it, and what is taken.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Bytes of the stored archive: what is behind them is its journal.
    pub fn stored_bytes(&self) -> u64 {
        self.header.file_bytes
    }

    /// Who may read and write its file.
    pub fn permissions(&self) -> Result<Permissions> {
        Permissions::of(&self.file).map_err(|error| Error::io(&self.path, error))
    }

    /// Which file it is, whatever its name means by now.
    pub(super) fn identity(&self) -> Result<journal::Identity> {
        let metadata = self.file.metadata().map_err(|error| Error::io(&self.path, error))?;
        Ok(journal::identity(&metadata))
    }

    /// Checks that segments are whole and cover the documents in order.
    fn check_segments(&self) -> Result<()> {
        let summary = &self.summary;
        let there: HashSet<(Kind, Option<u32>)> =
            self.sections.iter().map(|section| (section.kind, section.segment)).collect();
        let beyond = |section: &&Section| {
            section.segment.is_some_and(|number| number as usize >= summary.segments.len())
        };
        if let Some(Section { kind, .. }) = self.sections.iter().find(beyond) {
            return Err(Error::malformed(format!(
                "section {kind} is of a segment that is not there"
            )));
        }
        let mut next = 0_u64;
        let mut text_bytes = 0_u64;
        for (number, segment) in summary.segments.iter().enumerate() {
            let symbols = self.symbol_kind(Some(number_of(number)));
            for kind in [Kind::DICT, Kind::ITEM, symbols, Kind::ROOT] {
                if !there.contains(&(kind, Some(number_of(number)))) {
                    return Err(missing(kind));
                }
            }
            // A document may go on in the next segment, so its number may come again.
            let first = segment.first_document;
            let continues = number > 0 && next.checked_sub(1) == Some(first);
            if (first != next && !continues) || segment.documents == 0 {
                return Err(Error::malformed(format!(
                    "segment {number} starts at document {first}"
                )));
            }
            next = first.saturating_add(segment.documents);
            text_bytes = text_bytes.saturating_add(segment.text_bytes);
        }
        let others = match summary.level {
            Level::Fast => [Kind::SYMD, Kind::SYMX].as_slice(),
            Level::Dense => &[Kind::SYMB],
        };
        if let Some(Section { kind, .. }) =
            self.sections.iter().find(|section| others.contains(&section.kind))
        {
            return Err(Error::malformed(format!("section {kind} is of the other level")));
        }
        for section in self.sections.iter().filter(|section| section.kind == Kind::SYMX) {
            if self.header.version < 2 {
                return Err(Error::malformed("section SYMX is of a later version"));
            }
            if there.contains(&(Kind::SYMD, section.segment)) {
                return Err(Error::malformed("section SYMD is there beside SYMX"));
            }
        }
        if text_bytes > MOST_TEXT {
            return Err(Error::malformed(format!("{text_bytes} bytes of text are too many")));
        }
        if next != summary.documents || text_bytes != summary.text_bytes {
            return Err(Error::malformed("the segments do not add up to the documents"));
        }
        Ok(())
    }

    /// The kind of section that has the symbols of a segment.
    fn symbol_kind(&self, segment: Option<u32>) -> Kind {
        match self.summary.level {
            Level::Fast => Kind::SYMB,
            Level::Dense if self.has(Kind::SYMX, segment) => Kind::SYMX,
            Level::Dense => Kind::SYMD,
        }
    }

    /// Whether a section is there.
    pub(super) fn has(&self, kind: Kind, segment: Option<u32>) -> bool {
        self.find(kind, segment).is_ok()
    }

    /// All sections, in the order of the file.
    pub(super) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// All sections, mapped.
    pub(super) fn map(&self) -> Result<Arc<Mmap>> {
        if let Some(map) = self.map.get() {
            return Ok(map.clone());
        }
        let map = super::mapping::map(&self.file, self.header.file_bytes);
        let map = map.map_err(|error| Error::io(&self.path, error))?;
        Ok(self.map.get_or_init(|| Arc::new(map)).clone())
    }

    pub(super) fn find(&self, kind: Kind, segment: Option<u32>) -> Result<&Section> {
        self.sections
            .iter()
            .find(|section| (section.kind, section.segment) == (kind, segment))
            .ok_or_else(|| missing(kind))
    }

    /// The bytes of a section, checked.
    fn section(&self, kind: Kind, segment: Option<u32>) -> Result<SpillVec<u8>> {
        self.read_section(self.find(kind, segment)?)
    }

    pub(super) fn read_section(&self, section: &Section) -> Result<SpillVec<u8>> {
        let mut bytes = self.budget.spill().filled(0, usize_of(section.bytes));
        let read = || {
            let read = |(number, chunk): (usize, &mut [u8])| {
                let offset = section.offset + (number * READ_AT_ONCE) as u64;
                self.file.read_exact_at(chunk, offset)
            };
            // What is short is read without threads, which there may not be.
            match bytes.len() {
                ..=READ_AT_ONCE => read((0, &mut bytes)),
                _ => bytes.par_chunks_mut(READ_AT_ONCE).enumerate().try_for_each(read),
            }
        };
        let steps = self.budget.steps();
        let read = steps.measure("read", 2 * section.bytes, read);
        read.map_err(|error| Error::io(&self.path, error))?;
        steps.measure("checksum", section.bytes, || section.check(&bytes))?;
        Ok(bytes)
    }

    /// What the archive says about itself.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// How it is known again: by what its sections are, those of an index apart, and by its edits.
    pub fn fingerprint(&self) -> super::view_image::Fingerprint {
        let (mut bytes, mut sums) = (0_u64, Vec::new());
        for section in self.sections.iter().filter(|section| !section.kind.is_index()) {
            bytes = bytes.wrapping_add(section.bytes);
            sums.extend_from_slice(&section.checksum.to_le_bytes());
        }
        if !self.journal.is_empty() {
            sums.extend_from_slice(&self.journal.digest().to_le_bytes());
        }
        [bytes, checksum(&sums)]
    }

    /// The path that it was opened at.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All that can be said without decoding a segment.
    pub fn info(&self) -> Info {
        let summary = self.summary.clone();
        let sections = self.sections.iter().map(|section| SectionInfo {
            kind: section.kind.to_string(),
            segment: section.segment,
            bytes: section.bytes,
        });
        Info {
            version: self.header.version,
            lexer: summary.lexer,
            builder: summary.builder,
            level: summary.level,
            written_by: summary.written_by,
            archive_bytes: self.header.file_bytes,
            text_bytes: summary.text_bytes,
            documents: summary.documents,
            segments: summary.segments,
            sections: sections.collect(),
        }
    }

    /// Reads the documents. O(documents).
    pub fn documents(&self) -> Result<DocumentTable> {
        let table = documents::decode(&self.section(Kind::DOCS, None)?, &self.budget)?;
        let bytes =
            table.documents.iter().try_fold(0_u64, |sum, document| sum.checked_add(document.bytes));
        if table.documents.len() as u64 != self.summary.documents
            || bytes != Some(self.summary.text_bytes)
        {
            return Err(Error::malformed("documents and summary do not agree"));
        }
        Ok(table)
    }

    /// Reads the dictionary of a segment; its blocks stay compressed.
    pub fn dictionary(&self, segment: usize) -> Result<Dictionary> {
        let section = self.section(Kind::DICT, Some(number_of(segment)))?;
        let open = || Dictionary::open(&section, &self.budget);
        let bytes = 2 * section.len() as u64;
        let dictionary = self.budget.steps().measure("dictionary", bytes, open)?;
        self.check_figures(
            segment,
            [dictionary.token_count().into(), dictionary.word_count().into()],
            |info| [info.token_types, info.words],
        )?;
        Ok(dictionary)
    }

    /// The words of a segment without their forms, unpacked on all threads: for who needs no tokens.
    pub fn words(&self, segment: usize) -> Result<Tokens> {
        let section = self.section(Kind::DICT, Some(number_of(segment)))?;
        let info = &self.summary.segments[segment];
        let words = Dictionary::words_alone(&section, &self.budget, info.text_bytes)?;
        self.check_figures(segment, [words.len() as u64], |info| [info.words])?;
        Ok(words)
    }

    /// How often each word of a segment occurs, if that is stored. On all threads, without its grammar.
    pub fn word_counts(&self, segment: usize) -> Result<Option<Counted<SpillVec<u64>>>> {
        let number = Some(number_of(segment));
        if !self.has(Kind::CNTW, number) {
            return Ok(None);
        }
        let info = &self.summary.segments[segment];
        let section = self.section(Kind::CNTW, number)?;
        word_counts::decode(&section, info.words, info.text_bytes, &self.budget).map(Some)
    }

    /// Checks that the counts stored for a segment are those of its grammar. O(symbols).
    pub fn check_word_counts(&self, segment: usize) -> Result<()> {
        let Some(stored) = self.word_counts(segment)? else { return Ok(()) };
        let (grammar, dictionary) = self.segment(segment)?;
        let counts = word_counts::of_grammar(&grammar, dictionary.forms());
        if counts[..] != stored[..] {
            let what = format!("section CNTW of segment {segment}: counts of another text");
            return Err(Error::malformed(what));
        }
        Ok(())
    }

    /// Decodes the symbols of the root of a segment, on all threads. At the level `fast`, those of the rules are passed
    /// over.
    pub fn root(&self, segment: usize) -> Result<Counted<SpillVec<u32>>> {
        let number = Some(number_of(segment));
        let items = self.section(Kind::ITEM, number)?;
        let (kind, symbols) = self.symbols(number)?;
        let root = self.section(Kind::ROOT, number)?;
        let symbols = coded_symbols(kind, &symbols);
        let root = grammar::decode_root(&items, symbols, &root, &self.budget)?;
        self.check_figures(segment, [root.len() as u64], |info| [info.root_symbols])?;
        Ok(root)
    }

    /// The section of the symbols of a segment.
    fn symbols(&self, segment: Option<u32>) -> Result<(Kind, SpillVec<u8>)> {
        let kind = self.symbol_kind(segment);
        Ok((kind, self.section(kind, segment)?))
    }

    /// Decodes the grammar of a segment, on all threads.
    pub fn grammar(&self, segment: usize) -> Result<Grammar> {
        self.grammar_unless(segment, &CancelFlag::default())
    }

    fn grammar_unless(&self, segment: usize, cancel: &CancelFlag) -> Result<Grammar> {
        let number = Some(number_of(segment));
        let items = self.section(Kind::ITEM, number)?;
        let (kind, symbols) = self.symbols(number)?;
        let root = self.section(Kind::ROOT, number)?;
        let symbols = coded_symbols(kind, &symbols);
        let grammar = grammar::decode(&items, symbols, &root, &self.budget, cancel)?;
        let found = [
            grammar.token_count().into(),
            grammar.rule_count().into(),
            grammar.symbols().len() as u64,
            grammar.root().len() as u64,
            grammar.document_count() as u64,
        ];
        self.check_grammar(segment, found)?;
        Ok(grammar)
    }

    /// The grammar of a segment with only its rules decoded; `None` at the level `dense`, which
    /// decodes all or nothing.
    pub fn coded_grammar(&self, segment: usize) -> Result<Option<CodedGrammar>> {
        if self.summary.level == Level::Dense {
            return Ok(None);
        }
        let number = Some(number_of(segment));
        // The largest section is checked, which is on one thread, while items are decoded.
        let (symbols, opened) = rayon::join(
            || self.section(Kind::SYMB, number),
            || {
                let (items, root) =
                    (self.section(Kind::ITEM, number)?, self.section(Kind::ROOT, number)?);
                OpenedGrammar::open(&items, &root, &self.budget)
            },
        );
        let coded = opened?.decode_rules(symbols?)?;
        let (rules, in_root) = (coded.rules(), u64::from(coded.root_length()));
        let found = [
            rules.token_count().into(),
            rules.rule_count().into(),
            rules.symbols().len() as u64 + in_root,
            in_root,
            coded.document_starts().len() as u64 - 1,
        ];
        self.check_grammar(segment, found)?;
        Ok(Some(coded))
    }

    /// Checks how many tokens, rules, symbols, symbols of the root and documents there are.
    fn check_grammar(&self, segment: usize, found: [u64; 5]) -> Result<()> {
        self.check_figures(segment, found, |info| {
            [info.token_types, info.rules, info.symbols, info.root_symbols, info.documents]
        })
    }

    /// Reads grammar and dictionary of a segment, at the same time: what most questions need.
    pub fn segment(&self, segment: usize) -> Result<(Grammar, Dictionary)> {
        self.segment_unless(segment, &CancelFlag::default())
    }

    /// The same; [`Error::Cancelled`] some milliseconds after the flag was raised.
    pub fn segment_unless(
        &self,
        segment: usize,
        cancel: &CancelFlag,
    ) -> Result<(Grammar, Dictionary)> {
        let grammar = || self.grammar_unless(segment, cancel);
        let (grammar, dictionary) = rayon::join(grammar, || self.dictionary(segment));
        Ok((grammar?, dictionary?))
    }

    fn check_figures<const N: usize>(
        &self,
        segment: usize,
        found: [u64; N],
        recorded: impl Fn(&super::types::SegmentInfo) -> [u64; N],
    ) -> Result<()> {
        let recorded = recorded(&self.summary.segments[segment]);
        if found != recorded {
            return Err(Error::malformed(format!(
                "segment {segment} has {found:?} parts, recorded are {recorded:?}"
            )));
        }
        Ok(())
    }

    /// Checks the checksums of all sections; gives their number.
    pub fn check_sections(&self) -> Result<u64> {
        for section in &self.sections {
            self.read_section(section)?;
        }
        Ok(self.sections.len() as u64)
    }
}

/// The symbols in a section of that kind.
fn coded_symbols(kind: Kind, section: &[u8]) -> Symbols<'_> {
    match kind {
        Kind::SYMX => Symbols::Streams(section),
        Kind::SYMD => Symbols::Single(section),
        _ => Symbols::Fast(section),
    }
}
