//! What an answer looks like to whoever prints, stores or sends it: rows of named columns.
//!
//! An [`Answer`] is kept in the form that its task makes (counters, lists of documents), and gives itself part by
//! part, so that one of a billion rows need not be in memory as a whole. [`Rows`] shows a part as tidy rows, one
//! fact a row, without making a copy. Rows are visited by range, so that several threads can format one
//! part; a visit costs what the rows are made of and allocates nothing a row.
//!
//! [`columns`] has the columns of all answers; [`tables`] are answers that are plain arrays, for backends that make
//! them whole.

pub mod columns;
pub mod tables;
mod texts;

use std::ops::Range;

use crate::archive::Timestamp;

pub use self::texts::TermTexts;

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
pub trait Rows: Sync {
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
    pub terms: TermTexts<'a>,
    /// The names of all documents of the corpus, by their numbers.
    pub documents: &'a [&'a [u8]],
}

/// What a task gives.
pub trait Answer: Send + Sync {
    /// The columns of its rows.
    fn columns(&self) -> &'static [Column];

    /// Calls `each` with part after part of the rows, in order, until it gives an error. Parts that need
    /// work are made one after the other, on all threads.
    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> std::io::Result<()>,
    ) -> std::io::Result<()>;

    /// Calls `each` with the whole as a matrix of documents and terms; `None` if it is none.
    fn with_entries(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Entries) -> std::io::Result<()>,
    ) -> Option<std::io::Result<()>> {
        let _ = (labels, each);
        None
    }
}
