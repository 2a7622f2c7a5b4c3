//! Cutting text into tokens, losslessly: the tokens of a text, joined, are its bytes.
//!
//! A token is a word, a word with the one space before it, or a piece of what stands between words.
//! Giving the space to the word that follows makes the commonest separator free: `the quick fox` is
//! three tokens and not five. A single space goes with the word when no other white space stands before
//! it, so indentation stays in one piece.
//!
//! Cost: one pass; a table look-up a byte on ASCII, a decoded scalar and a table look-up on the rest.
//! The first use of [`Lexer::Words`] in a process on text that is not ASCII fills a table of 1.1 MB.

mod unicode;

use unicode::Scalar;

/// The longest piece of separator that becomes one token. Longer ones (rulers, padding, zeroed blocks)
/// are cut, so that two runs of different length share their pieces.
const LONGEST_SEPARATOR: usize = 128;

/// The longest word, in bytes. What is longer (a base64 blob, a file without white space) is cut, and lexing
/// goes on behind the cut as behind any other word. So a token bounds memory, and text can be cut in two
/// beside every token.
pub const LONGEST_WORD: usize = 1 << 16;
/// Bytes of a character in UTF-8, at the most.
const LONGEST_CHARACTER: usize = 4;

/// Which bytes are words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Lexer {
    /// Maximal runs of Unicode word characters (`\w` of UTS #18 Annex C); in Han, Hiragana, Katakana,
    /// Thai, Lao, Khmer and Myanmar script each character with the marks behind it. Bytes that are not
    /// UTF-8 separate words. Runs longer than [`LONGEST_WORD`] are cut.
    #[default]
    Words,
    /// Maximal runs of bytes other than space, `\t`, `\n`, `\v`, `\f` and `\r`, as in the papers; cut as
    /// those of [`Lexer::Words`].
    Whitespace,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenKind {
    /// A word.
    Word,
    /// One space and a word.
    SpacedWord,
    /// Bytes between words.
    Separator,
}

impl Lexer {
    /// The name that the command and the archive use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Whitespace => "whitespace",
        }
    }

    /// The lexer of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Words, Self::Whitespace].into_iter().find(|lexer| lexer.name() == name)
    }

    /// The ASCII bytes that are never part of a word: beside one of them, text may be cut in two so that both halves, lexed apart,
    /// have the words that the whole has.
    pub fn ascii_separators(self) -> [bool; 256] {
        match self {
            Self::Words => ASCII.map(|class| class == Ascii::Separator),
            Self::Whitespace => WHITESPACE,
        }
    }

    /// Calls `emit` with the end and the kind of every token of `text`, in order; each token starts
    /// where the one before it ended. O(bytes).
    pub fn tokens(self, text: &[u8], emit: impl FnMut(usize, TokenKind)) {
        match self {
            Lexer::Words => cut(text, words_separator_end, words_word_end, emit),
            Lexer::Whitespace => cut(text, whitespace_separator_end, whitespace_word_end, emit),
        }
    }

    /// A place at or behind `from` where `text` may be cut in two so that both halves, lexed apart,
    /// have the words that the whole has: behind a line feed, or else behind a space. `None` where
    /// there is no such place. O(distance).
    pub fn safe_cut(self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        memchr::memchr2(b'\n', b' ', rest).map(|at| from + at + 1)
    }

    /// The last place in `text` behind its start where it may be cut in two, if more text may follow it:
    /// before its last token. `text` itself starts at such a place. `None` where there is no such place,
    /// which takes a text no longer than a word. O(bytes).
    pub fn last_token_start(self, text: &[u8]) -> Option<usize> {
        let text = &text[..complete_characters(text)];
        let (mut last, mut end) = (0, 0);
        self.tokens(text, |token_end, _| (last, end) = (end, token_end));
        Some(last).filter(|&last| last > 0)
    }
}

/// How much of `text` is left without a character that may go on behind its end.
fn complete_characters(text: &[u8]) -> usize {
    let tail = &text[text.len().saturating_sub(3)..];
    let incomplete = tail.iter().rposition(|&byte| byte >= 0xC0).filter(|&lead| {
        let length = match tail[lead] {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            _ => 4,
        };
        tail.len() - lead < length
    });
    text.len() - incomplete.map_or(0, |lead| tail.len() - lead)
}

/// Where a word that starts at `start` and would go on to `end` is cut: before the character that passes
/// [`LONGEST_WORD`].
#[inline(always)]
fn cut_word(text: &[u8], start: usize, end: usize) -> usize {
    if end - start <= LONGEST_WORD {
        return end;
    }
    let most = start + LONGEST_WORD;
    // Bytes that only go on with a character; a character has at most three, other bytes may have more.
    let is_start = |&place: &usize| text[place] & 0xC0 != 0x80;
    (most - 3..=most).rev().find(is_start).unwrap_or(most)
}

/// Alternates between separators and words; the two scanners give the end of what starts at a position
/// (the same position if nothing does).
#[inline(always)]
fn cut(
    text: &[u8],
    separator_end: impl Fn(&[u8], usize) -> usize,
    word_end: impl Fn(&[u8], usize) -> usize,
    mut emit: impl FnMut(usize, TokenKind),
) {
    let mut position = 0;
    while position < text.len() {
        let word_start = separator_end(text, position);
        let mut kind = TokenKind::Word;
        if word_start > position {
            let last_is_space = text[word_start - 1] == b' ';
            let alone = word_start - position == 1 || !text[word_start - 2].is_ascii_whitespace();
            let spaced = last_is_space && alone && word_start < text.len();
            let end = if spaced { word_start - 1 } else { word_start };
            while end - position > LONGEST_SEPARATOR {
                position += LONGEST_SEPARATOR;
                emit(position, TokenKind::Separator);
            }
            if end > position {
                emit(end, TokenKind::Separator);
            }
            if spaced {
                kind = TokenKind::SpacedWord;
            }
        }
        position = word_start;
        if position < text.len() {
            // No further than a word can go: the same bytes would be gone over again behind the cut.
            let seen = &text[..text.len().min(position + LONGEST_WORD + LONGEST_CHARACTER)];
            position = cut_word(text, position, word_end(seen, position));
            emit(position, kind);
        }
    }
}

/// What an ASCII byte is to the `words` lexer.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Ascii {
    Separator,
    Word,
    Beyond,
}

const ASCII: [Ascii; 256] = {
    let mut classes = [Ascii::Beyond; 256];
    let mut byte = 0_usize;
    while byte < 128 {
        let word = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        classes[byte] = if word { Ascii::Word } else { Ascii::Separator };
        byte += 1;
    }
    classes
};

fn words_separator_end(text: &[u8], mut position: usize) -> usize {
    while let Some(&byte) = text.get(position) {
        match ASCII[byte as usize] {
            Ascii::Separator => position += 1,
            Ascii::Word => break,
            Ascii::Beyond => match unicode::decode(text, position) {
                Scalar { class, .. } if class.is_word() => break,
                Scalar { length, .. } => position += length,
            },
        }
    }
    position
}

/// `position` is at a word character.
fn words_word_end(text: &[u8], mut position: usize) -> usize {
    if text[position] >= 0x80 {
        let first = unicode::decode(text, position);
        if first.class.stands_alone() {
            position += first.length;
            while text.get(position).is_some_and(|&byte| byte >= 0x80) {
                let next = unicode::decode(text, position);
                if !next.class.is_mark() {
                    break;
                }
                position += next.length;
            }
            return position;
        }
    }
    while let Some(&byte) = text.get(position) {
        match ASCII[byte as usize] {
            Ascii::Word => position += 1,
            Ascii::Separator => break,
            Ascii::Beyond => match unicode::decode(text, position) {
                Scalar { class, length } if class.is_word() && !class.stands_alone() => {
                    position += length;
                }
                _ => break,
            },
        }
    }
    position
}

/// Bytes that the `whitespace` lexer takes for separators.
const WHITESPACE: [bool; 256] = {
    let mut classes = [false; 256];
    let bytes = b" \t\n\x0b\x0c\r";
    let mut index = 0;
    while index < bytes.len() {
        classes[bytes[index] as usize] = true;
        index += 1;
    }
    classes
};

fn whitespace_separator_end(text: &[u8], position: usize) -> usize {
    let rest = &text[position..];
    position + rest.iter().position(|&byte| !WHITESPACE[byte as usize]).unwrap_or(rest.len())
}

fn whitespace_word_end(text: &[u8], position: usize) -> usize {
    let rest = &text[position..];
    position + rest.iter().position(|&byte| WHITESPACE[byte as usize]).unwrap_or(rest.len())
}
