//! Journals whose checksums hold, with edits that are not possible.

use std::path::Path;

use tadoc_core::archive::journal::JournalWriter;
use tadoc_engine::access::{self, Index};
use tadoc_engine::update::RecompressOptions;
use tadoc_engine::{
    CompressOptions, Corpus, Durability, Edit, Editor, Error, Input, Source, compress,
};

fn make(path: &Path, edits: &[Edit<'_>]) {
    let inputs = [("a", "to be or not"), ("b", "to be")]
        .map(|(name, text)| Input::new(name, Source::Bytes(text.into())));
    let options = CompressOptions { force: true, ..Default::default() };
    compress(inputs.into(), path, &options, &()).unwrap();
    let (_, _, mut writer) = JournalWriter::open(path).unwrap();
    for edit in edits {
        writer.push(edit).unwrap();
    }
    writer.commit(false).unwrap();
}

fn assert_refused<T>(result: Result<T, Error>, edits: &[Edit<'_>]) {
    let Err(error) = result else { panic!("{edits:?} were taken") };
    let told = error.to_string();
    assert!(told.contains("its journal has an edit that is not possible"), "{edits:?}: {told}");
}

#[test]
fn impossible_edits_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.tdc");
    let add = |name| Edit::Add { name, modified: None, mode: None, text: b"text" };
    let all: &[&[Edit<'_>]] = &[
        &[Edit::Insert { document: 0, offset: 13, text: b"x" }],
        &[Edit::Insert { document: 0, offset: u64::MAX, text: b"x" }],
        &[Edit::Insert { document: 2, offset: 0, text: b"x" }],
        &[Edit::Append { document: u32::MAX, text: b"x" }],
        &[Edit::Delete { document: 0, offset: 12, length: 1 }],
        &[Edit::Delete { document: 0, offset: 1, length: u64::MAX }],
        &[Edit::Delete { document: 0, offset: u64::MAX, length: u64::MAX }],
        &[Edit::Replace { document: 1, offset: 3, length: 3, text: b"" }],
        &[Edit::Replace { document: 1, offset: 6, length: 0, text: b"x" }],
        &[add(b"a")],
        &[add(b"c"), add(b"c")],
        &[Edit::Rename { document: 0, name: b"b" }],
        &[Edit::Rename { document: 7, name: b"c" }],
        &[Edit::Remove { document: 0 }, Edit::Remove { document: 0 }],
        &[Edit::Remove { document: 0 }, Edit::Append { document: 0, text: b"x" }],
        &[Edit::Remove { document: 0 }, Edit::Rename { document: 0, name: b"c" }],
        &[add(b"c"), Edit::Delete { document: 2, offset: 0, length: 5 }],
        &[
            Edit::Delete { document: 0, offset: 0, length: 12 },
            Edit::Delete { document: 0, offset: 0, length: 1 },
        ],
    ];
    for &edits in all {
        make(&path, edits);
        let before = std::fs::read(&path).unwrap();
        assert_refused(Corpus::open(&path), edits);
        assert_refused(Editor::open(&path), edits);
        assert_refused(RecompressOptions::default().recompress(&path, &()), edits);
        // Nothing is lost by trying.
        assert!(std::fs::read(&path).unwrap() == before);
    }
}

/// What keeps a journal as it is need not understand it, and passes it on.
#[test]
fn an_index_is_stored_or_refused_without_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.tdc");
    let edits = [Edit::Insert { document: 0, offset: 13, text: b"x" }];
    make(&path, &edits);
    let before = std::fs::read(&path).unwrap();
    match access::store(&path, Index::Fast, &()) {
        Ok(_) => assert_refused(Corpus::open(&path), &edits),
        Err(_) => assert!(std::fs::read(&path).unwrap() == before),
    }
}

/// Edits that no archive can have are refused before they are journaled, and do no harm to an editor.
#[test]
fn contradictions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("contradictions.tdc");
    make(&path, &[]);
    let mut transaction = Editor::open(&path).unwrap().begin().unwrap();
    let time = |nanoseconds| Some(tadoc_engine::Timestamp { seconds: 0, nanoseconds });
    let add = |name, modified, mode| Edit::Add { name, modified, mode, text: b"" };
    for edit in [
        add(b"", None, None),
        add(b"\0", None, None),
        add(b"c", time(1_000_000_000), None),
        add(b"c", None, Some(u32::MAX)),
        add(b"c", None, Some(0o10000)),
        Edit::Rename { document: 0, name: b"" },
        Edit::Rename { document: 0, name: b"a\0b" },
    ] {
        assert!(transaction.edit(&edit).is_err(), "{edit:?}");
        // It goes on, and the name is free.
        assert_eq!(transaction.document_count(), 2, "{edit:?}");
        transaction.edit(&Edit::Append { document: 0, text: b"." }).unwrap();
    }
    transaction.edit(&add(b"c", time(999_999_999), Some(0o7777))).unwrap();
    transaction.commit(Durability::None).unwrap();
    let corpus = Corpus::open(&path).unwrap();
    assert_eq!(corpus.documents().unwrap().len(), 3);
    assert_eq!(corpus.documents().unwrap()[0].bytes, 12 + 7);
}
