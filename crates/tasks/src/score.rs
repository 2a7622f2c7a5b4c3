//! The formulae of weights and scores, apart from the counting: of a term in a document (TF-IDF),
//! and of two terms that stand near each other (collocations).
//!
//! TF-IDF is scikit-learn's `TfidfTransformer`, collocations are NLTK's `BigramAssocMeasures`, so
//! that answers can be held against theirs (`tests/scores.rs` does). A score is a handful of
//! operations.

use tadoc_core::{Measure, Norm};

/// How much the occurrences of a term in a document weigh: their number, or if `sublinear` one and
/// its natural logarithm. `count` is at least one.
pub fn term_frequency(count: u64, sublinear: bool) -> f64 {
    match sublinear {
        true => 1.0 + (count as f64).ln(),
        false => count as f64,
    }
}

/// How much a term weighs that `with_term` of `documents` have: ln(documents / with_term) + 1. If
/// `smooth`, as if there were one more document, which has every term. The one that is added lets
/// terms of every document weigh something; textbooks leave it out.
pub fn inverse_document_frequency(documents: u64, with_term: u64, smooth: bool) -> f64 {
    let more = if smooth { 1.0 } else { 0.0 };
    ((documents as f64 + more) / (with_term as f64 + more)).ln() + 1.0
}

/// What to divide the weights of a document by; they are not negative. 1 if all are zero, or there
/// are none. Linear in their number.
pub fn divisor(norm: Norm, weights: impl IntoIterator<Item = f64>) -> f64 {
    let weights = weights.into_iter();
    let norm = match norm {
        Norm::None => return 1.0,
        Norm::L1 => weights.sum::<f64>(),
        Norm::L2 => weights.map(|weight| weight * weight).sum::<f64>().sqrt(),
    };
    if norm == 0.0 { 1.0 } else { norm }
}

/// The counts that the scores of a pair of terms are made of: the pair's own, and what would have
/// it come together by chance.
///
/// As in NLTK, the frequencies of the terms stand for the numbers of pairs that begin and end with
/// them, and the number of words for the number of pairs. They differ by the words at the ends of
/// documents, and are counted anyway.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairCounts {
    /// How often the second term follows the first one (n_ii); more than zero.
    pub pair: f64,
    /// How often the first term occurs (n_ix).
    pub first: f64,
    /// How often the second term occurs (n_xi).
    pub second: f64,
    /// How many words there are (n_xx).
    pub words: f64,
}

impl PairCounts {
    /// The counts of a pair that occurs `count` times within `window` terms, two or more of them. A
    /// second term has `window - 1` places after the first one, so the count is divided by that, as
    /// NLTK does after Church and Hanks (1990): scores of wide windows compare with those of narrow
    /// ones.
    pub fn within(window: usize, count: u64, first: u64, second: u64, words: u64) -> Self {
        Self {
            pair: count as f64 / (window - 1) as f64,
            first: first as f64,
            second: second as f64,
            words: words as f64,
        }
    }

    /// How often the pair would come by chance.
    fn expected(&self) -> f64 {
        self.first * self.second / self.words
    }
}

/// The score by a measure.
pub fn score(measure: Measure, counts: &PairCounts) -> f64 {
    match measure {
        Measure::Pmi => pmi(counts),
        Measure::LogLikelihood => log_likelihood(counts),
        Measure::TScore => t_score(counts),
        Measure::LogDice => log_dice(counts),
    }
}

/// Pointwise mutual information: log₂(n_ii · n_xx / (n_ix · n_xi)), how many bits more often than
/// by chance. It favours rare terms: two that occur once, together, score highest.
///
/// K. W. Church, P. Hanks: Word association norms, mutual information, and lexicography.
/// Computational Linguistics 16 (1990).
pub fn pmi(counts: &PairCounts) -> f64 {
    (counts.pair / counts.expected()).log2()
}

/// Student's t: (n_ii − n_ix · n_xi / n_xx) / √n_ii, how sure it is that the pair comes more often
/// than by chance. It favours frequent pairs.
///
/// C. Manning, H. Schütze: Foundations of Statistical Natural Language Processing (1999), 5.3.1.
pub fn t_score(counts: &PairCounts) -> f64 {
    (counts.pair - counts.expected()) / counts.pair.sqrt()
}

/// The likelihood ratio G²: 2 Σ observed · ln(observed / expected) over the four cells (first term
/// or not, second term or not). How unlikely the counts are by chance, where the pair comes more
/// often than that as well as where it comes less often; good for small counts too.
///
/// Where two terms make up nearly all words, the cell of neither may come out negative, as the
/// counts are not quite those of pairs ([`PairCounts`]). NLTK fails there; here a cell adds nothing
/// if it, or its expectation, is not positive, and the ratio is at least zero.
///
/// T. Dunning: Accurate methods for the statistics of surprise and coincidence. Computational
/// Linguistics 19 (1993).
pub fn log_likelihood(counts: &PairCounts) -> f64 {
    let PairCounts { pair, first, second, words } = *counts;
    // All four cells are as far from their expectation.
    let excess = pair - counts.expected();
    let cells = [
        (pair, counts.expected(), excess),
        (first - pair, first * (words - second) / words, -excess),
        (second - pair, (words - first) * second / words, -excess),
        (words - first - second + pair, (words - first) * (words - second) / words, excess),
    ];
    let half: f64 = cells
        .into_iter()
        .filter(|&(observed, expected, _)| observed > 0.0 && expected > 0.0)
        .map(|(observed, expected, excess)| {
            // In a large text the last cell is nearly all of it, and its quotient so near to one that rounding
            // would outweigh rare pairs.
            let part = excess / expected;
            observed * if part.abs() < 0.5 { part.ln_1p() } else { (observed / expected).ln() }
        })
        .sum();
    (2.0 * half).max(0.0)
}

/// logDice: 14 + log₂(2 · n_ii / (n_ix + n_xi)). At most 14, where neither term comes without the
/// other; one less means half as often. It does not depend on the number of words, so that it
/// compares between corpora.
///
/// P. Rychlý: A lexicographer-friendly association score. RASLAN (2008). It is what Sketch Engine
/// shows, and log₂ of NLTK's `dice` plus 14. quanteda has no logDice: its `textstat_collocations`
/// gives λ and z of a log-linear model, and the `dice` of its first versions was n_ii / (n_ix +
/// n_xi), half of this fraction, from counts of adjacent pairs.
pub fn log_dice(counts: &PairCounts) -> f64 {
    14.0 + (2.0 * counts.pair / (counts.first + counts.second)).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_zeros_can_be_divided() {
        for norm in [Norm::None, Norm::L1, Norm::L2] {
            assert_eq!(divisor(norm, []), 1.0);
            assert_eq!(divisor(norm, [0.0, 0.0]), 1.0);
        }
        assert_eq!(divisor(Norm::None, [3.0, 4.0]), 1.0);
        assert_eq!(divisor(Norm::L1, [3.0, 4.0]), 7.0);
        assert_eq!(divisor(Norm::L2, [3.0, 4.0]), 5.0);
    }

    #[test]
    fn chance_scores_nothing() {
        let counts = PairCounts::within(2, 10, 100, 100, 1000);
        assert_eq!((pmi(&counts), t_score(&counts), log_likelihood(&counts)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn terms_that_only_come_together_score_highest() {
        let counts = PairCounts::within(2, 8, 8, 8, 1024);
        assert_eq!((pmi(&counts), log_dice(&counts)), (7.0, 14.0));
        assert!(log_likelihood(&counts) > log_likelihood(&PairCounts { pair: 7.0, ..counts }));
    }

    #[test]
    fn texts_of_one_term_have_scores() {
        // "x x x": two pairs of three words.
        let counts = PairCounts::within(2, 2, 3, 3, 3);
        assert_eq!(log_likelihood(&counts), 0.0);
        assert!(t_score(&counts).is_finite() && pmi(&counts) < 0.0);
    }
}
