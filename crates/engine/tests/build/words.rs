//! From tokens to one dictionary.

use tadoc_core::archive::dictionary::Forms;
use tadoc_engine::Lexer;
use tadoc_engine::build::dictionary::MergedDictionary;
use tadoc_engine::build::interner::Interner;
use tadoc_engine::build::lexer::TokenKind;

#[test]
fn equal_tokens_have_equal_numbers() {
    let words =
        ["a", "b", "sevench", "eightchr", "a", "eightchr", "eightchs", "sevenci", "\0", "\0\0"];
    let text = words.concat();
    let mut interner = Interner::default();
    let mut start = 0;
    let numbers: Vec<u32> = words
        .iter()
        .map(|word| {
            let number =
                interner.intern(text.as_bytes(), start, start + word.len(), TokenKind::Word);
            start += word.len();
            number
        })
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3, 0, 3, 4, 5, 6, 7]);
    assert_eq!(interner.token(3), b"eightchr");
}

#[test]
fn many_tokens_survive_growth() {
    let mut interner = Interner::default();
    for round in 0..2 {
        for index in 0..50_000_u32 {
            let word = format!("word{}", index * 7919);
            let number = interner.intern(word.as_bytes(), 0, word.len(), TokenKind::Word);
            assert_eq!(number, index, "round {round}");
        }
    }
    assert_eq!(interner.len(), 50_000);
}

#[test]
fn dictionaries_of_several_threads_become_one() {
    let texts = [&b"b a\nb"[..], b"a, b c-c c"];
    let mut interners = Vec::new();
    let mut tokens = Vec::new();
    for text in texts {
        let mut interner = Interner::default();
        let mut start = 0;
        let mut numbers = Vec::new();
        Lexer::Words.tokens(text, |end, kind| {
            numbers.push(interner.intern(text, start, end, kind));
            start = end;
        });
        tokens.push(numbers);
        interners.push(interner.into_tokens());
    }
    let merged = MergedDictionary::new(&interners, |_, _| true);
    let words: Vec<(&[u8], Forms)> =
        merged.words.iter().map(|entry| (entry.bytes, entry.forms)).collect();
    assert_eq!(words, [(&b"a"[..], Forms::Both), (b"b", Forms::Both), (b"c", Forms::Both)]);
    assert_eq!(merged.separators, [&b"\n"[..], b",", b"-"]);
    assert_eq!(merged.line_ends, [false, false, false, false, false, false, true, false, false]);
    let mapped = |interner: usize| -> Vec<u32> {
        tokens[interner].iter().map(|&token| merged.numbers[interner][token as usize]).collect()
    };
    assert_eq!(mapped(0), [2, 1, 6, 2]);
    assert_eq!(mapped(1), [0, 7, 3, 5, 8, 4, 5]);
}
