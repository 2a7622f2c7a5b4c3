//! The example `distinct_words` says what the plain program says.

use tadoc_oracle::{Lexer, Oracle, cases};
use tadoc_testing::archives::{compress_with, one_thread};

#[path = "../examples/distinct_words.rs"]
#[expect(dead_code, reason = "an example has a main function of its own")]
mod example;

#[test]
fn every_case_has_its_distinct_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for case in cases() {
        compress_with(&case.documents, &path, &one_thread());
        let found = example::distinct_words(&path).unwrap();
        let fold = tadoc_engine::Analyzer::new().fold_case(true);
        let oracle = Oracle::new(Lexer::Words, &case.documents)
            .with_analyzer(|word| fold.term(word).map(|term| term.into_owned()));
        let vectors = oracle.term_vector(None).into_iter().map(|vector| vector.len());
        let names = case
            .documents
            .iter()
            .map(|(name, _)| tadoc_engine::text::escape(name.as_bytes()).to_string());
        assert!(found.into_iter().eq(names.zip(vectors)), "{}", case.name);
    }
}
