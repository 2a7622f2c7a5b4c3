//! What the words of a document are. The default lexer is one regular expression, which is the
//! definition itself; it takes time linear in the document.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// The two ways to cut a document into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lexer {
    /// Maximal runs of Unicode word characters; in scripts written without spaces, each character
    /// with the marks that follow it. Bytes that are not UTF-8 separate words.
    Words,
    /// Maximal runs of bytes other than space, `\t`, `\n`, `\v`, `\f` and `\r`.
    Whitespace,
}

impl Lexer {
    /// Both lexers.
    pub const ALL: [Lexer; 2] = [Lexer::Words, Lexer::Whitespace];
}

static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let unspaced = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}";
    Regex::new(&format!(r"[[{unspaced}]&&\w]\p{{M}}*|[\w&&[^{unspaced}]]+")).unwrap()
});

static WHITESPACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?-u)[^ \t\n\x0B\x0C\r]+").unwrap());

/// The longest word, in bytes: a longer run is cut before the character that passes it, and the next word
/// is looked for behind the cut.
pub const LONGEST_WORD: usize = 65_536;

/// The byte ranges of the words of a document, ascending.
pub fn words(lexer: Lexer, bytes: &[u8]) -> Vec<Range<usize>> {
    let regex = match lexer {
        Lexer::Words => &WORDS,
        Lexer::Whitespace => &WHITESPACE,
    };
    let mut words = Vec::new();
    let mut from = 0;
    while let Some(found) = regex.find(&bytes[from..]) {
        let (start, mut end) = (from + found.start(), from + found.end());
        if end - start > LONGEST_WORD {
            end = start + LONGEST_WORD;
            // Bytes 10xxxxxx go on with a character. A run of four has none that starts with it.
            let inside = |place: usize| bytes[place] & 0b1100_0000 == 0b1000_0000;
            let before = (0..4).find(|back| !inside(end - back));
            end -= before.unwrap_or(0);
        }
        words.push(start..end);
        from = end;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(lexer: Lexer, bytes: &[u8]) -> Vec<&[u8]> {
        words(lexer, bytes).into_iter().map(|range| &bytes[range]).collect()
    }

    /// The words of valid text, by the default lexer.
    fn cut_text(text: &str) -> Vec<&str> {
        let cut = cut(Lexer::Words, text.as_bytes());
        cut.into_iter().map(|word| std::str::from_utf8(word).unwrap()).collect()
    }

    #[test]
    fn ranges_are_byte_offsets() {
        assert_eq!(words(Lexer::Words, "é, b".as_bytes()), [0..2, 4..5]);
        assert_eq!(words(Lexer::Whitespace, "é, b".as_bytes()), [0..3, 4..5]);
        assert!(words(Lexer::Words, b"").is_empty());
        assert!(words(Lexer::Whitespace, b" \n").is_empty());
    }

    #[test]
    fn long_runs_are_cut() {
        let run = "a".repeat(LONGEST_WORD) + "bc d";
        let word = LONGEST_WORD;
        for lexer in Lexer::ALL {
            assert_eq!(words(lexer, run.as_bytes()), [0..word, word..word + 2, word + 3..word + 4]);
            let run = format!("a{}", "é".repeat(word));
            let ends: Vec<usize> =
                words(lexer, run.as_bytes()).into_iter().map(|range| range.end).collect();
            assert_eq!(ends, [word - 1, 2 * word - 1, 2 * word + 1]);
        }
    }

    #[test]
    fn runs_of_word_characters() {
        assert_eq!(cut_text("It's 3.14_a-b\u{a0}c"), ["It", "s", "3", "14_a", "b", "c"]);
        assert_eq!(cut_text("naïve Straße Привет мир"), ["naïve", "Straße", "Привет", "мир"]);
        assert_eq!(cut_text("한국어 العربية हिन्दी"), ["한국어", "العربية", "हिन्दी"]);
    }

    #[test]
    fn marks_and_joiners_belong_to_the_run() {
        assert_eq!(cut_text("cafe\u{301} x"), ["cafe\u{301}", "x"]);
        // A mark is a word character, so one that follows a separator is a word.
        assert_eq!(cut_text("- \u{301}"), ["\u{301}"]);
        // The zero width joiner is a word character and an emoji is not.
        assert_eq!(cut_text("👩\u{200d}👧"), ["\u{200d}"]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_by_character() {
        assert_eq!(cut_text("中文abc日本"), ["中", "文", "abc", "日", "本"]);
        assert_eq!(cut_text("第3章"), ["第", "3", "章"]);
        assert_eq!(cut_text("ひらカナ"), ["ひ", "ら", "カ", "ナ"]);
        // Voiced sound mark, written apart from its letter.
        assert_eq!(cut_text("か\u{3099}き"), ["か\u{3099}", "き"]);
        assert_eq!(cut_text("ที่นี่"), ["ที่", "นี่"]);
        assert_eq!(cut_text("ຢູ່"), ["ຢູ່"]);
        assert_eq!(cut_text("ខ្មែរ"), ["ខ្", "មែ", "រ"]);
        assert_eq!(cut_text("မြန်မာ"), ["မြ", "န်", "မာ"]);
        // Punctuation of such a script is no word character.
        assert_eq!(cut_text("中。〆"), ["中", "〆"]);
    }

    #[test]
    fn a_mark_of_an_unspaced_script_leaves_the_run_before_it() {
        assert_eq!(cut_text("ab\u{e31}\u{e48}cd"), ["ab", "\u{e31}\u{e48}", "cd"]);
        // A mark that no script owns stays with what is before it.
        assert_eq!(cut_text("中\u{308}a\u{308}"), ["中\u{308}", "a\u{308}"]);
    }

    #[test]
    fn the_long_vowel_mark_belongs_to_no_script() {
        // U+30FC is shared by two scripts, so its script is Common and it forms runs.
        assert_eq!(cut_text("サーバー"), ["サ", "ー", "バ", "ー"]);
        assert_eq!(cut_text("ラーabc"), ["ラ", "ーabc"]);
    }

    #[test]
    fn bytes_that_are_not_utf8_separate_words() {
        let invalid: [&[u8]; 14] = [
            b"\x80",             // a continuation alone
            b"\xBF\xBF",         // two of them
            b"\xC3",             // two-byte sequence cut short
            b"\xE4\xB8",         // three-byte sequence cut short
            b"\xF0\x9F\x98",     // four-byte sequence cut short
            b"\xC0\xAF",         // overlong, two bytes
            b"\xC1\xA1",         // overlong letter a
            b"\xE0\x81\xA1",     // overlong letter a, three bytes
            b"\xF0\x80\x81\xA1", // overlong letter a, four bytes
            b"\xED\xA0\x80",     // high surrogate
            b"\xED\xBF\xBF",     // low surrogate
            b"\xF4\x90\x80\x80", // past U+10FFFF
            b"\xF8\x88\x80\x80\x80",
            b"\xFE\xFF",
        ];
        for bytes in invalid {
            let text = [b"ab", bytes, b"cd \xE4\xB8\xAD", bytes, b"\xCC\x88 ", bytes].concat();
            assert_eq!(
                cut(Lexer::Words, &text),
                [&b"ab"[..], b"cd", b"\xE4\xB8\xAD", b"\xCC\x88"],
                "{bytes:02x?}"
            );
        }
    }

    #[test]
    fn a_letter_right_after_a_cut_sequence_is_seen() {
        // The lead byte wants two continuations; what follows is a whole character instead.
        assert_eq!(cut(Lexer::Words, b"\xE4\xC3\xA9x"), [b"\xC3\xA9x"]);
        assert_eq!(cut(Lexer::Words, b"x\xE4\xB8\xE4\xB8\xAD"), [&b"x"[..], b"\xE4\xB8\xAD"]);
    }

    #[test]
    fn whitespace_takes_any_other_byte() {
        assert_eq!(
            cut(Lexer::Whitespace, b" a,b\t\0\n\x0B\xFF\xFE\x0C\xC2\xA0\r\x85 "),
            [&b"a,b"[..], b"\0", b"\xFF\xFE", b"\xC2\xA0", b"\x85"]
        );
    }
}
