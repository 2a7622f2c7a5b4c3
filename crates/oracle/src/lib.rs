//! The plain program whose answers are the right ones: every task, strategy, builder and backend
//! of tadoc is tested against it on the same corpora.
//!
//! It keeps the text uncompressed, cuts the words anew for every question and counts them in
//! ordered maps: slow and obvious, so that a reader can see that it is right. A task costs
//! O(w log t) comparisons of terms for w words and t distinct terms, and holds all its keys in
//! memory; a search reads the whole text.
//!
//! [`cases()`] gives the corpora that all of them are tested on, and [`mend_checksums`] lets tests get
//! past the checksums of archives that they damage.

mod access;
mod cases;
mod lexer;
mod mend;
mod random;
mod tasks;

pub use cases::{Case, cases};
pub use lexer::{Lexer, words};
pub use mend::mend_checksums;
pub use random::Random;
pub use tasks::{Sequence, Term};

/// One named byte string.
pub type Document = (String, Vec<u8>);

/// What turns a word into the term that is counted; `None` removes it.
pub type Analyzer<'corpus> = dyn Fn(&[u8]) -> Option<Vec<u8>> + 'corpus;

/// A corpus with the lexer and the analyzer that questions about it go through.
///
/// Documents are named by their position in the corpus. The tasks count terms, that is words after
/// the analyzer; random access looks at the words of the text as they stand.
///
/// ```
/// use tadoc_oracle::{Lexer, Oracle};
///
/// let documents = vec![("greeting".to_string(), b"Hello, hello world".to_vec())];
/// let oracle = Oracle::new(Lexer::Words, &documents)
///     .with_analyzer(|word| Some(word.to_ascii_lowercase()));
/// assert_eq!(oracle.word_count(), [(b"hello".to_vec(), 2), (b"world".to_vec(), 1)]);
/// assert_eq!(oracle.search_all(b"hello world"), [(0, 7)]);
/// ```
pub struct Oracle<'corpus> {
    lexer: Lexer,
    documents: &'corpus [Document],
    analyzer: Box<Analyzer<'corpus>>,
}

impl<'corpus> Oracle<'corpus> {
    /// Asks about these documents; each word is its own term.
    pub fn new(lexer: Lexer, documents: &'corpus [Document]) -> Self {
        Oracle { lexer, documents, analyzer: Box::new(|word| Some(word.to_vec())) }
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
}
