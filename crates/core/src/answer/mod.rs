//! What an answer looks like to whoever prints, stores or sends it: rows of named columns.
//!
//! An [`Answer`] owns what it needs and is kept in the form that its task makes (counters, lists of documents). Its rows are
//! pulled part by part, so that one of a billion rows need not be in memory as a whole. [`Rows`] shows a part as tidy rows, one
//! fact a row, without making a copy. Rows are visited by range, so that several threads can format one
//! part; a visit costs what the rows are made of and allocates nothing a row.
//!
//! [`columns`] has the columns of all answers; [`tables`] are answers that are plain arrays, for backends that make
//! them whole.

pub mod columns;
pub mod tables;
mod texts;

use std::ops::Range;

use crate::Result;
use crate::archive::Timestamp;
use crate::usize_of;

pub use self::texts::{Names, Texts};

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// Bytes, most often UTF-8: a term, a name, several terms.
    Text,
    /// A whole number of 64 bits.
    Count,
    /// A number.
    Real,
    /// A moment, or that it is not known.
    Time,
}

/// A column of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Column {
    /// Its name, as scripts see it.
    pub name: &'static str,
    /// What its values are.
    pub kind: ColumnKind,
}

impl Column {
    /// A column of bytes.
    pub const fn text(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Text }
    }

    /// A column of whole numbers.
    pub const fn count(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Count }
    }

    /// A column of numbers.
    pub const fn real(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Real }
    }

    /// A column of moments.
    pub const fn time(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Time }
    }
}

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A term or a name; in a column of text.
    Text(&'a [u8]),
    /// Terms that are written with one space between them; in a column of text.
    Terms(&'a [&'a [u8]]),
    /// A whole number.
    Count(u64),
    /// A number.
    Real(f64),
    /// A moment; `None` where it is not known.
    Time(Option<Timestamp>),
}

/// An answer, or a part of one, as rows.
pub trait Rows: Send + Sync {
    /// The columns; every row has a value for each, in this order.
    fn columns(&self) -> &'static [Column];

    /// How many rows there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` with the values of every row of the range, in order.
    ///
    /// # Panics
    /// If the range is not within the rows.
    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>]));
}

/// Rows that are the entries of a matrix of documents and terms, for formats that number both.
pub trait Entries: Rows {
    /// Documents and terms: how many rows and columns the matrix has.
    fn shape(&self) -> (u64, u64);

    /// Calls `each` with document, term (both from 0) and value of every entry of the range, in the order
    /// of [`Rows::visit`]; the value is a [`Value::Count`] or [`Value::Real`].
    ///
    /// # Panics
    /// If the range is not within the rows.
    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>));
}

/// What the numbers in an answer stand for.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    /// The terms of the view that was asked.
    pub terms: Texts<'a>,
    /// The names of all documents of the corpus, by their numbers.
    pub documents: Texts<'a>,
}

/// Where an answer goes on: behind the parts that were pulled. The default is the beginning. A position is good for the answer
/// that it came from, on any thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Position {
    state: [u64; 4],
}

impl Position {
    /// A position that an answer describes by these numbers; zeros are the beginning.
    pub fn new(state: [u64; 4]) -> Self {
        Self { state }
    }

    /// The numbers, whose meaning is the answer's own.
    pub fn state(self) -> [u64; 4] {
        self.state
    }
}

/// What a task gives. It holds all that its rows are made of, and can be kept and shared.
pub trait Answer: Send + Sync {
    /// The columns of its rows.
    fn columns(&self) -> &'static [Column];

    /// The part of the rows at a position, which moves behind it; `None` behind the last one. Parts are in order, and one may be
    /// empty. A part that needs work is made when it is pulled, on all threads.
    ///
    /// # Errors
    /// If a part cannot be made, as where temporary files cannot be read.
    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>>;

    /// The whole as a matrix of documents and terms; `None` if it is none.
    ///
    /// # Errors
    /// As [`Answer::next_part`].
    fn entries<'a>(&'a self, labels: Labels<'a>) -> Option<Result<Box<dyn Entries + 'a>>> {
        let _ = labels;
        None
    }
}

/// Calls `each` with a place and those of its rows that are in a range, for every place that has
/// some; `ends` says where the rows of each end.
///
/// # Panics
/// If the range ends behind the last place.
pub fn for_each_run(ends: &[u64], rows: Range<u64>, mut each: impl FnMut(usize, Range<usize>)) {
    let mut place = ends.partition_point(|&end| end <= rows.start);
    let mut at = rows.start;
    while at < rows.end {
        let end = ends[place].min(rows.end);
        if at < end {
            each(place, usize_of(at)..usize_of(end));
        }
        at = end;
        place += 1;
    }
}

/// The column of every term in a matrix, where those that occur have one, in their order; and how
/// many columns there are. `occurring` may repeat terms.
pub fn matrix_columns(terms: u32, occurring: impl Iterator<Item = u32>) -> (Vec<u32>, u64) {
    let mut columns = vec![0_u32; terms as usize];
    occurring.for_each(|term| columns[term as usize] = 1);
    let mut count = 0;
    for column in &mut columns {
        count += std::mem::replace(column, count);
    }
    (columns, count.into())
}
