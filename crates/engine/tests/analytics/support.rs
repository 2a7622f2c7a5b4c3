//! What all of these tests share: questions, rows that can be compared, and the oracle's rows for them.

use std::path::Path;

use tadoc_core::Norm;
use tadoc_core::{Limits, Strategy, Task, View};
use tadoc_engine::analytics::{Measure, TfIdfOptions, answer};
use tadoc_engine::answer::{Answer, Labels, Names, Position, Rows, Value};
use tadoc_engine::{Analyzer, Answered, Corpus};
use tadoc_oracle::{Document, Oracle};

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Text(Vec<u8>),
    Count(u64),
    Real(f64),
}

pub type Row = Vec<Cell>;

pub fn text(bytes: impl Into<Vec<u8>>) -> Cell {
    Cell::Text(bytes.into())
}

fn cells(row: &[Value<'_>]) -> Row {
    let cells = row.iter().map(|value| match value {
        Value::Text(bytes) => text(*bytes),
        Value::Terms(terms) => text(terms.join(&b" "[..])),
        Value::Count(count) => Cell::Count(*count),
        Value::Real(number) => Cell::Real(*number),
        Value::Time(_) => panic!("no times here"),
    });
    cells.collect()
}

/// The rows of a range of a part.
pub fn rows_of_range(rows: &dyn Rows, range: std::ops::Range<u64>) -> Vec<Row> {
    let mut all = Vec::new();
    rows.visit(range, &mut |row| all.push(cells(row)));
    all
}

/// All rows of an answer.
pub fn rows(answer: &dyn Answer, view: &View, names: &[&[u8]]) -> Vec<Row> {
    let mut all = Vec::new();
    let names = Names::from_iter(names.iter());
    let labels = Labels { terms: view.terms().texts(), documents: names.texts() };
    let mut at = Position::default();
    while let Some(rows) = answer.next_part(&mut at, labels).unwrap() {
        assert_eq!(rows.columns(), answer.columns());
        let before = all.len();
        // In two ranges, so that a start in the middle is met too.
        let middle = rows.len() / 2;
        for range in [0..middle, middle..rows.len()] {
            all.extend(rows_of_range(&*rows, range));
        }
        assert_eq!((all.len() - before) as u64, rows.len());
    }
    assert!(answer.next_part(&mut at, labels).unwrap().is_none());
    all
}

/// Anything that can be asked of a view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Question {
    Task(Task),
    TfIdf(TfIdfOptions),
    Cooccurrence { window: usize, ordered: bool },
    Collocations { window: usize, measure: Measure },
}

impl Question {
    pub fn ask(&self, view: &View, limits: &Limits) -> tadoc_engine::Result<Answered> {
        answer(view, self.task(), limits)
    }

    pub fn task(&self) -> Task {
        match *self {
            Self::Task(task) => task,
            Self::TfIdf(options) => Task::TfIdf(options),
            Self::Cooccurrence { window, ordered } => Task::Cooccurrence { window, ordered },
            Self::Collocations { window, measure } => Task::Collocations { window, measure },
        }
    }
}

/// The strategies, the last one being the engine's own choice.
pub const STRATEGIES: [Option<Strategy>; 3] =
    [Some(Strategy::TopDown), Some(Strategy::BottomUp), None];

/// The tasks on terms, and those on sequences of every length.
pub fn all_tasks() -> Vec<Question> {
    let mut tasks = vec![Task::WordCount, Task::Sort, Task::InvertedIndex, Task::TermVector];
    for n in 1..=8 {
        tasks.push(Task::SequenceCount { n });
        tasks.push(Task::SequenceCountPerDocument { n });
        tasks.push(Task::RankedInvertedIndex { n });
    }
    tasks.into_iter().map(Question::Task).collect()
}

/// Each kind of question, once or twice.
pub fn some_questions() -> Vec<Question> {
    let tasks = [
        Task::WordCount,
        Task::Sort,
        Task::InvertedIndex,
        Task::TermVector,
        Task::SequenceCount { n: 1 },
        Task::SequenceCount { n: 3 },
        Task::SequenceCountPerDocument { n: 2 },
        Task::RankedInvertedIndex { n: 1 },
        Task::RankedInvertedIndex { n: 3 },
    ];
    let mut questions: Vec<Question> = tasks.into_iter().map(Question::Task).collect();
    questions.extend([
        Question::TfIdf(TfIdfOptions::default()),
        Question::TfIdf(TfIdfOptions { norm: Norm::L1, smooth_idf: false, ..Default::default() }),
        Question::Cooccurrence { window: 2, ordered: true },
        Question::Cooccurrence { window: 5, ordered: false },
        Question::Collocations { window: 1, measure: Measure::LogLikelihood },
        Question::Collocations { window: 3, measure: Measure::Pmi },
    ]);
    questions
}

/// The rows that the oracle has for a question, of which at most `top` are wanted.
pub fn expected(
    oracle: &Oracle,
    documents: &[Document],
    question: &Question,
    limit: Option<usize>,
) -> Vec<Row> {
    let top = limit.unwrap_or(usize::MAX);
    let name = |number: usize| text(documents[number].0.as_bytes());
    let joined = |sequence: &tadoc_oracle::Sequence| text(sequence.join(&b" "[..]));
    let mut rows: Vec<Row> = Vec::new();
    let task = match *question {
        Question::TfIdf(options) | Question::Task(Task::TfIdf(options)) => {
            return expected_weights(oracle, documents, options, limit);
        }
        Question::Cooccurrence { window, ordered }
        | Question::Task(Task::Cooccurrence { window, ordered }) => {
            let pairs = match ordered {
                true => oracle.ordered_cooccurrence(window),
                false => oracle.cooccurrence(window),
            };
            let pairs = pairs.into_iter().take(top);
            let row =
                |((first, second), count)| vec![text(first), text(second), Cell::Count(count)];
            return pairs.map(row).collect();
        }
        Question::Collocations { window, measure }
        | Question::Task(Task::Collocations { window, measure }) => {
            return expected_scores(oracle, window, measure, top);
        }
        Question::Task(task) => task,
    };
    match task {
        Task::WordCount | Task::Sort => {
            let counts = if task == Task::Sort { oracle.sort() } else { oracle.word_count() };
            for (term, count) in counts.into_iter().take(top) {
                rows.push(vec![text(term), Cell::Count(count)]);
            }
        }
        Task::InvertedIndex => {
            for (term, documents) in oracle.inverted_index() {
                for number in documents.into_iter().take(top) {
                    rows.push(vec![text(term.clone()), name(number)]);
                }
            }
        }
        Task::TermVector => {
            for (number, terms) in oracle.term_vector(Some(top)).into_iter().enumerate() {
                for (term, count) in terms {
                    rows.push(vec![name(number), text(term), Cell::Count(count)]);
                }
            }
        }
        Task::SequenceCount { n } => {
            for (sequence, count) in oracle.sequence_count(n).into_iter().take(top) {
                rows.push(vec![joined(&sequence), Cell::Count(count)]);
            }
        }
        Task::SequenceCountPerDocument { n } => {
            let vectors = oracle.sequence_count_per_document(n).into_iter().enumerate();
            for (number, sequences) in vectors {
                for (sequence, count) in sequences.into_iter().take(top) {
                    rows.push(vec![joined(&sequence), name(number), Cell::Count(count)]);
                }
            }
        }
        Task::TfIdf(_) | Task::Cooccurrence { .. } | Task::Collocations { .. } => {
            unreachable!("they are above")
        }
        Task::RankedInvertedIndex { n } => {
            for (sequence, documents) in oracle.ranked_inverted_index(n) {
                for (number, count) in documents.into_iter().take(top) {
                    rows.push(vec![joined(&sequence), name(number), Cell::Count(count)]);
                }
            }
        }
    }
    rows
}

fn expected_weights(
    oracle: &Oracle,
    documents: &[Document],
    options: TfIdfOptions,
    top: Option<usize>,
) -> Vec<Row> {
    let norm = match options.norm {
        Norm::None => tadoc_oracle::Norm::None,
        Norm::L1 => tadoc_oracle::Norm::L1,
        Norm::L2 => tadoc_oracle::Norm::L2,
    };
    let TfIdfOptions { use_idf, smooth_idf, sublinear_tf, .. } = options;
    let options = tadoc_oracle::TfidfOptions { norm, use_idf, smooth_idf, sublinear_tf };
    let mut rows = Vec::new();
    for (number, mut terms) in oracle.tfidf(options).into_iter().enumerate() {
        if let Some(top) = top {
            // Stable, so that terms of one weight stay in their order.
            terms.sort_by(|one, other| other.1.total_cmp(&one.1));
            terms.truncate(top);
        }
        for (term, weight) in terms {
            let name = text(documents[number].0.as_bytes());
            rows.push(vec![name, text(term), Cell::Real(weight)]);
        }
    }
    rows
}

fn expected_scores(oracle: &Oracle, window: usize, measure: Measure, top: usize) -> Vec<Row> {
    let mut rows = oracle.collocations(window + 1);
    let score = |row: &tadoc_oracle::Collocation| match measure {
        Measure::Pmi => row.pmi,
        Measure::LogLikelihood => row.log_likelihood,
        Measure::TScore => row.t_score,
        Measure::LogDice => row.log_dice,
    };
    rows.sort_by(|one, other| {
        let pairs = || (&one.first, &one.second).cmp(&(&other.first, &other.second));
        score(other).total_cmp(&score(one)).then_with(pairs)
    });
    rows.truncate(top);
    let row = |row: tadoc_oracle::Collocation| {
        let scores = [row.pmi, row.log_likelihood, row.t_score, row.log_dice];
        let mut cells = vec![text(row.first), text(row.second), Cell::Count(row.count)];
        cells.extend(scores.map(Cell::Real));
        cells
    };
    rows.into_iter().map(row).collect()
}

/// Whether cells are equal, real ones but for rounding.
fn alike(one: &Cell, other: &Cell) -> bool {
    match (one, other) {
        (Cell::Real(one), Cell::Real(other)) => {
            (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
        }
        _ => one == other,
    }
}

fn row_alike((one, other): (&Row, &Row)) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
}

fn rows_alike(one: &[Row], other: &[Row]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(row_alike)
}

/// Fails if rows are not those expected. Where they are in the order of a score, and two scores differ by
/// rounding alone, either order is right: then the rows must be the same ones, in the order of their own scores.
pub fn assert_rows(
    found: &[Row],
    expected: &[Row],
    question: &Question,
    what: &dyn Fn() -> String,
) {
    if rows_alike(found, expected) {
        return;
    }
    if let Task::Collocations { measure, .. } = question.task()
        && found.len() == expected.len()
    {
        let by_pair = |rows: &[Row]| {
            let mut rows = rows.to_vec();
            rows.sort_by_key(pair);
            rows
        };
        if rows_alike(&by_pair(found), &by_pair(expected)) {
            assert_order_of_scores(found, measure);
            return;
        }
    }
    let place = found.iter().zip(expected).position(|rows| !row_alike(rows));
    let place = place.unwrap_or(found.len().min(expected.len()));
    let near = |rows: &[Row]| {
        let shown: Vec<String> =
            rows.iter().skip(place.saturating_sub(1)).take(4).map(show).collect();
        shown.join("\n    ")
    };
    panic!(
        "{question:?}, {}: {} rows, {} expected; the first other one is {place}\n  found:\n    {}\n  expected:\n    {}",
        what(),
        found.len(),
        expected.len(),
        near(found),
        near(expected),
    );
}

fn show(row: &Row) -> String {
    let cells = row.iter().map(|cell| match cell {
        Cell::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Cell::Count(count) => count.to_string(),
        Cell::Real(number) => number.to_string(),
    });
    cells.collect::<Vec<_>>().join(" | ")
}

fn pair(row: &Row) -> (Vec<u8>, Vec<u8>) {
    match &row[..2] {
        [Cell::Text(first), Cell::Text(second)] => (first.clone(), second.clone()),
        other => panic!("{other:?} is no pair"),
    }
}

/// Fails if collocations are not by score descending, then pair ascending.
pub fn assert_order_of_scores(rows: &[Row], measure: Measure) {
    let column = match measure {
        Measure::Pmi => 3,
        Measure::LogLikelihood => 4,
        Measure::TScore => 5,
        Measure::LogDice => 6,
    };
    let score = |row: &Row| match row[column] {
        Cell::Real(score) => score,
        ref other => panic!("{other:?} is no score"),
    };
    for rows in rows.windows(2) {
        let order = score(&rows[1]).total_cmp(&score(&rows[0]));
        let order = order.then_with(|| pair(&rows[0]).cmp(&pair(&rows[1])));
        assert!(order.is_lt(), "{measure:?}\n{}\n{}", show(&rows[0]), show(&rows[1]));
    }
}

/// The view of one archive, with every word its own term.
pub fn plain_view(path: &Path) -> View {
    let corpus = Corpus::open(path).unwrap();
    tadoc_engine::view::make(&[&corpus], &Analyzer::new(), None, &()).unwrap()
}

pub fn names(documents: &[Document]) -> Vec<&[u8]> {
    documents.iter().map(|(name, _)| name.as_bytes()).collect()
}

/// A question with the rows that it must have.
pub type Expected = (Question, Vec<Row>);

pub fn expected_of(
    oracle: &Oracle,
    documents: &[Document],
    questions: &[Question],
    top: Option<usize>,
) -> Vec<Expected> {
    let rows = |question: &Question| (*question, expected(oracle, documents, question, top));
    questions.iter().map(rows).collect()
}

/// Asks all questions, with these limits and all strategies, and compares the rows.
pub fn check(
    view: &View,
    documents: &[Document],
    questions: &[Expected],
    limits: Limits,
    what: &dyn Fn() -> String,
) {
    let names = names(documents);
    for (question, expected) in questions {
        for strategy in STRATEGIES {
            let answered = question.ask(view, &Limits { strategy, ..limits }).unwrap();
            let found = rows(&*answered.answer, view, &names);
            let threads = rayon::current_num_threads();
            let what = || format!("{}, {strategy:?}, {limits:?}, {threads} threads", what());
            assert_rows(&found, expected, question, &what);
        }
    }
}
