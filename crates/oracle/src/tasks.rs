//! The six analytics over plain text. Each walks all terms in order and counts in a `BTreeMap`:
//! O(w log t) comparisons for w words and t distinct keys. Tasks that leave rare keys out count twice.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::{Oracle, lexer};

/// A word after the analyzer.
pub type Term = Vec<u8>;

/// Consecutive terms of one document. Sequences are ordered term by term, each in byte order.
pub type Sequence = Vec<Term>;

impl Oracle<'_> {
    /// The terms of a document, in the order of the text.
    pub fn terms(&self, document: usize) -> Vec<Term> {
        let bytes = &self.documents[document].1;
        let words = lexer::words(self.lexer, bytes);
        words.into_iter().filter_map(|range| (self.analyzer)(&bytes[range])).collect()
    }

    /// The `n`-term sequences of a document, in the order of the text.
    fn sequences(&self, document: usize, n: usize) -> Vec<Sequence> {
        assert!(n > 0, "a sequence has at least one term");
        self.terms(document).windows(n).map(<[Term]>::to_vec).collect()
    }

    /// The keys that occur often enough in the chosen documents together.
    pub(crate) fn frequent<Key: Ord>(&self, keys: impl Fn(usize) -> Vec<Key>) -> BTreeSet<Key> {
        count(self.chosen.iter().flat_map(|&document| keys(document)))
            .into_iter()
            .filter(|&(_, count)| count >= self.min_count)
            .map(|(key, _)| key)
            .collect()
    }

    /// The terms of a document that occur often enough in the chosen documents together, in the order
    /// of the text.
    pub(crate) fn frequent_terms(&self) -> impl Fn(usize) -> Vec<Term> {
        let frequent = self.frequent(|document| self.terms(document));
        move |document| {
            self.terms(document).into_iter().filter(|term| frequent.contains(term)).collect()
        }
    }

    /// The same of its `n`-term sequences.
    fn frequent_sequences(&self, n: usize) -> impl Fn(usize) -> Vec<Sequence> {
        let frequent = self.frequent(|document| self.sequences(document, n));
        move |document| {
            let sequences = self.sequences(document, n).into_iter();
            sequences.filter(|sequence| frequent.contains(sequence)).collect()
        }
    }

    /// Each term with its occurrences: by occurrences descending, then term ascending.
    pub fn word_count(&self) -> Vec<(Term, u64)> {
        most_frequent_first(self.sort())
    }

    /// Each term with its occurrences, by term ascending.
    pub fn sort(&self) -> Vec<(Term, u64)> {
        let terms = self.frequent_terms();
        count(self.chosen.iter().flat_map(|&document| terms(document)))
    }

    /// Each term with the documents it occurs in: by term ascending, documents in corpus order.
    pub fn inverted_index(&self) -> Vec<(Term, Vec<usize>)> {
        let terms = self.frequent_terms();
        let mut index: BTreeMap<Term, Vec<usize>> = BTreeMap::new();
        for &document in &self.chosen {
            for term in terms(document) {
                let documents = index.entry(term).or_default();
                if documents.last() != Some(&document) {
                    documents.push(document);
                }
            }
        }
        index.into_iter().collect()
    }

    /// For each document in corpus order its `top` most frequent terms, or all of them: by count
    /// descending, then term ascending.
    pub fn term_vector(&self, top: Option<usize>) -> Vec<Vec<(Term, u64)>> {
        let terms = self.frequent_terms();
        self.for_each_document(|document| {
            let mut vector = most_frequent_first(count(terms(document)));
            vector.truncate(top.unwrap_or(usize::MAX));
            vector
        })
    }

    /// Each `n`-term sequence with its occurrences in the corpus: by occurrences descending, then
    /// sequence ascending. No sequence crosses documents.
    ///
    /// # Panics
    ///
    /// When `n` is zero.
    pub fn sequence_count(&self, n: usize) -> Vec<(Sequence, u64)> {
        let sequences = self.frequent_sequences(n);
        most_frequent_first(count(self.chosen.iter().flat_map(|&document| sequences(document))))
    }

    /// For each document in corpus order its `n`-term sequences with their occurrences in it: by
    /// occurrences descending, then sequence ascending.
    ///
    /// # Panics
    ///
    /// When `n` is zero.
    pub fn sequence_count_per_document(&self, n: usize) -> Vec<Vec<(Sequence, u64)>> {
        let sequences = self.frequent_sequences(n);
        self.for_each_document(|document| most_frequent_first(count(sequences(document))))
    }

    /// Each `n`-term sequence with the documents it occurs in and its count in each: by sequence
    /// ascending; its documents by count descending, then corpus order.
    ///
    /// # Panics
    ///
    /// When `n` is zero.
    pub fn ranked_inverted_index(&self, n: usize) -> Vec<(Sequence, Vec<(usize, u64)>)> {
        let sequences = self.frequent_sequences(n);
        let mut index: BTreeMap<Sequence, BTreeMap<usize, u64>> = BTreeMap::new();
        for &document in &self.chosen {
            for sequence in sequences(document) {
                *index.entry(sequence).or_default().entry(document).or_default() += 1;
            }
        }
        index
            .into_iter()
            .map(|(sequence, counts)| (sequence, most_frequent_first(counts.into_iter().collect())))
            .collect()
    }
}

/// Each key with how often it came, by key ascending.
pub(crate) fn count<Key: Ord>(keys: impl IntoIterator<Item = Key>) -> Vec<(Key, u64)> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// Rows that ascend by key, put by count descending; equal counts still ascend by key, for the
/// sort is stable.
pub(crate) fn most_frequent_first<Key>(mut rows: Vec<(Key, u64)>) -> Vec<(Key, u64)> {
    rows.sort_by_key(|&(_, count)| Reverse(count));
    rows
}

#[cfg(test)]
mod tests {
    use crate::{Document, Lexer, Oracle, Sequence};

    fn corpus() -> Vec<Document> {
        vec![
            ("a".to_string(), b"the cat, the dog. The cat".to_vec()),
            ("b".to_string(), b"".to_vec()),
            ("c".to_string(), b"dog the cat the cat the cat".to_vec()),
        ]
    }

    fn sequence(text: &str) -> Sequence {
        text.split(' ').map(|term| term.as_bytes().to_vec()).collect()
    }

    fn sequences(rows: &[(&str, u64)]) -> Vec<(Sequence, u64)> {
        rows.iter().map(|&(text, count)| (sequence(text), count)).collect()
    }

    fn terms(rows: &[(&str, u64)]) -> Vec<(Vec<u8>, u64)> {
        rows.iter().map(|&(term, count)| (term.as_bytes().to_vec(), count)).collect()
    }

    #[test]
    fn word_count_and_sort() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(oracle.word_count(), terms(&[("cat", 5), ("the", 5), ("dog", 2), ("The", 1)]));
        assert_eq!(oracle.sort(), terms(&[("The", 1), ("cat", 5), ("dog", 2), ("the", 5)]));
        let oracle = Oracle::new(Lexer::Whitespace, &documents);
        assert_eq!(
            oracle.word_count(),
            terms(&[("the", 5), ("cat", 4), ("The", 1), ("cat,", 1), ("dog", 1), ("dog.", 1)])
        );
    }

    #[test]
    fn inverted_index_and_term_vector() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(
            oracle.inverted_index(),
            [
                (b"The".to_vec(), vec![0]),
                (b"cat".to_vec(), vec![0, 2]),
                (b"dog".to_vec(), vec![0, 2]),
                (b"the".to_vec(), vec![0, 2]),
            ]
        );
        assert_eq!(
            oracle.term_vector(None),
            [
                terms(&[("cat", 2), ("the", 2), ("The", 1), ("dog", 1)]),
                vec![],
                terms(&[("cat", 3), ("the", 3), ("dog", 1)]),
            ]
        );
        assert_eq!(
            oracle.term_vector(Some(1)),
            [terms(&[("cat", 2)]), vec![], terms(&[("cat", 3)])]
        );
    }

    #[test]
    fn sequences_stay_in_their_document() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(
            oracle.sequence_count(3),
            sequences(&[
                ("the cat the", 3),
                ("cat the cat", 2),
                ("cat the dog", 1),
                ("dog The cat", 1),
                ("dog the cat", 1),
                ("the dog The", 1),
            ])
        );
        assert_eq!(
            oracle.sequence_count_per_document(3),
            [
                sequences(&[
                    ("cat the dog", 1),
                    ("dog The cat", 1),
                    ("the cat the", 1),
                    ("the dog The", 1),
                ]),
                vec![],
                sequences(&[("cat the cat", 2), ("the cat the", 2), ("dog the cat", 1)]),
            ]
        );
        assert_eq!(oracle.sequence_count(8), []);
    }

    #[test]
    fn ranked_inverted_index_ranks_documents() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(
            oracle.ranked_inverted_index(2),
            [
                (sequence("The cat"), vec![(0, 1)]),
                (sequence("cat the"), vec![(2, 2), (0, 1)]),
                (sequence("dog The"), vec![(0, 1)]),
                (sequence("dog the"), vec![(2, 1)]),
                (sequence("the cat"), vec![(2, 3), (0, 1)]),
                (sequence("the dog"), vec![(0, 1)]),
            ]
        );
        assert_eq!(oracle.ranked_inverted_index(1)[2], (sequence("dog"), vec![(0, 1), (2, 1)]));
    }

    #[test]
    fn removed_terms_are_skipped_over() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents).with_analyzer(|word| {
            let folded = word.to_ascii_lowercase();
            (folded != b"the").then_some(folded)
        });
        assert_eq!(oracle.word_count(), terms(&[("cat", 5), ("dog", 2)]));
        assert_eq!(
            oracle.sequence_count(2),
            sequences(&[("cat cat", 2), ("dog cat", 2), ("cat dog", 1)])
        );
    }

    #[test]
    fn a_sequence_of_one_is_a_word() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        let words = oracle.word_count().into_iter().map(|(term, count)| (vec![term], count));
        assert_eq!(oracle.sequence_count(1), words.collect::<Vec<_>>());
    }

    #[test]
    fn only_the_chosen_documents_count() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents).with_documents([2, 1, 2]);
        assert_eq!(oracle.word_count(), terms(&[("cat", 3), ("the", 3), ("dog", 1)]));
        assert_eq!(
            oracle.inverted_index(),
            ["cat", "dog", "the"].map(|term| (term.as_bytes().to_vec(), vec![2]))
        );
        assert_eq!(oracle.term_vector(Some(2)), [vec![], vec![], terms(&[("cat", 3), ("the", 3)])]);
        assert_eq!(oracle.sequence_count_per_document(7)[0], []);
        assert_eq!(oracle.ranked_inverted_index(7)[0].1, [(2, 1)]);
        assert_eq!(oracle.search_all(b"dog"), [(2, 0)]);
        assert_eq!(oracle.with_documents([]).sequence_count(1), []);
    }

    #[test]
    fn rare_keys_are_left_out() {
        let documents = corpus();
        let oracle = || Oracle::new(Lexer::Words, &documents);
        let least = |min_count| oracle().with_min_count(min_count);
        assert_eq!(least(2).word_count(), terms(&[("cat", 5), ("the", 5), ("dog", 2)]));
        assert_eq!(least(5).sort(), terms(&[("cat", 5), ("the", 5)]));
        assert_eq!(least(0).sort(), oracle().sort());
        assert_eq!(least(6).inverted_index(), []);
        // Totals decide, not the counts in one document.
        assert_eq!(least(2).term_vector(None)[0], terms(&[("cat", 2), ("the", 2), ("dog", 1)]));
        assert_eq!(least(2).with_documents([0]).term_vector(None)[0].len(), 2);
        assert_eq!(least(3).sequence_count(3), sequences(&[("the cat the", 3)]));
        assert_eq!(
            least(3).sequence_count_per_document(3),
            [sequences(&[("the cat the", 1)]), vec![], sequences(&[("the cat the", 2)])]
        );
        assert_eq!(
            least(3).ranked_inverted_index(3),
            [(sequence("the cat the"), vec![(2, 2), (0, 1)])]
        );
        // A rare term stays a part of sequences that are not rare.
        assert_eq!(least(1).sequence_count(3).len(), 6);
    }

    #[test]
    fn no_documents_no_answers() {
        let oracle = Oracle::new(Lexer::Words, &[]);
        assert_eq!(oracle.word_count(), []);
        assert_eq!(oracle.sequence_count(3), []);
        assert!(oracle.term_vector(None).is_empty());
    }
}
