//! Disks that are full, do not sync, or lose power.

use super::*;

const START: u64 = 200;

/// Some transactions; every third is not synced, and some are several records.
fn transactions() -> Vec<Vec<Owned>> {
    let mut random = Random(11);
    (0..12).map(|number| (0..number % 4 + 1).map(|_| random.edit(150)).collect()).collect()
}

/// Writes transactions until one fails; how many succeeded.
fn write_all(storage: &SimulatedStorage, transactions: &[Vec<Owned>]) -> (usize, Option<Error>) {
    let (_, mut writer) = JournalWriter::over(storage.clone(), START).unwrap();
    (writer.full_record, writer.long_text) = (200, 140);
    for (number, edits) in transactions.iter().enumerate() {
        if let Err(error) = commit(&mut writer, edits, number % 3 > 0) {
            for later in [writer.push(&edits[0].edit()), writer.commit(true), writer.sync()] {
                let later = later.expect_err("a writer that failed does nothing more");
                assert_eq!(later.to_string(), error.to_string());
            }
            writer.abandon();
            return (number, Some(error));
        }
    }
    (transactions.len(), None)
}

fn is_prefix(journal: &Journal, transactions: &[Vec<Owned>]) {
    let count = journal.transactions() as usize;
    assert_eq!(edits(journal), transactions[..count].concat());
}

#[test]
fn a_disk_that_is_full_at_any_byte_loses_nothing() {
    let transactions = transactions();
    let new = || SimulatedStorage::new(vec![1; START as usize]);
    let whole = new();
    assert_eq!(write_all(&whole, &transactions).0, transactions.len());
    let length = whole.len().unwrap();
    for room in START..length {
        for cuts in [true, false] {
            let storage = new();
            storage.set_room(Some(room));
            storage.fail_truncates(!cuts);
            let (done, error) = write_all(&storage, &transactions);
            let error = error.expect("there is no room for all").to_string();
            assert!(error.contains("writing failed"), "{error}");
            let journal = read(&storage.contents(), START);
            assert_eq!(journal.transactions(), done as u64, "{room}");
            is_prefix(&journal, &transactions);
            assert!(!cuts || journal.torn() == 0, "{room}");
            // With room again, the rest can follow.
            storage.set_room(None);
            storage.fail_truncates(false);
            write_all(&storage, &transactions[done..]);
            let journal = read(&storage.contents(), START);
            assert_eq!(journal.transactions() as usize, transactions.len());
            is_prefix(&journal, &transactions);
        }
    }
}

#[test]
fn a_sync_that_fails_is_told_and_ends_writing() {
    let storage = SimulatedStorage::new(vec![1; START as usize]);
    let (_, mut writer) = JournalWriter::over(storage.clone(), START).unwrap();
    commit(&mut writer, &[Owned::append("kept")], true).unwrap();
    storage.fail_syncs(true);
    commit(&mut writer, &[Owned::append("not synced")], false).unwrap();
    let error = writer.sync().unwrap_err().to_string();
    assert!(error.contains("syncing failed"), "{error}");
    storage.fail_syncs(false);
    assert!(commit(&mut writer, &[Owned::append("never")], true).is_err());
    let kept = |bytes: &[u8]| read(bytes, START).transactions();
    assert_eq!(kept(&storage.contents()), 2);
    let least = storage.after_power_loss(|| false, |lengths| *lengths.start());
    assert_eq!(kept(&least), 1);
}

#[test]
fn power_loss_keeps_what_was_synced_and_no_half() {
    let mut lost = 0;
    for seed in 0..6000 {
        let mut random = Random(seed);
        let start = random.below(1200);
        let mut storage = SimulatedStorage::new(vec![9; start as usize]);
        // What was committed, and how many of these were synced, over several losses of power.
        let mut committed: Vec<Vec<Owned>> = Vec::new();
        for _ in 0..3 {
            let (journal, mut writer) = JournalWriter::over(storage.clone(), start)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            committed.truncate(journal.transactions() as usize);
            is_prefix(&journal, &committed);
            let mut synced = committed.len();
            if journal.torn() == 0 {
                // The bytes were there after the power came back, so they are on the disk.
                storage.clone().sync().unwrap();
            }
            writer.full_record = 100 + random.below(3000) as usize;
            writer.long_text = 50 + random.below(3000) as usize;
            for _ in 0..random.below(8) {
                let longest = if random.below(3) == 0 { 3000 } else { 60 };
                let edits: Vec<Owned> =
                    (0..1 + random.below(4)).map(|_| random.edit(longest)).collect();
                match random.below(6) {
                    0 => {
                        edits.iter().for_each(|edit| writer.push(&edit.edit()).unwrap());
                        // The power may go while it is cut.
                        let fails = random.below(3) == 0;
                        storage.fail_syncs(fails);
                        writer.abandon();
                        if fails {
                            break;
                        }
                        continue;
                    }
                    1 => {
                        edits.iter().for_each(|edit| writer.push(&edit.edit()).unwrap());
                        writer.sync().unwrap();
                        synced = committed.len();
                        writer.abandon();
                        continue;
                    }
                    _ => {}
                }
                let sync = random.below(3) == 0;
                commit(&mut writer, &edits, sync).unwrap();
                committed.push(edits);
                if sync {
                    synced = committed.len();
                }
            }
            let odds = [0, 1, 5, 9, 10][random.below(5) as usize];
            let whole = random.below(2) == 0;
            let mut choices = Random(random.next());
            let bytes = storage.after_power_loss(
                || choices.below(10) < odds,
                |lengths| match whole {
                    true => *lengths.end(),
                    false => {
                        let more = lengths.end() - lengths.start();
                        lengths.start() + random.below(more + 1)
                    }
                },
            );
            let (journal, _) = JournalWriter::over(SimulatedStorage::new(&bytes[..]), start)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let count = journal.transactions() as usize;
            assert!(count >= synced, "seed {seed}: {count} of {synced} are left");
            is_prefix(&journal, &committed);
            lost += committed.len() - count;
            storage = SimulatedStorage::new(bytes);
        }
    }
    assert!(lost > 1000, "only {lost} transactions were lost: is this a loss of power?");
}
