//! Where the system refuses threads, the library says so and does not panic.
#![cfg(target_os = "linux")]

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use tadoc_engine::access::{self, Index};
use tadoc_engine::threads::{MOST_THREADS, pool};
use tadoc_engine::update::RecompressOptions;
use tadoc_engine::{
    CompressOptions, Corpus, Durability, Edit, Editor, Error, Input, Source, compress,
};

const ARCHIVE: &str = "TADOC_TEST_ARCHIVE";

/// Runs in a process that may have one thread, and in no pool.
#[test]
#[ignore = "only for the test that takes its threads"]
fn without_threads() {
    let path = std::env::var(ARCHIVE).expect("started by the test that takes its threads");
    let path = Path::new(&path);
    // What needs no other thread is done.
    let editor = Editor::open(path).unwrap();
    let mut transaction = editor.begin().unwrap();
    transaction.edit(&Edit::Append { document: 0, text: b", that" }).unwrap();
    let read = transaction.corpus().map(drop);
    transaction.commit(Durability::Sync).unwrap();
    // It stays refused: rayon does not try again.
    for refused in [
        read,
        Corpus::open(path).map(drop),
        Corpus::open(path).map(drop),
        editor.recompress(&RecompressOptions::default(), &()).map(drop),
        RecompressOptions::default().recompress(path, &()).map(drop),
        access::store(path, Index::Fast, &()).map(drop),
    ] {
        assert!(matches!(refused, Err(Error::Threads { .. })), "{refused:?}");
    }
}

#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tdc");
    let input = Input::new("a", Source::Bytes(b"to be or not to be".to_vec()));
    compress(vec![input], &path, &CompressOptions::default(), &()).unwrap();
    let own = std::env::current_exe().unwrap();
    // The limit binds nobody who may pass it: root runs the program as someone else, who may not be
    // allowed to run it where it is.
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let program = folder.path().join("program");
    std::fs::copy(own, &program).unwrap();
    for (path, mode) in [(folder.path(), 0o777), (&program, 0o755), (&path, 0o666)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let limit = ["prlimit", "--nproc=1:1"];
    let someone = ["setpriv", "--reuid", "65534", "--clear-groups"];
    let words = someone.iter().filter(|_| is_root).chain(&limit).copied();
    let run = |arguments: &[&str]| {
        let mut words = words.clone();
        Command::new(words.next().expect("a program"))
            .args(words)
            .arg(&program)
            .args(arguments)
            .env(ARCHIVE, &path)
            .stdin(Stdio::null())
            .output()
    };
    if !run(&["--list"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: no util-linux here, or others may not run programs");
        return;
    }
    let arguments = ["without_threads", "--exact", "--ignored", "--nocapture", "--test-threads=1"];
    let output = run(&arguments).unwrap();
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(output.status.success() && told.contains("1 passed"), "{}: {told}", output.status);
}

#[test]
fn no_pool_has_more_threads_than_is_sensible() {
    assert_eq!(pool(Some(3)).unwrap().current_num_threads(), 3);
    assert_eq!(pool(Some(0)).unwrap().current_num_threads(), 1);
    assert!(pool(None).unwrap().current_num_threads() <= MOST_THREADS);
}
