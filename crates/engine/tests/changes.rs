//! Files that change while they are compressed: those that grow are taken as they were, others are an
//! error.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tadoc_engine::{CompressOptions, CompressReport, Corpus, Error, Input, Phase, Source};

/// Long enough for several pieces, of which the last are not read when the first is lexed.
const BYTES: usize = 48 << 20;

/// Compresses a file, which `change` changes after its first piece; gives what was there before.
fn compress_while(
    folder: &Path,
    change: impl Fn(&mut File) + Sync,
) -> (Vec<u8>, tadoc_engine::Result<CompressReport>) {
    let path = folder.join("file");
    let line = b"a line of a file that someone works on\n";
    let text: Vec<u8> = line.iter().copied().cycle().take(BYTES).collect();
    fs::write(&path, &text).unwrap();
    let changed = AtomicBool::new(false);
    let observer = |_: Phase, done: u64, _: u64| {
        if done > 0 && !changed.swap(true, Ordering::Relaxed) {
            change(&mut OpenOptions::new().write(true).open(&path).unwrap());
        }
        ControlFlow::Continue(())
    };
    let inputs = vec![Input::new("file", Source::File(path.clone()))];
    let options = CompressOptions { threads: Some(1), ..Default::default() };
    let result = tadoc_engine::compress(inputs, &folder.join("c.tdc"), &options, &observer);
    assert!(changed.into_inner(), "it was never changed");
    (text, result)
}

#[track_caller]
fn assert_changed(folder: &Path, result: tadoc_engine::Result<CompressReport>) {
    match result {
        Err(error @ Error::Changed { .. }) => {
            assert!(error.to_string().contains("changed while it was read"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [folder.join("file")], "something is left behind");
}

#[test]
fn a_file_that_shrinks_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (_, result) = compress_while(folder.path(), |file| file.set_len(20 << 20).unwrap());
    assert_changed(folder.path(), result);
}

#[test]
fn a_file_that_is_rewritten_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (_, result) = compress_while(folder.path(), |file| {
        file.seek(SeekFrom::Start(100)).unwrap();
        file.write_all(b"other words").unwrap();
    });
    assert_changed(folder.path(), result);
}

#[test]
fn a_file_that_grows_is_taken_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (text, result) = compress_while(folder.path(), |file| {
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"more and more\n").unwrap();
    });
    assert_eq!(result.unwrap().grown, [folder.path().join("file")]);
    let corpus = Corpus::open(folder.path().join("c.tdc")).unwrap();
    let mut restored = Vec::new();
    corpus.write_documents(&[0], &mut restored, &()).unwrap();
    assert!(restored == text);
    corpus.verify(&()).unwrap();
}
