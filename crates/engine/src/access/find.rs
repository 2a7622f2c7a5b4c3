//! Ranked search: the documents that fit some words best, by BM25.
//!
//! A document's score is the sum over the distinct words of `idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))`,
//! with `idf = ln(1 + (N - df + 0.5) / (df + 0.5))`, `k1` = 1.2 and `b` = 0.75; lengths are in words, and `N` and the average are
//! those of the documents asked about. Cost: the documents of each word, which a fast index has ready, and O(1) a document for
//! its length.

use std::collections::BTreeMap;

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
    /// The document's number.
    pub document: u32,
    /// How well it fits; above 0.
    pub score: f64,
}

impl Access<'_> {
    /// The documents that fit some words best, best first; of those that fit alike, in order. At most `most`.
    ///
    /// # Errors
    /// [`Error::NoWord`] if there is no word, [`Error::BadChoice`] if the scope has documents that are not there.
    pub fn find(
        &self,
        words: &[u8],
        analyzer: &Analyzer,
        scope: &Scope,
        most: usize,
    ) -> Result<Vec<Found>> {
        let terms = self.distinct_terms(words, analyzer);
        if terms.is_empty() {
            return Err(Error::NoWord { given: words.to_vec() });
        }
        let lengths = self.lengths_in_words(scope)?;
        let documents = lengths.len() as f64;
        let average = lengths.values().sum::<u64>() as f64 / documents;
        let mut scores: BTreeMap<u32, f64> = BTreeMap::new();
        for term in &terms {
            let counts = self.count_by_document(term, scope)?;
            let having = counts.len() as f64;
            let idf = (1.0 + (documents - having + 0.5) / (having + 0.5)).ln();
            for (document, count) in counts {
                let (tf, length) = (count as f64, lengths[&document] as f64);
                let weight = tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / average));
                *scores.entry(document).or_default() += idf * weight;
            }
        }
        let mut found: Vec<Found> =
            scores.into_iter().map(|(document, score)| Found { document, score }).collect();
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
        found.truncate(most);
        Ok(found)
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
