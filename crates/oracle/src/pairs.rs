//! Terms that stand near each other: co-occurrence and collocations. Every pair of positions is
//! visited: O(w d log p) for w words, distances up to d and p distinct pairs.

use std::collections::BTreeMap;

use crate::tasks::{count, most_frequent_first};
use crate::{Oracle, Term};

/// An ordered pair of terms, how often it occurs, and how strongly the terms attract each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Collocation {
    /// The term that comes first in the text.
    pub first: Term,
    /// The term that comes after it.
    pub second: Term,
    /// How many pairs of positions have these terms.
    pub count: u64,
    /// Pointwise mutual information.
    pub pmi: f64,
    /// The likelihood ratio G².
    pub log_likelihood: f64,
    /// Student's t.
    pub t_score: f64,
    /// Rychlý's logDice.
    pub log_dice: f64,
}

impl Oracle<'_> {
    /// The ordered pairs of terms of a document at distances up to `reach`.
    fn pairs(&self, document: usize, reach: usize) -> Vec<(Term, Term)> {
        let terms = self.terms(document);
        let mut pairs = Vec::new();
        for (at, first) in terms.iter().enumerate() {
            for second in terms[at + 1..].iter().take(reach) {
                pairs.push((first.clone(), second.clone()));
            }
        }
        pairs
    }

    /// Each unordered pair of terms, the lesser first (they may be equal), with how many pairs of
    /// positions of one document have them at a distance of at most `window`: by count descending,
    /// then first term, then second term ascending.
    ///
    /// # Panics
    ///
    /// When `window` is zero.
    pub fn cooccurrence(&self, window: usize) -> Vec<((Term, Term), u64)> {
        assert!(window > 0, "two terms are at a distance of at least one");
        let pairs = self.chosen.iter().flat_map(|&document| self.pairs(document, window));
        self.frequent_pairs(pairs.map(|(one, other)| match one <= other {
            true => (one, other),
            false => (other, one),
        }))
    }

    /// The same for ordered pairs: the first term is the one that comes first in the text.
    ///
    /// # Panics
    ///
    /// When `window` is zero.
    pub fn ordered_cooccurrence(&self, window: usize) -> Vec<((Term, Term), u64)> {
        assert!(window > 0, "two terms are at a distance of at least one");
        let pairs = self.chosen.iter().flat_map(|&document| self.pairs(document, window));
        self.frequent_pairs(pairs)
    }

    fn frequent_pairs(
        &self,
        pairs: impl Iterator<Item = (Term, Term)>,
    ) -> Vec<((Term, Term), u64)> {
        let mut rows = most_frequent_first(count(pairs));
        rows.retain(|&(_, count)| count >= self.min_count);
        rows
    }

    /// Each ordered pair of terms within `window` terms (two: next to each other) with its scores,
    /// in the order of [`ordered_cooccurrence`](Self::ordered_cooccurrence).
    ///
    /// The scores are those of NLTK's `BigramCollocationFinder` and `BigramAssocMeasures`: the
    /// terms' own frequencies stand for the numbers of pairs that begin and end with them, and the
    /// count of a pair is divided by the places that a second term has in the window. Where two
    /// terms make up nearly all of a text, these numbers contradict each other and NLTK's
    /// likelihood ratio raises an error: cells of the table that are not positive, or were not
    /// expected to be, add nothing here, and the ratio is at least zero. Pairs that are too rare
    /// are left out, but count.
    ///
    /// # Panics
    ///
    /// When `window` is less than two.
    pub fn collocations(&self, window: usize) -> Vec<Collocation> {
        assert!(window > 1, "a window holds at least two terms");
        let frequencies: BTreeMap<Term, u64> =
            count(self.chosen.iter().flat_map(|&document| self.terms(document)))
                .into_iter()
                .collect();
        let words = frequencies.values().sum::<u64>() as f64;
        self.ordered_cooccurrence(window - 1)
            .into_iter()
            .map(|((first, second), count)| {
                let pair = count as f64 / (window - 1) as f64;
                let begin = frequencies[&first] as f64;
                let end = frequencies[&second] as f64;
                let observed = [[pair, begin - pair], [end - pair, words - begin - end + pair]];
                let expected = [
                    [begin * end / words, begin * (words - end) / words],
                    [(words - begin) * end / words, (words - begin) * (words - end) / words],
                ];
                let mut half_ratio = 0.0;
                for (observed, expected) in observed.iter().flatten().zip(expected.iter().flatten())
                {
                    if *observed > 0.0 && *expected > 0.0 {
                        half_ratio += observed * (observed / expected).ln();
                    }
                }
                Collocation {
                    pmi: (pair * words / (begin * end)).log2(),
                    log_likelihood: (2.0 * half_ratio).max(0.0),
                    t_score: (pair - begin * end / words) / pair.sqrt(),
                    log_dice: 14.0 + (2.0 * pair / (begin + end)).log2(),
                    first,
                    second,
                    count,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Lexer, Oracle, Term};

    fn corpus() -> Vec<Document> {
        vec![
            ("a".to_string(), b"b a, b b".to_vec()),
            ("b".to_string(), b"c".to_vec()),
            ("c".to_string(), b"a c b".to_vec()),
        ]
    }

    fn pairs(rows: &[(&str, &str, u64)]) -> Vec<((Term, Term), u64)> {
        rows.iter().map(|&(one, other, count)| ((one.into(), other.into()), count)).collect()
    }

    #[test]
    fn pairs_of_positions_are_counted() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(
            oracle.cooccurrence(1),
            pairs(&[("a", "b", 2), ("a", "c", 1), ("b", "b", 1), ("b", "c", 1)])
        );
        assert_eq!(
            oracle.cooccurrence(2),
            pairs(&[("a", "b", 4), ("b", "b", 2), ("a", "c", 1), ("b", "c", 1)])
        );
        assert_eq!(
            oracle.ordered_cooccurrence(2),
            pairs(&[("a", "b", 3), ("b", "b", 2), ("a", "c", 1), ("b", "a", 1), ("c", "b", 1)])
        );
        // Four positions make six pairs, three make three; no pair crosses documents.
        let all: u64 = oracle.cooccurrence(100).iter().map(|row| row.1).sum();
        assert_eq!(all, 6 + 3);
    }

    #[test]
    fn filters_leave_pairs_out_and_scores_alone() {
        let documents = corpus();
        let oracle = || Oracle::new(Lexer::Words, &documents);
        assert_eq!(
            oracle().with_min_count(2).cooccurrence(2),
            pairs(&[("a", "b", 4), ("b", "b", 2)])
        );
        let mut all = oracle().collocations(3);
        all.retain(|row| row.count >= 2);
        assert_eq!(oracle().with_min_count(2).collocations(3), all);
        assert_eq!(
            oracle().with_documents([2]).cooccurrence(1),
            pairs(&[("a", "c", 1), ("b", "c", 1)])
        );
        let removed = oracle().with_analyzer(|word| (word != b"a").then(|| word.to_vec()));
        assert_eq!(removed.cooccurrence(1), pairs(&[("b", "b", 2), ("b", "c", 1)]));
    }

    #[test]
    fn scores_of_texts_with_one_term_are_finite() {
        let documents = vec![("a".to_string(), b"x x".to_vec())];
        let rows = Oracle::new(Lexer::Words, &documents).collocations(2);
        // One pair of two words: NLTK gives log2(1 * 2 / (2 * 2)) for the first, and an error for the second.
        assert_eq!(rows[0].pmi, -1.0);
        assert_eq!(rows[0].log_likelihood, 0.0);
        assert_eq!((rows[0].t_score, rows[0].log_dice), (-1.0, 13.0));
    }
}
