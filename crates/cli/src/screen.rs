//! Text on a terminal: how wide it is, where it is cut, and that nothing in it steers the terminal.

use std::fmt::Write;

use anstream::{AutoStream, ColorChoice};
use unicode_width::UnicodeWidthChar;

use crate::output::Output;

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

/// As much of a text as fits into `width` columns, less one for an ellipsis if that is not all of it; and
/// how many columns it takes, with the ellipsis.
pub fn fit(text: &str, width: usize) -> (&str, usize) {
    let mut taken = 0;
    // Where the text ends if it must be cut, and how wide it is there.
    let mut cut = (0, 0);
    for (place, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > width {
            return (&text[..cut.0], cut.1 + 1);
        }
        if taken < width {
            cut = (place + character.len_utf8(), taken);
        }
    }
    (text, taken)
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

/// Bytes of a text as a part of one line: white space is one space, and control characters and bytes that are not
/// UTF-8 are `\xHH`.
pub fn in_line(bytes: &[u8]) -> String {
    let mut line = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_whitespace() {
                if !line.ends_with(' ') {
                    line.push(' ');
                }
            } else if character.is_control() {
                escape(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut line);
            } else {
                line.push(character);
            }
        }
        escape(chunk.invalid(), &mut line);
    }
    line
}

fn escape(bytes: &[u8], to: &mut String) {
    for byte in bytes {
        write!(to, "\\x{byte:02x}").expect("a string takes all");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(fit("abc", 3), ("abc", 3));
        assert_eq!(fit("abcd", 3), ("ab", 3));
        assert_eq!(fit("日本語", 5), ("日本", 5));
        assert_eq!(fit("日本語", 4), ("日", 3));
        assert_eq!(fit("e\u{301}\u{302}fg", 2), ("e\u{301}\u{302}", 2));
        assert_eq!(fit("", 0), ("", 0));
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
    fn text_in_a_line_steers_nothing() {
        assert_eq!(in_line(b"a\r\n\tb\x1b[31m\xffc \xc2\x9b"), "a b\\x1b[31m\\xffc \\xc2\\x9b");
        assert_eq!(in_line("é\u{2028}日".as_bytes()), "é 日");
        assert_eq!(in_line(b""), "");
    }
}
