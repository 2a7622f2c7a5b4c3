//! Texts without white space and words of any length: cut into batches, the same from a file, a stream and
//! memory, and with the oracle's words.

use std::collections::BTreeMap;
use std::path::Path;

use tadoc_core::{Limits, Task};
use tadoc_engine::{CompressOptions, Corpus, Error, Input, Lexer, Source, Split};
use tadoc_testing::archives::oracle_lexer;

use super::support::{Cell, Question, plain_view, rows};

/// Longer than a batch, and no multiple of one.
const BYTES: usize = 8_500_001;

/// Texts that have no line feed and no space for megabytes.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let fill =
        |pattern: &[u8]| -> Vec<u8> { pattern.iter().copied().cycle().take(BYTES).collect() };
    let mut random = tadoc_oracle::Random::new(8);
    let blob: Vec<u8> = (0..BYTES).map(|_| b'a' + random.below(26) as u8).collect();
    let characters = ['é', 'ß', 'ж', '漢', '\u{301}', '\u{10400}', '。', 'x'];
    let mut mixed = String::new();
    while mixed.len() < BYTES {
        // Letters, with a character of another kind now and then.
        let kinds = if random.below(10_000) == 0 { 8 } else { 3 };
        mixed.push(characters[random.below(kinds) as usize]);
    }
    vec![
        ("zeros", fill(b"\0")),
        ("one letter", fill(b"a")),
        ("blob", blob),
        ("mixed", mixed.into_bytes()),
        ("commas", fill(b"alpha,beta;gamma\tdelta,")),
        ("invalid", fill(b"\x80\xff\xe2\x82")),
        ("two lines", [fill(b"x"), b"\n".to_vec(), fill(b"y")].concat()),
    ]
}

/// Compresses one document, and tells what it has of each word.
fn counted(source: Source, lexer: Lexer, path: &Path) -> BTreeMap<Vec<u8>, u64> {
    let options = CompressOptions { lexer, force: true, ..Default::default() };
    tadoc_engine::compress(vec![Input::new("text", source)], path, &options, &()).unwrap();
    let corpus = Corpus::open(path).unwrap();
    corpus.verify(&()).unwrap();
    let view = plain_view(path);
    let answered = Question::Task(Task::Sort).ask(&view, &Limits::default()).unwrap();
    let found = rows(&*answered.answer, &view, &[]);
    found
        .into_iter()
        .map(|row| match &row[..] {
            [Cell::Text(word), Cell::Count(count)] => (word.clone(), *count),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn texts_without_white_space_have_the_words_of_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("a.tdc"), folder.path().join("text"));
    for (name, text) in texts() {
        std::fs::write(&file, &text).unwrap();
        for lexer in [Lexer::Words, Lexer::Whitespace] {
            let mut expected: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for word in tadoc_oracle::words(oracle_lexer(lexer), &text) {
                *expected.entry(text[word].to_vec()).or_default() += 1;
            }
            let from = file.clone();
            let open: tadoc_engine::compress::Opener =
                Box::new(move || Ok(Box::new(std::fs::File::open(from)?)));
            let sources = [Source::File(file.clone()), Source::Stream(file.clone(), open)];
            for source in sources {
                let found = counted(source, lexer, &path);
                assert!(found == expected, "{name} {lexer:?}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_show_in_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, &texts()[3].1).unwrap();
    let archives = [1, 2, 5].map(|threads| {
        let path = folder.path().join(format!("{threads}.tdc"));
        let options = CompressOptions { threads: Some(threads), ..Default::default() };
        let inputs = vec![Input::new("text", Source::File(file.clone()))];
        tadoc_engine::compress(inputs, &path, &options, &()).unwrap();
        std::fs::read(path).unwrap()
    });
    assert!(archives.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn long_lines_are_whole_documents_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("a.tdc"), folder.path().join("text"));
    let line = vec![b'x'; BYTES];
    let text = [b"first\n", &line[..], b"\nlast"].concat();
    std::fs::write(&file, &text).unwrap();
    let compressed = |memory: Option<u64>, path: &Path| {
        let options = CompressOptions { split: Split::Lines, memory, ..Default::default() };
        let inputs = vec![Input::new("text", Source::File(file.clone()))];
        tadoc_engine::compress(inputs, path, &options, &())
    };
    compressed(Some(1 << 30), &path).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    assert_eq!(corpus.verify(&()).unwrap().documents, 3);
    let lengths: Vec<u64> =
        corpus.documents().unwrap().iter().map(|document| document.bytes).collect();
    assert_eq!(lengths, [6, BYTES as u64 + 1, 4]);
    // An eighth of the memory is allowed, which is more than the line has, and then less.
    compressed(Some(256 << 20), &folder.path().join("b.tdc")).unwrap();
    std::fs::write(&file, vec![b'x'; 48 << 20]).unwrap();
    let refused = compressed(Some(256 << 20), &folder.path().join("c.tdc"));
    assert!(matches!(refused, Err(Error::LongLine { .. })), "{refused:?}");
    assert!(!folder.path().join("c.tdc").exists());
}
