//! Rows on their way to columns: about 30 ns for a row of a term and a number, and the bytes of its values in
//! memory.

use anyhow::Context;
use tadoc::Timestamp;
use tadoc::{Column, ColumnKind, Value};

use crate::rows::scan::is_plain;
use crate::rows::utf8::as_utf8;

/// The values of a column.
pub enum Values {
    /// Where each text ends in the bytes, behind a 0.
    Text {
        bytes: Vec<u8>,
        offsets: Vec<i32>,
    },
    Count(Vec<u64>),
    Real(Vec<f64>),
    /// Nanoseconds since 1970.
    Time(Vec<Option<i64>>),
}

/// Rows by column.
pub struct Batch {
    pub columns: Vec<Values>,
    pub rows: usize,
    /// Bytes of the longest text column.
    pub longest: usize,
}

impl Batch {
    /// An empty one with room for `rows`.
    pub fn new(columns: &[Column], rows: usize) -> Self {
        let values = |column: &Column| match column.kind {
            ColumnKind::Count => Values::Count(Vec::with_capacity(rows)),
            ColumnKind::Real => Values::Real(Vec::with_capacity(rows)),
            ColumnKind::Time => Values::Time(Vec::with_capacity(rows)),
            ColumnKind::Text => {
                let mut offsets = Vec::with_capacity(rows + 1);
                offsets.push(0);
                Values::Text { bytes: Vec::with_capacity(rows * 8), offsets }
            }
        };
        Self { columns: columns.iter().map(values).collect(), rows: 0, longest: 0 }
    }

    pub fn push(&mut self, values: &[Value<'_>]) -> anyhow::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            match (column, value) {
                (Values::Count(column), Value::Count(value)) => column.push(*value),
                (Values::Real(column), Value::Real(value)) => column.push(*value),
                (Values::Time(column), Value::Time(time)) => {
                    column.push(time.map(nanoseconds).transpose()?);
                }
                (Values::Text { bytes, offsets }, value) => {
                    match value {
                        Value::Text(text) => push_text(text, bytes),
                        Value::Terms(terms) => {
                            for (place, term) in terms.iter().enumerate() {
                                if place > 0 {
                                    bytes.push(b' ');
                                }
                                push_text(term, bytes);
                            }
                        }
                        Value::Count(_) | Value::Real(_) | Value::Time(_) => {
                            unreachable!("values fit their columns")
                        }
                    }
                    let end = i32::try_from(bytes.len())
                        .context("a text of 2 GiB is too long for a column; try --format tsv")?;
                    offsets.push(end);
                    self.longest = self.longest.max(bytes.len());
                }
                _ => unreachable!("values fit their columns"),
            }
        }
        self.rows += 1;
        Ok(())
    }
}

/// Nanoseconds since 1970, which reach from 1677 to 2262.
fn nanoseconds(time: Timestamp) -> anyhow::Result<i64> {
    let whole = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
    i64::try_from(whole).with_context(|| {
        let time = time.to_string();
        format!("{time} is no timestamp of 64 bits (1677 to 2262); try --format csv or jsonl")
    })
}

fn push_text(text: &[u8], to: &mut Vec<u8>) {
    if is_plain::<0, b'\\', b'\\', b'\\'>(text) {
        to.extend_from_slice(text);
    } else {
        to.extend_from_slice(as_utf8(text).as_bytes());
    }
}
