//! Documents that go on in other segments: their lines are whole, and numbered on.

use std::path::Path;

use tadoc_engine::access::Index;
use tadoc_engine::grep::{Pattern, Syntax};
use tadoc_engine::{Builder, Lexer};
use tadoc_oracle::Document;

use super::plain::expected;
use tadoc_testing::archives::{compress, least_memory};

use super::support::{all_options, search};

/// Text that is cut is cut after so many bytes.
const BATCH: usize = 8 << 20;

/// A text, and then lines or no lines until it is so long.
fn stretched(text: &str, length: usize, line: &str) -> Vec<u8> {
    let mut text = text.as_bytes().to_vec();
    let missing = length - text.len();
    text.extend(line.as_bytes().iter().cycle().take(missing));
    text
}

#[test]
fn documents_that_go_on_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.tdc");
    let least = least_memory(&path);
    let many = "x\n".to_owned() + &" ".repeat(99_998) + "\n";
    let documents: Vec<Document> = [
        b"to be\nor not\n".to_vec(),
        [
            stretched("to be\n", BATCH - 2, &many),
            // Cut in the middle of a line, and then a segment without any newline.
            stretched("that is\nthe ", BATCH, " "),
            stretched("question", BATCH + 100, " "),
            b"whether\ntis nobler\nin the mind".to_vec(),
        ]
        .concat(),
        Vec::new(),
        [stretched("no newline at all ", BATCH, " "), b"in the mind".to_vec()].concat(),
        [stretched("a NUL far behind\n", BATCH, &many), b"\n\0 the mind\n".to_vec()].concat(),
        b"the end".to_vec(),
    ]
    .into_iter()
    .enumerate()
    .map(|(number, text)| (number.to_string(), text))
    .collect();
    let segments = compress(&documents, &path, Lexer::Words, Builder::RePair, Some(least)).unwrap();
    assert!(segments >= 6, "{segments} segments");
    check(&path, &documents);
    tadoc_engine::access::store(&path, Index::Small, &()).unwrap();
    check(&path, &documents);
}

fn check(path: &Path, documents: &[Document]) {
    for text in ["the", "to be", "that is", "mind$", "question +whether$", "^$", "x", r"^\s+$"] {
        let pattern = Pattern::new(&[text], Syntax::default()).unwrap();
        let regex = regex::bytes::Regex::new(text).unwrap();
        for (number, options) in all_options().into_iter().enumerate() {
            let found = search(path, &pattern, &options, 1 + number % 2);
            assert!(found == expected(documents, &regex, &options), "{text:?} {options:?}");
        }
    }
}
