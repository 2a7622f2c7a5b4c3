//! All corpora that the oracle has, through archives of every lexer, builder and index.

use tadoc::{Analyzer, Builder, Lexer};
use tadoc_oracle::cases;

use super::support::{Questions, compress, for_each_index, pool};

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
                pool(1 + number % 3).install(|| {
                    for_each_index(&path, |access, what| {
                        questions
                            .check(access, &format!("{} {lexer:?} {builder:?} {what}", case.name));
                    });
                });
            }
        }
    }
}
