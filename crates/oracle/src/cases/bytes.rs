//! Cases about bytes: nothing at all, separators only, NULs, line ends, and bytes that are not
//! UTF-8.

use super::Case;
use crate::Random;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = empty();
    cases.extend(separators());
    cases.extend(line_ends());
    cases.extend(binary());
    cases.extend(not_utf8());
    cases
}

/// No documents, documents without bytes, and empty ones between others: a document must not get
/// lost for having no symbols.
fn empty() -> Vec<Case> {
    vec![
        Case::new("empty-corpus", Vec::new()),
        Case::single("empty-document", ""),
        Case::numbered("empty-documents", vec![Vec::new(); 5]),
        Case::numbered(
            "empty-between",
            ["", "one two", "", "", "one two", ""].map(|text| text.as_bytes().to_vec()),
        ),
        Case::single("one-byte", "a"),
        Case::single("one-newline", "\n"),
        Case::single("one-word", "word"),
    ]
}

/// Text without words, and words with more between them than one space. The long runs pass the
/// 4 kB at which a lexer may want to split them.
fn separators() -> Vec<Case> {
    let run = |byte: u8| {
        let mut bytes = b"before ".to_vec();
        bytes.extend([byte].repeat(5000));
        bytes.extend(b" middle ");
        bytes.extend([byte].repeat(5000));
        bytes.extend(b" middle");
        bytes.extend([byte].repeat(4999));
        bytes
    };
    vec![
        Case::single("only-separators", " \t\r\n\u{b}\u{c}.,;:-()".repeat(40)),
        Case::single("only-spaces", " ".repeat(1000)),
        Case::single("blank-lines", "\n".repeat(3000)),
        Case::single("long-run-of-nuls", run(0)),
        Case::single("long-run-of-dashes", run(b'-')),
        Case::single("long-run-of-spaces", run(b' ')),
        Case::single(
            "double-spaces",
            "two  spaces   three\ttab\t\ttabs \t mixed trailing \t\n  indented  line  \n"
                .repeat(30),
        ),
        Case::numbered(
            "leading-and-trailing-spaces",
            [" a b", "a b ", " a b ", "  a  b  ", "a b", "\ta b\t", " ", "\n a b\n "]
                .map(|text| text.as_bytes().to_vec()),
        ),
        Case::single("no-final-newline", "alpha beta\ngamma delta\nalpha beta\ngamma"),
    ]
}

/// The same lines with each way to end them.
fn line_ends() -> Vec<Case> {
    let line = "the quick brown fox jumps over the lazy dog";
    let ends = ["\n", "\r\n", "\r", "\n\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}"];
    let mut random = Random::new(1);
    let mixed: String = (0..300).map(|_| format!("{line}{}", random.choose(&ends))).collect();
    vec![
        Case::single("crlf", format!("{line}\r\n").repeat(200)),
        Case::single("cr", format!("{line}\r").repeat(200)),
        Case::single("mixed-line-ends", mixed),
        Case::numbered(
            "cut-between-cr-and-lf",
            ["one line\r", "\nnext line\r\n", "\r\n", "\n\r"].map(|text| text.as_bytes().to_vec()),
        ),
    ]
}

/// Bytes that no text has.
fn binary() -> Vec<Case> {
    let mut random = Random::new(2);
    let nuls: Vec<u8> =
        (0..800).flat_map(|index| format!("word\0{} next\0\0 ", index % 7).into_bytes()).collect();
    let noise: Vec<u8> = (0..20_000).map(|_| random.below(256) as u8).collect();
    let controls: Vec<u8> =
        (1..32_u8).flat_map(|byte| [byte, b'w', b' ', byte, byte, b'\n']).collect();
    let all: Vec<u8> = (0..=255).collect();
    vec![
        Case::single("nuls", nuls),
        Case::single("only-nuls", vec![0; 3000]),
        Case::single("random-bytes", noise),
        Case::single("control-characters", controls.repeat(10)),
        Case::single("all-bytes", all.repeat(8)),
        Case::numbered("each-byte", (0..=255).map(|byte| vec![byte])),
        Case::numbered("each-byte-between-letters", (0..=255).map(|byte| vec![b'a', byte, b'b'])),
    ]
}

/// Broken UTF-8 and other encodings, whose bytes must come back and must separate words.
fn not_utf8() -> Vec<Case> {
    let broken: [&[u8]; 16] = [
        b"\x80",
        b"\xBF\xBF",
        b"\xC3",
        b"\xE4\xB8",
        b"\xF0\x9F\x98",
        b"\xC0\xAF",
        b"\xC1\xA1",
        b"\xE0\x81\xA1",
        b"\xF0\x80\x81\xA1",
        b"\xED\xA0\x80",
        b"\xED\xBF\xBF",
        b"\xED\xA0\xBD\xED\xB8\x80",
        b"\xF4\x90\x80\x80",
        b"\xF8\x88\x80\x80\x80",
        b"\xFC\x84\x80\x80\x80\x80",
        b"\xFE\xFF",
    ];
    let line = |bytes: &[u8]| {
        let parts: [&[u8]; 9] =
            [b"ok ", bytes, b" x", bytes, b"y ", bytes, "中".as_bytes(), bytes, b"\xCC\x81\n"];
        parts.concat()
    };
    let all: Vec<u8> = broken.iter().flat_map(|bytes| line(bytes)).collect();
    let truncated = "fin Straße 中文 😀".as_bytes();
    let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let text = "\u{feff}Ein kleiner Text, ein kleiner Text: 中文 😀 naïve\r\n".repeat(6);
        text.encode_utf16().flat_map(order).collect()
    };
    let latin1: Vec<u8> = "naïve café Übergröße ÿ þorn «naïve café» \u{a0}Ünïcödé\n"
        .chars()
        .map(|c| c as u8)
        .collect();
    // "日本語の文章 表示 ソース", some of whose second bytes are backslashes and letters.
    let shift_jis = b"\x93\xFA\x96\x7B\x8C\xEA\x82\xCC\x95\xB6\x8F\xCD \x95\x5C\x8E\xA6 \
        \x83\x5C\x81\x5B\x83\x58\n";
    vec![
        Case::single("invalid-utf8", all.repeat(4)),
        Case::numbered("invalid-utf8-each", broken.iter().map(|bytes| line(bytes))),
        // Every cut through a text, so that some documents end inside of a character.
        Case::numbered(
            "truncated-utf8",
            (0..=truncated.len()).map(|length| truncated[..length].to_vec()),
        ),
        // And the other halves, which begin inside of one.
        Case::numbered(
            "beheaded-utf8",
            (0..=truncated.len()).map(|start| truncated[start..].to_vec()),
        ),
        Case::single("utf16-little-endian", utf16(u16::to_le_bytes)),
        Case::single("utf16-big-endian", utf16(u16::to_be_bytes)),
        Case::single("latin1", latin1.repeat(20)),
        Case::single("shift-jis", shift_jis.repeat(20)),
        Case::single("utf8-with-byte-order-mark", "\u{feff}first word\nfirst word\n"),
    ]
}
