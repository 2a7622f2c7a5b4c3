//! Bytes for people: terms and names as the command prints them.
//!
//! [`escape`] is for files and pipes: it keeps rows apart and can be read back. [`visible`] is for
//! screens: it also escapes what would steer a terminal. [`unescape`] reads both back. [`as_utf8`] is for
//! formats of UTF-8 without escapes, and [`unescape_utf8`] reads it back.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Shows bytes as text: backslash, tab, line feed and carriage return as `\\ \t \n \r`, bytes that are
/// not UTF-8 as `\xHH`, everything else as it is.
///
/// ```
/// assert_eq!(tadoc_engine::text::escape(b"a\tb\xff").to_string(), "a\\tb\\xff");
/// ```
pub fn escape(bytes: &[u8]) -> Escaped<'_> {
    Escaped(bytes)
}

/// What [`escape`] gives; prints itself.
#[derive(Clone, Copy)]
pub struct Escaped<'b>(&'b [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(self.0, |_| false, formatter)
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

/// Shows bytes on a screen: as [`escape`] does, and every character that [`steers`] a terminal as
/// the `\xHH` of its bytes.
///
/// ```
/// assert_eq!(tadoc_engine::text::visible(b"a\x1b[2J\tb").to_string(), "a\\x1b[2J\\tb");
/// assert_eq!(tadoc_engine::text::visible("a\u{202e}b".as_bytes()).to_string(), "a\\xe2\\x80\\xaeb");
/// ```
pub fn visible(bytes: &[u8]) -> Visible<'_> {
    Visible(bytes)
}

/// What [`visible`] gives; prints itself.
#[derive(Debug, Clone, Copy)]
pub struct Visible<'b>(&'b [u8]);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(self.0, steers, formatter)
    }
}

/// Whether a character does something to a terminal or to the text around it, and shows nothing
/// itself: control characters (ESC, DEL and those of C1 among them), the bidirectional controls
/// (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), line and paragraph separators, and
/// U+FEFF.
pub fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

/// Writes bytes with the escapes of [`escape`], and characters that `is_hidden` says as the `\xHH`
/// of their bytes.
fn write_escaped(
    bytes: &[u8],
    is_hidden: impl Fn(char) -> bool,
    to: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => to.write_str("\\\\")?,
                '\t' => to.write_str("\\t")?,
                '\n' => to.write_str("\\n")?,
                '\r' => to.write_str("\\r")?,
                hidden if is_hidden(hidden) => {
                    write_hex(hidden.encode_utf8(&mut [0; 4]).as_bytes(), to)?;
                }
                other => to.write_char(other)?,
            }
        }
        write_hex(chunk.invalid(), to)?;
    }
    Ok(())
}

/// Writes bytes as `\xHH`.
pub fn write_hex(bytes: &[u8], to: &mut impl Write) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(to, "\\x{byte:02x}"))
}

/// The bytes that [`escape`] or [`visible`] was given, from what was printed; `None` where
/// it cannot have been.
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
