//! Random access to an archive: any bytes, any line, any word, without expanding the rest.

use std::io::Write;
use std::ops::{ControlFlow, Range};

use crate::analyzer::Analyzer;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::Document;

/// How much is kept for random access: the dial between time and space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Index {
    /// Nothing is stored: segments are decoded when they are needed.
    #[default]
    None,
    /// Rules and lengths are stored, and the documents' own symbols decoded from the archive.
    Small,
    /// All symbols are stored, and how often each word is in each document: nothing is decoded.
    Fast,
}

/// An archive opened for random access. Segments are loaded when they are first needed.
#[derive(Debug)]
pub struct Access<'c> {
    corpus: &'c Corpus,
}

/// The documents that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those of these numbers (places in [`Corpus::documents`]), ascending.
    Documents(Vec<u32>),
}

/// A word or several words in a row, to be looked for; made by [`Access::phrase`].
#[derive(Debug, Clone)]
pub struct Phrase {}

/// A word that was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// The document's number.
    pub document: u32,
    /// Where the word starts in it.
    pub offset: u64,
    /// The word.
    pub word: Vec<u8>,
}

/// A document that was found by [`Access::find`].
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The document's number.
    pub document: u32,
    /// How well it fits.
    pub score: f64,
}

/// One operation of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// At most `length` bytes of a document from `offset` on.
    Extract { document: u32, offset: u64, length: u64 },
    /// Where a word or phrase is, in one document or in all.
    Search { document: Option<u32>, phrase: Vec<u8> },
    /// How often a word or phrase occurs, in one document or in all.
    Count { document: Option<u32>, phrase: Vec<u8> },
    /// Words drawn at random, from one document or from all.
    Sample { document: Option<u32>, count: u64, seed: u64 },
}

/// What came of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Of [`Operation::Extract`].
    Bytes(Vec<u8>),
    /// Of [`Operation::Search`]: documents in which it is, ascending, with offsets, ascending.
    Offsets(Vec<(u32, Vec<u64>)>),
    /// Of [`Operation::Count`].
    Count(u64),
    /// Of [`Operation::Sample`], in the order drawn.
    Words(Vec<Sampled>),
}

impl<'c> Access<'c> {
    /// Opens an archive for random access. Uses the index that is stored in it, but none above `most`.
    pub fn open(corpus: &'c Corpus, most: Index) -> Result<Self> {
        let _ = most;
        Ok(Self { corpus })
    }

    /// The index that is used.
    pub fn index(&self) -> Index {
        todo!()
    }

    /// The documents, in byte order of their names.
    pub fn documents(&self) -> Result<&'c [Document]> {
        self.corpus.documents()
    }

    /// Bytes of memory held: on the heap, and mapped from the archive.
    pub fn memory(&self) -> (u64, u64) {
        todo!()
    }

    /// At most `length` bytes of a document from `offset` on; fewer where it ends before that.
    /// Error: `Error::OffsetPastEnd`.
    pub fn extract(&self, document: u32, offset: u64, length: u64) -> Result<Vec<u8>> {
        let _ = (document, offset, length);
        todo!()
    }

    /// Writes bytes of a document, piece by piece; a range past the end is cut there.
    pub fn write(&self, document: u32, range: Range<u64>, to: &mut dyn Write) -> Result<u64> {
        let _ = (document, range, to);
        todo!()
    }

    /// How many lines a document has; a last line needs no newline.
    pub fn line_count(&self, document: u32) -> Result<u64> {
        let _ = document;
        todo!()
    }

    /// Where a line (the first is 0) starts in a document; the document's length for a line past the last.
    pub fn line_start(&self, document: u32, line: u64) -> Result<u64> {
        let _ = (document, line);
        todo!()
    }

    /// In which line (the first is 0) a byte of a document is: how many newlines are before it.
    pub fn line_of(&self, document: u32, offset: u64) -> Result<u64> {
        let _ = (document, offset);
        todo!()
    }

    /// A word or words in a row, as this archive's lexer cuts them, to be looked for as `analyzer` has it.
    ///
    /// Errors: `Error::NoWord` if there is no word in it, `Error::NotWords` if words are joined by other
    /// characters than white space, or others stand around them (what is between words is not searched for).
    pub fn phrase(&self, text: &[u8], analyzer: &Analyzer) -> Result<Phrase> {
        let _ = (text, analyzer);
        todo!()
    }

    /// Visits the byte offsets of a phrase, ascending: documents in order, the offsets of one document in one or
    /// several calls. Ends early where `visit` breaks.
    pub fn search(
        &self,
        phrase: &Phrase,
        scope: &Scope,
        visit: &mut dyn FnMut(u32, &[u64]) -> ControlFlow<()>,
    ) -> Result<()> {
        let _ = (phrase, scope, visit);
        todo!()
    }

    /// How often a phrase occurs.
    pub fn count(&self, phrase: &Phrase, scope: &Scope) -> Result<u64> {
        let _ = (phrase, scope);
        todo!()
    }

    /// How often a phrase occurs in each document in which it does, ascending.
    pub fn count_by_document(&self, phrase: &Phrase, scope: &Scope) -> Result<Vec<(u32, u64)>> {
        let _ = (phrase, scope);
        todo!()
    }

    /// Draws words, each word occurrence being as likely as any other, independently of each other; none
    /// if there is no word.
    pub fn sample(&self, count: u64, seed: u64, scope: &Scope) -> Result<Vec<Sampled>> {
        let _ = (count, seed, scope);
        todo!()
    }

    /// The documents that fit some words best, by BM25 (`k1` 1.2, `b` 0.75), best first.
    pub fn find(
        &self,
        words: &[u8],
        analyzer: &Analyzer,
        scope: &Scope,
        most: usize,
    ) -> Result<Vec<Found>> {
        let _ = (words, analyzer, scope, most);
        todo!()
    }

    /// Runs operations on all threads of the pool that it is called in; one that fails does not stop the others.
    pub fn run(&self, operations: &[Operation]) -> Vec<Result<Outcome>> {
        let _ = operations;
        todo!()
    }
}
