//! Ranked search: the documents that fit some words best, by BM25.
//!
//! A document's score is the sum over the distinct words of `idf * tf * (k1 + 1) / (tf + k1 * (1 -
//! b + b * length / average))`, with `idf = ln(1 + (N - df + 0.5) / (df + 0.5))`; lengths are in
//! words, and `N` and the average are those of the documents asked about, in all archives. Required
//! and excluded phrases choose among the documents that have a score, and do not change it. Cost:
//! a look-up of the words in the dictionary of each segment, and a load of those that have one; the
//! documents of each word, which a fast index has ready, O(1) a document that has one for its
//! length, O(1) a segment for the average (of a scope that is not all documents, O(1) a document),
//! and a search in the documents with a score for each phrase.

use std::collections::HashSet;
use std::collections::btree_map::{BTreeMap, Entry};

use super::phrase::{Phrase, words};
use super::segment::Measure;
use super::{Access, Scope};
use crate::analyzer::Analyzer;
use crate::corpus::Part;
use crate::error::{Error, Result};

/// The parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    k1: f64,
    b: f64,
}

impl Bm25 {
    /// `k1` says how slowly further occurrences of a word stop to count, from 0, where all that
    /// counts is whether it occurs; `b` how much the length of a document counts, from 0 (not at
    /// all) to 1.
    ///
    /// # Errors
    /// [`Error::BadParameter`] of one that is out of its range.
    ///
    /// ```
    /// use tadoc_engine::access::Bm25;
    /// assert_eq!(Bm25::new(1.2, 0.75).unwrap(), Bm25::default());
    /// assert!(Bm25::new(1.2, 1.75).is_err());
    /// ```
    pub fn new(k1: f64, b: f64) -> Result<Self> {
        let bad = |name, given, range| Error::BadParameter { name, given, range };
        if !(k1 >= 0.0 && k1.is_finite()) {
            return Err(bad("k1", k1, "0 or more"));
        }
        if !(0.0..=1.0).contains(&b) {
            return Err(bad("b", b, "0 to 1"));
        }
        Ok(Self { k1, b })
    }

    /// How much a word counts that is `tf` times in a document of this length.
    fn weight(self, tf: f64, length: f64, average: f64) -> f64 {
        let Self { k1, b } = self;
        tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * length / average))
    }
}

impl Default for Bm25 {
    /// `k1` = 1.2 and `b` = 0.75.
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// A document that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The archive that the document is in: its place among those asked.
    pub archive: usize,
    /// The document's number.
    pub document: u32,
    /// How well it fits; above 0.
    pub score: f64,
}

/// What documents are found by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Any text: its distinct words are looked for.
    pub words: Vec<u8>,
    /// Texts whose words a document must have in a row.
    pub required: Vec<Vec<u8>>,
    /// Texts whose words a document must not have in a row.
    pub excluded: Vec<Vec<u8>>,
    /// How scores are made.
    pub bm25: Bm25,
}

/// The documents of several archives that fit best, best first; of those that fit alike, in order. At most `most`. The archives
/// are one corpus: frequencies and lengths are those over the scopes of all of them.
///
/// # Errors
/// [`Error::NoWord`] if the query has no word, or one of its phrases none; [`Error::BadChoice`] if a scope has documents that
/// are not there.
pub fn find(
    archives: &[(&Access, &Scope)],
    query: &Query,
    analyzer: &Analyzer,
    most: usize,
) -> Result<Vec<Found>> {
    // Archives may have different lexers, so that not each of them knows all terms.
    let phrases: Vec<Vec<Phrase>> =
        archives.iter().map(|(access, _)| access.distinct_terms(&query.words, analyzer)).collect();
    let mut terms: Vec<&[Vec<u8>]> = Vec::new();
    for phrase in phrases.iter().flatten() {
        if !terms.contains(&phrase.terms()) {
            terms.push(phrase.terms());
        }
    }
    if terms.is_empty() {
        return Err(Error::NoWord { given: query.words.clone() });
    }
    let (mut documents, mut words) = (0, 0_u64);
    for (access, scope) in archives {
        documents += access.documents_of(scope);
        words = access.count_words(scope)?.saturating_add(words);
    }
    let (documents, average) = (documents as f64, words as f64 / documents as f64);
    let mut lengths: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    let mut scores: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    for term in terms {
        let mut counts = Vec::new();
        for (archive, (access, scope)) in archives.iter().enumerate() {
            if let Some(phrase) = phrases[archive].iter().find(|phrase| phrase.terms() == term) {
                let own = access.count_by_document(phrase, scope)?.into_iter();
                counts.extend(own.map(|(document, count)| (archive, document, count)));
            }
        }
        let having = counts.len() as f64;
        let idf = (1.0 + (documents - having + 0.5) / (having + 0.5)).ln();
        for (archive, document, count) in counts {
            let length = match lengths.entry((archive, document)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(entry) => {
                    let (access, _) = archives[archive];
                    *entry.insert(access.words_in(access.parts_of_document(document)?)? as f64)
                }
            };
            let weight = query.bm25.weight(count as f64, length, average);
            *scores.entry((archive, document)).or_default() += idf * weight;
        }
    }
    for (archive, (access, _)) in archives.iter().enumerate() {
        let own = scores.range((archive, 0)..=(archive, u32::MAX));
        let candidates: Vec<u32> = own.map(|(&(_, document), _)| document).collect();
        let kept = access.with_phrases(candidates, query, analyzer)?;
        scores.retain(|(of, document), _| *of != archive || kept.contains(document));
    }
    let mut found: Vec<Found> = scores
        .into_iter()
        .map(|((archive, document), score)| Found { archive, document, score })
        .collect();
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(most);
    Ok(found)
}

impl Access {
    /// The documents of this archive that fit some words best: [`find`] for one archive, and words alone.
    ///
    /// # Errors
    /// As [`find`].
    pub fn find(
        &self,
        words: &[u8],
        analyzer: &Analyzer,
        scope: &Scope,
        most: usize,
    ) -> Result<Vec<Found>> {
        let query = Query { words: words.to_vec(), ..Query::default() };
        find(&[(self, scope)], &query, analyzer, most)
    }

    /// Of some documents, ascending, those that have all required phrases and none that is excluded.
    fn with_phrases(
        &self,
        mut documents: Vec<u32>,
        query: &Query,
        analyzer: &Analyzer,
    ) -> Result<HashSet<u32>> {
        let required = query.required.iter().map(|text| (text, true));
        let excluded = query.excluded.iter().map(|text| (text, false));
        for (text, wanted) in required.chain(excluded) {
            let words = words(self.lexer, text).into_iter().map(|word| &text[word]);
            let phrase = self
                .phrase_of_words(words, analyzer)
                .ok_or_else(|| Error::NoWord { given: text.clone() })?;
            let scope = Scope::Documents(documents);
            let having = self.count_by_document(&phrase, &scope)?;
            let having: HashSet<u32> = having.into_iter().map(|(document, _)| document).collect();
            let Scope::Documents(all) = scope else { unreachable!("made above") };
            documents =
                all.into_iter().filter(|document| having.contains(document) == wanted).collect();
        }
        Ok(documents.into_iter().collect())
    }

    /// How many documents a scope has.
    fn documents_of(&self, scope: &Scope) -> usize {
        match scope {
            Scope::All => self.documents().len(),
            Scope::Documents(documents) => documents.len(),
        }
    }

    /// How many words the documents of a scope have. Those of all are counted once.
    fn count_words(&self, scope: &Scope) -> Result<u64> {
        let Scope::All = scope else { return self.words_in(&self.parts_of_scope(scope)?) };
        if let Some(&words) = self.words.get() {
            return Ok(words);
        }
        let mut words = 0_u64;
        for number in 0..self.segment_count() {
            words = self.words_of_segment(number)?.saturating_add(words);
        }
        Ok(*self.words.get_or_init(|| words))
    }

    /// How many words some parts of documents have.
    fn words_in(&self, parts: &[Part]) -> Result<u64> {
        parts.iter().try_fold(0, |words: u64, part| {
            let segment = self.segment(part.segment as usize)?;
            Ok(words.saturating_add(segment.measure_document(Measure::Words, part.place as usize)?))
        })
    }
}
