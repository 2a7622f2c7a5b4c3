//! Words that say little and are left out: *the*, *of*, *and*.
//!
//! The lists are Snowball's, bundled as it publishes them (BSD licence, beside them): short lists
//! of grammatical words for thirteen languages, the ones that quanteda, PostgreSQL and Lucene use
//! as well. The crate `stop-words` has more languages, but its lists are of mixed origin, and the
//! English one has over a thousand words, *computer* among them.
//!
//! Looking a word up costs one hash of it.

use std::collections::HashSet;
use std::sync::Arc;

use super::Language;
use super::fold::fold;
use crate::{Error, Result};

type Words = HashSet<Box<[u8]>, foldhash::fast::FixedState>;

/// A set of words to leave out.
///
/// Words are compared by their folded forms, whether or not the analyzer folds what it keeps: a
/// list with *the* is meant to leave out *The* at the beginning of a sentence too.
///
/// ```
/// use tadoc_engine::analyzer::{Language, StopWords};
///
/// let words = StopWords::of(Language::English)?.and(StopWords::from_lines(b"Dr\nMrs\n"));
/// assert!(words.contains(b"The") && words.contains(b"dr"));
/// assert!(!words.contains(b"fox"));
/// # Ok::<(), tadoc_engine::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StopWords {
    /// Folded.
    words: Arc<Words>,
}

impl StopWords {
    /// The languages that [`StopWords::of`] has a list for, by name ascending.
    pub const LANGUAGES: &[Language] = &[
        Language::Danish,
        Language::Dutch,
        Language::English,
        Language::Finnish,
        Language::French,
        Language::German,
        Language::Hungarian,
        Language::Italian,
        Language::Norwegian,
        Language::Portuguese,
        Language::Russian,
        Language::Spanish,
        Language::Swedish,
    ];

    /// No words.
    pub fn none() -> Self {
        Self::default()
    }

    /// Snowball's list for a language.
    ///
    /// A word with an apostrophe (*don't*; only the English list has such) also stands for its
    /// pieces (*don*, *t*), which is what the `words` lexer makes of it, and for itself with a
    /// typographic apostrophe.
    ///
    /// # Errors
    /// [`Error::NoStopWords`] if there is no list for it.
    pub fn of(language: Language) -> Result<Self> {
        let list = match language {
            Language::Danish => include_str!("danish.txt"),
            Language::Dutch => include_str!("dutch.txt"),
            Language::English => include_str!("english.txt"),
            Language::Finnish => include_str!("finnish.txt"),
            Language::French => include_str!("french.txt"),
            Language::German => include_str!("german.txt"),
            Language::Hungarian => include_str!("hungarian.txt"),
            Language::Italian => include_str!("italian.txt"),
            Language::Norwegian => include_str!("norwegian.txt"),
            Language::Portuguese => include_str!("portuguese.txt"),
            Language::Russian => include_str!("russian.txt"),
            Language::Spanish => include_str!("spanish.txt"),
            Language::Swedish => include_str!("swedish.txt"),
            _ => return Err(Error::NoStopWords { language }),
        };
        let mut words = Words::default();
        for word in list.lines() {
            insert(&mut words, word.as_bytes());
            if word.contains('\'') {
                insert(&mut words, word.replace('\'', "’").as_bytes());
                word.split('\'').for_each(|piece| insert(&mut words, piece.as_bytes()));
            }
        }
        Ok(Self { words: Arc::new(words) })
    }

    /// The words of a list, one a line. White space around a word and empty lines do not count; a
    /// byte order mark before the first word does not either.
    pub fn from_lines(list: &[u8]) -> Self {
        let list = list.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(list);
        let mut words = Words::default();
        list.split(|&byte| byte == b'\n').for_each(|line| insert(&mut words, line.trim_ascii()));
        Self { words: Arc::new(words) }
    }

    /// The words of this set and of another one.
    pub fn and(mut self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        Arc::make_mut(&mut self.words).extend(other.words.iter().cloned());
        self
    }

    /// The words, folded and in byte order.
    #[cfg(feature = "pool")]
    pub(super) fn sorted(&self) -> Vec<&[u8]> {
        let mut words: Vec<&[u8]> = self.words.iter().map(|word| &**word).collect();
        words.sort_unstable();
        words
    }

    /// Whether a word is left out, in whatever case it is.
    pub fn contains(&self, word: &[u8]) -> bool {
        !self.is_empty() && self.contains_folded(&fold(word))
    }

    /// The same for a word that is folded already.
    pub(super) fn contains_folded(&self, word: &[u8]) -> bool {
        self.words.contains(word)
    }

    /// How many words there are, after folding.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

fn insert(words: &mut Words, word: &[u8]) {
    if !word.is_empty() {
        words.insert(fold(word).into());
    }
}
