//! `--backend pool`: the same rows as on the processor, what is told on the way, and what is refused.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Stdio};

use crate::folder::{Folder, prose};

/// All tasks with arguments that change what is asked of a pool.
const COMMANDS: [&[&str]; 17] = [
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
    &["tfidf"],
    &["tfidf", "--top", "3", "--norm", "l1", "--strategy", "bottom-up"],
    &["cooccurrence", "--top", "40"],
    &["cooccurrence", "--window", "2", "--ordered", "--strategy", "bottom-up"],
    &["collocations", "--window", "3", "--measure", "pmi", "--min-count", "2", "--memory", "1M"],
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
    refused(
        &["sort", "c.tdc", "--backend", "pool"],
        "needs a file to work in; give one with `--pool FILE`",
    );
    refused(&["sort", "c.tdc", "--pool", "c.pool"], "--backend pool");
    refused(&["sort", "c.tdc", "--backend", "cpu", "--persist", "none"], "--backend pool");
    let missing = ["sort", "c.tdc", "--backend", "pool", "--pool", "missing/c.pool"];
    refused(&missing, "missing");
    folder.write("other.pool", "no pool at all");
    let other = ["sort", "c.tdc", "--backend", "pool", "--pool", "other.pool"];
    refused(&other, "not a pool");
    refused(&other, "; give another file with --pool");

    let asked = ["sort", "c.tdc", "--backend", "pool", "--pool", "c.pool"];
    folder.run(&asked).succeeds();
    folder.write("text/d", prose(10));
    folder.run(&["compress", "text", "-o", "c.tdc", "--force"]).succeeds();
    refused(&asked, "of another archive");
    refused(&asked, "; delete it, or give another file with --pool");
}

/// Every task is killed at points spread over its work, told by the length of the pool, on a new
/// pool and on one that was left by a kill; the same command then gives the right rows, and now and
/// then says that it resumed. A kill that comes too late for the work is none, so this goes on until
/// there were enough.
#[test]
fn a_command_that_is_killed_goes_on() {
    const KILLS: u64 = 6;
    let folder = Folder::new();
    for document in 0..40 {
        folder.write(format!("text/{document}"), prose(30_000 + 100 * document));
    }
    folder.run(&["compress", "text", "-o", "c.tdc"]).succeeds();
    let length = || std::fs::metadata(folder.path("c.pool")).map_or(0, |pool| pool.len());
    let mut resumed = 0;
    for command in [0, 2, 3, 5, 7, 10, 12, 14, 16].map(|place: usize| COMMANDS[place]) {
        let expected = ask(&folder, command, &["--backend", "cpu"]).succeeds();
        for persist in ["phase", "operation"] {
            let flags = ["--backend", "pool", "--pool", "c.pool", "--persist", persist];
            let _ = std::fs::remove_file(folder.path("c.pool"));
            ask(&folder, command, &flags).exits(0);
            let whole = length();
            let (mut killed, mut runs) = (0, 0);
            while killed < KILLS {
                if runs % 3 != 2 {
                    let _ = std::fs::remove_file(folder.path("c.pool"));
                }
                let arguments = [command, &["c.tdc"], &flags[..]].concat();
                let mut child = folder
                    .command(&arguments)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                let point = whole * (1 + runs % KILLS) / (KILLS + 1);
                runs += 1;
                while length() < point && child.try_wait().unwrap().is_none() {
                    std::thread::yield_now();
                }
                child.kill().unwrap();
                killed += u64::from(child.wait().unwrap().signal() == Some(9));
                let run = ask(&folder, command, &flags).exits(0);
                assert_eq!(run.text(), expected.text(), "{command:?} {persist}, run {runs}");
                resumed += u32::from(run.stderr().contains("resumed:"));
            }
        }
    }
    assert!(resumed > 0, "none was resumed");
}

/// An archive with more rows than a pipe takes.
fn larger_archive() -> Folder {
    let folder = Folder::new();
    folder.write("a", prose(400_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    folder
}

/// A command that has a pool, and waits for someone to read its rows.
fn hold(folder: &Folder) -> (Child, BufReader<ChildStdout>) {
    let arguments = ["ranked-inverted-index", "c.tdc", "--backend", "pool", "--pool", "c.pool"];
    let mut command = folder.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut rows = BufReader::new(child.stdout.take().unwrap());
    // With the first row it has the pool, and it has it until the last one is read.
    rows.read_line(&mut String::new()).unwrap();
    (child, rows)
}

#[test]
fn a_pool_whose_process_was_killed_is_free() {
    let folder = larger_archive();
    let ask = || folder.run(&["sort", "c.tdc", "--backend", "pool", "--pool", "c.pool"]).exits(0);
    let expected = ask().text().to_owned();
    for _ in 0..30 {
        let (mut child, _rows) = hold(&folder);
        child.kill().unwrap();
        // At once: the system may not have taken the process apart yet.
        assert_eq!(ask().text(), expected);
        child.wait().unwrap();
    }
}

#[test]
fn a_pool_that_another_process_has_is_waited_for_and_refused() {
    let folder = larger_archive();
    let (mut child, mut rows) = hold(&folder);
    let refused = folder.run(&["sort", "c.tdc", "--backend", "pool", "--pool", "c.pool"]).exits(2);
    let told = refused.stderr();
    assert_eq!(told.matches("waiting for the pool c.pool").count(), 1, "{told}");
    assert!(told.contains("is in use by another process; wait for it"), "{told}");
    rows.read_to_end(&mut Vec::new()).unwrap();
    assert!(child.wait().unwrap().success());
    folder.run(&["sort", "c.tdc", "--backend", "pool", "--pool", "c.pool"]).exits(0);
}

/// Words that hardly come twice.
fn distinct_words(count: u64) -> Vec<u8> {
    let words = (0..count).map(|word| format!("{:x} ", word * 2_654_435_761 % (1 << 40)));
    words.collect::<String>().into_bytes()
}

/// What is decoded for a pool lies in files beside it, so it takes little memory of the process.
#[test]
fn a_pool_is_made_in_little_memory() {
    const MEMORY: u64 = 48 << 20;
    let folder = Folder::new();
    folder.write("a.txt", distinct_words(1_500_000));
    folder.run(&["compress", "a.txt", "-o", "c.tdc"]).succeeds();
    let sort = "sort c.tdc --threads 2 --format tsv";
    let expected = folder.run_within(1 << 40, sort).exits(0);
    let on_processor = folder.run_within(MEMORY, sort);
    assert!(!on_processor.is_success(), "it takes no more memory than {MEMORY}");
    let found = folder.run_within(MEMORY, &format!("{sort} --backend pool --pool c.pool")).exits(0);
    assert!(found.text() == expected.text());
    // Neither does a pool for reads, of which no more is held than a read takes.
    let count = "count c.tdc 9e3779b1 --threads 2 --format tsv";
    let expected = folder.run_within(1 << 40, count).exits(0);
    let found = folder.run_within(MEMORY, &format!("{count} --backend pool --pool reads.pool"));
    assert_eq!(found.exits(0).text(), expected.text());
    // The folder shows the pools, and nothing of the files.
    assert_eq!(folder.names(), ["a.txt", "c.pool", "c.tdc", "reads.pool"]);
}
