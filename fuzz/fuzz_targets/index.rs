//! Any bytes as an archive with an index, with checksums that hold: an error or some answers, without a panic, and in
//! bounded time and memory.
#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use tadoc_engine::access::{Access, Index, Operation, Scope};
use tadoc_engine::{Analyzer, Corpus, Result};

/// No more is asked of an answer: a text may be right that it has a word 2^40 times.
const ENOUGH: usize = 1000;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    tadoc_oracle::mend_checksums(&mut bytes);
    let path = tadoc_fuzz::scratch("index.tdc");
    std::fs::write(&path, &bytes).expect("a scratch file");
    let Ok(corpus) = Corpus::open(&path) else { return };
    for index in [Index::None, Index::Small, Index::Fast] {
        let Ok(access) = Access::open(&corpus, index) else { return };
        let _ = ask(&access);
    }
});

/// Asks for all kinds of things.
fn ask(access: &Access) -> Result<()> {
    for document in (0..access.documents().len() as u32).take(4) {
        let bytes = access.documents()[document as usize].bytes;
        for offset in [0, bytes / 2, bytes.saturating_sub(20)] {
            let length = (bytes - offset).min(40);
            if let Ok(text) = access.extract(document, offset, length) {
                assert_eq!(text.len() as u64, length, "less than there is");
            }
            if let Ok(line) = access.line_of(document, offset) {
                let _ = access.line_start(document, line);
            }
        }
        let _ = access.line_count(document);
    }
    let words = access.sample(20, 7, &Scope::All)?;
    let word = words.first().map(|sampled| sampled.word.clone()).unwrap_or_default();
    for text in [&word[..], b"the", b"of the"] {
        let Ok(phrase) = access.phrase(text, &Analyzer::new()) else { continue };
        let _ = access.count_by_document(&phrase, &Scope::All);
        let mut found = 0;
        let _ = access.search(&phrase, &Scope::All, &mut |_, offsets| {
            found += offsets.len();
            if found < ENOUGH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    let _ = access.find(b"the word", &Analyzer::new(), &Scope::All, 3);
    let counts = std::iter::repeat_n(Operation::Count { document: None, phrase: word }, 70);
    let _ = access.run(&counts.collect::<Vec<_>>());
    Ok(())
}
