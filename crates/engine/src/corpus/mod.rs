//! An open archive: what it holds, and its documents given back.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod copies;
mod decoded;
pub(crate) mod digests;
pub(crate) mod expand;
pub(crate) mod files;
mod parts;
mod restore;
mod target;

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tadoc_core::archive::journal::Journal;
use tadoc_core::archive::{Archive, Dictionary, DocumentTable, Index, PieceHasher, Summary};
use tadoc_core::{Budget, Grammar, MemoryLimit, Spill, Step, parallel, usize_of};

use self::digests::Comparison;
use self::expand::Segment;
use crate::error::{Error, Result};
use crate::progress::{Observer, Phase, step};
use crate::text::escape;
use crate::update::{Edited, EditedSegment, EditedText, Ledger};
use crate::{Document, Info, Lexer, threads};

pub use copies::TextDigest;
pub(crate) use decoded::{Decoded, count_newlines};
pub use files::CorpusFile;
pub(crate) use parts::{Part, parts_of};
pub use restore::{Existing, RestoreReport, SkippedFile};

/// Whether a file has a name that restoring gives to files on their way: one is left behind by who
/// is killed, and the next who restores into the same folder removes it.
pub fn is_unfinished(name: &[u8]) -> bool {
    crate::names::is_aside(name)
}

/// Documents are expanded in pieces of about so many bytes.
const PIECE: usize = 1 << 20;

/// A compressed corpus, opened for reading. Opening reads the table of sections and the summary; documents
/// and grammars are read when they are needed.
///
/// ```
/// # fn main() -> tadoc_engine::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("corpus.tdc");
/// let text = b"to be or not to be".to_vec();
/// let input = tadoc_engine::Input::new("hamlet.txt", tadoc_engine::Source::Bytes(text));
/// tadoc_engine::compress(vec![input], &path, &tadoc_engine::CompressOptions::default(), &())?;
///
/// let corpus = tadoc_engine::Corpus::open(&path)?;
/// let mut bytes = Vec::new();
/// corpus.write_documents(&[corpus.find(b"hamlet.txt")?], &mut bytes, &())?;
/// assert_eq!(bytes, b"to be or not to be");
/// # Ok(())
/// # }
/// ```
///
/// A clone is another handle to the same open archive, and costs nothing.
#[derive(Debug, Clone)]
pub struct Corpus {
    archive: Arc<Archive>,
    /// The documents as they are stored.
    table: Arc<OnceLock<Arc<DocumentTable>>>,
    edited: Option<Arc<Edited>>,
    edits: Option<EditsInfo>,
}

/// The edits behind an archive, which are in its journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EditsInfo {
    /// How many there are.
    pub edits: u64,
    /// Transactions that they were made in.
    pub transactions: u64,
    /// Bytes of text that came by them.
    pub text_bytes: u64,
    /// Bytes of the file that they take.
    pub journal_bytes: u64,
    /// Bytes behind them that a crash has left, or that another process is writing: these do not count.
    pub torn_bytes: u64,
}

impl EditsInfo {
    /// What a journal has.
    pub(crate) fn of(journal: &Journal) -> Self {
        Self {
            edits: journal.edit_count(),
            transactions: journal.transactions(),
            text_bytes: journal.text_bytes(),
            journal_bytes: journal.bytes(),
            torn_bytes: journal.torn(),
        }
    }
}

/// How an archive is opened.
///
/// ```no_run
/// # fn main() -> tadoc_engine::Result<()> {
/// let options = tadoc_engine::OpenOptions::new().memory(4 << 30);
/// let corpus = tadoc_engine::Corpus::open_with("corpus.tdc", &options)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenOptions {
    pub(crate) memory: MemoryLimit,
    spill: Spill,
}

impl OpenOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of memory that all that is decoded of the archive may take together. The default is 64 times the length of
    /// the file, at least 320 MiB and at most half of the machine's memory.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        self.memory_limit(MemoryLimit::Exactly(bytes))
    }

    /// The same as a limit of any kind.
    #[must_use]
    pub fn memory_limit(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// Puts large rows of what is decoded into files without names beside this one, if that is a
    /// file system with room; and then does not limit them by the machine's memory.
    #[must_use]
    pub fn spill_beside(self, file: &Path) -> Self {
        Self { spill: Spill::beside(file), ..self }
    }
}

/// Where a segment is.
#[derive(Debug)]
pub(crate) enum Found<'c> {
    /// In the archive, under this number.
    Stored(usize),
    /// Made of edits.
    Edited(&'c EditedSegment),
}

/// What came of verifying.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Sections whose checksums hold.
    pub sections: u64,
    /// Documents, which are as long as recorded.
    pub documents: u64,
    /// Those of them that were compared with a digest: all that edits have not touched. Short
    /// documents that follow each other have one digest together; where one of them was edited,
    /// none of them is compared.
    pub compared: u64,
    /// Bytes of text that they expand to.
    pub bytes: u64,
}

impl Corpus {
    /// Opens an archive. Checks header, table and summary; O(sections). If it was edited, all edits that are whole at this moment are
    /// part of the corpus, and no later ones: O(documents + edits).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::new())
    }

    /// The same, with options.
    ///
    /// # Errors
    /// [`Error::Threads`] where the caller is in no pool and the system refuses the threads of
    /// rayon's global one; what is wrong with the archive, and [`tadoc_core::Error::MemoryLimit`]
    /// if it needs more memory than is allowed; so do all methods that decode more of it.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        threads::ready()?;
        let spill = options.spill.clone();
        let archive = Archive::open_spilling(path.as_ref(), options.memory, spill)?;
        let journal = archive.journal()?;
        let corpus = Self::stored(archive).with_journal(&journal)?;
        let is_there = !journal.is_empty() || journal.torn() > 0;
        Ok(Self { edits: is_there.then(|| EditsInfo::of(&journal)), ..corpus })
    }

    /// An archive without the edits behind it.
    pub(crate) fn stored(archive: Archive) -> Self {
        let table = Arc::default();
        Self { archive: Arc::new(archive), table, edited: None, edits: None }
    }

    /// The same archive, with the edits of this journal and no others.
    pub(crate) fn with_journal(self, journal: &Journal) -> Result<Self> {
        if journal.is_empty() {
            return Ok(self);
        }
        let (ledger, text) = crate::update::replay(self.table()?.clone(), journal)?;
        self.with_edits(&ledger, Arc::new(text))
    }

    /// The same archive, with these edits and no others.
    pub(crate) fn with_edits(self, ledger: &Ledger, text: Arc<EditedText>) -> Result<Self> {
        let stored = Self { edited: None, ..self };
        let edited = Edited::new(&stored.archive, stored.table()?, ledger, text, stored.lexer()?)?;
        Ok(Self { edited: Some(Arc::new(edited)), ..stored })
    }

    /// What the archive holds and what it costs. O(sections); nothing is decoded. Of an archive that was edited, the figures of grammars
    /// are those of what is stored.
    pub fn info(&self) -> Info {
        let Summary { documents, text_bytes, segments, .. } = self.summary().clone();
        Info { documents, text_bytes, segments, ..self.archive.info() }
    }

    /// The edits that were behind the archive when it was opened; `None` if it is as it was compressed.
    pub fn edits(&self) -> Option<EditsInfo> {
        self.edits
    }

    /// The documents, in byte order of their names. The first call reads them: O(documents).
    pub fn documents(&self) -> Result<&[Document]> {
        match &self.edited {
            Some(edited) => Ok(edited.documents()),
            None => Ok(&self.table()?.documents),
        }
    }

    /// What may be taken for all that is decoded of it.
    pub(crate) fn budget(&self) -> &Budget {
        self.archive.budget()
    }

    /// What the steps of decoding took since this was asked last.
    pub fn take_steps(&self) -> Vec<Step> {
        self.budget().steps().take()
    }

    pub(crate) fn archive(&self) -> &Arc<Archive> {
        &self.archive
    }

    pub(crate) fn summary(&self) -> &Summary {
        match &self.edited {
            Some(edited) => edited.summary(),
            None => self.archive.summary(),
        }
    }

    pub(crate) fn lexer(&self) -> Result<Lexer> {
        let name = &self.summary().lexer;
        Lexer::from_name(name).ok_or_else(|| Error::UnknownLexer { name: name.clone() })
    }

    /// The number that a segment has in the archive, if it is as it is stored there.
    pub(crate) fn stored_segment(&self, number: usize) -> Option<usize> {
        match &self.edited {
            Some(edited) => edited.stored_segment(number),
            None => Some(number),
        }
    }

    /// The index that all segments have.
    pub(crate) fn index(&self) -> Index {
        let all = (0..self.summary().segments.len()).map(|number| self.index_of(number));
        all.min().unwrap_or(Index::None)
    }

    pub(crate) fn index_of(&self, number: usize) -> Index {
        match self.stored_segment(number) {
            Some(_) => self.archive.index(),
            None => Index::None,
        }
    }

    pub(crate) fn grammar(&self, number: usize) -> Result<Grammar> {
        match self.find_segment(number)? {
            Found::Stored(stored) => Ok(self.archive.grammar(stored)?),
            Found::Edited(edited) => Ok(edited.grammar.clone()),
        }
    }

    pub(crate) fn dictionary(&self, number: usize) -> Result<Arc<Dictionary>> {
        match self.find_segment(number)? {
            Found::Stored(stored) => Ok(Arc::new(self.archive.dictionary(stored)?)),
            Found::Edited(edited) => Ok(edited.dictionary.clone()),
        }
    }

    /// Grammar and dictionary of a segment, read at the same time.
    pub(crate) fn segment(&self, number: usize) -> Result<(Grammar, Arc<Dictionary>)> {
        match self.find_segment(number)? {
            Found::Stored(stored) => {
                let (grammar, dictionary) = self.archive.segment(stored)?;
                Ok((grammar, Arc::new(dictionary)))
            }
            Found::Edited(edited) => Ok((edited.grammar.clone(), edited.dictionary.clone())),
        }
    }

    /// Makes those segments that edits have touched, side by side: for who needs all of them.
    pub(crate) fn prepare(&self, numbers: impl IntoIterator<Item = usize>) -> Result<()> {
        let numbers: Vec<usize> = numbers.into_iter().collect();
        let edit = |place: usize| self.find_segment(numbers[place]).map(|_| ());
        parallel::try_map(numbers.len(), &edit).map(|_| ())
    }

    /// The number that a segment has in the archive, or what edits have made of it.
    pub(crate) fn find_segment(&self, number: usize) -> Result<Found<'_>> {
        match (&self.edited, self.stored_segment(number)) {
            (_, Some(stored)) => Ok(Found::Stored(stored)),
            (Some(edited), None) => {
                Ok(Found::Edited(edited.segment(&self.archive, number, self.lexer()?)?))
            }
            (None, None) => unreachable!("without edits all segments are stored"),
        }
    }

    /// The documents as they are stored, and their digests.
    pub(crate) fn table(&self) -> Result<&Arc<DocumentTable>> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table = self.archive.documents()?;
        Ok(self.table.get_or_init(|| Arc::new(table)))
    }

    /// The place of a document in [`Corpus::documents`]. O(log documents).
    pub fn find(&self, name: &[u8]) -> Result<usize> {
        let documents = self.documents()?;
        documents
            .binary_search_by(|document| document.name[..].cmp(name))
            .map_err(|_| Error::NoSuchDocument { name: name.to_vec() })
    }

    /// Writes the bytes of documents (places in [`Corpus::documents`], ascending), one after the other;
    /// gives how many. Memory: one segment's grammar and dictionary, whatever the length of a document.
    ///
    /// # Errors
    /// [`Error::BadChoice`] of places that are not there or do not ascend, before anything is
    /// written; [`Error::WrongDigest`] of the first document that is not what was compressed, when
    /// all are written; what reading and writing give. Documents that edits have changed have no
    /// digest.
    pub fn write_documents(
        &self,
        documents: &[usize],
        to: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<u64> {
        self.write_compared(Comparison::new(self, documents)?, Phase::Restoring, to, observer)
    }

    /// Writes the documents of a comparison; the first that is not what was compressed is told at the
    /// end.
    fn write_compared(
        &self,
        mut comparison: Comparison,
        phase: Phase,
        to: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<u64> {
        let table = self.documents()?;
        let places = comparison.places();
        let total = self.total_bytes(&places)?;
        let (mut done, mut written, mut wrong) = (0, 0, None);
        self.for_each_piece(&places, |place, piece, ends| {
            let (asked, verdict) = comparison.piece(piece, ends.then_some(&table[place]));
            if asked {
                to.write_all(piece)
                    .map_err(|source| Error::Io { path: "output".into(), source })?;
                written += piece.len() as u64;
            }
            if let Some(error) = verdict.and_then(|verdict| verdict.error(table)) {
                wrong.get_or_insert(error);
            }
            done += piece.len() as u64;
            step(observer, phase, done, total)
        })?;
        wrong.map_or(Ok(written), Err)
    }

    /// Checks every checksum, that every document expands to what was compressed, and that an index
    /// is what the text gives. If the corpus was edited, this is checked of what is stored, and
    /// then the edited corpus: documents are as long as edits have made them, and those that have a
    /// digest still are compared with it. The edits have checksums of their own, which are checked
    /// whenever an archive is opened.
    pub fn verify(&self, observer: &dyn Observer) -> Result<VerifyReport> {
        let sections = if self.edited.is_some() {
            Self { edited: None, edits: None, ..self.clone() }.verify(observer)?.sections
        } else {
            let sections = self.archive.check_sections()?;
            crate::access::check(self)?;
            sections
        };
        let all: Vec<usize> = (0..self.documents()?.len()).collect();
        let comparison = Comparison::new(self, &all)?;
        let (documents, compared) = (all.len() as u64, comparison.compared());
        let sink = &mut std::io::sink();
        let bytes = self.write_compared(comparison, Phase::Verifying, sink, observer)?;
        if self.edited.is_none() {
            // Derived from the rest, which is right by now.
            for segment in 0..self.summary().segments.len() {
                self.archive.check_word_counts(segment)?;
            }
        }
        Ok(VerifyReport { sections, documents, compared, bytes })
    }

    /// The hashes of the pieces of documents (places in [`Corpus::documents`], ascending).
    pub(crate) fn hash_documents(
        &self,
        documents: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<u64>>> {
        let total = self.total_bytes(documents)?;
        let (mut done, mut hasher) = (0, PieceHasher::default());
        let mut hashes = Vec::with_capacity(documents.len());
        self.for_each_piece(documents, |_, piece, ends| {
            hasher.update(piece);
            done += piece.len() as u64;
            if ends {
                hashes.push(hasher.finish());
            }
            step(observer, Phase::Verifying, done, total)
        })?;
        Ok(hashes)
    }

    pub(crate) fn edited(&self) -> Option<&Edited> {
        self.edited.as_deref()
    }

    fn total_bytes(&self, documents: &[usize]) -> Result<u64> {
        let table = self.documents()?;
        Ok(documents.iter().map(|&number| table[number].bytes).sum())
    }

    /// Calls `each` with the number of a document, a piece of its bytes, and whether it ends there; for all
    /// `documents`, in order. An empty document has one empty piece.
    fn for_each_piece(
        &self,
        documents: &[usize],
        mut each: impl FnMut(usize, &[u8], bool) -> Result<()>,
    ) -> Result<()> {
        let table = self.documents()?;
        let mut buffer = Vec::with_capacity(PIECE * 2);
        let mut before = 0;
        for (number, part) in self.segments_of(documents) {
            let segment = Segment::load(self, number)?;
            for (document, place) in part {
                let ends = self.ends_in(number, document);
                before += segment.document_bytes(place);
                check_length(&table[document], before, ends)?;
                let mut pieces = segment.expand(place);
                loop {
                    buffer.clear();
                    let more = pieces.next_piece(PIECE, &mut buffer);
                    each(document, &buffer, ends && !more)?;
                    if !more {
                        break;
                    }
                }
                if ends {
                    before = 0;
                }
            }
        }
        Ok(())
    }

    /// The segments that hold `documents` (ascending), and of each the documents with their places in it.
    pub(crate) fn segments_of(&self, documents: &[usize]) -> Vec<(usize, Vec<(usize, usize)>)> {
        let segments = &self.summary().segments;
        let mut parts = Vec::new();
        for (number, segment) in segments.iter().enumerate() {
            let first = usize_of(segment.first_document);
            let range = first..first + usize_of(segment.documents);
            let start = documents.partition_point(|&document| document < range.start);
            let end = documents.partition_point(|&document| document < range.end);
            if start < end {
                let wanted = documents[start..end].iter();
                parts
                    .push((number, wanted.map(|&document| (document, document - first)).collect()));
            }
        }
        parts
    }

    /// Whether a document that is in a segment ends there.
    pub(crate) fn ends_in(&self, segment: usize, document: usize) -> bool {
        let next = self.summary().segments.get(segment + 1);
        next.is_none_or(|next| usize_of(next.first_document) != document)
    }
}

/// Checks the length of a document, as far as its segments go: nothing is written past what was announced.
fn check_length(document: &Document, found: u64, ends: bool) -> Result<()> {
    let recorded = document.bytes;
    if found > recorded || (ends && found != recorded) {
        let name = escape(&document.name);
        let what = format!("document {name:?} expands to {found} bytes, recorded are {recorded}");
        return Err(Error::malformed(what));
    }
    Ok(())
}
