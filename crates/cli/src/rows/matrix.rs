//! `--format mtx`: Matrix Market's coordinate format, which SciPy, R, Julia and MATLAB read.
//!
//! Rows are documents, columns terms, both counted from 1. The number of entries stands first, so an
//! answer is written as a whole; about 40 ns an entry.

use std::io::Write;

use anyhow::ensure;
use tadoc::{Column, ColumnKind, Entries, Value};

use super::lines::real;
use super::parallel::Buffers;
use crate::output::Output;

pub struct Matrix {
    output: Output,
    columns: &'static [Column],
    written: bool,
}

impl Matrix {
    pub fn new(output: Output, columns: &'static [Column]) -> Self {
        Self { output, columns, written: false }
    }

    pub fn write(&mut self, entries: &dyn Entries) -> anyhow::Result<()> {
        ensure!(!self.written, "a matrix is written at once");
        self.written = true;
        let kind = match self.columns.last().map(|column| column.kind) {
            Some(ColumnKind::Real) => "real",
            _ => "integer",
        };
        let (documents, terms) = entries.shape();
        write!(
            self.output,
            "%%MatrixMarket matrix coordinate {kind} general\n\
             % rows: the documents asked about, in the order of `tadoc list`; columns: the terms of `tadoc sort` with \
             the same --documents, --min-count and flags on terms\n\
             {documents} {terms} {}\n",
            entries.len()
        )?;
        Buffers::default().write(&mut self.output, entries.len(), &|range, to| {
            let mut number = itoa::Buffer::new();
            entries.visit_entries(range, &mut |document, term, value| {
                to.extend_from_slice(number.format(document + 1).as_bytes());
                to.push(b' ');
                to.extend_from_slice(number.format(term + 1).as_bytes());
                to.push(b' ');
                match value {
                    Value::Real(value) => real(value, to),
                    Value::Count(value) => to.extend_from_slice(number.format(value).as_bytes()),
                    Value::Text(_) | Value::Terms(_) | Value::Time(_) => {
                        unreachable!("entries are numbers")
                    }
                }
                to.push(b'\n');
            });
        })
    }

    pub fn finish(self) -> anyhow::Result<()> {
        ensure!(self.written, "no matrix was written");
        self.output.finish(anyhow::Ok(()))
    }
}
