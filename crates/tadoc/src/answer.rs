//! Answers: owned, and pulled row by row or part by part.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tadoc_core::View;
use tadoc_core::answer::{Answer as Rowed, Labels, Names};
use tadoc_engine::backend::{Choice, PoolReport, Run};
use tadoc_engine::view::Origin;

use crate::text::escape;
use crate::{Column, Corpus, Entries, Position, Result, Rows, Step, Strategy, Timestamp, Value};

/// The answer to a task. It holds what its rows are made of, so that it can be kept, shared and
/// sent to other threads; a clone is another handle to it.
///
/// [`Answer::rows`] gives rows one by one. [`Answer::next_part`] gives thousands to millions at a
/// time without copying them, for whoever writes or converts them.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{Position, Value};
///
/// let answer = tadoc::Corpus::open(&path)?.query().sort().run()?;
/// let (mut at, mut counts) = (Position::default(), Vec::new());
/// while let Some(part) = answer.next_part(&mut at)? {
///     part.visit(0..part.len(), &mut |row| {
///         let [Value::Text(term), Value::Count(count)] = row else { unreachable!() };
///         counts.push((term.to_vec(), *count));
///     });
/// }
/// assert_eq!(counts[0], (b"be".to_vec(), 2));
/// assert_eq!(answer.explanation().words, 6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Answer {
    answer: Arc<dyn Rowed>,
    view: View,
    names: Arc<Names>,
    explanation: Arc<Explanation>,
}

/// How an answer was come by, and what of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Explanation {
    /// Where the task ran; not [`Choice::Auto`].
    pub backend: Choice,
    /// The device or the pool that it ran in; `None` for the processor and its memory.
    pub device: Option<String>,
    /// Why it ran there; empty if that was asked for.
    pub backend_reason: String,
    /// The direction in which the grammar was gone through.
    pub strategy: Strategy,
    /// Why; empty if that was asked for.
    pub strategy_reason: String,
    /// Where the grammar over terms came from.
    pub origin: Origin,
    /// Bytes that this grammar takes.
    pub memory: u64,
    /// Documents that were asked.
    pub documents: u64,
    /// Words in them.
    pub words: u64,
    /// Terms that these are.
    pub terms: u64,
    /// Rules of the grammar.
    pub rules: u64,
    /// Symbols of the grammar.
    pub symbols: u64,
    /// What was done in the pool, if the task ran in one.
    pub pool: Option<PoolReport>,
    /// What the steps of making the grammar took, and those of the task so far. Steps may have been
    /// side by side.
    pub steps: [Vec<Step>; 2],
    /// The time until the grammar was there.
    pub reading: Duration,
    /// The time of the task.
    pub task: Duration,
}

impl Answer {
    pub(crate) fn new(
        run: Run,
        view: View,
        names: Names,
        origin: Origin,
        (documents, steps): (u64, Vec<Step>),
        [reading, task]: [Duration; 2],
    ) -> Self {
        let Run { answered, backend, device, reason, pool } = run;
        let network = view.network();
        let explanation = Explanation {
            backend,
            device,
            backend_reason: reason,
            strategy: answered.strategy,
            strategy_reason: answered.reason,
            origin,
            memory: view.memory(),
            documents,
            words: network.length(),
            terms: view.terms().len().into(),
            rules: network.grammar().rule_count().into(),
            symbols: network.grammar().symbols().len() as u64,
            pool,
            steps: [steps, answered.steps],
            reading,
            task,
        };
        let (answer, explanation) = (answered.answer.into(), explanation.into());
        Self { answer, view, names: names.into(), explanation }
    }

    /// The columns of its rows.
    pub fn columns(&self) -> &'static [Column] {
        self.answer.columns()
    }

    /// Its rows, in order. Each is a copy; [`Answer::next_part`] makes none.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row>> + Send + use<> {
        let (answer, mut at, mut waiting) = (self.clone(), Position::default(), VecDeque::new());
        let mut has_ended = false;
        std::iter::from_fn(move || {
            while waiting.is_empty() && !has_ended {
                match answer.next_part(&mut at) {
                    Ok(Some(part)) => {
                        let columns = part.columns();
                        part.visit(0..part.len(), &mut |row| {
                            let cells = row.iter().map(Cell::of).collect();
                            waiting.push_back(Row { columns, cells });
                        });
                    }
                    Ok(None) => has_ended = true,
                    Err(error) => {
                        has_ended = true;
                        return Some(Err(error));
                    }
                }
            }
            waiting.pop_front().map(Ok)
        })
    }

    /// The part of the rows at a position, which moves behind it; `None` behind the last one. A
    /// part may be empty. One that needs work is made when it is pulled, on all threads.
    ///
    /// # Errors
    /// If a part cannot be made, as where temporary files cannot be read.
    pub fn next_part(&self, at: &mut Position) -> Result<Option<Box<dyn Rows + '_>>> {
        Ok(self.answer.next_part(at, self.labels())?)
    }

    /// The whole as a sparse matrix of documents and terms; `None` if its rows are none.
    ///
    /// # Errors
    /// As [`Answer::next_part`].
    pub fn matrix(&self) -> Option<Result<Box<dyn Entries + '_>>> {
        Some(self.answer.entries(self.labels())?.map_err(Into::into))
    }

    /// The same answer, whose rows show other names for documents: those at their places in the
    /// corpus.
    ///
    /// # Panics
    /// When rows are shown of a document that has none.
    #[must_use]
    pub fn with_names(self, names: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let names: Names = names.into_iter().collect();
        Self { names: names.into(), ..self }
    }

    /// How it was come by.
    pub fn explanation(&self) -> &Explanation {
        &self.explanation
    }

    fn labels(&self) -> Labels<'_> {
        Labels { terms: self.view.terms().texts(), documents: self.names.texts() }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let explanation = &self.explanation;
        formatter.debug_struct("Answer").field("explanation", explanation).finish_non_exhaustive()
    }
}

/// The names of all documents of a corpus.
pub(crate) fn names(corpus: &Corpus) -> Result<Names> {
    let mut names = Names::default();
    for part in corpus.parts() {
        let documents = part.named(part.archive.documents())?;
        names.extend(documents.iter().map(|document| &document.name));
    }
    Ok(names)
}

/// A row of an answer, as a copy.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{Row, Value};
///
/// let answer = tadoc::Corpus::open(&path)?.query().term_vector().top(1).run()?;
/// let row: Row = answer.rows().next().expect("there are words")?;
/// assert_eq!((row.text("term"), row.count("count")), (Some(&b"be"[..]), Some(2)));
/// assert_eq!(row.values().next(), Some(Value::Text(b"hamlet.txt")));
/// assert_eq!(row.to_string(), "hamlet.txt\tbe\t2");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    columns: &'static [Column],
    cells: Vec<Cell>,
}

/// A value that owns its text.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Text(Vec<u8>),
    Count(u64),
    Real(f64),
    Time(Option<Timestamp>),
}

impl Row {
    /// Its columns.
    pub fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Its values, in the order of the columns; terms are joined by one space.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value<'_>> {
        self.cells.iter().map(Cell::value)
    }

    /// The value in a column.
    pub fn get(&self, column: &str) -> Option<Value<'_>> {
        let place = self.columns.iter().position(|own| own.name == column)?;
        Some(self.cells[place].value())
    }

    /// The text in a column; `None` if there is no such column or it has numbers.
    pub fn text(&self, column: &str) -> Option<&[u8]> {
        match self.get(column)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The count in a column; `None` if there is no such column or it has others.
    pub fn count(&self, column: &str) -> Option<u64> {
        match self.get(column)? {
            Value::Count(count) => Some(count),
            _ => None,
        }
    }
}

impl fmt::Display for Row {
    /// The values as a line of tab-separated ones, without the newline.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, cell) in self.cells.iter().enumerate() {
            let tab = if place > 0 { "\t" } else { "" };
            match cell {
                Cell::Text(text) => write!(formatter, "{tab}{}", escape(text))?,
                Cell::Count(count) => write!(formatter, "{tab}{count}")?,
                Cell::Real(real) => write!(formatter, "{tab}{real}")?,
                Cell::Time(Some(time)) => write!(formatter, "{tab}{time}")?,
                Cell::Time(None) => formatter.write_str(tab)?,
            }
        }
        Ok(())
    }
}

impl Cell {
    fn of(value: &Value<'_>) -> Self {
        match *value {
            Value::Text(text) => Self::Text(text.to_vec()),
            Value::Terms(terms) => Self::Text(terms.join(&b' ')),
            Value::Count(count) => Self::Count(count),
            Value::Real(real) => Self::Real(real),
            Value::Time(time) => Self::Time(time),
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(text),
            Self::Count(count) => Value::Count(*count),
            Self::Real(real) => Value::Real(*real),
            Self::Time(time) => Value::Time(*time),
        }
    }
}
