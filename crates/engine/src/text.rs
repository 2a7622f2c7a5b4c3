//! Bytes for people: terms and names as the command prints them.

use std::fmt::{self, Write};

/// Shows bytes as text: backslash, tab, line feed and carriage return as `\\ \t \n \r`, bytes that are
/// not UTF-8 as `\xHH`, everything else as it is.
///
/// ```
/// assert_eq!(tadoc::text::escape(b"a\tb\xff").to_string(), "a\\tb\\xff");
/// ```
pub fn escape(bytes: &[u8]) -> Escaped<'_> {
    Escaped(bytes)
}

/// What [`escape`] gives; prints itself.
#[derive(Clone, Copy)]
pub struct Escaped<'b>(&'b [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '\\' => formatter.write_str("\\\\")?,
                    '\t' => formatter.write_str("\\t")?,
                    '\n' => formatter.write_str("\\n")?,
                    '\r' => formatter.write_str("\\r")?,
                    other => formatter.write_char(other)?,
                }
            }
            for byte in chunk.invalid() {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "“{self}”")
    }
}

/// The bytes that [`escape`] was given, from what it printed; `None` where it printed no such thing.
///
/// ```
/// assert_eq!(tadoc::text::unescape("a\\tb\\xff"), Some(b"a\tb\xff".to_vec()));
/// assert_eq!(tadoc::text::unescape("a\\q"), None);
/// ```
pub fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&kind, after) = rest.split_first()?;
        rest = after;
        bytes.push(match kind {
            b'\\' => b'\\',
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}
