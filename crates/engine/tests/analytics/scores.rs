//! TF-IDF, co-occurrence and collocations against the plain program, on all of its cases.

use tadoc_core::Limits;
use tadoc_core::Norm;
use tadoc_engine::analytics::{Measure, TfIdfOptions};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Oracle, cases};

use super::support::{Question, check, compress, expected_of, oracle_lexer, plain_view, pool};

const MEASURES: [Measure; 4] =
    [Measure::Pmi, Measure::LogLikelihood, Measure::TScore, Measure::LogDice];

/// The plain program takes long for wide windows: larger cases have a few questions only.
fn questions(size: usize) -> Vec<Question> {
    let cooccurrence = |window, ordered| Question::Cooccurrence { window, ordered };
    let mut questions = vec![Question::TfIdf(TfIdfOptions::default()), cooccurrence(1, false)];
    if size > 30_000 {
        questions.push(Question::Collocations { window: 3, measure: Measure::LogDice });
        return questions;
    }
    for norm in [Norm::None, Norm::L1, Norm::L2] {
        for switches in 0..8 {
            let is = |bit: u32| switches >> bit & 1 == 1;
            let (use_idf, smooth_idf, sublinear_tf) = (is(0), is(1), is(2));
            questions.push(Question::TfIdf(TfIdfOptions {
                norm,
                use_idf,
                smooth_idf,
                sublinear_tf,
            }));
        }
    }
    for window in 1..=6 {
        questions.extend([true, false].map(|ordered| cooccurrence(window, ordered)));
        let measures = if window == 2 { &MEASURES[..] } else { &MEASURES[window % 4..][..1] };
        for &measure in measures.iter().filter(|_| window > 1) {
            questions.push(Question::Collocations { window, measure });
        }
    }
    if size < 8_000 {
        questions.extend([true, false].map(|ordered| cooccurrence(64, ordered)));
        questions.push(Question::Collocations { window: 64, measure: Measure::LogLikelihood });
    }
    questions
}

#[test]
fn scores_of_every_case_equal_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for (number, case) in cases().iter().enumerate() {
        let lexer = [Lexer::Words, Lexer::Whitespace][number % 2];
        let builder = [Builder::RePair, Builder::Sequitur][number / 2 % 2];
        compress(&case.documents, &path, lexer, builder, None).unwrap();
        let oracle = Oracle::new(oracle_lexer(lexer), &case.documents);
        let expected = expected_of(&oracle, &case.documents, &questions(case.size()), None);
        pool(1 + number % 3).install(|| {
            let what = || format!("{} {lexer:?} {builder:?}", case.name);
            check(&plain_view(&path), &case.documents, &expected, Limits::default(), &what);
        });
    }
}
