//! Ranked search: the documents that fit some words best, by BM25.
//!
//! A document's score is the sum over the distinct words of `idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))`,
//! with `idf = ln(1 + (N - df + 0.5) / (df + 0.5))`, `k1` = 1.2 and `b` = 0.75; lengths are in words, and `N` and the average are
//! those of the documents asked about, in all archives. Required and excluded phrases choose among the documents that have a
//! score, and do not change it. Cost: the documents of each word, which a fast index has ready, O(1) a document for its
//! length, and a search in the documents with a score for each phrase.

use std::collections::{BTreeMap, HashSet};

use super::phrase::{Phrase, words};
use super::segment::Measure;
use super::{Access, Scope};
use crate::analyzer::Analyzer;
use crate::error::{Error, Result};

/// How soon more occurrences of a word stop to count.
const K1: f64 = 1.2;
/// How much the length of a document counts.
const B: f64 = 0.75;

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Any text: its distinct words are looked for.
    pub words: Vec<u8>,
    /// Texts whose words a document must have in a row.
    pub required: Vec<Vec<u8>>,
    /// Texts whose words a document must not have in a row.
    pub excluded: Vec<Vec<u8>>,
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
    let lengths: Vec<BTreeMap<u32, u64>> = archives
        .iter()
        .map(|(access, scope)| access.lengths_in_words(scope))
        .collect::<Result<_>>()?;
    let documents = lengths.iter().map(BTreeMap::len).sum::<usize>() as f64;
    let average = lengths.iter().flat_map(BTreeMap::values).sum::<u64>() as f64 / documents;
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
            let (tf, length) = (count as f64, lengths[archive][&document] as f64);
            let weight = tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / average));
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

    /// How many words each document of a scope has.
    fn lengths_in_words(&self, scope: &Scope) -> Result<BTreeMap<u32, u64>> {
        let mut lengths = BTreeMap::new();
        for part in self.parts_of_scope(scope)? {
            let segment = self.segment(part.segment as usize)?;
            let slices = segment.slices()?;
            let root = segment.document_root(part.place as usize);
            let before = slices.before(Measure::Words, root.start);
            *lengths.entry(part.document).or_default() +=
                slices.before(Measure::Words, root.end).saturating_sub(before);
        }
        Ok(lengths)
    }
}
