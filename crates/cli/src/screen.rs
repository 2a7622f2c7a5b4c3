//! Text on a terminal: how wide it is, where it is cut, how many rows there are, and that nothing
//! in it steers the terminal. Everything that people see goes through one of these, or through
//! [`crate::failure::printable`]; all of them escape what [`steers`] names:
//!
//! | function | for | keeps | other white space |
//! | --- | --- | --- | --- |
//! | [`name`] | names and terms, which read back | | `\t \n \r` |
//! | [`push_text`] | lines of text | tabs, backslashes | `\xHH` |
//! | [`in_line`] | text within one line | backslashes | one space |
//! | [`guarded`] | lines of TSV, CSV and JSON | what the format is made of | `\xHH`, `\uHHHH` in JSON |

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use tadoc::text::escape;
use unicode_width::UnicodeWidthChar;

use crate::output::Output;
use crate::units;

/// How wide a line may be where there is no terminal.
pub const WIDTH: usize = 100;

/// Whether what goes there may have colours.
pub fn is_styled(output: &Output) -> bool {
    output.is_standard() && AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// How many columns of a terminal a text takes.
pub fn wide(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

/// A text in `width` columns: where it is longer, it ends in an ellipsis.
pub fn fit(text: &str, width: usize) -> Cow<'_, str> {
    let mut taken = 0;
    // Where the text ends if it must be cut.
    let mut cut = 0;
    for (place, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > width {
            return format!("{}…", &text[..cut]).into();
        }
        if taken < width {
            cut = place + character.len_utf8();
        }
    }
    text.into()
}

/// The name of a document in `width` columns: where it is longer, its middle is left out, between
/// folders if the last part of the name fits whole.
pub fn fit_name(name: &str, width: usize) -> Cow<'_, str> {
    if wide(name) <= width {
        return name.into();
    }
    let room = width.saturating_sub(1);
    if let Some(last) = name.rfind('/') {
        let left = room.saturating_sub(wide(&name[last..]));
        let folders = fit_start(name, left);
        if let Some(end) = folders.rfind('/') {
            return format!("{}…{}", &name[..=end], &name[last..]).into();
        }
    }
    // Of what has no folders to leave out, the end tells a little more.
    let start = fit_start(name, room / 2);
    let (end, _) = fit_end(name, room - wide(start));
    format!("{start}…{end}").into()
}

/// As much of the beginning of a text as fits into `width` columns.
pub fn fit_start(text: &str, width: usize) -> &str {
    let mut taken = 0;
    for (place, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > width {
            return &text[..place];
        }
    }
    text
}

/// As much of the end of a text as fits into `width` columns, and how many columns it takes. Marks that belong
/// to a character that does not fit are left out with it.
pub fn fit_end(text: &str, width: usize) -> (&str, usize) {
    let mut taken = 0;
    let mut start = (text.len(), 0);
    for (place, character) in text.char_indices().rev() {
        let columns = character.width().unwrap_or(0);
        taken += columns;
        if taken > width {
            break;
        }
        if columns > 0 {
            start = (place, taken);
        }
    }
    (&text[start.0..], start.1)
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

/// A name or a term: escaped as in rows, and every character that [`steers`] as the `\xHH` of its
/// bytes. [`tadoc::text::unescape`] reads it back.
pub fn name(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for character in escape(bytes).to_string().chars() {
        match steers(character) {
            true => push_hex(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut shown),
            false => shown.push(character),
        }
    }
    shown
}

/// The path of a file as it is shown.
pub fn path(path: &Path) -> String {
    name(path.as_os_str().as_encoded_bytes())
}

/// Appends a line of a text: tabs and backslashes are as they are.
pub fn push_text(bytes: &[u8], to: &mut Vec<u8>) {
    push_guarded(bytes, &['\t'], Notation::Hex, to);
}

/// How [`guarded`] escapes a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `\xHH` for each of its bytes
    Hex,
    /// `\uHHHH`
    Json,
}

/// Whole lines of a format for machines, as a terminal shows them: nothing is escaped that the
/// format is made of.
pub fn guarded(lines: &[u8], notation: Notation) -> Vec<u8> {
    let mut shown = Vec::with_capacity(lines.len());
    push_guarded(lines, &['\t', '\n'], notation, &mut shown);
    shown
}

fn push_guarded(bytes: &[u8], kept: &[char], notation: Notation, to: &mut Vec<u8>) {
    let mut escaped = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut encoded = [0; 4];
            let encoded = character.encode_utf8(&mut encoded);
            if !steers(character) || kept.contains(&character) {
                to.extend_from_slice(encoded.as_bytes());
            } else if notation == Notation::Hex {
                push_hex(encoded.as_bytes(), &mut escaped);
                to.extend_from_slice(escaped.as_bytes());
                escaped.clear();
            } else {
                // All of them are of the basic plane.
                write!(to, "\\u{:04x}", u32::from(character)).expect("a vector takes all");
            }
        }
        push_hex(chunk.invalid(), &mut escaped);
        to.extend_from_slice(escaped.as_bytes());
        escaped.clear();
    }
}

/// Bytes of a text as a part of one line: white space is one space, and what steers a terminal and
/// bytes that are not UTF-8 are `\xHH`.
pub fn in_line(bytes: &[u8]) -> String {
    let mut line = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_whitespace() {
                if !line.ends_with(' ') {
                    line.push(' ');
                }
            } else if steers(character) {
                push_hex(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut line);
            } else {
                line.push(character);
            }
        }
        push_hex(chunk.invalid(), &mut line);
    }
    line
}

/// Appends bytes as `\xHH`.
pub fn push_hex(bytes: &[u8], to: &mut String) {
    use std::fmt::Write;
    for byte in bytes {
        write!(to, "\\x{byte:02x}").expect("a string takes all");
    }
}

/// How many rows are shown: on a terminal the first 100, unless all are asked for.
#[derive(Debug)]
pub struct Limit {
    most: u64,
    given: u64,
}

impl Limit {
    pub fn new(output: &Output, all: bool) -> Self {
        let most = if output.is_terminal() && !all { 100 } else { u64::MAX };
        Self { most, given: 0 }
    }

    /// All rows are shown.
    pub fn none() -> Self {
        Self { most: u64::MAX, given: 0 }
    }

    /// How many of so many more rows are shown.
    pub fn take(&mut self, rows: u64) -> u64 {
        let left = self.most.saturating_sub(self.given);
        self.given += rows;
        rows.min(left)
    }

    /// Whether no more rows are shown.
    pub fn is_reached(&self) -> bool {
        self.given >= self.most
    }

    /// The line that says how many rows there are, if they are not all shown.
    pub fn last_line(&self, noun: &str) -> String {
        if self.given <= self.most {
            return String::new();
        }
        let all = units::counted(self.given, noun);
        format!("… {} of {all}; --all shows all\n", self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("e\u{301}\u{302}fg", 2), "e\u{301}\u{302}…");
        assert_eq!(fit("", 0), "");
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        let name = "data/2024/05/server/error.log";
        assert_eq!(fit_name(name, 29), name);
        assert_eq!(fit_name(name, 28), "data/2024/05/…/error.log");
        assert_eq!(fit_name(name, 20), "data/…/error.log");
        assert_eq!(fit_name(name, 16), "data/…/error.log");
        assert_eq!(fit_name(name, 15), "data/20…ror.log");
        assert_eq!(fit_name("a-very-long-name.txt", 11), "a-ver…e.txt");
        assert_eq!(fit_name("日本語日本語", 6), "日…語");
        assert_eq!(fit_name("/absolute/path/to/x", 10), "/…/x");
        for width in 1..30 {
            assert!(wide(&fit_name(name, width)) <= width, "{width}");
        }
    }

    #[test]
    fn a_terminal_gets_the_first_rows_and_their_number() {
        let mut limit = Limit { most: 100, given: 0 };
        assert_eq!((limit.take(60), limit.is_reached()), (60, false));
        assert_eq!((limit.take(60), limit.is_reached()), (40, true));
        assert_eq!(limit.take(12_225), 0);
        assert_eq!(limit.last_line("row"), "… 100 of 12,345 rows; --all shows all\n");
        let mut exact = Limit { most: 100, given: 0 };
        exact.take(100);
        assert_eq!(exact.last_line("row"), "");
        assert_eq!(Limit::none().take(u64::MAX), u64::MAX);
    }

    #[test]
    fn lines_for_machines_steer_nothing_and_mean_the_same() {
        let text = "a\u{202e}\x7f\u{9b}b\u{feff}é";
        let json = format!("{}\n", serde_json::to_string(text).unwrap());
        let shown = guarded(json.as_bytes(), Notation::Json);
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.chars().all(|character| character == '\n' || !steers(character)), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        let row = format!("{}\t1\n", tadoc::text::escape(text.as_bytes()));
        let shown = String::from_utf8(guarded(row.as_bytes(), Notation::Hex)).unwrap();
        let (field, rest) = shown.split_once('\t').unwrap();
        assert_eq!((tadoc::text::unescape(field).as_deref(), rest), (Some(text.as_bytes()), "1\n"));
        let mut line = Vec::new();
        push_text(b"\ta\\b\x1b[2J\xff\r\n", &mut line);
        assert_eq!(line, b"\ta\\b\\x1b[2J\\xff\\x0d\\x0a");
    }

    #[test]
    fn beginnings_are_cut_between_characters() {
        assert_eq!(fit_start("abc", 3), "abc");
        assert_eq!(fit_start("abcd", 3), "abc");
        assert_eq!(fit_start("日本語", 5), "日本");
        assert_eq!(fit_start("ae\u{301}f", 2), "ae\u{301}");
        assert_eq!(fit_start("日", 0), "");
    }

    #[test]
    fn ends_are_cut_between_characters() {
        assert_eq!(fit_end("abc", 3), ("abc", 3));
        assert_eq!(fit_end("abcd", 3), ("bcd", 3));
        assert_eq!(fit_end("日本語", 5), ("本語", 4));
        assert_eq!(fit_end("ae\u{301}f", 1), ("f", 1));
        assert_eq!(fit_end("ae\u{301}f", 2), ("e\u{301}f", 2));
        assert_eq!(fit_end("", 4), ("", 0));
        assert_eq!(fit_end("日", 1), ("", 0));
    }

    #[test]
    fn nothing_in_a_name_steers_and_all_of_it_reads_back() {
        let mut hidden = 0;
        for character in '\0'..=char::MAX {
            let text = format!("a\\{character}b");
            let shown = name(text.as_bytes());
            assert!(!shown.chars().any(steers), "{character:?}");
            let read = tadoc::text::unescape(&shown);
            assert_eq!(read.as_deref(), Some(text.as_bytes()), "{character:?}");
            hidden += u32::from(steers(character));
        }
        // C0, DEL and C1, then those with other meanings.
        assert_eq!(hidden, 32 + 1 + 32 + 1 + 2 + 7 + 4 + 1);
        assert_eq!(name(b"\xff\xe2\x80"), "\\xff\\xe2\\x80");
        assert_eq!(name(b"a\x1b[2J\tb"), "a\\x1b[2J\\tb");
        assert_eq!(name("a\u{202e}b".as_bytes()), "a\\xe2\\x80\\xaeb");
    }

    #[test]
    fn text_in_a_line_steers_nothing() {
        assert_eq!(in_line(b"a\r\n\tb\x1b[31m\xffc \xc2\x9b"), "a b\\x1b[31m\\xffc \\xc2\\x9b");
        assert_eq!(in_line("é\u{2028}日".as_bytes()), "é 日");
        assert_eq!(in_line(b""), "");
    }
}
