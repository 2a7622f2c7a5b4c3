//! The oracle's cases and random texts.

use proptest::prelude::*;
use tadoc_engine::access::Index;
use tadoc_engine::grep::{Case, Pattern, Syntax};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::{Document, cases};

use super::plain::expected;
use tadoc_testing::archives::{compress, sorted};

use super::support::{Event, all_options, search, search_as_chosen, search_some};

/// Patterns of all kinds, and what is to be made of them for the plain program.
const PATTERNS: &[&str] = &[
    "the",
    "be or",
    "a",
    "",
    "^",
    "$",
    "^$",
    "x*",
    r"\bto\b",
    r"[A-Z][a-z]+",
    r"[0-9]{2,}",
    r"\w+\s\w+$",
    r"^\s",
    r"\W\W",
    r"(?i)THE|QUESTION",
    r"[^a-z]e",
    r"\pL\pN",
    r"(?-u:[\x80-\xff])",
    r".{20}",
    r"\r$",
    r"e.*e.*e",
    r"\B[aeiou]\B",
    r"[\u{3040}-\u{30ff}]",
    "zzzzzz",
];

/// Every pattern, each with some of the options, so that all of these come up with patterns of all kinds.
fn check(documents: &[Document], path: &std::path::Path, patterns: &[&str], what: &str) {
    let documents = sorted(documents);
    for (place, text) in patterns.iter().enumerate() {
        let pattern = Pattern::new(&[text], Syntax::default()).unwrap();
        let regex = regex::bytes::Regex::new(text).unwrap();
        for (number, options) in all_options().into_iter().enumerate().skip(place % 3).step_by(3) {
            let threads = 1 + number % 2;
            let found = search(path, &pattern, &options, threads);
            let expected = expected(&documents, &regex, &options);
            if found != expected {
                let place = found.iter().zip(&expected).position(|(left, right)| left != right);
                let place = place.unwrap_or(found.len().min(expected.len()));
                panic!(
                    "{what} {text:?} {options:?}: at {place} {:?}, expected {:?}",
                    found.get(place),
                    expected.get(place)
                );
            }
        }
    }
}

#[test]
fn every_case_equals_the_plain_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    for case in cases() {
        for (lexer, builder) in
            [(Lexer::Words, Builder::RePair), (Lexer::Whitespace, Builder::Sequitur)]
        {
            compress(&case.documents, &path, lexer, builder, None).unwrap();
            // Decoded, and mapped from an index.
            if lexer == Lexer::Whitespace {
                tadoc_engine::access::store(&path, Index::Fast, &()).unwrap();
            }
            check(&case.documents, &path, PATTERNS, &format!("{} {lexer:?}", case.name));
        }
    }
}

/// Texts of a few words, bytes and newlines, so that passages come again and lines end anywhere.
fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![&b"ab"[..], b" ab", b"abab", b"ba ", b"b", b"\xc3\xa9a", b"a\xff"])
            .prop_map(<[u8]>::to_vec),
        2 => Just(b"\n".to_vec()),
        1 => Just(b"\n\n ".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => prop::collection::vec(prop::sample::select(b"ab \n".to_vec()), 0..40),
    ];
    let text = prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat());
    let repeated = (text, 1_usize..4).prop_map(|(text, times)| text.repeat(times));
    prop::collection::vec(repeated, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_texts_equal_the_plain_program(texts in texts(), sequitur in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("case.tdc");
        let documents: Vec<Document> =
            texts.into_iter().enumerate().map(|(number, text)| (number.to_string(), text)).collect();
        let builder = if sequitur { Builder::Sequitur } else { Builder::RePair };
        compress(&documents, &path, Lexer::Words, builder, None).unwrap();
        let patterns = [
            "ab", "ba ab", "^ab", "ab$", r"\bab\b", r"\Ba", "(ab)+b", "a.b", "^$", "[^a]b", "\u{e9}",
            r"(?-u)\xff", "b{2}", "(a|b)*a(a|b){9}",
        ];
        check(&documents, &path, &patterns, "random");
    }
}

#[test]
fn flags_change_the_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    let text = "Foo bar\nfoo.bar\nfoobar\n foo \nFOO\n\u{c9}t\u{e9}\nfoo+\n";
    let documents = vec![("text".to_string(), text.repeat(5).into_bytes())];
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    let syntaxes = [
        (Syntax { case: Case::Insensitive, ..Syntax::default() }, r"(?i:P)"),
        (Syntax { case: Case::Smart, ..Syntax::default() }, r"(?i:P)"),
        (Syntax { fixed: true, ..Syntax::default() }, "F"),
        (Syntax { whole_words: true, ..Syntax::default() }, r"\b{start-half}(?:P)\b{end-half}"),
        (Syntax { whole_lines: true, ..Syntax::default() }, "^(?:P)$"),
    ];
    for (syntax, plain) in syntaxes {
        for given in ["foo", "foo.", "\u{e9}t\u{e9}", "o+"] {
            let pattern = Pattern::new(&[given], syntax).unwrap();
            let plain = plain.replace('P', given).replace('F', &regex::escape(given));
            let regex = regex::bytes::Regex::new(&plain).unwrap();
            for options in all_options() {
                let expected = expected(&documents, &regex, &options);
                assert_eq!(search(&path, &pattern, &options, 2), expected, "{given} {syntax:?}");
            }
        }
    }
}

#[test]
fn some_documents_are_searched_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.tdc");
    // Each has words of its own, and one a NUL; one has long lines, and one none.
    let text = |number: u64| -> Vec<u8> {
        let word = |place: u64| match (place * 2_654_435_761 + number) % 11 {
            0 => "to be\r\n".to_owned(),
            1 if number == 3 => "a\0b ".to_owned(),
            2 => format!("\u{e9}t\u{e9} {} ", place % 7),
            other if number == 4 => format!("w{} ", place * other),
            other => format!("w{number}x{} \n", place % (other + 20)),
        };
        (0..number % 9 * 150).map(word).collect::<String>().into_bytes()
    };
    let documents: Vec<Document> =
        (0..40).map(|number| (format!("{number:02}"), text(number))).collect();
    compress(&documents, &path, Lexer::Words, Builder::RePair, None).unwrap();
    for index in [Index::None, Index::Small, Index::Fast] {
        if index != Index::None {
            tadoc_engine::access::store(&path, index, &()).unwrap();
        }
        for some in [&[3][..], &[4], &[9], &[12], &[2, 3, 30]] {
            let chosen: Vec<Document> =
                some.iter().map(|&place| documents[place].clone()).collect();
            for text in ["be", r"w3x\d+ ", r"\bw\d+\b.*7", "\u{e9}", "x$"] {
                let pattern = Pattern::new(&[text], Syntax::default()).unwrap();
                let regex = regex::bytes::Regex::new(text).unwrap();
                for options in all_options() {
                    let mut expected = expected(&chosen, &regex, &options);
                    for event in &mut expected {
                        match event {
                            Event::Line { document, .. } | Event::End(document, _) => {
                                *document = some[*document];
                            }
                            Event::Gap => {}
                        }
                    }
                    let found = search_some(&path, Some(some), &pattern, &options, 2);
                    assert!(found == expected, "{index:?} {some:?} {text:?} {options:?}");
                    let chosen = search_as_chosen(&path, some, &pattern, &options);
                    assert!(chosen == expected, "{index:?} {some:?} {text:?} {options:?}");
                }
            }
        }
    }
}
