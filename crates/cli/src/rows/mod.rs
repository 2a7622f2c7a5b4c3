//! Answers in every format: rows of named columns, to standard output or to a file.
//!
//! [`RowWriter`] takes an answer in any number of batches and keeps nothing of them, so an answer may be
//! longer than memory. A batch is formatted on all threads of the rayon pool that it is written in, and written in
//! order. What each format does with awkward text and numbers stands with it:
//!
//! | format | text that is not UTF-8 | other text | reals |
//! | --- | --- | --- | --- |
//! | [tsv](lines::Tsv) | `\xHH` | `\\ \t \n \r` escaped | shortest that reads back; `NaN`, `inf`, `-inf` |
//! | [csv](lines::Csv) | `\xHH` ([`as_utf8`](tadoc::text::as_utf8)) | as it is, quoted where it must be | as tsv |
//! | [jsonl](lines::JsonLines), [json](lines::JsonArray) | base64, in a key `…_base64` | JSON's escapes | as tsv; not finite: `null` |
//! | [arrow, arrows, parquet](columns) | `\xHH` ([`as_utf8`](tadoc::text::as_utf8)) | as it is | 64 bits |
//! | [table](table) | `\xHH` | as tsv, and nothing that steers a terminal | rounded |
//! | [mtx](matrix) | | | as tsv |
//!
//! Moments are RFC 3339 in UTC, or timestamps in formats that have them. What the names of files
//! say about formats, and about compression around them, stands in [`arguments`].

mod arguments;
#[cfg(feature = "columns")]
mod columns;
mod lines;
mod matrix;
mod parallel;
mod scan;
mod table;

#[cfg(test)]
mod tests;

pub use arguments::{Format, FormatArguments};

use anyhow::bail;
use tadoc::{Column, Entries, Rows};

use crate::output::Output;

/// An answer on its way out. Dropped before [`RowWriter::finish`], it leaves no file behind.
pub struct RowWriter {
    columns: &'static [Column],
    writer: Writer,
}

enum Writer {
    Table(table::Table),
    Tsv(lines::Lines<lines::Tsv>),
    Csv(lines::Lines<lines::Csv>),
    Json(lines::Lines<lines::JsonArray>),
    Jsonl(lines::Lines<lines::JsonLines>),
    #[cfg(feature = "columns")]
    Arrow(columns::Columns<columns::Arrow>),
    #[cfg(feature = "columns")]
    Parquet(columns::Columns<columns::Parquet>),
    Matrix(matrix::Matrix),
}

impl RowWriter {
    /// Starts an answer that is no matrix. What cannot be written is refused here, before any work is done.
    pub fn open(arguments: &FormatArguments, columns: &'static [Column]) -> anyhow::Result<Self> {
        if arguments.format() == Format::Mtx {
            bail!(
                "this answer is no matrix of documents and terms, so there is no --format mtx for it"
            );
        }
        Self::open_matrix(arguments, columns)
    }

    /// Starts an answer that is a matrix of documents and terms if the format asks for one; then it is
    /// written with [`RowWriter::write_entries`].
    pub fn open_matrix(
        arguments: &FormatArguments,
        columns: &'static [Column],
    ) -> anyhow::Result<Self> {
        let format = arguments.format();
        if format.is_binary() && cfg!(not(feature = "columns")) {
            bail!(
                "this build of tadoc has no arrow and no parquet; build it with the feature `columns` \
                 (cargo install tadoc-cli has it), or try --format csv"
            );
        }
        let output = arguments.open()?;
        if format.is_binary() && output.is_terminal() {
            bail!("a terminal cannot show this format; give -o FILE, or another --format");
        }
        Ok(Self { columns, writer: Writer::new(arguments, output, columns)? })
    }

    /// Shows all rows on a terminal too, as whoever has said how many there are to be expects it.
    pub fn show_all(&mut self) {
        if let Writer::Table(table) = &mut self.writer {
            table.show_all();
        }
    }

    /// Writes a batch of rows.
    pub fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        debug_assert_eq!(rows.columns(), self.columns);
        match &mut self.writer {
            Writer::Table(writer) => writer.write(rows),
            Writer::Tsv(writer) => writer.write(rows),
            Writer::Csv(writer) => writer.write(rows),
            Writer::Json(writer) => writer.write(rows),
            Writer::Jsonl(writer) => writer.write(rows),
            #[cfg(feature = "columns")]
            Writer::Arrow(writer) => writer.write(rows),
            #[cfg(feature = "columns")]
            Writer::Parquet(writer) => writer.write(rows),
            Writer::Matrix(_) => bail!("a matrix is written as entries, not as rows"),
        }
    }

    /// Writes a whole answer that is a matrix: its entries to a matrix, else its rows.
    pub fn write_entries(&mut self, entries: &dyn Entries) -> anyhow::Result<()> {
        match &mut self.writer {
            Writer::Matrix(writer) => writer.write(entries),
            _ => self.write(entries),
        }
    }

    /// Ends the answer; a file gets its name.
    pub fn finish(self) -> anyhow::Result<()> {
        match self.writer {
            Writer::Table(writer) => writer.finish(),
            Writer::Tsv(writer) => writer.finish(),
            Writer::Csv(writer) => writer.finish(),
            Writer::Json(writer) => writer.finish(),
            Writer::Jsonl(writer) => writer.finish(),
            #[cfg(feature = "columns")]
            Writer::Arrow(writer) => writer.finish(),
            #[cfg(feature = "columns")]
            Writer::Parquet(writer) => writer.finish(),
            Writer::Matrix(writer) => writer.finish(),
        }
    }
}

impl Writer {
    fn new(
        arguments: &FormatArguments,
        output: Output,
        columns: &'static [Column],
    ) -> anyhow::Result<Self> {
        use lines::{Csv, JsonArray, JsonLines, Lines, Tsv};
        Ok(match arguments.format() {
            Format::Table => {
                let limit = arguments.limit(&output);
                Self::Table(table::Table::new(output, columns, limit))
            }
            Format::Tsv => Self::Tsv(Lines::new(output, Tsv(arguments.header.then_some(columns)))?),
            Format::Csv => Self::Csv(Lines::new(output, Csv(columns))?),
            Format::Json => Self::Json(Lines::new(output, JsonArray(JsonLines::new(columns)))?),
            Format::Jsonl => Self::Jsonl(Lines::new(output, JsonLines::new(columns))?),
            #[cfg(feature = "columns")]
            Format::Arrow => {
                Self::Arrow(columns::Columns::new(columns::Arrow::file(output, columns)?, columns))
            }
            #[cfg(feature = "columns")]
            Format::Arrows => Self::Arrow(columns::Columns::new(
                columns::Arrow::stream(output, columns)?,
                columns,
            )),
            #[cfg(feature = "columns")]
            Format::Parquet => Self::Parquet(columns::Columns::new(
                columns::Parquet::new(output, columns)?,
                columns,
            )),
            #[cfg(not(feature = "columns"))]
            Format::Arrow | Format::Arrows | Format::Parquet => unreachable!("refused before"),
            Format::Mtx => Self::Matrix(matrix::Matrix::new(output, columns)),
        })
    }
}
