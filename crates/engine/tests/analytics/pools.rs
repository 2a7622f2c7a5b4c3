//! Every task in a pool, against the plain program: all corpora of the oracle, through archives of every lexer and builder, with every
//! strategy and level of persistence; and pools that are asked again, and for something else.

use std::fs;
use std::path::Path;

use tadoc_core::{Limits, Measure, Norm, Task, TfIdfOptions, View};
use tadoc_engine::backend::{Backends, Choice, PoolFile, notes};
use tadoc_engine::pool::{Persist, Resumption};
use tadoc_engine::view::{Detail, Origin};
use tadoc_engine::{Analyzer, Builder, Corpus, Durability, Edit, Editor, Error, Lexer};
use tadoc_oracle::{Document, Oracle, cases};
use tadoc_testing::archives::{compress, oracle_lexer};
use tadoc_testing::numbered;
use tempfile::TempDir;

use super::support::{
    Expected, Question, Row, STRATEGIES, assert_rows, expected_of, names, plain_view, rows,
};

const TASKS: [Task; 14] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCount { n: 1 },
    Task::SequenceCount { n: 3 },
    Task::SequenceCount { n: 6 },
    Task::SequenceCountPerDocument { n: 2 },
    Task::RankedInvertedIndex { n: 1 },
    Task::RankedInvertedIndex { n: 3 },
    Task::TfIdf(TfIdfOptions {
        norm: Norm::L2,
        use_idf: true,
        smooth_idf: true,
        sublinear_tf: false,
    }),
    Task::Cooccurrence { window: 5, ordered: false },
    Task::Cooccurrence { window: 2, ordered: true },
    Task::Collocations { window: 1, measure: Measure::LogLikelihood },
];

/// A folder for pools: in memory where there is such a place, as these tests are not about disks.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn in_pool(path: &Path, persist: Persist) -> Backends {
    Backends::with_pool(PoolFile::new(path, persist))
}

fn view_of(
    backends: &Backends,
    corpora: &[&Corpus],
    analyzer: &Analyzer,
    chosen: Option<&[u32]>,
) -> tadoc_engine::Result<(View, Origin)> {
    backends.view(corpora, analyzer, chosen, Detail::Whole, &())
}

/// Asks all tasks with all strategies, and compares the rows.
fn check(
    backends: &Backends,
    view: &View,
    documents: &[Document],
    expected: &[Expected],
    what: &dyn Fn() -> String,
) {
    let names = names(documents);
    for (question, expected) in expected {
        let task = question.task();
        for strategy in STRATEGIES {
            let limits = Limits { strategy, ..Default::default() };
            let run = backends.answer(view, task, &limits).unwrap();
            assert_eq!(run.backend, Choice::Pool);
            let found = rows(&*run.answered.answer, view, &names);
            let what = || format!("{}, {strategy:?}, in a pool", what());
            assert_rows(&found, expected, question, &what);
        }
    }
}

/// The rows of a task.
fn ask(backends: &Backends, view: &View, task: Task, documents: &[Document]) -> Vec<Row> {
    let run = backends.answer(view, task, &Limits::default()).unwrap();
    rows(&*run.answered.answer, view, &names(documents))
}

fn on_processor(view: &View, task: Task, documents: &[Document]) -> Vec<Row> {
    ask(&Backends::new(Choice::Cpu, None), view, task, documents)
}

#[test]
fn every_case_equals_the_oracle() {
    let folder = folder();
    let (path, pool) = (folder.path().join("case.tdc"), folder.path().join("case.pool"));
    for case in cases() {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let oracle = Oracle::new(oracle_lexer(lexer), &case.documents);
            let questions = TASKS.map(Question::Task);
            let expected = expected_of(&oracle, &case.documents, &questions, None);
            for builder in [Builder::RePair, Builder::Sequitur] {
                compress(&case.documents, &path, lexer, builder, None).unwrap();
                let corpus = Corpus::open(&path).unwrap();
                for persist in Persist::ALL {
                    let backends = in_pool(&pool, persist);
                    let made = view_of(&backends, &[&corpus], &Analyzer::new(), None);
                    let (view, origin) = made.unwrap();
                    assert!(matches!(origin, Origin::Archive));
                    let what = || format!("{} {lexer:?} {builder:?} {persist}", case.name);
                    check(&backends, &view, &case.documents, &expected, &what);
                    fs::remove_file(&pool).unwrap();
                }
            }
        }
    }
}

/// Documents that share a lot.
fn documents() -> Vec<Document> {
    let text = "the cat sat on the mat and The dog ran after the cat; connected cats sat on mats. ";
    numbered((0..12).map(|number| text.repeat(1 + number % 4).as_bytes()[number..].to_vec()))
}

#[test]
fn a_pool_is_asked_again_by_other_processes() {
    let folder = folder();
    let (path, pool) = (folder.path().join("a.tdc"), folder.path().join("a.pool"));
    let documents = documents();
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let plain = plain_view(&path);
    let fold = Analyzer::new().fold_case(true);
    let folded = tadoc_engine::view::make(&[&corpus], &fold, None, &()).unwrap();
    let chosen: &[u32] = &[1, 4, 7];
    let some = tadoc_engine::view::make(&[&corpus], &fold, Some(chosen), &()).unwrap();
    let same = Analyzer::new();
    // Questions one after the other, and whether the view is there already.
    let questions = [
        (&same, None, &plain, Task::InvertedIndex, false),
        (&same, None, &plain, Task::InvertedIndex, true),
        (&same, None, &plain, Task::TermVector, true),
        (&same, None, &plain, Task::RankedInvertedIndex { n: 2 }, true),
        (&same, None, &plain, Task::InvertedIndex, true),
        (&fold, None, &folded, Task::InvertedIndex, false),
        (&fold, Some(chosen), &some, Task::InvertedIndex, false),
        (&fold, Some(chosen), &some, Task::SequenceCount { n: 3 }, true),
        (&same, None, &plain, Task::WordCount, false),
    ];
    for (number, (analyzer, chosen, plain, task, is_there)) in questions.into_iter().enumerate() {
        let backends = in_pool(&pool, Persist::Phase);
        let (view, origin) = view_of(&backends, &[&corpus], analyzer, chosen).unwrap();
        assert_eq!(matches!(origin, Origin::Pool), is_there, "question {number}");
        let found = ask(&backends, &view, task, &documents);
        assert_eq!(found, on_processor(plain, task, &documents), "question {number}");
        let notes = backends.notes().join("\n");
        assert_eq!(notes.contains("already"), number == 1, "question {number}: {notes}");
    }
}

#[test]
fn one_process_asks_several_questions() {
    let folder = folder();
    let (path, pool) = (folder.path().join("a.tdc"), folder.path().join("a.pool"));
    let documents = documents();
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let backends = in_pool(&pool, Persist::Operation);
    assert!(matches!(
        backends.answer(&plain_view(&path), Task::Sort, &Limits::default()),
        Err(Error::OtherView)
    ));
    let (plain, _) = view_of(&backends, &[&corpus], &Analyzer::new(), None).unwrap();
    let run = backends.answer(&plain, Task::InvertedIndex, &Limits::default()).unwrap();
    let fold = Analyzer::new().fold_case(true);
    let (folded, _) = view_of(&backends, &[&corpus], &fold, None).unwrap();
    let made = tadoc_engine::view::make(&[&corpus], &fold, None, &()).unwrap();
    for task in TASKS {
        let found = ask(&backends, &folded, task, &documents);
        assert_eq!(found, on_processor(&made, task, &documents), "{task:?}");
    }
    // What was given before stays as it is, but its view is not in the pool any more.
    let found = rows(&*run.answered.answer, &plain, &names(&documents));
    assert_eq!(found, on_processor(&plain, Task::InvertedIndex, &documents));
    let refused = backends.answer(&plain, Task::Sort, &Limits::default());
    assert!(matches!(refused, Err(Error::OtherView)));
}

#[test]
fn pools_of_other_archives_are_refused() {
    let folder = folder();
    let paths = ["a.tdc", "b.tdc"].map(|name| folder.path().join(name));
    let pool = folder.path().join("a.pool");
    let all = documents();
    compress(&all[..5], &paths[0], Lexer::Words, Builder::RePair, None).unwrap();
    compress(&all[5..], &paths[1], Lexer::Words, Builder::RePair, None).unwrap();
    let [first, second] = paths.each_ref().map(|path| Corpus::open(path).unwrap());
    let open = |pool: &Path, corpora: &[&Corpus]| {
        view_of(&in_pool(pool, Persist::Phase), corpora, &Analyzer::new(), None)
    };
    let is_refused = |opened: tadoc_engine::Result<(View, Origin)>| {
        matches!(opened, Err(Error::Pool(tadoc_engine::pool::Error::OtherArchive { .. })))
    };
    open(&pool, &[&first]).unwrap();
    assert!(is_refused(open(&pool, &[&second])));
    assert!(is_refused(open(&pool, &[&first, &second])));
    assert!(matches!(open(&pool, &[&first]).unwrap().1, Origin::Pool));

    // Several archives have a pool of their own, in their order.
    let both = folder.path().join("both.pool");
    let backends = in_pool(&both, Persist::Phase);
    let (view, _) = view_of(&backends, &[&first, &second], &Analyzer::new(), None).unwrap();
    let made = tadoc_engine::view::make(&[&first, &second], &Analyzer::new(), None, &()).unwrap();
    for task in TASKS {
        let found = ask(&backends, &view, task, &all);
        assert_eq!(found, on_processor(&made, task, &all), "{task:?}");
    }
    drop((backends, view));
    assert!(is_refused(open(&both, &[&second, &first])));

    // After an edit it is another archive.
    let mut transaction = Editor::open(&paths[0]).unwrap().begin().unwrap();
    let document = transaction.find(all[0].0.as_bytes()).unwrap();
    transaction.edit(&Edit::Append { document, text: b" another end" }).unwrap();
    transaction.commit(Durability::Sync).unwrap();
    assert!(is_refused(open(&pool, &[&Corpus::open(&paths[0]).unwrap()])));
}

#[test]
fn notes_say_where_work_goes_on() {
    let told = |finished: &[&str], operations: Option<(&str, u64, u64)>, made: &[&str]| {
        let view = Resumption {
            chain: "view".into(),
            finished: vec!["view".into()],
            ..Default::default()
        };
        let task = Resumption {
            chain: "sort".into(),
            finished: finished.iter().map(|name| name.to_string()).collect(),
            operations: operations.map(|(name, done, of)| (name.into(), done, of)),
            made: made.iter().map(|name| (name.to_string(), Default::default())).collect(),
            ..Default::default()
        };
        notes(&[view, task])
    };
    assert!(told(&[], None, &["weights"]).is_empty());
    assert_eq!(told(&["weights"], None, &["rows"]), ["resumed: sort behind phase `weights`"]);
    assert_eq!(told(&["weights", "rows"], None, &[]), ["the pool has sort already"]);
    let within = told(&["weights"], Some(("rows", 3, 8)), &["rows"]);
    assert_eq!(within, ["resumed: sort in phase `rows`, 3 of 8 operations done"]);
    let damaged = Resumption { discarded: vec!["the view".into()], ..Default::default() };
    assert_eq!(notes(&[damaged, Resumption::default()]), ["discarded: the view"]);
}
