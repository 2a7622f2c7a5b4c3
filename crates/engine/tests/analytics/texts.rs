//! Random texts of many kinds, through archives of both lexers and builders.

use proptest::prelude::*;
use tadoc_core::Limits;
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::Oracle;
use tadoc_testing::archives::{compress, oracle_lexer, thread_pool};
use tadoc_testing::texts::kinds;

use super::support::{all_tasks, check, expected_of, plain_view, some_questions};

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..Default::default() })]

    #[test]
    fn every_task_equals_the_oracle(kind in kinds(), threads in 1..=4_usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.tdc");
        let documents = kind.documents();
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let oracle = Oracle::new(oracle_lexer(lexer), &documents);
            let mut questions = all_tasks();
            questions.extend(some_questions());
            let expected = expected_of(&oracle, &documents, &questions, None);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&documents, &path, lexer, builder, None).unwrap();
                thread_pool(threads).install(|| {
                    let what = || format!("{kind:?} {lexer:?} {builder:?}");
                    check(&plain_view(&path), &documents, &expected, Limits::default(), &what);
                });
            }
        }
    }
}
