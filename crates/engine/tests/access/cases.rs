//! All corpora that the oracle has, through archives of every lexer, builder and index.

use tadoc_engine::access::{self, Access, Index};
use tadoc_engine::{Analyzer, Builder, Corpus, Lexer};
use tadoc_oracle::cases;
use tadoc_testing::archives::{compress, thread_pool};

use super::support::{INDEXES, Questions, for_each_index};

#[test]
fn every_case_equals_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for (number, case) in cases().iter().enumerate() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let analyzer = Analyzer::new();
            let questions = Questions::new(lexer, &case.documents, &analyzer, number as u64, 12);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&case.documents, &path, lexer, builder, None).unwrap();
                thread_pool(1 + number % 3).install(|| {
                    for_each_index(&path, |access, what| {
                        questions
                            .check(access, &format!("{} {lexer:?} {builder:?} {what}", case.name));
                    });
                });
            }
        }
    }
}

/// Of an index that is stored, as much is used as is asked for.
#[test]
fn less_than_is_stored_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.tdc");
    let sample = cases().into_iter().find(|case| case.name == "sample").unwrap();
    compress(&sample.documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let questions = Questions::new(Lexer::Words, &sample.documents, &Analyzer::new(), 1, 20);
    for stored in INDEXES {
        access::store(&path, stored, &()).unwrap();
        let corpus = Corpus::open(&path).unwrap();
        for most in INDEXES {
            let access = Access::open(&corpus, most).unwrap();
            assert_eq!(access.index(), most.min(stored));
            questions.check(&access, &format!("{stored:?} stored, {most:?} asked for"));
        }
    }
    assert!(Index::None < Index::Small && Index::Small < Index::Fast);
}
