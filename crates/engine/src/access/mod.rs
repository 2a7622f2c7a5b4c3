//! Random access to an archive: any bytes, any line, any word or phrase, without expanding the rest.
//!
//! [`Access`] is an archive opened for it. Segments are loaded when they are first needed: mapped, where the archive has an
//! index ([`store`] adds one), else decoded, with what the index would have derived from them; or they are in a pool, with all that is
//! read of them. What each operation costs
//! stands at its method; `docs/access.md` says what each part of the index costs and buys.
//!
//! ```
//! use tadoc_engine::access::{Access, Index, Scope};
//! use tadoc_engine::{Analyzer, Corpus};
//! # fn main() -> tadoc_engine::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("corpus.tdc");
//! # let text = b"to be or not to be".to_vec();
//! # let input = tadoc_engine::Input::new("hamlet.txt", tadoc_engine::Source::Bytes(text));
//! # tadoc_engine::compress(vec![input], &path, &tadoc_engine::CompressOptions::default(), &())?;
//! let corpus = Corpus::open(&path)?;
//! let access = Access::open(&corpus, Index::Fast)?;
//! assert_eq!(access.extract(0, 3, 5)?, b"be or");
//! let phrase = access.phrase(b"to be", &Analyzer::new())?;
//! assert_eq!(access.count(&phrase, &Scope::All)?, 2);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod batch;
mod build;
mod counts;
mod cursor;
#[cfg(feature = "gpu")]
mod device;
mod find;
mod finder;
mod lines;
mod occurrences;
mod phrase;
mod pipeline;
#[cfg(feature = "pool")]
mod pool;
mod postings;
mod sample;
mod search;
mod segment;
mod signatures;
mod store;
mod texts;
mod tokens;
mod unpacked;
mod walk;
mod workspace;

use std::io::Write;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use self::segment::Measure;
use self::tokens::TokenStore;
use self::walk::Reader;
use crate::corpus::digests::Comparison;
use crate::corpus::{Corpus, Part, parts_of};
use crate::error::{Error, Result};
use crate::{Document, Lexer};

pub use batch::{Operation, Outcome};
#[cfg(feature = "gpu")]
pub use device::DeviceAccess;
pub use find::{Bm25, Found, Query, find};
pub use phrase::{Phrase, words};
pub use sample::{Draws, Sampled, sample};
pub use search::Search;
pub use segment::{Segment, Slices};
pub(crate) use store::check;
pub use store::{store, store_with};
pub use tadoc_core::archive::Index;
pub(crate) use tokens::leading_space;

/// Bytes of a document that are written at a time.
const PIECE: usize = 1 << 20;

/// An error about an index whose parts contradict each other, or the text.
fn damaged_index(what: &str) -> Error {
    Error::malformed(format!("the index is damaged: {what}"))
}

/// An archive opened for random access.
#[derive(Debug)]
pub struct Access {
    corpus: Corpus,
    lexer: Lexer,
    source: Source,
    /// What all segments have of an index.
    index: Index,
    segments: Vec<OnceLock<Segment>>,
    /// The tokens of segments that were mapped before these were loaded.
    tokens: Vec<OnceLock<Arc<TokenStore>>>,
    /// The parts of all documents, in order: a long document may have several, in segments one after the other.
    parts: Vec<Part>,
    /// The first part of each document, and the end behind the last.
    first_parts: Vec<u32>,
    /// Where the text of each segment starts in that of the corpus.
    segment_starts: Vec<u64>,
    /// How many words all documents have, once that is asked.
    words: OnceLock<u64>,
    /// Set when the documents of words were derived for all segments.
    derived_counts: OnceLock<()>,
    /// Symbols of documents in which words were counted, in batches.
    counted: AtomicU64,
}

/// Where segments come from.
#[derive(Debug)]
enum Source {
    /// The archive; of an index that is stored in it, no more than this is used.
    Archive(Index),
    /// A pool.
    #[cfg(feature = "pool")]
    Pool(Box<tadoc_pool::work::LateBlocks>),
}

/// The documents that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those of these numbers (places in [`Corpus::documents`]), ascending.
    Documents(Vec<u32>),
}

impl Access {
    /// Opens an archive for random access. Uses the index that is stored in it, but none above `most`. O(documents).
    pub fn open(corpus: &Corpus, most: Index) -> Result<Self> {
        Self::new(corpus, Source::Archive(most), corpus.index().min(most))
    }

    fn new(corpus: &Corpus, source: Source, index: Index) -> Result<Self> {
        let summary = corpus.summary();
        let lexer = corpus.lexer()?;
        let (parts, first_parts) = parts_of(corpus.documents()?, &summary.segments)?;
        let segments = summary.segments.iter().map(|_| OnceLock::new()).collect();
        let tokens = summary.segments.iter().map(|_| OnceLock::new()).collect();
        let mut start = 0;
        let starts = summary.segments.iter().map(|segment| {
            start += segment.text_bytes;
            start - segment.text_bytes
        });
        let segment_starts = starts.collect();
        Ok(Self {
            corpus: corpus.clone(),
            lexer,
            source,
            index,
            segments,
            tokens,
            parts,
            first_parts,
            segment_starts,
            words: OnceLock::new(),
            derived_counts: OnceLock::new(),
            counted: AtomicU64::new(0),
        })
    }

    /// The lexer of the archive.
    pub fn lexer(&self) -> Lexer {
        self.lexer
    }

    /// The index that is used.
    pub fn index(&self) -> Index {
        self.index
    }

    /// The documents, in byte order of their names.
    pub fn documents(&self) -> &[Document] {
        self.corpus.documents().expect("read when it was opened")
    }

    /// Bytes of memory held: on the heap, and mapped from the archive or a pool.
    pub fn memory(&self) -> (u64, u64) {
        let parts = size_of_val(&self.parts[..]) + size_of_val(&self.first_parts[..]);
        let memory = |(segment, tokens): (&OnceLock<Segment>, &OnceLock<Arc<TokenStore>>)| match (
            segment.get(),
            tokens.get(),
        ) {
            (Some(segment), _) => segment.memory(),
            (None, Some(tokens)) => (tokens.memory().0 as u64, 0),
            (None, None) => (0, 0),
        };
        let all = self.segments.iter().zip(&self.tokens).map(memory);
        all.fold((parts as u64, 0), |sum, memory| (sum.0 + memory.0, sum.1 + memory.1))
    }

    /// Loads all segments, unpacks their words and writes out the texts of short rules, so that later operations are as fast as
    /// they can be: for whoever has many. With an index, all that is held then is at most 1.2 times as large as the archive. In a pool there is
    /// nothing to unpack, and nothing is written out: no memory is taken.
    pub fn load(&self) -> Result<()> {
        let mut symbols = 0;
        for number in 0..self.segments.len() {
            let segment = self.segment(number)?;
            segment.load_words()?;
            segment.slices()?;
            symbols += segment.symbol_bytes();
        }
        if !matches!(self.source, Source::Archive(_)) {
            return Ok(());
        }
        let (heap, mapped) = self.memory();
        let room = match self.index {
            Index::None => symbols / 2,
            _ => (self.corpus.info().archive_bytes * 6 / 5).saturating_sub(heap + mapped),
        };
        for number in 0..self.segments.len() {
            let segment = self.segment(number)?;
            let share =
                u128::from(room) * u128::from(segment.symbol_bytes()) / u128::from(symbols.max(1));
            #[expect(clippy::cast_possible_truncation, reason = "a share of `room`")]
            segment.load_texts(share as u64)?;
        }
        Ok(())
    }

    /// How many segments there are.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// A segment; the first call loads it.
    ///
    /// # Panics
    /// If there is no such segment.
    pub fn segment(&self, number: usize) -> Result<&Segment> {
        if let Some(segment) = self.segments[number].get() {
            return Ok(segment);
        }
        let segment = match &self.source {
            Source::Archive(most) => {
                let tokens = self.tokens[number].get().cloned();
                Segment::load_with(&self.corpus, number, *most, tokens)?
            }
            #[cfg(feature = "pool")]
            Source::Pool(blocks) => pool::segment(&self.corpus, blocks, number)?,
        };
        self.check_documents(number, &segment)?;
        Ok(self.segments[number].get_or_init(|| segment))
    }

    /// The number in the archive of a segment that an index in it has, and that is not loaded yet.
    fn mapped(&self, number: usize) -> Option<usize> {
        let most = match &self.source {
            Source::Archive(most) => *most,
            #[cfg(feature = "pool")]
            Source::Pool(_) => return None,
        };
        let is_mapped = most.min(self.corpus.index_of(number)) > Index::None
            && self.segments[number].get().is_none();
        if is_mapped { self.corpus.stored_segment(number) } else { None }
    }

    /// The tokens of a segment. If it is mapped, no more of it is loaded.
    fn tokens(&self, number: usize) -> Result<&TokenStore> {
        let Some(stored) = self.mapped(number) else { return Ok(self.segment(number)?.tokens()) };
        if self.tokens[number].get().is_none() {
            let dictionary = Arc::new(self.corpus.archive().dictionary(stored)?);
            let text_bytes = self.corpus.summary().segments[number].text_bytes;
            let tokens = Arc::new(TokenStore::new(dictionary, text_bytes));
            self.tokens[number].get_or_init(|| tokens);
        }
        Ok(self.tokens[number].get().expect("just mapped"))
    }

    /// How many words the text of a segment has. If it is mapped, no more of it is loaded.
    fn words_of_segment(&self, number: usize) -> Result<u64> {
        match self.mapped(number) {
            Some(stored) => Ok(self.corpus.archive().word_total(stored)?),
            None => {
                let segment = self.segment(number)?;
                Ok(segment.slices()?.before(Measure::Words, segment.root_length()))
            }
        }
    }

    /// How many symbols root and rules of a segment have. If it is mapped, it is not loaded.
    fn symbols_of(&self, number: usize) -> Result<u64> {
        if let Some(stored) = self.mapped(number) {
            return Ok(self.corpus.archive().summary().segments[stored].symbols);
        }
        let slices = self.segment(number)?.slices()?;
        Ok((slices.bodies_length() + slices.root_length()) as u64)
    }

    /// How many symbols root and rules of all segments have as they are stored.
    pub(crate) fn stored_symbols(&self) -> u64 {
        self.corpus.summary().segments.iter().map(|segment| segment.symbols).sum()
    }

    /// How many segments are loaded: those that operations had to look at.
    pub fn loaded_segments(&self) -> usize {
        self.segments.iter().filter(|segment| segment.get().is_some()).count()
    }

    /// Checks that the documents of a segment are where their lengths say.
    fn check_documents(&self, number: usize, segment: &Segment) -> Result<()> {
        let slices = segment.slices()?;
        for part in self.parts_of_segment(number) {
            let root = segment.document_root(part.place as usize);
            let ends = [(root.start, part.text_start), (root.end, part.text_start + part.bytes)];
            if ends.iter().any(|&(place, text)| slices.before(Measure::Bytes, place) != text) {
                let name = crate::text::escape(&self.documents()[part.document as usize].name);
                let what = format!("document {name:?} is of another length than recorded");
                return Err(Error::malformed(what));
            }
        }
        Ok(())
    }

    /// The parts that are in a segment.
    fn parts_of_segment(&self, number: usize) -> &[Part] {
        let start = self.parts.partition_point(|part| (part.segment as usize) < number);
        let end = self.parts.partition_point(|part| part.segment as usize <= number);
        &self.parts[start..end]
    }

    /// The parts of a document.
    fn parts_of_document(&self, number: u32) -> Result<&[Part]> {
        let document = number as usize;
        if document >= self.documents().len() {
            let documents = self.documents().len() as u64;
            return Err(Error::BadChoice { number, documents });
        }
        Ok(&self.parts
            [self.first_parts[document] as usize..self.first_parts[document + 1] as usize])
    }

    /// The parts that a question is about, in order.
    fn parts_of_scope(&self, scope: &Scope) -> Result<Vec<Part>> {
        match scope {
            Scope::All => Ok(self.parts.clone()),
            Scope::Documents(documents) => {
                if let Some(pair) = documents.windows(2).find(|pair| pair[0] >= pair[1]) {
                    let documents = self.documents().len() as u64;
                    return Err(Error::BadChoice { number: pair[1], documents });
                }
                let mut parts = Vec::new();
                for &document in documents {
                    parts.extend_from_slice(self.parts_of_document(document)?);
                }
                Ok(parts)
            }
        }
    }

    /// The part of a document in which an offset is, if it is before the end.
    fn part_at(&self, document: u32, offset: u64) -> Result<Option<Part>> {
        let parts = self.parts_of_document(document)?;
        let found = parts.partition_point(|part| part.offset + part.bytes <= offset);
        Ok(parts.get(found).copied())
    }

    fn check_offset(&self, document: u32, offset: u64) -> Result<()> {
        self.parts_of_document(document)?;
        let bytes = self.documents()[document as usize].bytes;
        if offset > bytes { Err(self.past_end(document, offset, bytes)) } else { Ok(()) }
    }

    /// An offset is past the end of a document that has so many bytes.
    fn past_end(&self, document: u32, offset: u64, bytes: u64) -> Error {
        let name = self.documents()[document as usize].name.clone();
        Error::OffsetPastEnd { name, offset, bytes }
    }

    /// At most `length` bytes of a document from `offset` on; fewer where it ends before that. O(depth + length).
    ///
    /// # Errors
    /// [`Error::OffsetPastEnd`] if the offset is past the end, [`Error::BadChoice`] if there is no such document.
    pub fn extract(&self, document: u32, offset: u64, length: u64) -> Result<Vec<u8>> {
        self.check_offset(document, offset)?;
        let left = self.documents()[document as usize].bytes - offset;
        let _share = self.corpus.budget().take(length.min(left), "the bytes of a document")?;
        let mut bytes = Vec::new();
        Reader::new(self).read(document, offset, length, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes bytes of a document, piece by piece; a range past the end is cut there. Gives how many.
    ///
    /// # Errors
    /// As [`Access::extract`], and what the writer gives.
    pub fn write(&self, document: u32, range: Range<u64>, to: &mut dyn Write) -> Result<u64> {
        self.check_offset(document, range.start)?;
        let (mut at, mut buffer) = (range.start, Vec::new());
        let mut reader = Reader::new(self);
        while at < range.end {
            buffer.clear();
            let wanted = (range.end - at).min(PIECE as u64);
            reader.read(document, at, wanted, &mut buffer)?;
            if buffer.is_empty() {
                break;
            }
            to.write_all(&buffer).map_err(|source| Error::Io { path: "output".into(), source })?;
            at += buffer.len() as u64;
        }
        Ok(at - range.start)
    }

    /// Writes whole documents (places, ascending) one after the other, and compares them with their
    /// digests: as [`Corpus::write_documents`], without decoding what an index has. Gives how many
    /// bytes.
    ///
    /// # Errors
    /// [`Error::BadChoice`] of places that are not there or do not ascend, before anything is
    /// written; [`Error::WrongDigest`] of the first document that is not what was compressed, when
    /// all are written; what reading and writing give.
    pub fn write_documents(&self, documents: &[usize], to: &mut dyn Write) -> Result<u64> {
        let mut comparison = Comparison::new(&self.corpus, documents)?;
        let (mut written, mut wrong) = (0, None);
        let mut reader = Reader::new(self);
        let mut buffer = Vec::new();
        for place in comparison.places() {
            let document = &self.documents()[place];
            let mut at = 0;
            loop {
                buffer.clear();
                let wanted = (document.bytes - at).min(PIECE as u64);
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "documents are numbered in 32 bits"
                )]
                reader.read(place as u32, at, wanted, &mut buffer)?;
                at += buffer.len() as u64;
                // A document that ends early has another digest.
                let ends = at >= document.bytes || buffer.is_empty();
                let (asked, verdict) = comparison.piece(&buffer, ends.then_some(document));
                if asked {
                    let io = |source| Error::Io { path: "output".into(), source };
                    to.write_all(&buffer).map_err(io)?;
                    written += buffer.len() as u64;
                }
                if let Some(error) = verdict.and_then(|verdict| verdict.error(self.documents())) {
                    wrong.get_or_insert(error);
                }
                if ends {
                    break;
                }
            }
        }
        wrong.map_or(Ok(written), Err)
    }
}
