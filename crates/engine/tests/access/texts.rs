//! Random texts of many kinds, through archives of both lexers and builders and every index.

use proptest::prelude::*;
use tadoc_engine::{Analyzer, Builder, Lexer};
use tadoc_testing::archives::{compress, thread_pool};
use tadoc_testing::texts::kinds;

use super::support::{Questions, for_each_index};

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..Default::default() })]

    #[test]
    fn every_operation_equals_the_oracle(kind in kinds(), threads in 1..=3_usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.tdc");
        let documents = kind.documents();
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let questions = Questions::new(lexer, &documents, &Analyzer::new(), kind.seed, 16);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&documents, &path, lexer, builder, None).unwrap();
                thread_pool(threads).install(|| {
                    for_each_index(&path, |access, what| {
                        questions.check(access, &format!("{kind:?} {lexer:?} {builder:?} {what}"));
                    });
                });
            }
        }
    }
}
