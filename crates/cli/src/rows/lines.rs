//! The formats of one row a line: TSV, CSV and JSON.
//!
//! 30 to 40 ns for a row of a term and a count, 60 where the term is not ASCII. Nearly all text is copied as
//! it is, after one look at it ([`super::scan`]); what needs escapes takes a slower way and may allocate.

use std::io::Write;

use base64::prelude::{BASE64_STANDARD, Engine};
use tadoc::answer::{Column, Rows, Value};
use tadoc::text::escape;

use super::parallel::Buffers;
use super::scan::is_plain;
use super::utf8::as_utf8;
use crate::output::Output;

/// How a row becomes a line.
pub trait Line: Sync {
    /// What comes before the rows.
    fn header(&self, _to: &mut Vec<u8>) {}

    /// One row, with what ends it.
    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>);
}

/// Rows on their way out as lines.
pub struct Lines<L> {
    output: Output,
    line: L,
    buffers: Buffers,
}

impl<L: Line> Lines<L> {
    pub fn new(mut output: Output, line: L) -> anyhow::Result<Self> {
        let mut header = Vec::new();
        line.header(&mut header);
        output.write_all(&header)?;
        Ok(Self { output, line, buffers: Buffers::default() })
    }

    pub fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        self.write_from(rows, 0)
    }

    /// The rows from `first` on.
    pub fn write_from(&mut self, rows: &dyn Rows, first: u64) -> anyhow::Result<()> {
        let line = &self.line;
        self.buffers.write(&mut self.output, rows.len() - first, &|range, to| {
            rows.visit(first + range.start..first + range.end, &mut |values| line.row(values, to));
        })
    }

    pub fn finish(self) -> anyhow::Result<()> {
        self.output.finish(anyhow::Ok(()))
    }
}

fn count(value: u64, to: &mut Vec<u8>) {
    to.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The shortest text that reads back to the same number. There is always a point or an exponent in it, so
/// that readers that guess take the column for one of reals.
pub fn real(value: f64, to: &mut Vec<u8>) {
    to.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
}

/// Writes text as it is if it and all of its terms are `plain`, else with `slow`.
#[inline]
fn text(
    value: Value<'_>,
    to: &mut Vec<u8>,
    plain: impl Fn(&[u8]) -> bool,
    slow: impl Fn(&[u8], &mut Vec<u8>),
) {
    match value {
        Value::Text(bytes) if plain(bytes) => to.extend_from_slice(bytes),
        Value::Text(bytes) => slow(bytes, to),
        Value::Terms([first, rest @ ..]) if plain(first) && rest.iter().all(|term| plain(term)) => {
            to.extend_from_slice(first);
            for term in rest {
                to.push(b' ');
                to.extend_from_slice(term);
            }
        }
        Value::Terms(terms) => slow(&terms.join(&b' '), to),
        Value::Count(_) | Value::Real(_) => unreachable!("a number is no text"),
    }
}

/// `--format tsv`: backslash, tab, line feed and carriage return are `\\ \t \n \r`, bytes that are not UTF-8
/// are `\xHH`, everything else is as it is. Reals may be `NaN`, `inf` and `-inf`.
pub struct Tsv;

impl Line for Tsv {
    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        for (place, &value) in values.iter().enumerate() {
            if place > 0 {
                to.push(b'\t');
            }
            match value {
                Value::Count(value) => count(value, to),
                Value::Real(value) => real(value, to),
                value => text(value, to, is_plain::<0x0e, b'\\', b'\\', b'\\'>, |bytes, to| {
                    write!(to, "{}", escape(bytes)).expect("a vector takes all");
                }),
            }
        }
        to.push(b'\n');
    }
}

/// `--format csv`: RFC 4180 with a header and line feeds. Text is as [`as_utf8`] has it, in quotes where it has
/// a comma, a quote or a line break. Empty text is in quotes too: without them it would read as
/// missing, and be an empty line where it is the only column. Reals are as in TSV.
pub struct Csv(pub &'static [Column]);

impl Line for Csv {
    fn header(&self, to: &mut Vec<u8>) {
        for (place, column) in self.0.iter().enumerate() {
            if place > 0 {
                to.push(b',');
            }
            to.extend_from_slice(column.name.as_bytes());
        }
        to.push(b'\n');
    }

    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        for (place, &value) in values.iter().enumerate() {
            if place > 0 {
                to.push(b',');
            }
            match value {
                Value::Count(value) => count(value, to),
                Value::Real(value) => real(value, to),
                value => text(
                    value,
                    to,
                    |bytes| is_plain::<0x0e, b',', b'"', b'\\'>(bytes) && !bytes.is_empty(),
                    csv_field,
                ),
            }
        }
        to.push(b'\n');
    }
}

#[cold]
fn csv_field(bytes: &[u8], to: &mut Vec<u8>) {
    let field = as_utf8(bytes);
    if !field.is_empty() && !field.contains([',', '"', '\n', '\r']) {
        return to.extend_from_slice(field.as_bytes());
    }
    to.push(b'"');
    for (place, piece) in field.split('"').enumerate() {
        if place > 0 {
            to.extend_from_slice(b"\"\"");
        }
        to.extend_from_slice(piece.as_bytes());
    }
    to.push(b'"');
}

/// `--format json`: one object a line. A text that is not UTF-8 is in base64, under the name of its column with
/// `_base64` behind it, as operations have it. Reals that are not finite, which JSON has no way to
/// write, are `null`.
pub struct Json {
    /// What comes before the values: bracket or comma, the name in quotes, the colon.
    keys: Vec<Vec<u8>>,
}

impl Json {
    pub fn new(columns: &[Column]) -> Self {
        let key = |(place, column): (usize, &Column)| {
            format!("{}\"{}\":", if place == 0 { '{' } else { ',' }, column.name).into_bytes()
        };
        Self { keys: columns.iter().enumerate().map(key).collect() }
    }
}

impl Line for Json {
    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        for (key, &value) in self.keys.iter().zip(values) {
            to.extend_from_slice(key);
            match value {
                Value::Count(value) => count(value, to),
                Value::Real(value) if value.is_finite() => real(value, to),
                Value::Real(_) => to.extend_from_slice(b"null"),
                value => {
                    to.push(b'"');
                    text(value, to, is_plain::<0x20, b'"', b'\\', b'\\'>, json_text);
                    to.push(b'"');
                }
            }
        }
        to.extend_from_slice(b"}\n");
    }
}

/// What is between the quotes; `to` ends with key, colon and quote.
#[cold]
fn json_text(bytes: &[u8], to: &mut Vec<u8>) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        to.truncate(to.len() - b"\":\"".len());
        to.extend_from_slice(b"_base64\":\"");
        to.extend_from_slice(BASE64_STANDARD.encode(bytes).as_bytes());
        return;
    };
    for character in text.chars() {
        match character {
            '"' => to.extend_from_slice(b"\\\""),
            '\\' => to.extend_from_slice(b"\\\\"),
            '\n' => to.extend_from_slice(b"\\n"),
            '\r' => to.extend_from_slice(b"\\r"),
            '\t' => to.extend_from_slice(b"\\t"),
            '\0'..' ' => {
                write!(to, "\\u{:04x}", u32::from(character)).expect("a vector takes all");
            }
            other => to.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
