//! Random access to plain text. Extracting copies the bytes; searching cuts the whole document
//! into words and compares them one by one.

use crate::{Oracle, lexer};

impl Oracle<'_> {
    /// At most `length` bytes of a document from `offset` on, fewer where it ends before that;
    /// `None` where `offset` is past the end.
    pub fn extract(&self, document: usize, offset: usize, length: usize) -> Option<&[u8]> {
        let rest = self.documents[document].1.get(offset..)?;
        Some(&rest[..length.min(rest.len())])
    }

    /// The byte offsets in a document, ascending, at which its consecutive words are the words of
    /// `phrase`. Occurrences may overlap; a phrase without words occurs nowhere. The analyzer has
    /// no part in it.
    pub fn search(&self, document: usize, phrase: &[u8]) -> Vec<usize> {
        let wanted: Vec<&[u8]> =
            lexer::words(self.lexer, phrase).into_iter().map(|range| &phrase[range]).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let bytes = &self.documents[document].1;
        lexer::words(self.lexer, bytes)
            .windows(wanted.len())
            .filter(|window| window.iter().map(|range| &bytes[range.clone()]).eq(wanted.clone()))
            .map(|window| window[0].start)
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
}
