//! Any bytes: the tokens cover the text, none is empty, and their words are those of the oracle.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tadoc_engine::Lexer;
use tadoc_engine::build::lexer::TokenKind;

fuzz_target!(|text: &[u8]| {
    for (lexer, oracle) in [
        (Lexer::Words, tadoc_oracle::Lexer::Words),
        (Lexer::Whitespace, tadoc_oracle::Lexer::Whitespace),
    ] {
        let mut start = 0;
        let mut words = Vec::new();
        lexer.tokens(text, |end, kind| {
            assert!(end > start, "an empty token at {start}");
            match kind {
                TokenKind::Word => words.push(start..end),
                TokenKind::SpacedWord => {
                    assert_eq!(text[start], b' ');
                    words.push(start + 1..end);
                }
                TokenKind::Separator => {}
            }
            start = end;
        });
        assert_eq!(start, text.len(), "the tokens do not cover the text");
        assert_eq!(words, tadoc_oracle::words(oracle, text), "{lexer:?}");
        if let Some(cut) = lexer.safe_cut(text, text.len() / 2) {
            let mut apart = tadoc_oracle::words(oracle, &text[..cut]);
            let behind = tadoc_oracle::words(oracle, &text[cut..]).into_iter();
            apart.extend(behind.map(|word| word.start + cut..word.end + cut));
            assert_eq!(words, apart, "{lexer:?} cut at {cut}");
        }
    }
});
