//! A writer that is killed at any moment: whatever it had acknowledged is there, and no half of anything.
//!
//! The writer is this test program itself, started once more for the test that only it runs.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tadoc_engine::access::Index;
use tadoc_engine::update::{BatchOptions, Operation, Outcome, RecompressOptions, Transactions};
use tadoc_engine::{Corpus, Durability, Edit, Editor};
use tadoc_oracle::Random;

use super::states;

const KILLS: u64 = 240;
/// The document that gets an entry with each operation.
const LOG: &str = "log";

/// How the writer works.
const MODES: [&str; 4] = ["transactions", "operations", "recompressions", "rollbacks"];
/// So much text is more than a record of the journal.
const MUCH: usize = 5 << 20;

fn entry(number: u64) -> Vec<u8> {
    format!("entry {number} {}\n", "x".repeat(number as usize % 50)).into_bytes()
}

/// How many entries the log has; fails if one of them is not whole.
fn entries(corpus: &Corpus) -> u64 {
    let mut text = Vec::new();
    let log = corpus.find(LOG.as_bytes()).unwrap();
    corpus.write_documents(&[log], &mut text, &()).unwrap();
    let count = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let expected: Vec<u8> = (1..=count).flat_map(entry).collect();
    assert!(text == expected, "the log is {:?}", String::from_utf8_lossy(&text));
    count
}

fn acknowledge(what: &str, number: u64) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, " ack {what} {number}").unwrap();
    stdout.flush().unwrap();
}

/// Edits until it is killed.
#[test]
#[ignore = "only for the test that kills it"]
fn writer() {
    let variable = |name| std::env::var(name).expect("started by the test that kills it");
    let path = variable("TADOC_TEST_ARCHIVE");
    let path = Path::new(&path);
    let mode = variable("TADOC_TEST_MODE");
    let mut random = Random::new(variable("TADOC_TEST_SEED").parse().unwrap());
    let mut editor = Editor::open(path).unwrap();
    let corpus = editor.begin().unwrap().corpus().unwrap();
    let (mut state, mut logged) = (states::state_of(&corpus, LOG), entries(&corpus));
    drop(corpus);
    if mode == "operations" {
        let mut batches = || {
            let first = logged + 1;
            logged += 1 + random.below(8);
            let append = |number| Operation::Append { document: LOG.into(), text: entry(number) };
            Ok(Some((first..=logged).map(append).collect()))
        };
        let mut acknowledged = entries(&Corpus::open(path).unwrap());
        let mut outcomes = |results: Vec<tadoc_engine::Result<Outcome>>| {
            for result in results {
                assert_eq!(result.unwrap(), Outcome::Done);
                acknowledged += 1;
                acknowledge("entry", acknowledged);
            }
            Ok(())
        };
        let options = BatchOptions { transactions: Transactions::Edit, ..Default::default() };
        return editor.run(&mut batches, options, &mut outcomes).unwrap();
    }
    let much = "much ".repeat(MUCH / 5);
    loop {
        if mode == "rollbacks" && random.below(2) == 0 {
            // The kill may come while edits are in the file that are not committed.
            let mut transaction = editor.begin().unwrap();
            states::advance(&mut transaction, state).unwrap();
            let document = transaction.find(LOG.as_bytes()).unwrap();
            let text = &much.as_bytes()[random.below(MUCH as u64) as usize..];
            transaction.edit(&Edit::Append { document, text }).unwrap();
            if random.below(2) == 0 {
                let corpus = transaction.corpus().unwrap();
                assert!(corpus.documents().unwrap().len() > 3);
            }
            if random.below(2) == 0 {
                transaction.rollback();
            }
        }
        let durability = *random.choose(&[Durability::Sync, Durability::None]);
        states::commit_next(&editor, state, durability);
        state += 1;
        acknowledge("state", state);
        if mode == "recompressions" && random.below(3) == 0 {
            let index = *random.choose(&[None, Some(Index::None), Some(Index::Fast)]);
            let options = RecompressOptions { index, ..Default::default() };
            if random.below(2) == 0 {
                editor.recompress(&options, &()).unwrap();
            } else {
                drop(editor);
                options.recompress(path, &()).unwrap();
                editor = Editor::open(path).unwrap();
            }
        }
    }
}

fn start(path: &Path, mode: &str, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["kills::writer", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env("TADOC_TEST_ARCHIVE", path)
        .env("TADOC_TEST_MODE", mode)
        .env("TADOC_TEST_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn what_was_acknowledged_outlives_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.tdc");
    states::make(&path);
    let mut transaction = Editor::open(&path).unwrap().begin().unwrap();
    let name = LOG.as_bytes();
    transaction.edit(&Edit::Add { name, modified: None, mode: None, text: b"" }).unwrap();
    transaction.commit(Durability::Sync).unwrap();
    let (mut state, mut logged) = (0, 0);
    let mut random = Random::new(1);
    let (mut unacknowledged, mut left_behind) = (0, 0);
    for kill in 0..KILLS {
        let mode = MODES[kill as usize % MODES.len()];
        let mut writer = start(&path, mode, kill);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let mut take = |line: String| -> bool {
            let Some((_, told)) = line.split_once(" ack ") else { return false };
            let (what, number) = told.split_once(' ').expect("a number");
            let number: u64 = number.parse().unwrap();
            match what {
                "state" => state = number,
                _ => logged = number,
            }
            true
        };
        // After some acknowledgements, and then at any moment; now and then before the first.
        let wanted = random.below(12);
        let mut seen = 0;
        while seen < wanted
            && let Some(line) = lines.next()
        {
            seen += u64::from(take(line.unwrap()));
        }
        let most = if wanted == 0 { 40_000 } else { 5000 };
        std::thread::sleep(Duration::from_micros(random.below(most)));
        writer.kill().unwrap();
        // What was told before it died counts.
        for line in lines {
            take(line.unwrap());
        }
        let status = writer.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "the writer failed by itself: {status}");

        let corpus = Corpus::open(&path).unwrap();
        let (found_state, found_entries) = (states::state_of(&corpus, LOG), entries(&corpus));
        let (state_more, entries_more) = (found_state - state, found_entries - logged);
        // One may have been committed that could not be acknowledged any more.
        let is_right = match mode {
            "operations" => state_more == 0 && entries_more <= 1,
            _ => state_more <= 1 && entries_more == 0,
        };
        assert!(is_right, "kill {kill}, {mode}: {state_more} states and {entries_more} entries");
        unacknowledged += state_more + entries_more;
        (state, logged) = (found_state, found_entries);
        let files = std::fs::read_dir(folder.path()).unwrap().count() - 1;
        assert!(files <= 2, "kill {kill}: {files} files were left behind");
        left_behind += files;
    }
    println!(
        "{state} states, {logged} entries, {unacknowledged} unacknowledged, {left_behind} left"
    );
    assert!(state > KILLS && logged > KILLS);
    // Nobody has the lock, and the next writer leaves nothing behind.
    RecompressOptions::default().recompress(&path, &()).unwrap();
    Editor::open(&path).unwrap();
    assert_eq!(states::state_of(&Corpus::open(&path).unwrap(), LOG), state);
}
