//! Every task on a device, against the plain program: all corpora of the oracle, through archives of every lexer and builder, and
//! random grammars. On the device that `TADOC_TEST_DEVICE` names, or whatever OpenCL has.

use std::sync::OnceLock;

use proptest::prelude::*;
use tadoc_core::Backend;
use tadoc_core::{Limits, Task, View};
use tadoc_engine::gpu::{GpuBackend, testing};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Document, Oracle, cases};

use super::random_grammar::{Shape, shapes};
use tadoc_testing::archives::{compress, oracle_lexer};

use super::support::{
    Expected, Question, STRATEGIES, assert_rows, expected_of, names, plain_view, rows,
};

/// The tasks, with the lengths of sequences that devices have.
fn tasks() -> Vec<Question> {
    let mut tasks = vec![Task::WordCount, Task::Sort, Task::InvertedIndex, Task::TermVector];
    for n in 1..=5 {
        tasks.push(Task::SequenceCount { n });
        tasks.push(Task::SequenceCountPerDocument { n });
        tasks.push(Task::RankedInvertedIndex { n });
    }
    tasks.into_iter().map(Question::Task).collect()
}

/// One device for all tests, as there is one queue of work for it.
fn backend() -> Option<&'static GpuBackend> {
    static BACKEND: OnceLock<Option<GpuBackend>> = OnceLock::new();
    BACKEND.get_or_init(|| testing::device().map(GpuBackend::new)).as_ref()
}

/// Asks all tasks, with these limits and all strategies, and compares the rows.
fn check(
    backend: &GpuBackend,
    view: &View,
    documents: &[Document],
    tasks: &[Expected],
    limits: Limits,
    what: &dyn Fn() -> String,
) {
    let names = names(documents);
    for (question, expected) in tasks {
        let Question::Task(task) = *question else { panic!("{question:?} is no task") };
        for strategy in STRATEGIES {
            let answered = backend.answer(view, task, &Limits { strategy, ..limits }).unwrap();
            let found = rows(&*answered.answer, view, &names);
            let what = || format!("{}, {strategy:?}, {limits:?}, on a device", what());
            assert_rows(&found, expected, question, &what);
        }
    }
}

#[test]
fn every_case_equals_the_oracle() {
    let Some(backend) = backend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for case in cases() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let oracle = Oracle::new(oracle_lexer(lexer), &case.documents);
            let expected = expected_of(&oracle, &case.documents, &tasks(), None);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&case.documents, &path, lexer, builder, None).unwrap();
                let what = || format!("{} {lexer:?} {builder:?}", case.name);
                let view = plain_view(&path);
                check(backend, &view, &case.documents, &expected, Limits::default(), &what);
            }
        }
    }
}

fn check_shape(shape: &Shape, limits: Limits) {
    let Some(backend) = backend() else { return };
    let made = shape.network();
    let documents = made.documents();
    let oracle = Oracle::new(tadoc_oracle::Lexer::Whitespace, &documents)
        .with_documents(made.chosen())
        .with_min_count(limits.least);
    let expected = expected_of(&oracle, &documents, &tasks(), limits.top);
    check(backend, &made.view(), &documents, &expected, limits, &|| format!("{shape:?}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..Default::default() })]

    #[test]
    fn grammars_equal_the_oracle(shape in shapes()) {
        check_shape(&shape, Limits::default());
    }

    #[test]
    fn limited_tasks_equal_the_oracle(
        shape in shapes(),
        least in prop_oneof![Just(0_u64), 1..6_u64, Just(u64::MAX)],
        top in prop_oneof![Just(None), (0..9_usize).prop_map(Some), Just(Some(usize::MAX))],
    ) {
        check_shape(&shape, Limits { least, top, ..Default::default() });
    }
}
