//! Every question on random grammars, against the plain program over what they expand to.

use proptest::prelude::*;
use tadoc_core::{Grammar, Limits, Network, Part, Task, View};
use tadoc_engine::analytics::Measure;
use tadoc_oracle::{Lexer, Oracle};

use super::random_grammar::{Shape, shapes, terms};
use tadoc_testing::archives::thread_pool;

use super::support::{
    Cell, Question, Row, STRATEGIES, all_tasks, check, expected_of, rows, some_questions, text,
};

fn check_shape(shape: &Shape, questions: &[Question], limits: Limits, threads: usize) {
    let made = shape.network();
    let documents = made.documents();
    let oracle = Oracle::new(Lexer::Whitespace, &documents)
        .with_documents(made.chosen())
        .with_min_count(limits.least);
    let expected = expected_of(&oracle, &documents, questions, limits.top);
    let view = made.view();
    thread_pool(threads)
        .install(|| check(&view, &documents, &expected, limits, &|| format!("{shape:?}")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..Default::default() })]

    #[test]
    fn tasks_equal_the_oracle(shape in shapes(), threads in 1..=4_usize) {
        check_shape(&shape, &all_tasks(), Limits::default(), threads);
    }

    #[test]
    fn limited_questions_equal_the_oracle(
        shape in shapes(),
        threads in 1..=3_usize,
        least in prop_oneof![Just(0_u64), 1..6_u64, Just(u64::MAX)],
        top in prop_oneof![Just(None), (0..9_usize).prop_map(Some), Just(Some(usize::MAX))],
    ) {
        let mut questions = some_questions();
        questions.extend([
            Question::Cooccurrence { window: 1, ordered: false },
            Question::Cooccurrence { window: 64, ordered: true },
            Question::Collocations { window: 3, measure: Measure::TScore },
        ]);
        // Of equal scores, which of them are the first ones depends on rounding.
        if top.is_some() {
            questions.retain(|question| !matches!(question, Question::Collocations { .. }));
        }
        let limits = Limits { least, top, ..Default::default() };
        check_shape(&shape, &questions, limits, threads);
    }

    /// Bottom-up without room for any table.
    #[test]
    fn tables_without_memory_equal_the_oracle(shape in shapes()) {
        let tasks = [Task::WordCount, Task::Sort, Task::InvertedIndex, Task::TermVector];
        let limits = Limits { memory: 0, ..Default::default() };
        check_shape(&shape, &tasks.map(Question::Task), limits, 2);
    }
}

/// The text `a b`, doubled so often that no program could expand it. All of its counts are known.
fn doubled(times: u32) -> View {
    // The root is the first rule, each rule the next one twice, and the last one is `a b`.
    let mut symbols = vec![2];
    let mut starts = vec![1];
    for rule in 0..times {
        symbols.extend([3 + rule, 3 + rule]);
        starts.push(symbols.len() as u32);
    }
    symbols.extend([0, 1]);
    starts.push(symbols.len() as u32);
    let grammar = Grammar::new(2, symbols, starts, vec![0, 1]).unwrap();
    let parts = vec![Part { root: 0..1, rules: 0..times + 1 }];
    View::new(terms(2), Network::new(grammar, parts, vec![0]).unwrap()).unwrap()
}

/// Counts above 32 bits, in every strategy; and time in proportion to the grammar, not to the text, also
/// where there is no memory for tables.
#[test]
fn texts_that_cannot_be_expanded_are_counted() {
    for (times, memory) in [(31, 1 << 20), (33, 1 << 20), (55, 1 << 20), (55, 0)] {
        let view = doubled(times);
        let (a, b) = (view.terms().get(0).to_vec(), view.terms().get(1).to_vec());
        let all = 1_u64 << times;
        let joined = |terms: &[&Vec<u8>]| {
            text(terms.iter().map(|term| &term[..]).collect::<Vec<_>>().join(&b" "[..]))
        };
        let word = |term: &Vec<u8>, count: u64| vec![text(term.clone()), Cell::Count(count)];
        let words: Vec<Row> = vec![word(&a, all), word(&b, all)];
        let document = || text(*b"0");
        let pair = |first: &Vec<u8>, second: &Vec<u8>, count: u64| {
            vec![text(first.clone()), text(second.clone()), Cell::Count(count)]
        };
        let task = Question::Task;
        let mut questions = vec![
            (task(Task::WordCount), words.clone()),
            (task(Task::Sort), words.clone()),
            (
                task(Task::InvertedIndex),
                vec![vec![text(a.clone()), document()], vec![text(b.clone()), document()]],
            ),
            (
                task(Task::TermVector),
                words.iter().map(|row| [&[document()], &row[..]].concat()).collect(),
            ),
            (
                Question::Cooccurrence { window: 2, ordered: true },
                vec![
                    pair(&a, &b, all),
                    pair(&a, &a, all - 1),
                    pair(&b, &a, all - 1),
                    pair(&b, &b, all - 1),
                ],
            ),
            (Question::Cooccurrence { window: 1, ordered: false }, vec![pair(&a, &b, 2 * all - 1)]),
        ];
        if memory > 0 {
            questions.extend([
                (
                    task(Task::SequenceCount { n: 2 }),
                    vec![
                        vec![joined(&[&a, &b]), Cell::Count(all)],
                        vec![joined(&[&b, &a]), Cell::Count(all - 1)],
                    ],
                ),
                (
                    task(Task::SequenceCountPerDocument { n: 3 }),
                    vec![
                        vec![joined(&[&a, &b, &a]), document(), Cell::Count(all - 1)],
                        vec![joined(&[&b, &a, &b]), document(), Cell::Count(all - 1)],
                    ],
                ),
                (
                    task(Task::RankedInvertedIndex { n: 3 }),
                    vec![
                        vec![joined(&[&a, &b, &a]), document(), Cell::Count(all - 1)],
                        vec![joined(&[&b, &a, &b]), document(), Cell::Count(all - 1)],
                    ],
                ),
            ]);
        }
        for (question, expected) in questions {
            for strategy in STRATEGIES {
                let limits = Limits { strategy, memory, ..Default::default() };
                let answered = question.ask(&view, &limits).unwrap();
                let found = rows(&*answered.answer, &view, &[b"0"]);
                assert_eq!(found, expected, "{question:?} {strategy:?} 2^{times} {memory}");
            }
        }
    }
}
