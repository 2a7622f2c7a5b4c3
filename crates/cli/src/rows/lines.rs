//! The formats of one row a line: TSV, CSV, JSON lines, and JSON as one array.
//!
//! 30 to 40 ns for a row of a term and a count, 60 where the term is not ASCII. Nearly all text is
//! copied as it is, after one look at it ([`super::scan`]); what needs escapes takes a slower way
//! and may allocate. On a terminal, lines also have nothing in them that would steer it
//! ([`screen::guarded`]).

use std::io::Write;
use std::ops::Range;

use base64::prelude::{BASE64_STANDARD, Engine};
use tadoc::Timestamp;
use tadoc::text::{as_utf8, escape};
use tadoc::{Column, Rows, Value};

use super::parallel::Buffers;
use super::scan::is_plain;
use crate::output::Output;
use crate::screen::{self, Notation};

/// How a row becomes a line.
pub trait Line: Sync {
    /// What comes before the rows.
    fn header(&self, _to: &mut Vec<u8>) {}

    /// What stands between two rows.
    const BETWEEN: &'static [u8] = b"";

    /// One row, with what ends it.
    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>);

    /// What comes after the rows, if there were `any`.
    fn footer(&self, _any: bool) -> &'static [u8] {
        b""
    }

    /// How what steers a terminal is written on one; `None` if rows have no such thing.
    const NOTATION: Option<Notation>;
}

/// Rows on their way out as lines.
pub struct Lines<L> {
    output: Output,
    line: L,
    buffers: Buffers,
    /// Rows written.
    count: u64,
    guard: Option<Notation>,
}

impl<L: Line> Lines<L> {
    pub fn new(mut output: Output, line: L) -> anyhow::Result<Self> {
        let mut header = Vec::new();
        line.header(&mut header);
        output.write_all(&header)?;
        let guard = L::NOTATION.filter(|_| output.is_terminal());
        Ok(Self { output, line, buffers: Buffers::default(), count: 0, guard })
    }

    pub fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        self.write_range(rows, 0..rows.len())
    }

    /// Some of the rows.
    pub fn write_range(&mut self, rows: &dyn Rows, part: Range<u64>) -> anyhow::Result<()> {
        let (line, guard, count) = (&self.line, self.guard, self.count);
        let length = part.end - part.start;
        self.buffers.write(&mut self.output, length, &|range, to| {
            let mut is_first = count + range.start == 0;
            rows.visit(part.start + range.start..part.start + range.end, &mut |values| {
                if !std::mem::take(&mut is_first) {
                    to.extend_from_slice(L::BETWEEN);
                }
                line.row(values, to);
            });
            if let Some(notation) = guard {
                *to = screen::guarded(to, notation);
            }
        })?;
        self.count += length;
        Ok(())
    }

    pub fn finish(self) -> anyhow::Result<()> {
        self.finish_with("")
    }

    /// Ends the answer with a line of its own, or none if that is empty.
    pub fn finish_with(mut self, last: &str) -> anyhow::Result<()> {
        self.output.write_all(self.line.footer(self.count > 0))?;
        self.output.write_all(last.as_bytes())?;
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

/// A moment as RFC 3339 has it; nothing where it is not known.
fn moment(time: Option<Timestamp>, to: &mut Vec<u8>) {
    to.extend_from_slice(time.map_or_else(String::new, |time| time.to_string()).as_bytes());
}

/// The names of columns, with `separator` between them.
fn names(columns: &[Column], separator: u8, to: &mut Vec<u8>) {
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            to.push(separator);
        }
        to.extend_from_slice(column.name.as_bytes());
    }
    to.push(b'\n');
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
        Value::Count(_) | Value::Real(_) | Value::Time(_) => unreachable!("this is no text"),
    }
}

/// `--format tsv`: backslash, tab, line feed and carriage return are `\\ \t \n \r`, bytes that are
/// not UTF-8 are `\xHH`, everything else is as it is. Reals may be `NaN`, `inf` and `-inf`; moments
/// that are not known are empty. It may begin with the names of these columns.
pub struct Tsv(pub Option<&'static [Column]>);

impl Line for Tsv {
    const NOTATION: Option<Notation> = Some(Notation::Hex);

    fn header(&self, to: &mut Vec<u8>) {
        if let Some(columns) = self.0 {
            names(columns, b'\t', to);
        }
    }

    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        for (place, &value) in values.iter().enumerate() {
            if place > 0 {
                to.push(b'\t');
            }
            match value {
                Value::Count(value) => count(value, to),
                Value::Real(value) => real(value, to),
                Value::Time(time) => moment(time, to),
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
/// missing, and be an empty line where it is the only column. Reals and moments are as in TSV.
pub struct Csv(pub &'static [Column]);

impl Line for Csv {
    const NOTATION: Option<Notation> = Some(Notation::Hex);

    fn header(&self, to: &mut Vec<u8>) {
        names(self.0, b',', to);
    }

    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        for (place, &value) in values.iter().enumerate() {
            if place > 0 {
                to.push(b',');
            }
            match value {
                Value::Count(value) => count(value, to),
                Value::Real(value) => real(value, to),
                Value::Time(time) => moment(time, to),
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

/// `--format jsonl`: one object a line. A text that is not UTF-8 is in base64, under the name of
/// its column with `_base64` behind it, as operations have it. Reals that are not finite, which
/// JSON has no way to write, and moments that are not known are `null`.
pub struct JsonLines {
    /// What comes before the values: bracket or comma, the name in quotes, the colon.
    keys: Vec<Vec<u8>>,
}

impl JsonLines {
    pub fn new(columns: &[Column]) -> Self {
        let key = |(place, column): (usize, &Column)| {
            format!("{}\"{}\":", if place == 0 { '{' } else { ',' }, column.name).into_bytes()
        };
        Self { keys: columns.iter().enumerate().map(key).collect() }
    }
}

impl JsonLines {
    fn object(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        for (key, &value) in self.keys.iter().zip(values) {
            to.extend_from_slice(key);
            match value {
                Value::Count(value) => count(value, to),
                Value::Real(value) if value.is_finite() => real(value, to),
                Value::Real(_) | Value::Time(None) => to.extend_from_slice(b"null"),
                Value::Time(time) => {
                    to.push(b'"');
                    moment(time, to);
                    to.push(b'"');
                }
                value => {
                    to.push(b'"');
                    text(value, to, is_plain::<0x20, b'"', b'\\', b'\\'>, json_text);
                    to.push(b'"');
                }
            }
        }
        to.push(b'}');
    }
}

impl Line for JsonLines {
    const NOTATION: Option<Notation> = Some(Notation::Json);

    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        self.object(values, to);
        to.push(b'\n');
    }
}

/// `--format json`: one array of the objects that [`JsonLines`] writes, each on a line of its own.
pub struct JsonArray(pub JsonLines);

impl Line for JsonArray {
    const BETWEEN: &'static [u8] = b",";
    const NOTATION: Option<Notation> = Some(Notation::Json);

    fn header(&self, to: &mut Vec<u8>) {
        to.push(b'[');
    }

    fn row(&self, values: &[Value<'_>], to: &mut Vec<u8>) {
        to.push(b'\n');
        self.0.object(values, to);
    }

    fn footer(&self, any: bool) -> &'static [u8] {
        if any { b"\n]\n" } else { b"]\n" }
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
