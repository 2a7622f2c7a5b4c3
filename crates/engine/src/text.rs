//! Bytes for people: terms and names as the command prints them.
//!
//! [`escape`] is for files and pipes: it keeps rows apart and can be read back. [`visible`] is for
//! screens: it also escapes what would steer a terminal. [`unescape`] reads both back.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_is_visible_and_all_of_it_reads_back() {
        let mut hidden = 0;
        for character in '\0'..=char::MAX {
            let text = format!("a\\{character}b");
            let shown = visible(text.as_bytes()).to_string();
            assert!(!shown.chars().any(steers), "{character:?}");
            assert_eq!(unescape(&shown).as_deref(), Some(text.as_bytes()), "{character:?}");
            hidden += u32::from(steers(character));
        }
        // C0, DEL and C1, then those with other meanings.
        assert_eq!(hidden, 32 + 1 + 32 + 1 + 2 + 7 + 4 + 1);
        assert_eq!(visible(b"\xff\xe2\x80").to_string(), "\\xff\\xe2\\x80");
    }
}
