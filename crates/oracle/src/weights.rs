//! TF-IDF over plain text, as scikit-learn's `TfidfTransformer` defines it. O(w log t) for w words
//! and t distinct terms.

use std::collections::BTreeMap;

use crate::tasks::count;
use crate::{Oracle, Term};

/// What the weights of a document are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Nothing.
    None,
    /// Their sum.
    L1,
    /// The square root of the sum of their squares.
    L2,
}

/// The parameters of scikit-learn's `TfidfTransformer`, with its defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TfidfOptions {
    /// What the weights of a document are divided by.
    pub norm: Norm,
    /// Whether rare terms weigh more.
    pub use_idf: bool,
    /// Whether document frequencies are those with one more document that has every term.
    pub smooth_idf: bool,
    /// Whether a count stands for one and its logarithm.
    pub sublinear_tf: bool,
}

impl Default for TfidfOptions {
    fn default() -> Self {
        TfidfOptions { norm: Norm::L2, use_idf: true, smooth_idf: true, sublinear_tf: false }
    }
}

impl Oracle<'_> {
    /// For each document in corpus order its terms with their weights, by term ascending. Rare
    /// terms are left out before anything is weighed.
    pub fn tfidf(&self, options: TfidfOptions) -> Vec<Vec<(Term, f64)>> {
        let mut document_frequency: BTreeMap<Term, f64> = BTreeMap::new();
        for (term, documents) in self.inverted_index() {
            document_frequency.insert(term, documents.len() as f64);
        }
        let documents = self.chosen.len() as f64;
        let smooth = if options.smooth_idf { 1.0 } else { 0.0 };
        let weight = |term: &Term, occurrences: u64| {
            let mut weight = occurrences as f64;
            if options.sublinear_tf {
                weight = 1.0 + weight.ln();
            }
            if options.use_idf {
                weight *= ((documents + smooth) / (document_frequency[term] + smooth)).ln() + 1.0;
            }
            weight
        };
        let terms = self.frequent_terms();
        self.for_each_document(|document| {
            let row: Vec<(Term, f64)> = count(terms(document))
                .into_iter()
                .map(|(term, occurrences)| (term.clone(), weight(&term, occurrences)))
                .collect();
            let norm = match options.norm {
                Norm::None => 1.0,
                Norm::L1 => row.iter().map(|(_, weight)| weight).sum(),
                Norm::L2 => row.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt(),
            };
            row.into_iter().map(|(term, weight)| (term, weight / norm)).collect()
        })
    }
}
