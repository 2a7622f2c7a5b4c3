//! The corpora that every builder, task, strategy and backend is tested on: each is small, and
//! each is awkward in one way. Short ones are made here, by functions that say why they exist;
//! those that read better as files are folders of `testdata/cases`, and `testdata/sample` is one
//! more. All of them together stay below 3 MB and come out the same on every machine.

mod bytes;
mod folders;
mod scripts;
mod shapes;
mod texts;

use crate::Document;

/// A named corpus; its documents are in byte order of their names.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is awkward about it.
    pub name: String,
    /// The corpus.
    pub documents: Vec<Document>,
}

impl Case {
    fn new(name: &str, documents: Vec<Document>) -> Case {
        Case { name: name.to_string(), documents }
    }

    /// A case of one document.
    fn single(name: &str, bytes: impl Into<Vec<u8>>) -> Case {
        Case::new(name, vec![("text".to_string(), bytes.into())])
    }

    /// A case of documents that are numbered, so that their order is that of the list.
    fn numbered(name: &str, documents: impl IntoIterator<Item = Vec<u8>>) -> Case {
        let numbered = documents.into_iter().enumerate();
        Case::new(name, numbered.map(|(index, bytes)| (format!("{index:04}"), bytes)).collect())
    }

    /// The bytes of all documents.
    pub fn size(&self) -> usize {
        self.documents.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// All cases. Making them takes some milliseconds.
///
/// # Panics
///
/// When the folders of `testdata` cannot be read.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(bytes::cases());
    cases.extend(scripts::cases());
    cases.extend(shapes::cases());
    cases.extend(texts::cases());
    cases.extend(folders::cases());
    cases
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Lexer, Oracle, words};

    #[test]
    fn names_are_unique_and_documents_sorted() {
        let cases = cases();
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        for case in &cases {
            assert!(case.documents.is_sorted_by(|a, b| a.0 < b.0), "{}", case.name);
        }
    }

    #[test]
    fn all_cases_are_small_together() {
        let size: usize = cases().iter().map(Case::size).sum();
        assert!((1_000_000..3_000_000).contains(&size), "{size}");
    }

    #[test]
    fn words_are_ascending_and_apart() {
        for case in cases() {
            for lexer in Lexer::ALL {
                for (name, bytes) in &case.documents {
                    let words = words(lexer, bytes);
                    let apart = words.is_sorted_by(|a, b| a.end <= b.start);
                    assert!(apart && words.iter().all(|word| !word.is_empty()), "{name}");
                }
            }
        }
    }

    #[test]
    fn tasks_agree_on_the_number_of_words() {
        for case in cases() {
            for lexer in Lexer::ALL {
                let oracle = Oracle::new(lexer, &case.documents);
                let counted: u64 = oracle.sort().iter().map(|(_, count)| count).sum();
                let listed: u64 = oracle.term_vector(None).iter().flatten().map(|row| row.1).sum();
                let words =
                    case.documents.iter().map(|(_, bytes)| words(lexer, bytes).len() as u64);
                let words: u64 = words.sum();
                assert_eq!((counted, listed), (words, words), "{}", case.name);
            }
        }
    }
}
