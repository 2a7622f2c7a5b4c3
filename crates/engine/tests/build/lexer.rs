//! Where text is cut into tokens.

use tadoc_engine::Lexer;
use tadoc_engine::build::lexer::{LONGEST_WORD, TokenKind};

fn lex(lexer: Lexer, text: &[u8]) -> Vec<(TokenKind, Vec<u8>)> {
    let mut tokens = Vec::new();
    let mut start = 0;
    lexer.tokens(text, |end, kind| {
        assert!(end > start, "a token is never empty");
        tokens.push((kind, text[start..end].to_vec()));
        start = end;
    });
    assert_eq!(start, text.len(), "tokens cover the text");
    tokens
}

#[test]
fn single_spaces_belong_to_the_word_behind() {
    use TokenKind::{Separator, SpacedWord, Word};
    let cut = |text: &str| -> Vec<(TokenKind, String)> {
        let tokens = lex(Lexer::Words, text.as_bytes());
        tokens.into_iter().map(|(kind, bytes)| (kind, String::from_utf8(bytes).unwrap())).collect()
    };
    let own = |tokens: &[(TokenKind, &str)]| -> Vec<(TokenKind, String)> {
        tokens.iter().map(|&(kind, text)| (kind, text.to_owned())).collect()
    };
    assert_eq!(
        cut("a b, c"),
        own(&[(Word, "a"), (SpacedWord, " b"), (Separator, ","), (SpacedWord, " c")])
    );
    assert_eq!(
        cut("a\n  b "),
        own(&[(Word, "a"), (Separator, "\n  "), (Word, "b"), (Separator, " ")])
    );
    assert_eq!(cut(" x"), own(&[(SpacedWord, " x")]));
    assert_eq!(cut("日本 語"), own(&[(Word, "日"), (Word, "本"), (SpacedWord, " 語")]));
    assert_eq!(cut(""), own(&[]));
}

#[test]
fn long_separators_are_cut_into_pieces() {
    let text = [b'-'; 300];
    let lengths: Vec<usize> =
        lex(Lexer::Words, &text).into_iter().map(|(_, bytes)| bytes.len()).collect();
    assert_eq!(lengths, [128, 128, 44]);
}

#[test]
fn long_words_are_cut_between_characters() {
    let lengths = |lexer, text: &[u8]| -> Vec<usize> {
        lex(lexer, text).into_iter().map(|(_, bytes)| bytes.len()).collect()
    };
    for lexer in [Lexer::Words, Lexer::Whitespace] {
        let most = LONGEST_WORD;
        assert_eq!(lengths(lexer, &vec![b'a'; most]), [most]);
        assert_eq!(lengths(lexer, &vec![b'a'; 2 * most + 5]), [most, most, 5]);
        // A space before the word is no part of it.
        assert_eq!(lengths(lexer, &[b" ", &vec![b'a'; most + 1][..]].concat()), [most + 1, 1]);
        let text = format!("x{}", "é".repeat(most));
        assert_eq!(lengths(lexer, text.as_bytes()), [most - 1, most, 2]);
        let text = format!("xx{}", "\u{10400}".repeat(most / 4));
        assert_eq!(lengths(lexer, text.as_bytes()), [most - 2, 4]);
    }
    // Bytes that are no text are cut anywhere.
    assert_eq!(lengths(Lexer::Whitespace, &vec![0x80; LONGEST_WORD + 2]), [LONGEST_WORD, 2]);
}

#[test]
fn text_may_be_cut_before_its_last_token() {
    let mut texts = vec![
        "one two, three".repeat(3).into_bytes(),
        "日本語のテキスト。".repeat(4).into_bytes(),
        "Привет—мир".repeat(3).into_bytes(),
        "漢\u{301}\u{301}abc \u{1F469}\u{200d}x".repeat(3).into_bytes(),
        b"a\xff\xfeb\xe2\x82 c\xc3".repeat(5),
        b",;,;a b  c\n\n d".repeat(3),
    ];
    texts.push([&vec![b'a'; LONGEST_WORD - 2][..], "\u{301}\u{301}é".as_bytes()].concat());
    for text in &texts {
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let words = |text: &[u8]| -> Vec<Vec<u8>> {
                let words = lex(lexer, text).into_iter();
                let words = words.filter(|(kind, _)| *kind != TokenKind::Separator);
                words
                    .map(|(kind, bytes)| {
                        bytes[usize::from(kind == TokenKind::SpacedWord)..].to_vec()
                    })
                    .collect()
            };
            let first = text.len().saturating_sub(60);
            for end in first..=text.len() {
                let Some(cut) = lexer.last_token_start(&text[..end]) else { continue };
                let apart = [words(&text[..cut]), words(&text[cut..])].concat();
                assert_eq!(apart, words(text), "{lexer:?} {end} {cut}");
            }
        }
    }
    assert_eq!(Lexer::Words.last_token_start(b"abc"), None);
    assert_eq!(Lexer::Words.last_token_start(b"abc "), Some(3));
}

#[test]
fn cuts_never_split_a_word() {
    let text = b"one two\nthree";
    assert_eq!(Lexer::Words.safe_cut(text, 1), Some(4));
    assert_eq!(Lexer::Words.safe_cut(text, 5), Some(8));
    assert_eq!(Lexer::Words.safe_cut(text, 9), None);
}

#[test]
fn scripts_without_spaces_stand_alone() {
    use TokenKind::Word;
    for text in ["中", "あ", "ア", "ก", "ກ", "ក", "က"] {
        let twice = lex(Lexer::Words, text.repeat(2).as_bytes());
        assert_eq!(twice, [(Word, text.into()), (Word, text.into())], "{text}");
    }
    for text in ["é", "Ж", "한", "ع"].map(|text| text.repeat(2)) {
        assert_eq!(lex(Lexer::Words, text.as_bytes()), [(Word, text.clone().into())], "{text}");
    }
}
