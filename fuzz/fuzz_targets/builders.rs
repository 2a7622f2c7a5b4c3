//! Token sequences over few tokens: every builder's grammar expands to them, keeps the builders'
//! contract, and is the same after a way through an archive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tadoc_core::archive::dictionary::{Entry, Forms};
use tadoc_core::archive::{Archive, ArchiveWriter, DocumentTable, EncodedSegment, Summary};
use tadoc_core::{Grammar, TokenSequence};
use tadoc_engine::build::builder::{CancelFlag, GrammarBuilder};
use tadoc_engine::build::repair::RePair;
use tadoc_engine::build::sequitur::Sequitur;
use tadoc_engine::{Document, Level, SegmentInfo};

/// Starts a new document.
const BORDER: u8 = 0xFF;

fuzz_target!(|data: &[u8]| {
    let [alphabet, line_ends, tokens @ ..] = data else { return };
    let sequence = sequence(u32::from(alphabet % 16) + 1, tokens);
    let line_ends = (0..sequence.token_count).map(|token| line_ends >> (token % 8) & 1 == 1);
    check(&RePair::new(line_ends.collect()), &sequence);
    check(&RePair::default(), &sequence);
    check(&Sequitur, &sequence);
});

/// Documents of tokens below `alphabet`, numbered anew so that every number is used.
fn sequence(alphabet: u32, bytes: &[u8]) -> TokenSequence {
    let mut sequence = TokenSequence { document_starts: vec![0], ..Default::default() };
    let mut numbers = vec![None; alphabet as usize];
    for document in bytes.split(|&byte| byte == BORDER) {
        for &byte in document {
            let number = &mut numbers[(u32::from(byte) % alphabet) as usize];
            sequence.tokens.push(*number.get_or_insert_with(|| {
                sequence.token_count += 1;
                sequence.token_count - 1
            }));
        }
        sequence.document_starts.push(sequence.tokens.len() as u32);
    }
    sequence
}

fn check(builder: &dyn GrammarBuilder, sequence: &TokenSequence) {
    let grammar = builder.build(sequence.clone(), &CancelFlag::default()).expect("not cancelled");
    assert_eq!(grammar.token_count(), sequence.token_count);
    assert_eq!(grammar.document_count(), sequence.document_count());
    for (number, range) in sequence.document_starts.windows(2).enumerate() {
        let expected = &sequence.tokens[range[0] as usize..range[1] as usize];
        let expanded: Vec<u32> = grammar.expand(grammar.document(number)).collect();
        assert_eq!(expanded, expected, "document {number}");
    }
    let mut uses = vec![0; grammar.rule_count() as usize];
    for rule in grammar.symbols().iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
        uses[rule as usize] += 1;
    }
    for rule in 0..grammar.rule_count() {
        assert!(grammar.body(rule).len() >= 2 && uses[rule as usize] >= 2, "rule {rule}");
    }
    assert_eq!(through_archive(&grammar), grammar);
}

/// The grammar, encoded and decoded. Every token is a word of four bytes.
fn through_archive(grammar: &Grammar) -> Grammar {
    let words: Vec<String> =
        (0..grammar.token_count()).map(|token| format!("{token:04}")).collect();
    let words: Vec<Entry<'_>> =
        words.iter().map(|word| Entry { bytes: word.as_bytes(), forms: Forms::Bare }).collect();
    let lengths = grammar.rule_weights(|_| 4).expect("short lengths");
    let bytes = |symbols: &[u32]| -> u64 {
        let length =
            |&symbol: &u32| grammar.rule_of(symbol).map_or(4, |rule| lengths[rule as usize]);
        symbols.iter().map(length).sum()
    };
    let documents: Vec<Document> = (0..grammar.document_count())
        .map(|number| Document {
            name: format!("{number:08}").into_bytes(),
            bytes: bytes(grammar.document(number)),
            modified: None,
            mode: None,
        })
        .collect();
    let count = documents.len() as u64;
    let text_bytes = bytes(grammar.root());
    let segment = SegmentInfo {
        first_document: 0,
        documents: count,
        text_bytes,
        tokens: text_bytes / 4,
        token_types: grammar.token_count().into(),
        words: grammar.token_count().into(),
        rules: grammar.rule_count().into(),
        symbols: grammar.symbols().len() as u64,
        root_symbols: grammar.root().len() as u64,
        depth: grammar.depth().into(),
    };
    let summary =
        Summary { documents: count, text_bytes, segments: vec![segment], ..Default::default() };
    // Without digests: reading the documents is not what this is about.
    let table = DocumentTable { documents, digests: Vec::new() };
    let path = tadoc_fuzz::scratch("builders.tdc");
    let mut writer = ArchiveWriter::create(&path).expect("a scratch file");
    let encoded = EncodedSegment::new(grammar, &words, &[], Level::Fast);
    writer.add_segment(&encoded).expect("a segment");
    writer.finish(&table, &summary, true).expect("an archive");
    Archive::open(&path).expect("a whole archive").grammar(0).expect("a whole grammar")
}
