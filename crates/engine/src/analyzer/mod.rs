//! What turns a word into the term that is counted: case folding, stop words, stemming, a regular
//! expression.
//!
//! An analyzer belongs to a question and not to the archive. It is applied to every entry of the
//! dictionary once, and never to the text, so that a question costs the same with it as without it,
//! but for one pass over the dictionary: linear in the length of a word for folding and stop words,
//! one search of it for a regular expression, and for stemming linear for most languages (some of
//! Snowball's stemmers copy a word for every letter that they replace, so words of more than
//! [`LONGEST_STEMMED`] bytes are not stemmed).

use std::borrow::Cow;

use regex::bytes::{Regex, RegexBuilder};

mod fold;
pub(crate) mod language;
mod stop_words;

pub use language::Language;
pub use stop_words::StopWords;

use crate::{Error, Result};
use fold::fold;

/// Words of more bytes than this are folded but not stemmed: they are data and no words, and a
/// stemmer may take time with the square of the length.
pub const LONGEST_STEMMED: usize = 1024;

/// Bytes that a compiled regular expression may take: the default of the `regex` crate.
const LARGEST_PATTERN: usize = 10 << 20;

/// Turns words into terms. Without any of its options every word is its own term.
///
/// The order is always the same: a word is **folded**; it is left out if it is a **stop word**; it
/// is **stemmed**; and the term that it has become is left out if it does not **match** or is
/// empty.
///
/// It can be shared between threads, and a clone costs next to nothing. Threads that ask for many
/// terms of an analyzer with a regular expression do best with a clone each, for a regular
/// expression keeps its working memory in a pool.
///
/// ```
/// use tadoc_engine::analyzer::{Analyzer, Language, StopWords};
///
/// let analyzer = Analyzer::new()
///     .stop_words(StopWords::of(Language::English)?)
///     .stem(Some(Language::English))
///     .matching("^[a-z]+$")?;
/// assert_eq!(analyzer.term(b"Connections").as_deref(), Some(&b"connect"[..]));
/// assert_eq!(analyzer.term(b"The"), None);
/// assert_eq!(analyzer.term(b"1890"), None);
/// # Ok::<(), tadoc_engine::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Analyzer {
    fold_case: bool,
    stem: Option<Language>,
    stop_words: StopWords,
    pattern: Option<Regex>,
}

impl Analyzer {
    /// Every word is its own term.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether words that differ in case alone are one term: full Unicode case folding, as Python's
    /// `str.casefold`. Bytes that are not UTF-8 (the `whitespace` lexer lets them into words) stay
    /// as they are, and what is valid between them is folded.
    pub fn fold_case(mut self, yes: bool) -> Self {
        self.fold_case = yes;
        self
    }

    /// Reduces words to their stems by Snowball's stemmer for a language; `None` does not.
    ///
    /// Stemmers are made for lower case, so stemming folds case as well, whatever
    /// [`fold_case`](Self::fold_case) says. Words that are not UTF-8, or longer than
    /// [`LONGEST_STEMMED`], are folded only.
    pub fn stem(mut self, language: Option<Language>) -> Self {
        self.stem = language;
        self
    }

    /// Leaves these words out. They are compared with the words of the text, before stemming, and
    /// in any case: *the* leaves out *The*, whether or not case is folded.
    pub fn stop_words(mut self, words: StopWords) -> Self {
        self.stop_words = words;
        self
    }

    /// Leaves out terms in which this regular expression matches nowhere. It sees the finished term
    /// (folded and stemmed where that is asked for); `^…$` makes it match the whole of it. The
    /// syntax is that of the `regex` crate for bytes: `(?-u:\xFF)` matches a byte that is not
    /// UTF-8.
    ///
    /// # Errors
    /// [`Error::BadPattern`] if it cannot be read, or takes more than ten megabytes when compiled.
    pub fn matching(mut self, pattern: &str) -> Result<Self> {
        let compiled = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build();
        let compiled = compiled.map_err(|error| Error::BadPattern {
            pattern: pattern.to_string(),
            reason: match error {
                regex::Error::CompiledTooBig(limit) => {
                    format!("compiled, it takes more than {limit} bytes; repeat less in it")
                }
                other => other.to_string(),
            },
        })?;
        self.pattern = Some(compiled);
        Ok(self)
    }

    /// Whether every word is its own term, so that nothing need be asked of it.
    pub fn is_identity(&self) -> bool {
        !self.folds() && self.stop_words.is_empty() && self.pattern.is_none()
    }

    /// Whether there may be words that it leaves out.
    pub fn leaves_out(&self) -> bool {
        !self.stop_words.is_empty() || self.pattern.is_some() || self.stem.is_some()
    }

    /// A number that analyzers with the same options have, in any process, and others have not but by chance.
    #[cfg(feature = "pool")]
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut description = vec![u8::from(self.folds())];
        let mut put = |bytes: &[u8]| {
            description.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            description.extend_from_slice(bytes);
        };
        put(self.stem.map_or("", Language::name).as_bytes());
        put(self.pattern.as_ref().map_or("", Regex::as_str).as_bytes());
        put(&[u8::from(self.pattern.is_some())]);
        self.stop_words.sorted().into_iter().for_each(put);
        xxhash_rust::xxh64::xxh64(&description, 0)
    }

    /// The term of a word, or `None` where the word is left out. It is borrowed where it is the
    /// word itself.
    pub fn term<'word>(&self, word: &'word [u8]) -> Option<Cow<'word, [u8]>> {
        let mut term = if self.folds() { fold(word) } else { Cow::Borrowed(word) };
        let stopped = match self.folds() {
            true => self.stop_words.contains_folded(&term),
            false => self.stop_words.contains(&term),
        };
        if stopped {
            return None;
        }
        if let Some(language) = self.stem
            && let Some(stem) = stem(language, &term)
        {
            term = Cow::Owned(stem);
        }
        let matches = self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&term));
        (matches && !term.is_empty()).then_some(term)
    }

    fn folds(&self) -> bool {
        self.fold_case || self.stem.is_some()
    }
}

/// The stem of a folded word, where it is another one.
fn stem(language: Language, word: &[u8]) -> Option<Vec<u8>> {
    if word.len() > LONGEST_STEMMED {
        return None;
    }
    let text = std::str::from_utf8(word).ok()?;
    let stem = language.stemmer().stem(text);
    (stem != text).then(|| stem.into_owned().into_bytes())
}
