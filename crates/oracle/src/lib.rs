//! The plain program whose answers are the right ones: every task, strategy, builder and backend
//! of tadoc is tested against it on the same corpora.
//!
//! It keeps the text uncompressed, cuts the words anew for every question and counts them in
//! ordered maps: slow and obvious, so that a reader can see that it is right. A task costs
//! O(w log t) comparisons of terms for w words and t distinct terms, and holds all its keys in
//! memory; a search reads the whole text.
//!
//! [`cases()`] gives the corpora that all of them are tested on.

mod access;
mod cases;
mod find;
mod lexer;
mod lines;
mod pairs;
mod random;
mod sample;
mod tasks;
mod weights;

pub use cases::{Case, cases};
pub use lexer::{Lexer, words};
pub use pairs::Collocation;
pub use random::Random;
pub use tasks::{Sequence, Term};
pub use weights::{Norm, TfidfOptions};

use std::collections::BTreeSet;

/// One named byte string.
pub type Document = (String, Vec<u8>);

/// What turns a word into the term that is counted; `None` removes it.
pub type Analyzer<'corpus> = dyn Fn(&[u8]) -> Option<Vec<u8>> + 'corpus;

/// A corpus with the lexer and the analyzer that questions about it go through.
///
/// Documents are named by their position in the corpus. The tasks count terms, that is words after
/// the analyzer, and these are searched for too; samples are drawn from the words as they stand.
///
/// ```
/// use tadoc_oracle::{Lexer, Oracle};
///
/// let documents = vec![("greeting".to_string(), b"Hello, hello world".to_vec())];
/// let oracle = Oracle::new(Lexer::Words, &documents)
///     .with_analyzer(|word| Some(word.to_ascii_lowercase()));
/// assert_eq!(oracle.word_count(), [(b"hello".to_vec(), 2), (b"world".to_vec(), 1)]);
/// assert_eq!(oracle.search_all(b"HELLO"), [(0, 0), (0, 7)]);
/// assert_eq!(oracle.search_all(b"hello world"), [(0, 7)]);
/// ```
pub struct Oracle<'corpus> {
    lexer: Lexer,
    documents: &'corpus [Document],
    analyzer: Box<Analyzer<'corpus>>,
    /// The documents that questions about the corpus are about.
    chosen: BTreeSet<usize>,
    min_count: u64,
}

impl<'corpus> Oracle<'corpus> {
    /// Asks about these documents; each word is its own term.
    pub fn new(lexer: Lexer, documents: &'corpus [Document]) -> Self {
        Oracle {
            lexer,
            documents,
            analyzer: Box::new(|word| Some(word.to_vec())),
            chosen: (0..documents.len()).collect(),
            min_count: 1,
        }
    }

    /// Asks about the terms that `analyzer` makes of the words; where it returns `None` the word
    /// is removed, and sequences skip over it.
    pub fn with_analyzer(
        mut self,
        analyzer: impl Fn(&[u8]) -> Option<Vec<u8>> + 'corpus,
    ) -> Oracle<'corpus> {
        self.analyzer = Box::new(analyzer);
        self
    }

    /// Asks about some documents only, as if the corpus had no others. They keep their numbers: where an
    /// answer has an entry for each document, that of a document left out is empty.
    ///
    /// # Panics
    ///
    /// When there is no such document.
    pub fn with_documents(mut self, documents: impl IntoIterator<Item = usize>) -> Self {
        self.chosen = documents.into_iter().collect();
        assert!(self.chosen.iter().all(|&document| document < self.documents.len()));
        self
    }

    /// Leaves out of the answer what occurs fewer than `min_count` times in the chosen documents together:
    /// terms, sequences or pairs, whichever the task counts. The text stays as it is, so that a rare
    /// term is still a part of sequences and pairs.
    pub fn with_min_count(mut self, min_count: u64) -> Self {
        self.min_count = min_count;
        self
    }

    /// What `answer` gives for each chosen document, and nothing for the others.
    fn for_each_document<Row>(&self, answer: impl Fn(usize) -> Vec<Row>) -> Vec<Vec<Row>> {
        (0..self.documents.len())
            .map(|document| match self.chosen.contains(&document) {
                true => answer(document),
                false => Vec::new(),
            })
            .collect()
    }
}
