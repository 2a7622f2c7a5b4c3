//! Random access to plain text. Extracting copies the bytes; searching cuts the whole document
//! into words, makes terms of them, and compares them one by one.

use crate::{Oracle, Term, lexer};

impl Oracle<'_> {
    /// At most `length` bytes of a document from `offset` on, fewer where it ends before that;
    /// `None` where `offset` is past the end.
    pub fn extract(&self, document: usize, offset: usize, length: usize) -> Option<&[u8]> {
        let rest = self.documents[document].1.get(offset..)?;
        Some(&rest[..length.min(rest.len())])
    }

    /// The terms of a document with the byte offsets of their words, in the order of the text.
    pub fn terms_and_offsets(&self, document: usize) -> Vec<(Term, usize)> {
        let bytes = &self.documents[document].1;
        let words = lexer::words(self.lexer, bytes).into_iter();
        words
            .filter_map(|range| Some(((self.analyzer)(&bytes[range.clone()])?, range.start)))
            .collect()
    }

    /// The terms of a phrase: its words after the analyzer, without those that are removed.
    pub fn terms_of_phrase(&self, phrase: &[u8]) -> Vec<Term> {
        let words = lexer::words(self.lexer, phrase).into_iter();
        words.filter_map(|range| (self.analyzer)(&phrase[range])).collect()
    }

    /// The byte offsets in a document, ascending, at which its consecutive terms are the terms of
    /// `phrase`. What the analyzer removes is skipped over, in the text and in the phrase.
    /// Occurrences may overlap; a phrase without terms occurs nowhere.
    pub fn search(&self, document: usize, phrase: &[u8]) -> Vec<usize> {
        let wanted = self.terms_of_phrase(phrase);
        if wanted.is_empty() {
            return Vec::new();
        }
        self.terms_and_offsets(document)
            .windows(wanted.len())
            .filter(|window| window.iter().map(|(term, _)| term).eq(&wanted))
            .map(|window| window[0].1)
            .collect()
    }

    /// The document and byte offset of each occurrence of `phrase` in the corpus, ascending.
    pub fn search_all(&self, phrase: &[u8]) -> Vec<(usize, usize)> {
        self.chosen
            .iter()
            .flat_map(|&document| {
                self.search(document, phrase).into_iter().map(move |offset| (document, offset))
            })
            .collect()
    }

    /// How often `phrase` occurs in a document.
    pub fn count(&self, document: usize, phrase: &[u8]) -> u64 {
        self.search(document, phrase).len() as u64
    }

    /// How often `phrase` occurs in the corpus.
    pub fn count_all(&self, phrase: &[u8]) -> u64 {
        self.search_all(phrase).len() as u64
    }

    /// How often `phrase` occurs in each document in which it does, in corpus order.
    pub fn count_by_document(&self, phrase: &[u8]) -> Vec<(usize, u64)> {
        let counts = self.chosen.iter().map(|&document| (document, self.count(document, phrase)));
        counts.filter(|&(_, count)| count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Lexer, Oracle};

    fn corpus() -> Vec<Document> {
        vec![
            ("a".to_string(), b"to be, or not to be".to_vec()),
            ("b".to_string(), b"be to be to\nbe".to_vec()),
        ]
    }

    #[test]
    fn extract_stops_at_the_end() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(oracle.extract(0, 3, 3), Some(&b"be,"[..]));
        assert_eq!(oracle.extract(0, 14, 100), Some(&b"to be"[..]));
        assert_eq!(oracle.extract(0, 19, 1), Some(&b""[..]));
        assert_eq!(oracle.extract(0, 20, 0), None);
        assert_eq!(oracle.extract(1, 0, usize::MAX), Some(&b"be to be to\nbe"[..]));
    }

    #[test]
    fn search_finds_whole_words() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(oracle.search(0, b"be"), [3, 17]);
        assert_eq!(oracle.search(0, b"b"), []);
        assert_eq!(oracle.search_all(b"to"), [(0, 0), (0, 14), (1, 3), (1, 9)]);
        assert_eq!(oracle.count_all(b"to"), 4);
        assert_eq!(oracle.count_by_document(b"to"), [(0, 2), (1, 2)]);
        assert_eq!(oracle.count_by_document(b"not"), [(0, 1)]);
    }

    #[test]
    fn phrases_overlap_and_stay_in_their_document() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Words, &documents);
        assert_eq!(oracle.search(1, b"be to be"), [0, 6]);
        assert_eq!(oracle.count(1, b"(be) to: be"), 2);
        assert_eq!(oracle.search_all(b"be or"), [(0, 3)]);
        assert_eq!(oracle.search_all(b"be be"), []);
    }

    #[test]
    fn the_lexer_cuts_the_phrase_too() {
        let documents = corpus();
        let oracle = Oracle::new(Lexer::Whitespace, &documents);
        assert_eq!(oracle.search(0, b"be"), [17]);
        assert_eq!(oracle.search(0, b"be, or"), [3]);
        assert_eq!(oracle.search_all(b""), []);
        assert_eq!(Oracle::new(Lexer::Words, &documents).search_all(b" ,."), []);
    }

    #[test]
    fn terms_are_what_is_searched_for() {
        let documents = vec![("a".to_string(), b"The cat and THE the Cat, a cat".to_vec())];
        let oracle = Oracle::new(Lexer::Words, &documents).with_analyzer(|word| {
            let folded = word.to_ascii_lowercase();
            (folded != b"the" && folded != b"a").then_some(folded)
        });
        assert_eq!(oracle.search(0, b"CAT"), [4, 20, 27]);
        // What is removed is skipped over, in the text and in the phrase.
        assert_eq!(oracle.search(0, b"and cat"), [8]);
        assert_eq!(oracle.search(0, b"a cat the cat"), [20]);
        assert_eq!(oracle.count(0, b"cat the"), 3);
        assert_eq!(oracle.search(0, b"the a"), []);
        assert_eq!(oracle.terms_of_phrase(b"The Cat"), [b"cat"]);
    }
}
