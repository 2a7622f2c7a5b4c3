//! Archives of a few hundred bytes that say, or do not say, that they hold exabytes.

use std::io::Write;
use std::path::Path;

use tadoc_core::Grammar;
use tadoc_core::archive::dictionary::{Entry, Forms};
use tadoc_core::archive::{ArchiveWriter, DocumentTable, EncodedSegment, Summary};
use tadoc_engine::{Corpus, Document, Level, SegmentInfo};

/// Writes an archive of one document that is rule 0, each rule being the next one twice and the last one
/// the word `boom` twice, and that says it has `recorded` bytes.
fn write_bomb(path: &Path, rules: u32, recorded: u64) {
    let mut symbols = vec![1];
    for rule in 0..rules {
        let child = if rule + 1 == rules { 0 } else { rule + 2 };
        symbols.extend([child, child]);
    }
    let starts: Vec<u32> = (0..=rules).map(|rule| 1 + 2 * rule).collect();
    let grammar = Grammar::new(1, symbols, starts, vec![0, 1]).unwrap();
    let words = [Entry { bytes: b"boom", forms: Forms::Bare }];
    let document = Document { name: b"bomb".to_vec(), bytes: recorded, modified: None, mode: None };
    let table = DocumentTable { documents: vec![document], digests: vec![0] };
    let segment = SegmentInfo {
        first_document: 0,
        documents: 1,
        text_bytes: recorded,
        tokens: recorded / 4,
        token_types: 1,
        words: 1,
        rules: rules.into(),
        symbols: 1 + 2 * u64::from(rules),
        root_symbols: 1,
        depth: rules.into(),
    };
    let summary = Summary {
        written_by: "a test".into(),
        lexer: "words".into(),
        builder: "repair".into(),
        level: Level::Fast,
        documents: 1,
        text_bytes: recorded,
        segments: vec![segment],
        origin: None,
    };
    let mut writer = ArchiveWriter::create(path).unwrap();
    writer.add_segment(&EncodedSegment::new(&grammar, &words, &[], Level::Fast)).unwrap();
    writer.finish(&table, &summary, true).unwrap();
}

#[test]
fn an_archive_of_many_segments_is_opened_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.tdc");
    let grammar = Grammar::new(1, vec![0], vec![1], vec![0, 1]).unwrap();
    let words = [Entry { bytes: b"word", forms: Forms::Bare }];
    let encoded = EncodedSegment::new(&grammar, &words, &[], Level::Fast);
    let mut writer = ArchiveWriter::create(&path).unwrap();
    let mut summary = Summary::default();
    let mut table = DocumentTable::default();
    for number in 0..60_000 {
        writer.add_segment(&encoded).unwrap();
        summary.segments.push(SegmentInfo {
            first_document: number,
            documents: 1,
            text_bytes: 4,
            token_types: 1,
            words: 1,
            symbols: 1,
            root_symbols: 1,
            ..Default::default()
        });
        let name = format!("{number:06}").into_bytes();
        table.documents.push(Document { name, bytes: 4, modified: None, mode: None });
    }
    (summary.documents, summary.text_bytes) = (60_000, 240_000);
    table.digests = vec![0; 240_000_usize.div_ceil(4096)];
    writer.finish(&table, &summary, true).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    let mut text = Vec::new();
    // Others have the same digest, each in a segment of its own; it is wrong.
    let written = corpus.write_documents(&[59_999], &mut text, &());
    assert!(matches!(written, Err(tadoc_engine::Error::WrongDigest { .. })), "{written:?}");
    assert_eq!(text, b"word");
}

/// Takes so many bytes and no more.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn restore(corpus: &Corpus, folder: &Path) -> tadoc_engine::Result<u64> {
    let files = corpus.files(false)?;
    let replace = tadoc_engine::Existing::Replace;
    corpus.restore(&files, &folder.join("out"), replace, &()).map(|report| report.bytes)
}

#[test]
fn a_bomb_is_refused_at_once_whatever_length_it_claims() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.tdc");
    // 2^58 words of four bytes; and 2^64 bytes and more, which no length can tell.
    for (rules, claims) in [
        (58, &[0, 4, 1 << 20, (1 << 60) - 1, (1 << 60) + 1, u64::MAX][..]),
        (62, &[0, 4, u64::MAX]),
        (200, &[0, 4, 1 << 60, u64::MAX]),
    ] {
        for &recorded in claims {
            write_bomb(&path, rules, recorded);
            let corpus = match Corpus::open(&path) {
                Ok(corpus) => corpus,
                // No archive has so much text.
                Err(error) => {
                    assert!(error.is_damage() && recorded > 1 << 60, "{recorded} bytes: {error}");
                    continue;
                }
            };
            assert_eq!(corpus.documents().unwrap().len(), 1);
            let mut room = Room(1000);
            for refused in [
                corpus.verify(&()).map(|report| report.bytes),
                corpus.write_documents(&[0], &mut room, &()),
                restore(&corpus, folder.path()),
            ] {
                let error = refused.unwrap_err();
                assert!(error.is_damage(), "{rules} rules, {recorded} bytes: {error}");
            }
            assert_eq!(room.0, 1000, "something was written");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path().join("out")).unwrap().count(), 0);
}

#[test]
fn a_text_of_an_exabyte_is_streamed_as_far_as_one_wants() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.tdc");
    write_bomb(&path, 58, 1 << 60);
    let corpus = Corpus::open(&path).unwrap();
    assert!(matches!(
        corpus.write_documents(&[0], &mut Room(10_000_000), &()),
        Err(tadoc_engine::Error::Io { .. })
    ));
    let observer = |_, done: u64, _| match done {
        0..10_000_000 => std::ops::ControlFlow::Continue(()),
        _ => std::ops::ControlFlow::Break(()),
    };
    assert!(matches!(corpus.verify(&observer), Err(tadoc_engine::Error::Cancelled)));
    #[cfg(target_os = "linux")]
    assert!(
        tadoc_testing::peak_memory() < 512 << 20,
        "{} bytes at the peak",
        tadoc_testing::peak_memory()
    );
}
