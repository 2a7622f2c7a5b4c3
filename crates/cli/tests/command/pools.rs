//! `--backend pool`: the same rows as on the processor, what is told on the way, and what is refused.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use crate::folder::{Folder, prose};

/// The six tasks with arguments that change what is asked of a pool.
const COMMANDS: [&[&str]; 12] = [
    &["word-count"],
    &["word-count", "--top", "7", "-i"],
    &["sort", "--min-count", "3"],
    &["inverted-index"],
    &["inverted-index", "--strategy", "bottom-up", "--top", "1"],
    &["term-vector"],
    &["term-vector", "--format", "mtx"],
    &["sequence-count"],
    &["sequence-count", "--n", "2", "--per-document", "--top", "3"],
    &["sequence-count", "--n", "5", "--memory", "1M"],
    &["ranked-inverted-index"],
    &["ranked-inverted-index", "--n", "1", "--documents", "a*"],
];

/// An archive of a few documents.
fn archive() -> Folder {
    let folder = Folder::new();
    for (name, words) in [("text/a1", 3000), ("text/a2", 2000), ("text/b", 4000), ("text/c", 0)] {
        folder.write(name, prose(words));
    }
    folder.run(&["compress", "text", "-o", "c.tdc"]).succeeds();
    folder
}

fn ask(folder: &Folder, command: &[&str], flags: &[&str]) -> crate::folder::Run {
    folder.run(&[command, &["c.tdc"], flags].concat())
}

#[test]
fn pools_give_the_processor_s_rows() {
    let folder = archive();
    for command in COMMANDS {
        let expected = ask(&folder, command, &["--backend", "cpu"]).succeeds();
        for persist in ["phase", "operation", "none"] {
            // One pool for all commands, one after the other.
            let flags = ["--backend", "pool", "--pool", "c.pool", "--persist", persist];
            let run = ask(&folder, command, &flags).exits(0);
            assert_eq!(run.text(), expected.text(), "{command:?} {persist}");
        }
    }
}

#[test]
fn what_is_in_the_pool_is_told() {
    let folder = archive();
    let flags = ["--backend", "pool", "--pool", "c.pool"];
    ask(&folder, &["inverted-index"], &flags).succeeds();
    ask(&folder, &["inverted-index"], &flags).exits(0).says("the pool has inverted-index already");
    let quiet = [&flags[..], &["--quiet"]].concat();
    ask(&folder, &["inverted-index"], &quiet).succeeds();
    let explained = ask(&folder, &["sort", "--explain"], &flags).exits(0).stderr();
    for told in ["backend   pool, c.pool", "in the pool from an earlier question", "phase "] {
        assert!(explained.contains(told), "{explained}");
    }
}

#[test]
fn what_a_pool_cannot_do_is_refused() {
    let folder = archive();
    let refused = |arguments: &[&str], why: &str| {
        folder.run(arguments).exits(2).says(why);
    };
    refused(&["sort", "c.tdc", "--backend", "pool"], "--pool FILE");
    refused(&["sort", "c.tdc", "--pool", "c.pool"], "--backend pool");
    refused(&["sort", "c.tdc", "--backend", "cpu", "--persist", "none"], "--backend pool");
    folder.run(&["tfidf", "c.tdc", "--backend", "pool", "--pool", "c.pool"]).exits(2);
    let missing = ["sort", "c.tdc", "--backend", "pool", "--pool", "missing/c.pool"];
    refused(&missing, "missing");
    folder.write("other.pool", "no pool at all");
    let other = ["sort", "c.tdc", "--backend", "pool", "--pool", "other.pool"];
    refused(&other, "not a pool");

    let asked = ["sort", "c.tdc", "--backend", "pool", "--pool", "c.pool"];
    folder.run(&asked).succeeds();
    folder.write("text/d", prose(10));
    folder.run(&["compress", "text", "-o", "c.tdc", "--force"]).succeeds();
    refused(&asked, "of another archive");
}

/// Every task is killed at moments that are spread over its time, on a new pool and on one that was left by a kill; the same command
/// then gives the right rows, and now and then says that it went on.
#[test]
fn a_command_that_is_killed_goes_on() {
    const KILLS: u32 = 9;
    let folder = Folder::new();
    for document in 0..40 {
        folder.write(format!("text/{document}"), prose(30_000 + 100 * document));
    }
    folder.run(&["compress", "text", "-o", "c.tdc"]).succeeds();
    let (mut killed, mut resumed) = (0, 0);
    for command in [0, 2, 3, 5, 7, 10].map(|place: usize| COMMANDS[place]) {
        let expected = ask(&folder, command, &["--backend", "cpu"]).succeeds();
        for persist in ["phase", "operation"] {
            let flags = ["--backend", "pool", "--pool", "c.pool", "--persist", persist];
            let begin = Instant::now();
            ask(&folder, command, &flags).exits(0);
            let length = begin.elapsed();
            for kill in 0..KILLS {
                if kill % 3 != 2 {
                    let _ = std::fs::remove_file(folder.path("c.pool"));
                }
                let arguments = [command, &["c.tdc"], &flags[..]].concat();
                let mut child = folder
                    .command(&arguments)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                sleep(length * kill / KILLS);
                killed += u32::from(child.try_wait().unwrap().is_none());
                child.kill().unwrap();
                child.wait().unwrap();
                let run = ask(&folder, command, &flags).exits(0);
                assert_eq!(run.text(), expected.text(), "{command:?} {persist}, kill {kill}");
                resumed += u32::from(run.stderr().contains("resumed:"));
            }
        }
    }
    // How many come in time depends on the machine.
    assert!(killed > 50, "{killed} were killed in time");
    assert!(resumed > 0, "none of {killed} was resumed");
}
