//! The same rows on any number of threads, in any ranges, and as entries of a matrix.

use std::collections::BTreeSet;

use tadoc_core::{Limits, Task, View};
use tadoc_engine::analytics::TfIdfOptions;
use tadoc_engine::answer::{Labels, Names, Position, Rows, Value};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Document, Random};

use super::support::{
    Cell, Question, Row, STRATEGIES, compress, names, numbered, plain_view, pool, rows,
    rows_of_range, some_questions, text,
};

/// A view of some thousand words, in documents of all lengths.
fn view() -> (View, Vec<Document>) {
    let mut random = Random::new(11);
    let texts = (0..60).map(|number| {
        let length = if number == 7 { 8000 } else { random.below(120) };
        let words = (0..length).map(|_| format!("w{} ", random.rank() % 900));
        words.collect::<String>().into_bytes()
    });
    let documents = numbered(texts.collect::<Vec<_>>());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.tdc");
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    (plain_view(&path), documents)
}

#[test]
fn threads_make_no_difference() {
    let (view, documents) = view();
    let names = names(&documents);
    for question in some_questions() {
        for strategy in STRATEGIES {
            for top in [None, Some(5)] {
                let limits = Limits { strategy, top, ..Default::default() };
                let of = |threads: usize| {
                    pool(threads).install(|| {
                        rows(&*question.ask(&view, &limits).unwrap().answer, &view, &names)
                    })
                };
                let one = of(1);
                assert!(one == of(2) && one == of(5), "{question:?} {limits:?}");
            }
        }
    }
}

/// Asked on one number of threads, given on another.
#[test]
fn an_answer_can_be_given_elsewhere() {
    let (view, documents) = view();
    let names = names(&documents);
    for question in some_questions() {
        let ask = || question.ask(&view, &Limits::default()).unwrap();
        let expected = pool(1).install(|| rows(&*ask().answer, &view, &names));
        let asked = pool(4).install(ask);
        // Twice, for an answer may be given again.
        for threads in [1, 3] {
            let given = pool(threads).install(|| rows(&*asked.answer, &view, &names));
            assert!(given == expected, "{question:?}");
        }
    }
}

#[test]
fn any_ranges_are_the_rows() {
    let (view, documents) = view();
    let names = names(&documents);
    let mut random = Random::new(3);
    for question in some_questions() {
        for strategy in STRATEGIES {
            let limits = Limits { strategy, least: 2, ..Default::default() };
            let answered = question.ask(&view, &limits).unwrap();
            let names = Names::from_iter(names.iter());
            let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
            let mut at = Position::default();
            while let Some(part) = answered.answer.next_part(&mut at, labels).unwrap() {
                let all = rows_of_range(&*part, 0..part.len());
                for _ in 0..20 {
                    let (one, other) = (random.below(part.len() + 1), random.below(part.len() + 1));
                    let range = one.min(other)..one.max(other);
                    let expected = &all[range.start as usize..range.end as usize];
                    assert!(rows_of_range(&*part, range) == expected, "{question:?}");
                }
                assert!(rows_of_range(&*part, part.len()..part.len()).is_empty());
            }
        }
    }
}

/// A part can be pulled again, from any position that was met, and while others are held.
#[test]
fn positions_are_good_for_another_time() {
    let (view, documents) = view();
    let names = names(&documents);
    for question in some_questions() {
        for memory in [0, u64::MAX] {
            let limits = Limits { memory, ..Default::default() };
            let answered = question.ask(&view, &limits).unwrap();
            let expected = rows(&*answered.answer, &view, &names);
            let names = Names::from_iter(names.iter());
            let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
            let mut positions = vec![Position::default()];
            let mut parts = Vec::new();
            let mut at = Position::default();
            while let Some(part) = answered.answer.next_part(&mut at, labels).unwrap() {
                positions.push(at);
                parts.push(part);
            }
            let all = |part: &dyn Rows| rows_of_range(part, 0..part.len());
            let given: Vec<Row> = parts.iter().flat_map(|part| all(&**part)).collect();
            assert!(given == expected, "{question:?}");
            for (mut at, part) in positions.into_iter().zip(parts).rev() {
                let again = answered.answer.next_part(&mut at, labels).unwrap().unwrap();
                assert!(all(&*again) == all(&*part), "{question:?}");
            }
        }
    }
}

#[test]
fn entries_agree_with_rows() {
    let (whole, documents) = view();
    let names = names(&documents);
    let matrices = [Question::Task(Task::TermVector), Question::TfIdf(TfIdfOptions::default())];
    for (least, top) in [(1, None), (3, None), (1, Some(4)), (u64::MAX, None), (2, Some(0))] {
        for question in matrices {
            for strategy in STRATEGIES {
                let limits = Limits { strategy, least, top, ..Default::default() };
                let answered = question.ask(&whole, &limits).unwrap();
                let expected = rows(&*answered.answer, &whole, &names);
                let names = Names::from_iter(names.iter());
                let labels = Labels { terms: whole.terms().texts(), documents: names.texts() };
                let entries = answered.answer.entries(labels).expect("it is a matrix").unwrap();
                assert!(rows_of_range(&*entries, 0..entries.len()) == expected);
                let columns: BTreeSet<Vec<u8>> = expected.iter().map(term).collect();
                let columns: Vec<Vec<u8>> = columns.into_iter().collect();
                let shape = (documents.len() as u64, columns.len() as u64);
                assert_eq!(entries.shape(), shape, "{question:?} {limits:?}");
                let mut made: Vec<Row> = Vec::new();
                let middle = entries.len() / 3;
                for range in [0..middle, middle..entries.len()] {
                    entries.visit_entries(range, &mut |document, term, value| {
                        let value = match value {
                            Value::Count(count) => Cell::Count(count),
                            Value::Real(number) => Cell::Real(number),
                            other => panic!("{other:?} is no entry"),
                        };
                        let name = labels.documents.get(document as u32);
                        made.push(vec![text(name), text(columns[term as usize].clone()), value]);
                    });
                }
                assert!(made == expected, "{question:?} {limits:?}");
            }
        }
    }
    for question in some_questions().into_iter().filter(|question| {
        !matches!(question, Question::TfIdf(_) | Question::Task(Task::TermVector))
    }) {
        let answered = question.ask(&whole, &Limits::default()).unwrap();
        let names = Names::from_iter(names.iter());
        let labels = Labels { terms: whole.terms().texts(), documents: names.texts() };
        assert!(answered.answer.entries(labels).is_none(), "{question:?}");
    }
}

fn term(row: &Row) -> Vec<u8> {
    match &row[1] {
        Cell::Text(term) => term.clone(),
        other => panic!("{other:?} is no term"),
    }
}
