//! Any bytes as an archive whose checksums hold: an error or some documents, without a panic, and in
//! bounded time and memory.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use tadoc_core::archive::Archive;
use tadoc_engine::{Corpus, Level, Phase};

/// No more text than this is asked for: an archive may be right that it holds exabytes.
const ENOUGH: u64 = 4 << 20;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    tadoc_testing::mend_checksums(&mut bytes);
    let path = tadoc_fuzz::scratch("archive.tdc");
    std::fs::write(&path, &bytes).expect("a scratch file");
    let Ok(archive) = Archive::open(&path) else { return };
    let _ = archive.info();
    let _ = archive.check_sections();
    let documents = archive.documents();
    for (number, segment) in archive.summary().segments.iter().enumerate().take(4) {
        if let Ok(grammar) = archive.grammar(number) {
            let _ = (grammar.depth(), grammar.rule_weights(|_| 1));
            assert!(grammar.expand(grammar.root()).take(1000).all(|t| t < grammar.token_count()));
        }
        let Ok(dictionary) = archive.dictionary(number) else { continue };
        for token in (0..dictionary.token_count()).take(20) {
            let _ = (dictionary.form_of_token(token), dictionary.token(token));
        }
        for word in (0..dictionary.word_count()).take(20) {
            let _ = dictionary.tokens_of_word(word);
            if let Ok(bytes) = dictionary.word(word) {
                let _ = dictionary.find_word(&bytes);
            }
        }
        let _ = dictionary.find_word(b"word");
        if segment.text_bytes <= ENOUGH
            && let Ok(tokens) = dictionary.tokens(segment.text_bytes)
        {
            assert_eq!(tokens.len(), dictionary.token_count() as usize);
        }
    }
    if documents.is_err() || archive.summary().text_bytes > ENOUGH {
        return;
    }
    let corpus = Corpus::open(&path).expect("it was opened before");
    let verified = corpus.verify(&|_: Phase, done: u64, _: u64| match done {
        0..=ENOUGH => ControlFlow::Continue(()),
        _ => panic!("more text than was recorded"),
    });
    let mut text = Vec::new();
    let all: Vec<usize> = (0..corpus.documents().expect("read before").len()).collect();
    let written = corpus.write_documents(&all, &mut text, &());
    let copy = tadoc_fuzz::scratch("copy.tdc");
    let transcoded = tadoc_engine::transcode(&path, &copy, Level::Fast, true, &());
    if verified.is_ok() {
        written.expect("what is verified can be read");
        transcoded.expect("what is verified can be transcoded");
        let mut again = Vec::new();
        let copy = Corpus::open(&copy).expect("a whole archive");
        copy.write_documents(&all, &mut again, &()).expect("a whole archive");
        assert!(text == again, "transcoded, it is another text");
    }
});
