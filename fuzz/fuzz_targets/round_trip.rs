//! Small documents of any bytes, with any options: they come back as they were.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tadoc_engine::{Builder, CompressOptions, Corpus, Input, Level, Lexer, Source, Split};

/// Starts a new document; a byte that is in no UTF-8.
const BORDER: u8 = 0xF5;

fuzz_target!(|data: &[u8]| {
    let [choice, text @ ..] = data else { return };
    let bit = |number: u8| choice >> number & 1 == 1;
    let level = |dense: bool| if dense { Level::Dense } else { Level::Fast };
    let options = CompressOptions {
        lexer: if bit(0) { Lexer::Whitespace } else { Lexer::Words },
        builder: if bit(1) { Builder::Sequitur } else { Builder::RePair },
        level: level(bit(2)),
        split: if bit(3) { Split::Lines } else { Split::Files },
        threads: Some(1),
        // As little as possible, for a segment a document; or as much as one needs.
        memory: Some(if bit(4) { 144 << 20 } else { 1 << 30 }),
        force: true,
        ..CompressOptions::default()
    };
    let documents: Vec<&[u8]> = text.split(|&byte| byte == BORDER).collect();
    let path = tadoc_fuzz::scratch("round_trip.tdc");
    let input = |(number, bytes): (usize, &&[u8])| {
        Input::new(format!("{number:04}"), Source::Bytes(bytes.to_vec()))
    };
    let inputs = documents.iter().enumerate().map(input).collect();
    tadoc_engine::compress(inputs, &path, &options, &()).expect("it can be compressed");
    let restored = restore(&path);
    if options.split == Split::Files {
        assert!(restored == documents, "other documents");
    } else {
        assert!(restored.concat() == documents.concat(), "other lines");
        assert!(
            restored.iter().all(
                |line| !line.is_empty() && line.iter().rev().skip(1).all(|&byte| byte != b'\n')
            )
        );
    }
    Corpus::open(&path).expect("an archive").verify(&()).expect("a whole archive");
    if !bit(5) {
        return;
    }
    let copy = tadoc_fuzz::scratch("copy.tdc");
    tadoc_engine::transcode(&path, &copy, level(!bit(2)), true, &()).expect("it can be transcoded");
    assert!(restore(&copy) == restored, "transcoded, it is another text");
});

fn restore(path: &std::path::Path) -> Vec<Vec<u8>> {
    let corpus = Corpus::open(path).expect("an archive");
    let content = |number: usize| {
        let mut bytes = Vec::new();
        corpus.write_documents(&[number], &mut bytes, &()).expect("a document");
        bytes
    };
    (0..corpus.documents().expect("documents").len()).map(content).collect()
}
