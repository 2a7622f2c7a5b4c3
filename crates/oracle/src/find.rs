//! Documents ranked by how well they fit some words, over plain text: Okapi BM25 as Robertson and Zaragoza have it,
//! "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with an inverse document frequency that is
//! never negative.

use std::collections::BTreeSet;

use crate::{Oracle, Term, lexer};

impl Oracle<'_> {
    /// The chosen documents in which any of the words occurs, with their scores: by score descending, then
    /// corpus order. Each of the words counts once, however often it is given.
    ///
    /// The number of documents, their mean length and the documents of a term are those of the chosen
    /// documents; a document is as long as it has words, those that the analyzer leaves out included.
    pub fn find(&self, words: &[u8]) -> Vec<(usize, f64)> {
        self.find_with(words, 1.2, 0.75)
    }

    /// The same with other parameters: `k1` says how soon more occurrences of a term stop to matter,
    /// `b` how much long documents are held back.
    pub fn find_with(&self, words: &[u8], k1: f64, b: f64) -> Vec<(usize, f64)> {
        let wanted: BTreeSet<Term> = self.terms_of_phrase(words).into_iter().collect();
        let texts: Vec<(usize, Vec<Term>)> =
            self.chosen.iter().map(|&document| (document, self.terms(document))).collect();
        let count = texts.len() as f64;
        let words = |&(document, _): &(usize, _)| {
            lexer::words(self.lexer, &self.documents[document].1).len() as f64
        };
        let lengths: Vec<f64> = texts.iter().map(words).collect();
        let mean = lengths.iter().sum::<f64>() / count;
        let mut scores = vec![0.0; texts.len()];
        for term in &wanted {
            let having = texts.iter().filter(|(_, terms)| terms.contains(term)).count() as f64;
            let weight = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            for ((score, (_, terms)), words) in scores.iter_mut().zip(&texts).zip(&lengths) {
                let times = terms.iter().filter(|other| *other == term).count() as f64;
                let length = 1.0 - b + b * words / mean;
                if times > 0.0 {
                    *score += weight * times * (k1 + 1.0) / (times + k1 * length);
                }
            }
        }
        let scored = texts.iter().map(|(document, _)| *document).zip(scores);
        let mut found: Vec<(usize, f64)> = scored.filter(|&(_, score)| score > 0.0).collect();
        // Stable, so that equal scores stay in corpus order.
        found.sort_by(|one, other| other.1.total_cmp(&one.1));
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Lexer, Oracle};

    fn corpus() -> Vec<Document> {
        let texts = ["the cat sat", "the dog", "cat cat", "", "a bird sang a song"];
        texts.iter().map(|text| (text.to_string(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        let found = oracle.find(b"cat");
        // 5 documents of 12 / 5 terms on average, of which 2 have it: ln(1 + 3.5 / 2.5).
        let weight = 2.4_f64.ln();
        let first = weight * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 2.0 / 2.4));
        let second = weight * 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * 3.0 / 2.4));
        assert_eq!(found.iter().map(|&(document, _)| document).collect::<Vec<_>>(), [2, 0]);
        assert!((found[0].1 - first).abs() < 1e-12 && (found[1].1 - second).abs() < 1e-12);
    }

    #[test]
    fn words_count_once_and_only_those_that_are_there() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(oracle.find(b"cat, cat; unicorn cat"), oracle.find(b"cat"));
        assert_eq!(oracle.find(b"unicorn"), []);
        assert_eq!(oracle.find(b" ."), []);
        let both: Vec<usize> = oracle.find(b"the cat").iter().map(|&(number, _)| number).collect();
        assert_eq!(both.len(), 3);
    }

    #[test]
    fn equal_scores_are_in_corpus_order_and_the_scope_is_the_corpus() {
        let documents: Vec<Document> = ["x y", "y x", "z", "x x x x"]
            .iter()
            .map(|text| (text.to_string(), text.as_bytes().to_vec()))
            .collect();
        let oracle = Oracle::new(Lexer::Words, &documents).with_documents([0, 1, 2]);
        let found = oracle.find(b"x");
        assert_eq!((found[0].0, found[1].0, found.len()), (0, 1, 2));
        assert_eq!(found[0].1, found[1].1);
        let alone = Oracle::new(Lexer::Words, &documents[..3]).find(b"x");
        assert_eq!(found, alone);
    }
}
