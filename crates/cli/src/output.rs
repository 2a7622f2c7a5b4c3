//! Results on standard output: rows in the formats that scripts rely on, JSON reports, and a writer that
//! keeps what went wrong.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::anyhow;
use clap::ValueEnum;
use serde::Serialize;
use tadoc::text::escape;

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned, for people; the default on a terminal
    Table,
    /// One row a line, columns by tab, no header; the default elsewhere
    Tsv,
    /// With a header row
    Csv,
    /// One object a line
    Json,
}

impl Format {
    /// The format asked for, or the one that suits where the output goes.
    pub fn or_default(asked: Option<Self>) -> Self {
        asked.unwrap_or_else(|| if io::stdout().is_terminal() { Self::Table } else { Self::Tsv })
    }
}

/// A name in a JSON object or CSV field: its text; where it is not UTF-8, escaped as in TSV.
pub fn name_text(name: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(escape(name).to_string()),
    }
}

/// Writes a CSV field, in quotes where it needs them (RFC 4180).
pub fn write_csv_field(to: &mut dyn Write, field: &str) -> io::Result<()> {
    if field.contains([',', '"', '\n', '\r']) {
        write!(to, "\"{}\"", field.replace('"', "\"\""))
    } else {
        to.write_all(field.as_bytes())
    }
}

/// Standard output, buffered. What went wrong in writing is kept apart from what the library makes of it,
/// so that the message names the right place.
pub struct Output {
    to: BufWriter<io::Stdout>,
    error: Option<io::Error>,
}

impl Output {
    pub fn new() -> Self {
        Self { to: BufWriter::with_capacity(1 << 16, io::stdout()), error: None }
    }

    /// Writes one object on a line of its own.
    pub fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let line = serde_json::to_string(value)?;
        self.write_all(line.as_bytes())?;
        self.write_all(b"\n")?;
        Ok(())
    }

    /// Ends the output of work that has ended with `result`.
    pub fn finish<T>(mut self, result: Result<T, impl Into<anyhow::Error>>) -> anyhow::Result<T> {
        let result = result.map_err(Into::into);
        if result.is_ok() {
            let _ = self.flush();
        }
        match self.error.take() {
            None => result,
            Some(error) => {
                // What is still buffered cannot be written either.
                let _ = self.to.into_parts();
                let kind = error.kind();
                Err(anyhow!(io::Error::new(kind, format!("standard output: {error}"))))
            }
        }
    }

    fn keep<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                let copy = match error.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => io::Error::new(error.kind(), error.to_string()),
                };
                self.error.get_or_insert(copy);
            }
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.to.write(bytes);
        self.keep(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.to.flush();
        self.keep(result)
    }
}

/// Prints one JSON object on a line of its own to standard output.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut output = Output::new();
    let result = output.json(value);
    output.finish(result)
}

/// Prints text to standard output.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    let mut output = Output::new();
    let result = output.write_all(text.as_bytes());
    output.finish(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_json() {
        assert_eq!(name_text(b"a\tb\\"), "a\tb\\");
        assert_eq!(name_text(b"a\t\xff"), "a\\t\\xff");
    }

    #[test]
    fn csv_fields_are_quoted_where_they_must() {
        let field = |text: &str| {
            let mut bytes = Vec::new();
            write_csv_field(&mut bytes, text).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(field("plain name"), "plain name");
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
    }
}
