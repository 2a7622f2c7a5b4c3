//! What words may be drawn from plain text: its word occurrences, one by one. Which of them are drawn is the
//! business of whoever draws; each must be one of these, and each as likely as any other.

use crate::{Oracle, lexer};

impl Oracle<'_> {
    /// The document, byte offset and word of each word occurrence of the corpus, ascending. The
    /// analyzer has no part in it.
    pub fn occurrences(&self) -> Vec<(usize, usize, &[u8])> {
        let of_document = |&document: &usize| {
            let bytes = &self.documents[document].1[..];
            let words = lexer::words(self.lexer, bytes).into_iter();
            words.map(move |range| (document, range.start, &bytes[range]))
        };
        self.chosen.iter().flat_map(of_document).collect()
    }

    /// Whether `word` is a word occurrence at `offset` of a document that is asked about.
    pub fn is_occurrence(&self, document: usize, offset: usize, word: &[u8]) -> bool {
        let Some((_, bytes)) = self.documents.get(document) else { return false };
        let words = lexer::words(self.lexer, bytes);
        let found = words.into_iter().find(|range| range.start == offset);
        self.chosen.contains(&document) && found.is_some_and(|range| bytes[range] == *word)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Lexer, Oracle};

    #[test]
    fn occurrences_are_words_with_their_places() {
        let documents = vec![
            ("a".to_string(), b"to be, to".to_vec()),
            ("b".to_string(), Vec::new()),
            ("c".to_string(), b" be".to_vec()),
        ];
        let oracle = Oracle::new(Lexer::Words, &documents);
        let expected: [(usize, usize, &[u8]); 4] =
            [(0, 0, b"to"), (0, 3, b"be"), (0, 7, b"to"), (2, 1, b"be")];
        assert_eq!(oracle.occurrences(), expected);
        for (document, offset, word) in expected {
            assert!(oracle.is_occurrence(document, offset, word));
            assert!(!oracle.is_occurrence(document, offset + 1, &word[1..]));
            assert!(!oracle.is_occurrence(document, offset, b"no"));
        }
        assert!(!oracle.is_occurrence(9, 0, b"to"));
        let some = oracle.with_documents([2]);
        assert_eq!(some.occurrences(), expected[3..]);
        assert!(!some.is_occurrence(0, 0, b"to"));
    }
}
