//! Every task, strategy, lexer, builder and number of threads gives what the plain program gives, on all cases
//! and on random texts.

use std::io;
use std::path::Path;

use tadoc::analytics::answer;
use tadoc::answer::{Answer, Labels, Value};
use tadoc::{Analyzer, Builder, CompressOptions, Corpus, Input, Lexer, Source};
use tadoc_core::{Limits, Strategy, Task, View};
use tadoc_oracle::{Document, Oracle, cases};

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Text(Vec<u8>),
    Count(u64),
    Real(f64),
}

fn text(bytes: impl Into<Vec<u8>>) -> Cell {
    Cell::Text(bytes.into())
}

/// All rows of an answer.
fn rows(answer: &dyn Answer, view: &View, names: &[&[u8]]) -> Vec<Vec<Cell>> {
    let mut all = Vec::new();
    let labels = Labels { terms: view.terms(), documents: names };
    let read = answer.for_each_part(labels, &mut |rows| {
        assert_eq!(rows.columns(), answer.columns());
        let before = all.len();
        // In two ranges, so that a start in the middle is met too.
        let middle = rows.len() / 2;
        for range in [0..middle, middle..rows.len()] {
            rows.visit(range, &mut |row| {
                let cells = row.iter().map(|value| match value {
                    Value::Text(bytes) => text(*bytes),
                    Value::Terms(terms) => text(terms.join(&b" "[..])),
                    Value::Count(count) => Cell::Count(*count),
                    Value::Real(number) => Cell::Real(*number),
                });
                all.push(cells.collect());
            });
        }
        assert_eq!((all.len() - before) as u64, rows.len());
        Ok::<(), io::Error>(())
    });
    read.unwrap();
    all
}

/// The rows that the oracle has for a task.
fn expected(
    oracle: &Oracle,
    documents: &[Document],
    task: Task,
    top: Option<usize>,
) -> Vec<Vec<Cell>> {
    let top = top.unwrap_or(usize::MAX);
    let name = |number: usize| text(documents[number].0.as_bytes());
    let joined = |sequence: &tadoc_oracle::Sequence| text(sequence.join(&b" "[..]));
    match task {
        Task::WordCount | Task::Sort => {
            let counts = if task == Task::Sort { oracle.sort() } else { oracle.word_count() };
            let rows = counts.into_iter().take(top);
            rows.map(|(term, count)| vec![text(term), Cell::Count(count)]).collect()
        }
        Task::InvertedIndex => oracle
            .inverted_index()
            .into_iter()
            .flat_map(|(term, documents)| {
                let rows = documents.into_iter().take(top);
                rows.map(|number| vec![text(term.clone()), name(number)]).collect::<Vec<_>>()
            })
            .collect(),
        Task::TermVector => oracle
            .term_vector(Some(top))
            .into_iter()
            .enumerate()
            .flat_map(|(number, terms)| {
                let rows = terms.into_iter();
                rows.map(move |(term, count)| (number, term, count)).collect::<Vec<_>>()
            })
            .map(|(number, term, count)| vec![name(number), text(term), Cell::Count(count)])
            .collect(),
        Task::SequenceCount { n } => {
            let rows = oracle.sequence_count(n).into_iter().take(top);
            rows.map(|(sequence, count)| vec![joined(&sequence), Cell::Count(count)]).collect()
        }
        Task::SequenceCountPerDocument { n } => oracle
            .sequence_count_per_document(n)
            .into_iter()
            .enumerate()
            .flat_map(|(number, rows)| {
                let rows = rows.into_iter().take(top);
                rows.map(|(sequence, count)| {
                    vec![joined(&sequence), name(number), Cell::Count(count)]
                })
                .collect::<Vec<_>>()
            })
            .collect(),
        Task::RankedInvertedIndex { n } => oracle
            .ranked_inverted_index(n)
            .into_iter()
            .flat_map(|(sequence, documents)| {
                let rows = documents.into_iter().take(top);
                rows.map(|(number, count)| {
                    vec![joined(&sequence), name(number), Cell::Count(count)]
                })
                .collect::<Vec<_>>()
            })
            .collect(),
    }
}

fn compress(
    documents: &[Document],
    path: &Path,
    lexer: Lexer,
    builder: Builder,
    memory: Option<u64>,
) {
    let inputs = documents
        .iter()
        .map(|(name, bytes)| Input::new(name.as_bytes(), Source::Bytes(bytes.clone())))
        .collect();
    let options = CompressOptions { lexer, builder, memory, force: true, ..Default::default() };
    tadoc::compress(inputs, path, &options, &()).unwrap();
}

fn oracle_lexer(lexer: Lexer) -> tadoc_oracle::Lexer {
    match lexer {
        Lexer::Words => tadoc_oracle::Lexer::Words,
        Lexer::Whitespace => tadoc_oracle::Lexer::Whitespace,
    }
}

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

/// A task with the rows that it must have.
type Expected = (Task, Vec<Vec<Cell>>);

/// All tasks and strategies on an archive, in a pool of so many threads.
fn check_tasks(name: &str, path: &Path, tasks: &[Expected], threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let corpus = Corpus::open(path).unwrap();
    pool.install(|| {
        let view = tadoc::view::make(&[&corpus], &Analyzer::new(), None, &()).unwrap();
        let names: Vec<&[u8]> =
            corpus.documents().unwrap().iter().map(|document| &document.name[..]).collect();
        for (task, expected) in tasks {
            for strategy in [None, Some(Strategy::TopDown), Some(Strategy::BottomUp)] {
                let limits = Limits { strategy, ..Default::default() };
                let answered = answer(&view, *task, &limits).unwrap();
                let found = rows(&*answered.answer, &view, &names);
                assert!(
                    found == *expected,
                    "{name}: {task:?} {strategy:?}, {threads} threads\n{:?}\n{:?}",
                    &found[..found.len().min(9)],
                    &expected[..expected.len().min(9)]
                );
            }
        }
    });
}

#[test]
fn every_case_equals_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for case in cases() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let oracle = Oracle::new(oracle_lexer(lexer), &case.documents);
            let tasks = TASKS.map(|task| (task, expected(&oracle, &case.documents, task, None)));
            for (builder, threads) in
                [(Builder::RePair, 1), (Builder::RePair, 3), (Builder::Sequitur, 2)]
            {
                compress(&case.documents, &path, lexer, builder, None);
                check_tasks(&case.name, &path, &tasks, threads);
            }
        }
    }
}
