//! Any JSON lines, as `tadoc edit` takes them: each has one result, which is one line of JSON and
//! says what a plain program says of the same operations; and the documents are then the same.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tadoc_engine::update::{BatchOptions, Operation, Outcome};
use tadoc_engine::{Corpus, Editor, Error, Lexer};
use tadoc_testing::archives::{compress_with, one_thread};
use tadoc_testing::model::Model;
use tadoc_testing::numbered;

#[path = "../../crates/cli/src/commands/batch/operation.rs"]
#[allow(dead_code)]
mod operation;
#[path = "../../crates/cli/src/commands/batch/result.rs"]
#[allow(dead_code)]
mod result;

/// More words are drawn in one operation than a fuzzer has time for.
const MOST_DRAWN: u64 = 100;

/// An archive of two documents, 0000 and 0001, and its bytes.
static BASE: LazyLock<(Model, Vec<u8>)> = LazyLock::new(|| {
    let texts = ["to be or not to be\nthat is the question\n", "the cat sat on the mat; the cat "];
    let documents = numbered(texts.map(|text| text.repeat(3).into_bytes()));
    let path = tadoc_fuzz::scratch("base.tdc");
    compress_with(&documents, &path, &one_thread());
    (Model::new(Lexer::Words, documents), std::fs::read(&path).expect("it was just made"))
});

fuzz_target!(|data: &[u8]| {
    let (base, archive) = &*BASE;
    let mut operations = Vec::new();
    for line in data.split(|&byte| byte == b'\n') {
        match operation::parse(line, operation::Taken::All) {
            Ok(Operation::Sample { count, .. }) if count > MOST_DRAWN => {}
            Ok(read) => operations.push(read),
            Err(wrong) => {
                let mut told = Vec::new();
                result::error(&mut told, &wrong);
                let told = one_line(&told);
                assert!(told["error"].as_str().is_some_and(|told| !told.is_empty()));
            }
        }
    }
    let path = tadoc_fuzz::scratch("operations.tdc");
    std::fs::write(&path, archive).expect("a scratch file");
    let editor = Editor::open(&path).expect("a whole archive");
    let mut given = Some(operations.clone());
    let mut outcomes = Vec::new();
    let ran = editor.run(&mut || Ok(given.take()), BatchOptions::default(), &mut |some| {
        outcomes.extend(some);
        Ok(())
    });
    ran.expect("every operation has an outcome of its own");
    drop(editor);
    assert_eq!(outcomes.len(), operations.len());

    let mut model = base.clone();
    for (operation, outcome) in operations.iter().zip(&outcomes) {
        one_line(&told(outcome));
        match (operation, outcome) {
            // What is drawn has tests of its own.
            (Operation::Sample { .. }, _) => {}
            // A name that cannot be a path is refused.
            (Operation::Add { .. } | Operation::Rename { .. }, Err(Error::BadName { .. })) => {}
            _ => {
                let expected = match operation.is_read() {
                    true => model.answer(operation),
                    false => model.edit(operation),
                };
                assert!(expected.is(outcome), "{operation:?}: {outcome:?}, expected {expected:?}");
            }
        }
    }
    let corpus = Corpus::open(&path).expect("an edited archive");
    let documents = corpus.documents().expect("documents");
    let names: Vec<&[u8]> = documents.iter().map(|document| &document.name[..]).collect();
    assert!(names.into_iter().eq(model.documents.keys().map(|name| name.as_bytes())));
    for (number, text) in model.documents.values().enumerate() {
        let mut found = Vec::new();
        corpus.write_documents(&[number], &mut found, &()).expect("a document");
        assert!(found == *text, "document {number} has other text");
    }
});

/// The result of an operation, as the command writes it.
fn told(outcome: &tadoc_engine::Result<Outcome>) -> Vec<u8> {
    let mut to = Vec::new();
    match outcome {
        Ok(Outcome::Bytes(bytes)) => result::bytes(&mut to, bytes),
        Ok(Outcome::Offsets(documents)) => {
            let name = |name: &Vec<u8>| name.clone();
            result::offsets_in_all(&mut to, documents, &[("documents", &name)]);
        }
        Ok(Outcome::Count(count)) => result::count(&mut to, *count),
        Ok(Outcome::Words(words)) => {
            let word = |(document, offset, word): &'_ (Vec<u8>, u64, Vec<u8>)| {
                (document.clone(), *offset, word.clone())
            };
            let words: Vec<_> = words.iter().map(word).collect();
            let words = words.iter().map(|(document, offset, word)| result::Word {
                archive: None,
                document,
                offset: *offset,
                word,
            });
            result::words(&mut to, words);
        }
        Ok(Outcome::Done) => result::done(&mut to),
        Err(error) => result::error(&mut to, &error.to_string()),
    }
    to
}

/// A result, which must be one line of JSON.
fn one_line(told: &[u8]) -> Value {
    let line = told.strip_suffix(b"\n").expect("a line ends");
    assert!(!line.contains(&b'\n'), "{}", String::from_utf8_lossy(told));
    serde_json::from_slice(line).expect("JSON")
}
