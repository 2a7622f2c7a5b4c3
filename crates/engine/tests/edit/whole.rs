//! Everything that can be asked of an archive, against the model.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use tadoc_engine::access::{Access, Index};
use tadoc_engine::grep::{self, Binary, Line, Options, Pattern, Sink, Summary, Syntax, Want};
use tadoc_engine::{Analyzer, Corpus, Limits, Task, view};
use tadoc_oracle::Oracle;
use tadoc_testing::archives::oracle_lexer;

use super::access_support::Questions;
use super::analytics_support::{self as analytics, Question};
use super::model::Model;

/// The six tasks.
const TASKS: [Task; 6] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCount { n: 3 },
    Task::RankedInvertedIndex { n: 2 },
];

/// Opens an archive and asks it everything.
pub fn check_file(path: &Path, model: &Model, what: &str) {
    check(&Corpus::open(path).unwrap(), model, what);
}

/// Asks a corpus everything.
pub fn check(corpus: &Corpus, model: &Model, what: &str) {
    check_texts(corpus, model, what);
    let documents = model.list();
    let access = Access::open(corpus, Index::None).unwrap();
    let questions = Questions::new(model.lexer, &documents, &Analyzer::new(), 7, 4);
    questions.check(&access, what);
    #[cfg(feature = "pool")]
    {
        let folder = tempfile::tempdir().unwrap();
        let pool = folder.path().join("pool");
        let (access, _) = Access::in_pool(
            corpus,
            &pool,
            tadoc_engine::pool::Persist::None,
            tadoc_engine::pool::Patience::default(),
        )
        .unwrap();
        questions.check(&access, &format!("{what}, in a pool"));
    }
    let oracle = Oracle::new(oracle_lexer(model.lexer), &documents);
    let questions: Vec<Question> = TASKS.map(Question::Task).to_vec();
    let expected = analytics::expected_of(&oracle, &documents, &questions, None);
    let view = view::make(&[corpus], &Analyzer::new(), None, &()).unwrap();
    analytics::check(&view, &documents, &expected, Limits::default(), &|| what.to_owned());
    for pattern in ["a", "be", "be or", "本", "--"] {
        check_lines(corpus, model, pattern, what);
    }
}

/// Names, lengths, bytes and digests.
pub fn check_texts(corpus: &Corpus, model: &Model, what: &str) {
    let documents = corpus.documents().unwrap();
    let found: Vec<(&[u8], u64)> =
        documents.iter().map(|document| (&document.name[..], document.bytes)).collect();
    let expected: Vec<(&[u8], u64)> =
        model.documents.iter().map(|(name, text)| (name.as_bytes(), text.len() as u64)).collect();
    assert_eq!(found, expected, "{what}");
    for (place, (name, text)) in model.documents.iter().enumerate() {
        let mut restored = Vec::new();
        corpus.write_documents(&[place], &mut restored, &()).unwrap();
        assert!(restored == *text, "{what}: {name} is\n{restored:?}\n{text:?}");
    }
    let report = corpus.verify(&()).unwrap();
    assert_eq!(report.documents, documents.len() as u64, "{what}");
    let bytes: u64 = documents.iter().map(|document| document.bytes).sum();
    assert_eq!((corpus.info().documents, corpus.info().text_bytes), (report.documents, bytes));
}

/// Keeps how many lines there are.
#[derive(Default)]
struct Counts(Vec<(usize, u64)>);

impl Sink for Counts {
    fn line(&mut self, _: usize, _: &Line<'_>) -> io::Result<()> {
        unreachable!("only counts are wanted")
    }

    fn gap(&mut self) -> io::Result<()> {
        unreachable!("only counts are wanted")
    }

    fn end(&mut self, document: usize, summary: &Summary) -> io::Result<ControlFlow<()>> {
        if summary.lines > 0 {
            self.0.push((document, summary.lines));
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Lines that have some characters.
fn check_lines(corpus: &Corpus, model: &Model, pattern: &str, what: &str) {
    let all: Vec<usize> = (0..model.documents.len()).collect();
    let compiled = Pattern::new(&[pattern], Syntax { fixed: true, ..Default::default() }).unwrap();
    let options = Options { want: Want::Count, binary: Binary::Text, ..Default::default() };
    let mut found = Counts::default();
    grep::search(corpus, &all, &compiled, &options, &mut found).unwrap();
    let has = |line: &&[u8]| line.windows(pattern.len()).any(|part| part == pattern.as_bytes());
    let expected: Vec<(usize, u64)> = model
        .documents
        .values()
        .map(|text| text.split(|&byte| byte == b'\n').filter(has).count() as u64)
        .enumerate()
        .filter(|&(_, lines)| lines > 0)
        .collect();
    assert_eq!(found.0, expected, "{what}: lines with {pattern:?}");
}
