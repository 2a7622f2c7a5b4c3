//! The documents that fit some words best, and the place of each that shows it.
//!
//! A snippet is from where most of the words are together. It costs a search for each word in the
//! document, and the bytes that are shown.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use tadoc_engine::access::{self, Access, Scope, words};

use crate::{Analyzer, Corpus, Document, DocumentId, Result, SearchQuery};

/// Words within so many bytes are together.
const SPAN: u64 = 160;
/// So many bytes are shown before the first of them, at most, and in all.
const BEFORE: u64 = 60;
const SHOWN: u64 = 280;
/// Of a word that occurs more often in a document, the first so many occurrences are looked at.
const MOST: usize = 10_000;

/// A document that fits a query.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let query = tadoc::SearchQuery { words: b"not".to_vec(), ..Default::default() };
/// let found = tadoc::Corpus::open(&path)?.query().find(&query, 10)?;
/// assert_eq!(found[0].document().name(), b"hamlet.txt");
/// assert!(found[0].score() > 0.0);
/// let snippet = found[0].snippet()?;
/// assert_eq!(&snippet.text[snippet.marked[0].clone()], b"not");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Found {
    document: Document,
    score: f64,
    wanted: Arc<Wanted>,
}

/// The place of a document that shows best why it was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Snippet {
    /// Its text in one line: white space is one space. Empty if no word is in the document.
    pub text: Vec<u8>,
    /// Where the words are in it.
    pub marked: Vec<Range<usize>>,
}

/// The words of a query, in one archive.
#[derive(Debug)]
struct Wanted {
    access: Arc<Access>,
    analyzer: Analyzer,
    phrases: Vec<access::Phrase>,
    terms: HashSet<Vec<u8>>,
}

/// The documents of some scopes that fit best.
pub(crate) fn find(
    corpus: &Corpus,
    query: &SearchQuery,
    analyzer: &Analyzer,
    scopes: &[Scope],
    most: usize,
) -> Result<Vec<Found>> {
    let accesses = corpus.parts().iter().map(|part| part.access());
    let accesses = accesses.collect::<Result<Vec<&Arc<Access>>>>()?;
    let archives: Vec<(&Access, &Scope)> =
        accesses.iter().map(|access| &***access).zip(scopes).collect();
    let found = access::find(&archives, query, analyzer, most)?;
    let wanted = accesses.into_iter().map(|access| Wanted::new(access, &query.words, analyzer));
    let wanted = wanted.collect::<Result<Vec<Arc<Wanted>>>>()?;
    let found = found.into_iter().map(|found| {
        let part = &corpus.parts()[found.archive];
        let document = corpus.get(DocumentId(part.first + found.document));
        Found {
            document: document.expect("it was found"),
            score: found.score,
            wanted: wanted[found.archive].clone(),
        }
    });
    Ok(found.collect())
}

impl Found {
    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// How well it fits, by BM25; above 0.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// The place that shows best why it was found.
    ///
    /// # Errors
    /// What reading the archive gives.
    pub fn snippet(&self) -> Result<Snippet> {
        let text = self.document.part().named(self.wanted.snippet(&self.document))?;
        let marked = self.wanted.marked(&text);
        Ok(Snippet { text, marked })
    }
}

impl Wanted {
    /// The terms of some words, each once.
    fn new(access: &Arc<Access>, given: &[u8], analyzer: &Analyzer) -> Result<Arc<Self>> {
        let mut terms = HashSet::new();
        let mut phrases = Vec::new();
        for word in words(access.lexer(), given) {
            let word = &given[word];
            if let Some(term) = analyzer.term(word)
                && terms.insert(term.into_owned())
            {
                phrases.push(access.phrase(word, analyzer)?);
            }
        }
        let (access, analyzer) = (access.clone(), analyzer.clone());
        Ok(Arc::new(Self { access, analyzer, phrases, terms }))
    }

    /// The bytes around the place of a document where most of the words are together, with white
    /// space made one space; nothing if none of them is in it.
    fn snippet(&self, document: &Document) -> Result<Vec<u8>> {
        let mut places: Vec<(u64, usize)> = Vec::new();
        let scope = Scope::Documents(vec![document.place]);
        for (number, phrase) in self.phrases.iter().enumerate() {
            let mut left = MOST;
            self.access.search(phrase, &scope, &mut |_, offsets| {
                let offsets = &offsets[..offsets.len().min(left)];
                places.extend(offsets.iter().map(|&offset| (offset, number)));
                left -= offsets.len();
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        places.sort_unstable();
        let Some(together) = densest(&places, self.phrases.len()) else { return Ok(Vec::new()) };
        let first = places[together.start].0;
        let extent = places[together.end - 1].0 - first;
        // What is shown is in the middle, if there is something before.
        let before = (SHOWN.saturating_sub(extent) / 2).min(BEFORE);
        let start = first.saturating_sub(before);
        let text = self.access.extract(document.place, start, SHOWN)?;
        let cut_before = if start > 0 { (first - start) as usize } else { 0 };
        let is_whole = start + text.len() as u64 == document.bytes();
        Ok(in_one_line(whole_words(&text, cut_before, is_whole)))
    }

    /// The words of a text that are among those that were given.
    fn marked(&self, text: &[u8]) -> Vec<Range<usize>> {
        let is_wanted = |word: &Range<usize>| {
            self.analyzer.term(&text[word.clone()]).is_some_and(|term| self.terms.contains(&*term))
        };
        words(self.access.lexer(), text).into_iter().filter(is_wanted).collect()
    }
}

/// Of places (offset, which word) in order, those within [`SPAN`] that are of most different words;
/// of several such the ones with most places, and of these the first.
fn densest(places: &[(u64, usize)], words: usize) -> Option<Range<usize>> {
    let mut counts = vec![0_usize; words];
    let mut different = 0;
    let mut best = (0, 0..0);
    let mut start = 0;
    for (end, &(offset, word)) in places.iter().enumerate() {
        different += usize::from(counts[word] == 0);
        counts[word] += 1;
        while offset - places[start].0 > SPAN {
            let leaving = places[start].1;
            counts[leaving] -= 1;
            different -= usize::from(counts[leaving] == 0);
            start += 1;
        }
        let range = start..end + 1;
        if (different, range.len()) > (best.0, best.1.len()) {
            best = (different, range);
        }
    }
    (best.0 > 0).then_some(best.1)
}

/// A text without what is cut at its beginning (of which `cut_before` bytes may be left out) and at
/// its end, unless the document ends there.
fn whole_words(text: &[u8], cut_before: usize, is_whole: bool) -> &[u8] {
    let is_space = |byte: &u8| byte.is_ascii_whitespace();
    let is_inside = |byte: &u8| (0x80..0xc0).contains(byte);
    let beginning = &text[..cut_before.min(text.len())];
    let start = match beginning.iter().position(is_space) {
        Some(space) => space,
        None if cut_before > 0 => beginning.iter().take_while(|byte| is_inside(byte)).count(),
        None => 0,
    };
    let mut end = text.len();
    if !is_whole {
        // The last word, or where there is no space near the last character.
        let near = end.saturating_sub(40).max(cut_before);
        end = match text[near..].iter().rposition(is_space) {
            Some(space) => near + space,
            None => end - text[near..].iter().rev().take_while(|byte| is_inside(byte)).count() - 1,
        };
    }
    &text[start.min(end)..end]
}

/// A text with white space made one space, and none at its ends.
fn in_one_line(text: &[u8]) -> Vec<u8> {
    let pieces = text.split(u8::is_ascii_whitespace).filter(|piece| !piece.is_empty());
    pieces.collect::<Vec<_>>().join(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_different_words_win_then_most_then_the_first() {
        assert_eq!(densest(&[], 2), None);
        assert_eq!(densest(&[(500, 0)], 1), Some(0..1));
        let places =
            [(0, 0), (10, 0), (20, 0), (1000, 0), (1100, 1), (5000, 1), (5001, 0), (5002, 0)];
        assert_eq!(densest(&places, 2), Some(5..8));
        assert_eq!(densest(&places[..5], 2), Some(3..5));
        assert_eq!(densest(&places[..4], 2), Some(0..3));
        // Too far from each other.
        assert_eq!(densest(&[(0, 0), (SPAN + 1, 1)], 2), Some(0..1));
        assert_eq!(densest(&[(0, 0), (SPAN, 1)], 2), Some(0..2));
    }

    #[test]
    fn snippets_have_whole_words() {
        assert_eq!(whole_words(b"ord and more words beh", 5, false), b" and more words");
        assert_eq!(whole_words(b"and more", 0, true), b"and more");
        assert_eq!(
            whole_words("\u{672c}\u{8a9e}".as_bytes(), 0, true),
            "\u{672c}\u{8a9e}".as_bytes()
        );
        // Where there is no space, characters are whole.
        let text = "日本語".repeat(10);
        let cut = whole_words(&text.as_bytes()[1..], 20, false);
        assert_eq!(std::str::from_utf8(cut).unwrap().chars().count(), 28);
        assert_eq!(in_one_line(b" a\r\n\tb  c \n"), b"a b c");
        assert_eq!(in_one_line(b" "), b"");
    }
}
