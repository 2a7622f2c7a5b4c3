//! All corpora that the oracle has, through archives of every lexer and builder.

use tadoc_core::{Limits, Task};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Oracle, cases};
use tadoc_testing::archives::{compress, oracle_lexer, thread_pool};

use super::support::{Question, check, expected_of, plain_view};

const TASKS: [Task; 11] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCount { n: 1 },
    Task::SequenceCount { n: 2 },
    Task::SequenceCount { n: 3 },
    Task::SequenceCount { n: 5 },
    Task::SequenceCountPerDocument { n: 3 },
    Task::RankedInvertedIndex { n: 1 },
    Task::RankedInvertedIndex { n: 3 },
];

#[test]
fn every_case_equals_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for case in cases() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let oracle = Oracle::new(oracle_lexer(lexer), &case.documents);
            let questions = TASKS.map(Question::Task);
            let expected = expected_of(&oracle, &case.documents, &questions, None);
            for (builder, threads) in
                [(Builder::RePair, 1), (Builder::RePair, 3), (Builder::Sequitur, 2)]
            {
                compress(&case.documents, &path, lexer, builder, None).unwrap();
                thread_pool(threads).install(|| {
                    let view = plain_view(&path);
                    let what = || format!("{} {lexer:?} {builder:?}", case.name);
                    check(&view, &case.documents, &expected, Limits::default(), &what);
                });
            }
        }
    }
}
