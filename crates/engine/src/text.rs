//! Bytes for people: terms and names as the command prints them.
//!
//! [`escape`] is for files and pipes: it keeps rows apart, and [`unescape`] reads it back.
//! [`as_utf8`] is for formats of UTF-8 without escapes, and [`unescape_utf8`] reads it back.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Shows bytes as text: backslash, tab, line feed and carriage return as `\\ \t \n \r`, bytes that are
/// not UTF-8 as `\xHH`, everything else as it is.
///
/// ```
/// assert_eq!(tadoc_engine::text::escape(b"a\tb\xff").to_string(), "a\\tb\\xff");
/// ```
pub fn escape(bytes: &[u8]) -> impl fmt::Display + fmt::Debug + Copy {
    Escaped(bytes)
}

/// Debugging output is between quotation marks.
#[derive(Clone, Copy)]
struct Escaped<'b>(&'b [u8]);

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

/// A number and what there is of it: `1 edit`, `2 edits`.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// The bytes that [`escape`] was given, from what was printed; `None` where it cannot have been.
///
/// ```
/// assert_eq!(tadoc_engine::text::unescape("a\\tb\\xff"), Some(b"a\tb\xff".to_vec()));
/// assert_eq!(tadoc_engine::text::unescape("a\\q"), None);
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

/// Any bytes as UTF-8, for formats whose text is UTF-8 and has no escapes of its own (CSV, Arrow, Parquet) and which
/// are loaded into tools that show text as it is. So text is as it is, backslashes too, with one exception: bytes that
/// are not UTF-8 are `\xHH` (two digits, small letters), and a backslash that would read as such an escape is `\x5c`.
/// [`unescape_utf8`] gives the bytes back, whatever they were. One look at them if they are UTF-8; else a copy.
///
/// ```
/// assert_eq!(tadoc_engine::text::as_utf8(b"C:\\new"), "C:\\new");
/// assert_eq!(tadoc_engine::text::as_utf8(b"a\xff \\xff"), "a\\xff \\x5cxff");
/// ```
pub fn as_utf8(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.as_bytes().windows(4).any(is_escape)
    {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let mut copied = 0;
        for (place, _) in valid.match_indices('\\') {
            // What follows within four bytes is of this chunk: an escape after it begins with a backslash.
            if valid.as_bytes()[place..].first_chunk::<4>().is_some_and(|four| is_escape(four)) {
                result.push_str(&valid[copied..place]);
                result.push_str("\\x5c");
                copied = place + 1;
            }
        }
        result.push_str(&valid[copied..]);
        for byte in chunk.invalid() {
            result.push_str("\\x");
            result.push(char::from_digit(u32::from(byte >> 4), 16).expect("a digit"));
            result.push(char::from_digit(u32::from(byte & 15), 16).expect("a digit"));
        }
    }
    Cow::Owned(result)
}

fn is_escape(four: &[u8]) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    matches!(*four, [b'\\', b'x', high, low] if is_digit(high) && is_digit(low))
}

/// The bytes that [`as_utf8`] was given.
///
/// ```
/// assert_eq!(tadoc_engine::text::unescape_utf8("a\\xff \\x5cxff"), b"a\xff \\xff");
/// ```
pub fn unescape_utf8(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::new();
    while let Some((&byte, after)) = rest.split_first() {
        if rest.first_chunk::<4>().is_some_and(|four| is_escape(four)) {
            let digit = |place: usize| char::from(rest[place]).to_digit(16).expect("a digit") as u8;
            bytes.push(digit(2) << 4 | digit(3));
            rest = &rest[4..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    bytes
}
