//! Journals behind real archives: the lock, the fingerprint, and what replaces an archive.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::ArchiveLock;
use super::*;
use crate::archive::{Archive, ArchiveWriter, DocumentTable, IndexWriter, Summary};

/// An archive without documents.
fn archive(folder: &Path) -> PathBuf {
    let path = folder.join("a.tdc");
    let writer = ArchiveWriter::create(&path).unwrap();
    writer.finish(&DocumentTable::default(), &Summary::default(), true).unwrap();
    path
}

fn add(name: &str) -> Owned {
    Owned { kind: 4, name: name.into(), text: b"text".to_vec(), ..Owned::nothing() }
}

fn push(path: &Path, name: &str) {
    let (_, _, mut writer) = JournalWriter::open(path).unwrap();
    writer.push(&add(name).edit()).unwrap();
    writer.commit(true).unwrap();
}

#[test]
fn edits_are_behind_the_archive_and_change_its_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    let stored = fs::read(&path).unwrap();
    let before = Archive::open(&path).unwrap();
    assert!(before.journal().unwrap().is_empty());
    push(&path, "first");
    let once = Archive::open(&path).unwrap();
    push(&path, "second");
    let twice = Archive::open(&path).unwrap();
    let names = |archive: &Archive| edits(&archive.journal().unwrap()).len();
    assert_eq!([names(&before), names(&once), names(&twice)], [0, 1, 2]);
    assert_ne!(before.fingerprint(), once.fingerprint());
    assert_ne!(once.fingerprint(), twice.fingerprint());
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes[..stored.len()], stored);
    assert_eq!(twice.stored_bytes() + twice.journal().unwrap().bytes(), bytes.len() as u64);

    // A torn end changes nothing, and is cut by the next writer.
    fs::write(&path, [&bytes[..], &[0; 700]].concat()).unwrap();
    let torn = Archive::open(&path).unwrap();
    assert_eq!(torn.fingerprint(), twice.fingerprint());
    assert_eq!(torn.journal().unwrap().torn(), 700);
    let (_, journal, _) = JournalWriter::open(&path).unwrap();
    assert_eq!(journal.torn(), 700);
    assert_eq!(fs::read(&path).unwrap(), bytes);

    // Damage is told when the journal is asked for, and what is before it can be had.
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&path, damaged).unwrap();
    let archive = Archive::open(&path).unwrap();
    assert!(matches!(archive.journal(), Err(Error::DamagedJournal { transactions: 1, .. })));
    assert!(matches!(JournalWriter::open(&path), Err(Error::DamagedJournal { .. })));
    let (journal, damage) = archive.journal_until_damage();
    assert!(damage.is_some());
    assert_eq!(edits(&journal), [add("first")]);

    fs::write(&path, [&stored[..], b"more"].concat()).unwrap();
    let error = Archive::open(&path).unwrap_err().to_string();
    assert!(error.contains("were written"), "{error}");
}

#[test]
fn one_writer_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    let (archive, _, writer) = JournalWriter::open(&path).unwrap();
    let error = JournalWriter::open(&path).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    assert!(matches!(IndexWriter::create(&archive), Err(Error::Locked { .. })));
    let lock = writer.into_lock();
    assert!(matches!(ArchiveLock::acquire(&path), Err(Error::Locked { .. })));
    assert!(Archive::open(&path).is_ok(), "readers need no lock");
    lock.check().unwrap();
    drop(lock);
    let lock = ArchiveLock::acquire(&path).unwrap();
    assert!(matches!(JournalWriter::open(&path), Err(Error::Locked { .. })));
    drop(lock);
    push(&path, "name");
}

#[test]
fn a_writer_notices_that_its_archive_was_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    let (_, _, mut writer) = JournalWriter::open(&path).unwrap();
    writer.push(&add("a").edit()).unwrap();
    writer.commit(false).unwrap();
    archive(folder.path());
    writer.push(&add("b").edit()).unwrap();
    for _ in 0..2 {
        assert!(matches!(writer.commit(true), Err(Error::Replaced { .. })));
    }
    // The lock is one of a file: the new one can be had.
    push(&path, "c");
    assert_eq!(edits(&Archive::open(&path).unwrap().journal().unwrap()), [add("c")]);
    fs::remove_file(&path).unwrap();
    assert!(matches!(writer.commit(true), Err(Error::Replaced { .. })));
}

#[test]
fn an_archive_that_is_written_anew_keeps_its_edits() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    push(&path, "first");
    let opened = Archive::open(&path).unwrap();
    push(&path, "second");
    let writer = IndexWriter::create(&opened).unwrap();
    assert!(matches!(JournalWriter::open(&path), Err(Error::Locked { .. })));
    let fingerprint = Archive::open(&path).unwrap().fingerprint();
    writer.finish().unwrap();
    let anew = Archive::open(&path).unwrap();
    assert_eq!(edits(&anew.journal().unwrap()), [add("first"), add("second")]);
    assert_eq!(anew.fingerprint(), fingerprint);
    push(&path, "third");
    assert!(matches!(IndexWriter::create(&opened), Err(Error::Replaced { .. })));
}

#[test]
fn an_archive_that_must_not_be_written_is_not_edited() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    // Whoever may do everything may write it all the same.
    if fs::OpenOptions::new().write(true).open(&path).is_err() {
        assert!(matches!(JournalWriter::open(&path), Err(Error::Io { .. })));
    }
    ArchiveLock::acquire(&path).unwrap();
    assert!(matches!(JournalWriter::open(&folder.path().join("none")), Err(Error::Io { .. })));
}

#[test]
fn readers_see_whole_transactions_while_others_are_written_and_abandoned() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    let (_, _, mut writer) = JournalWriter::open(&path).unwrap();
    (writer.full_record, writer.long_text) = (2000, 5000);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random(5);
            for number in 0..400 {
                // What is forgotten is of another length than what is written in its place.
                writer
                    .push(&Owned::append(vec![b'x'; random.below(6000) as usize]).edit())
                    .unwrap();
                writer.push(&random.edit(6000).edit()).unwrap();
                writer.abandon();
                let text: Vec<u8> = (0..3000 + number % 100).map(|_| random.next() as u8).collect();
                for part in [number.to_string().into_bytes(), text] {
                    writer.push(&Owned::append(part).edit()).unwrap();
                }
                writer.commit(number % 64 == 0).unwrap();
            }
            done.store(true, std::sync::atomic::Ordering::Release);
        });
        let mut before = 0;
        loop {
            let last = done.load(std::sync::atomic::Ordering::Acquire);
            let journal = Archive::open(&path).unwrap().journal().unwrap();
            let found = edits(&journal);
            for (number, transaction) in found.chunks(2).enumerate() {
                assert_eq!(transaction[0].text, number.to_string().into_bytes());
                assert_eq!(transaction[1].text.len(), 3000 + number % 100);
            }
            assert!(found.len() >= before && found.len() as u64 == 2 * journal.transactions());
            before = found.len();
            if last {
                break;
            }
        }
        assert_eq!(before, 800);
    });
}
