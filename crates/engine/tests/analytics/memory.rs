//! Little memory: the same rows, out of temporary files.

use std::hash::{DefaultHasher, Hash, Hasher};

use tadoc_core::{Grammar, Limits, Network, Part, Strategy, Task, View};
use tadoc_engine::analytics::Measure;
use tadoc_engine::answer::{Labels, Names, Position, Value};
use tadoc_oracle::{Lexer, Oracle, Random};

use super::random_grammar::{Made, Shape, terms};
use tadoc_testing::archives::thread_pool;

use super::support::{Question, assert_rows, expected, names, rows};

/// A grammar with enough places of sequences for several buckets, so that there can be several passes.
fn made() -> Made {
    let shape = Shape {
        seed: 5,
        terms: 700,
        parts: 2,
        rules: 9000,
        body: 5,
        root: 30_000,
        documents: 40,
        rule_share: 30,
        longest: 12,
    };
    shape.network()
}

fn task(task: Task) -> Question {
    Question::Task(task)
}

/// Temporary files that this process has mapped; they have no name any more.
fn temporary_files() -> Option<usize> {
    let mapped = std::fs::read_to_string("/proc/self/maps").ok()?;
    Some(mapped.lines().filter(|line| line.ends_with("(deleted)")).count())
}

/// Fewer bytes make more passes, whose rows are the same.
#[test]
fn spilled_rows_equal_the_oracle() {
    let made = made();
    let (view, documents) = (made.view(), made.documents());
    let names = names(&documents);
    let questions = [
        task(Task::SequenceCount { n: 3 }),
        task(Task::SequenceCount { n: 8 }),
        Question::Cooccurrence { window: 3, ordered: false },
        Question::Collocations { window: 3, measure: Measure::LogDice },
    ];
    for question in questions {
        for (least, top) in [(1, None), (3, None), (1, Some(1000)), (4, Some(3)), (1, Some(0))] {
            // Of equal scores, which of them are the first ones depends on rounding.
            let unlimited =
                if matches!(question, Question::Collocations { .. }) { None } else { top };
            let limits = Limits { least, top: unlimited, ..Default::default() };
            let oracle = Oracle::new(Lexer::Whitespace, &documents)
                .with_documents(made.chosen())
                .with_min_count(least);
            let expected = expected(&oracle, &documents, &question, unlimited);
            let whole = rows(&*question.ask(&view, &limits).unwrap().answer, &view, &names);
            assert_rows(&whole, &expected, &question, &|| format!("{limits:?}"));
            for memory in [0, 1 << 16, 1 << 20] {
                let limits = Limits { memory, top, ..limits };
                thread_pool(2).install(|| {
                    let answered = question.ask(&view, &limits).unwrap();
                    if let (0, Question::Task(_), Some(open)) =
                        (memory, question, temporary_files())
                    {
                        assert!(open > 0, "no temporary file");
                    }
                    let found = rows(&*answered.answer, &view, &names);
                    let first = &whole[..whole.len().min(top.unwrap_or(usize::MAX))];
                    assert!(found == first, "{question:?} {limits:?}");
                    // Files are read from where they were left, so a second time is another one.
                    assert!(rows(&*answered.answer, &view, &names) == first, "{question:?}");
                });
            }
        }
    }
}

/// No task needs more memory than it may have.
#[test]
fn any_memory_is_enough() {
    let made = made();
    let (view, documents) = (made.view(), made.documents());
    let names = names(&documents);
    let ways = [
        (Task::SequenceCountPerDocument { n: 2 }, Strategy::TopDown),
        (Task::SequenceCountPerDocument { n: 2 }, Strategy::BottomUp),
        (Task::SequenceCount { n: 3 }, Strategy::BottomUp),
        (Task::RankedInvertedIndex { n: 3 }, Strategy::TopDown),
        (Task::RankedInvertedIndex { n: 3 }, Strategy::BottomUp),
    ];
    for (task, strategy) in ways {
        let limits = Limits { strategy: Some(strategy), ..Default::default() };
        let ask = |memory| Question::Task(task).ask(&view, &Limits { memory, ..limits });
        let whole = rows(&*ask(u64::MAX).unwrap().answer, &view, &names);
        for memory in [0, 1 << 16, 1 << 20] {
            let found = rows(&*ask(memory).unwrap().answer, &view, &names);
            assert!(found == whole, "{task:?} {strategy:?} in {memory} bytes");
        }
    }
}

/// What goes over documents does it in any memory.
#[test]
fn tables_are_made_where_they_fit() {
    let made = made();
    let (view, documents) = (made.view(), made.documents());
    let names = names(&documents);
    for of in [Task::WordCount, Task::Sort, Task::InvertedIndex, Task::TermVector] {
        for strategy in [None, Some(Strategy::BottomUp)] {
            let ask = |memory| {
                let limits = Limits { strategy, memory, ..Default::default() };
                rows(&*task(of).ask(&view, &limits).unwrap().answer, &view, &names)
            };
            let whole = ask(u64::MAX);
            for memory in [0, 100, 10_000, 300_000] {
                assert!(ask(memory) == whole, "{of:?} {strategy:?} {memory}");
            }
        }
    }
}

/// More rows than are read back from files at a time: over a million of them.
#[test]
fn a_million_spilled_rows_are_in_order() {
    let (vocabulary, length) = (900, 1_300_000);
    let mut random = Random::new(9);
    let symbols: Vec<u32> = (0..length).map(|_| random.below(vocabulary) as u32).collect();
    let parts = vec![Part { root: 0..length, rules: 0..0 }];
    let grammar = Grammar::new(vocabulary as u32, symbols, vec![length], vec![0, length]).unwrap();
    let network = Network::new(grammar, parts, vec![0]).unwrap();
    let view = View::new(terms(vocabulary as u32), network).unwrap();
    let digests = |memory: u64, top: Option<usize>| {
        let limits = Limits { memory, top, ..Default::default() };
        let answered = task(Task::SequenceCount { n: 3 }).ask(&view, &limits).unwrap();
        let mut digests: Vec<u64> = Vec::new();
        let names = Names::from_iter(["0"]);
        let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
        let mut at = Position::default();
        while let Some(rows) = answered.answer.next_part(&mut at, labels).unwrap() {
            rows.visit(0..rows.len(), &mut |row| {
                let [Value::Terms(terms), Value::Count(count)] = row else {
                    panic!("{row:?} is no sequence")
                };
                let mut hasher = DefaultHasher::new();
                (terms, count).hash(&mut hasher);
                digests.push(hasher.finish());
            });
        }
        digests
    };
    let whole = digests(u64::MAX, None);
    assert!(whole.len() > 1 << 20, "{} rows", whole.len());
    assert!(digests(8 << 20, None) == whole);
    let top = (1 << 20) + 1;
    assert!(digests(8 << 20, Some(top)) == whole[..top]);
}
