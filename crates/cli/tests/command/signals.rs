//! SIGINT, SIGTERM and SIGHUP: every command ends soon, with the signal's exit code, and leaves nothing
//! half-written; a stream that is appended loses nothing.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::ioctl_fionread;
use tadoc_testing::processor_time;

use crate::folder::{Folder, TADOC, prose};

const SIGNALS: [(&str, u32, i32); 3] = [("HUP", 1, 129), ("INT", 2, 130), ("TERM", 15, 143)];

/// A set of signals in what Linux tells about a process, as bits.
fn signals(process: &str, set: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let digits = status.lines().find_map(|line| line.strip_prefix(set)).unwrap_or("0");
    u64::from_str_radix(digits.trim(), 16).unwrap()
}

/// The signals that do something here: in the background of a script, not all do.
fn heeded() -> impl Iterator<Item = (&'static str, u32, i32)> {
    let ignored = signals("self", "SigIgn:");
    SIGNALS.into_iter().filter(move |(_, number, _)| ignored & 1 << (number - 1) == 0)
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until the child handles SIGTERM, or has ended.
fn wait_for_handler(child: &mut Child) {
    while signals(&child.id().to_string(), "SigCgt:") & 1 << 14 == 0 {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        sleep(Duration::from_millis(1));
    }
}

/// `append` with a pipe, started with some signals ignored.
fn appending(folder: &Folder, ignored: &str) -> Child {
    let mut command = Command::new("sh");
    let script = format!("trap '' {ignored}; exec \"$0\" append c.tdc log -");
    let script = if ignored.is_empty() { "exec \"$0\" append c.tdc log -" } else { &script };
    command.args(["-c", script, TADOC]).current_dir(folder.path("."));
    command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Writes into the pipe of a child, and waits until it has taken all.
fn feed(child: &mut Child, text: &str) {
    let pipe = child.stdin.as_mut().unwrap();
    pipe.write_all(text.as_bytes()).unwrap();
    while ioctl_fionread(&*pipe).unwrap() > 0 {
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_a_stream_has_brought_is_kept() {
    let folder = Folder::with(&["a"]);
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    let mut all = String::new();
    for ignored in ["", "INT", "HUP", "INT HUP", "INT HUP TERM"] {
        for round in 0..5 {
            let mut child = appending(&folder, ignored);
            for part in 0..=round {
                let text = format!("{ignored} {round} {part}\n");
                feed(&mut child, &text);
                all.push_str(&text);
            }
            for signal in ignored.split_whitespace().filter(|signal| *signal != "TERM") {
                send(&child, signal);
                let text = format!("{signal} is ignored\n");
                feed(&mut child, &text);
                all.push_str(&text);
            }
            // The pipe stays open: a stream that ends is done, whatever signal comes with its end.
            let pipe = child.stdin.take();
            send(&child, "TERM");
            let output = child.wait_with_output().unwrap();
            drop(pipe);
            assert_eq!(String::from_utf8_lossy(&output.stderr), "tadoc: cancelled\n");
            assert_eq!(output.status.code(), Some(143));
            let kept = folder.run(&["cat", "c.tdc", "log"]).succeeds();
            assert_eq!(String::from_utf8_lossy(kept.bytes()), all, "with {ignored:?} ignored");
        }
    }
    folder.run(&["verify", "c.tdc"]).exits(0);
}

#[test]
fn a_wait_for_input_ends() {
    for (signal, _, code) in heeded() {
        let folder = Folder::with(&["a"]);
        folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
        for arguments in [
            &["compress", "-", "-o", "new.tdc"][..],
            &["add", "c.tdc", "-", "--name", "b"],
            &["insert", "c.tdc", "a", "0"],
            &["edit", "c.tdc", "-f", "-"],
            &["query", "c.tdc", "-f", "-"],
        ] {
            let mut command = folder.command(arguments);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            wait_for_handler(&mut child);
            feed(&mut child, "\n");
            send(&child, signal);
            let input = child.stdin.take();
            let output = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stderr), "tadoc: cancelled\n");
            assert_eq!(output.status.code(), Some(code), "{arguments:?}");
            assert_eq!(folder.names(), ["a", "c.tdc"], "{arguments:?}");
            drop(input);
        }
    }
}

/// Commands with all that they need in the folder: whether they are long, so that signals have to hit them.
const COMMANDS: &[(bool, &[&str])] = &[
    (true, &["compress", "a", "-o", "new.tdc"]),
    (true, &["compress", "a", "-o", "new.tdc", "--level", "dense"]),
    (true, &["compress", "a", "-o", "new.tdc", "--builder", "sequitur"]),
    (true, &["compress", "a", "-o", "e.tdc", "--force"]),
    (true, &["transcode", "c.tdc", "-o", "new.tdc", "--level", "dense"]),
    (true, &["transcode", "dense.tdc", "-o", "new.tdc", "--level", "fast"]),
    (true, &["restore", "dense.tdc", "-C", "out"]),
    (true, &["verify", "dense.tdc"]),
    (true, &["index", "e.tdc", "--view", "--index", "fast"]),
    (true, &["cooccurrence", "c.tdc", "--window", "64", "-o", "new.tsv"]),
    (true, &["sequence-count", "c.tdc", "--n", "5", "-o", "new.parquet"]),
    (true, &["recompress", "edited.tdc"]),
    (false, &["restore", "c.tdc", "-C", "out"]),
    (false, &["word-count", "c.tdc", "-o", "new.csv"]),
    (false, &["inverted-index", "c.tdc"]),
    (false, &["term-vector", "c.tdc"]),
    (false, &["ranked-inverted-index", "c.tdc"]),
    (false, &["tfidf", "c.tdc"]),
    (false, &["collocations", "c.tdc"]),
    (false, &["sort", "c.tdc"]),
    (false, &["cat", "c.tdc", "a"]),
    (false, &["list", "c.tdc"]),
    (false, &["info", "c.tdc"]),
    (false, &["extract", "c.tdc", "a", "5", "50"]),
    (false, &["search", "c.tdc", "the", "-o", "new.tsv"]),
    (false, &["count", "c.tdc", "the"]),
    (false, &["kwic", "c.tdc", "the", "-o", "new.tsv"]),
    (false, &["sample", "c.tdc", "-k", "100000", "--seed", "1"]),
    (false, &["find", "c.tdc", "the of"]),
    (false, &["grep", "-n", "t.*e", "c.tdc"]),
    (false, &["insert", "e.tdc", "a", "5", "--text", "new"]),
    (false, &["append", "e.tdc", "a", "--text", "new"]),
    (false, &["delete", "e.tdc", "a", "5", "50"]),
    (false, &["replace", "e.tdc", "a", "5", "50", "--text", "new"]),
    (false, &["remove", "e.tdc", "a"]),
    (false, &["rename", "e.tdc", "a", "b"]),
    (false, &["add", "e.tdc", "b"]),
    (false, &["edit", "e.tdc", "-f", "edits.jsonl"]),
    (false, &["query", "c.tdc", "-f", "edits.jsonl"]),
    (false, &["demo"]),
];

/// Signals that have to hit each long command in the middle of its work.
const HITS: usize = 3;
/// The most processor time that a command takes after a signal.
const MOST_WORK: Duration = Duration::from_secs(5);

#[test]
fn every_command_ends_in_order() {
    let folder = Folder::new();
    let text = prose(3_000_000);
    folder.write("a", &text);
    folder.write("b", &text[..1_000_000]);
    folder.write("edits.jsonl", "{\"op\":\"count\",\"word\":\"the\"}\n".repeat(100));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    folder.run(&["transcode", "c.tdc", "-o", "dense.tdc", "--level", "dense"]).succeeds();
    std::fs::copy(folder.path("c.tdc"), folder.path("one-edit.tdc")).unwrap();
    folder.run(&["insert", "one-edit.tdc", "a", "0", "--text", "x"]).succeeds();
    let temporary = Folder::new();
    let restore_state = || {
        for (from, to) in [("c.tdc", "e.tdc"), ("one-edit.tdc", "edited.tdc")] {
            std::fs::copy(folder.path(from), folder.path(to)).unwrap();
        }
        let _ = std::fs::remove_file(folder.path("e.tdc.view"));
        folder.names()
    };
    let inputs = restore_state();
    let signals: Vec<_> = heeded().collect();
    let (mut seed, mut most) = (12345_u64, Duration::ZERO);
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as f64 / (1_u64 << 31) as f64
    };
    for &(is_long, arguments) in COMMANDS {
        let spawn = || {
            let mut command = folder.command(arguments);
            command.env("TMPDIR", temporary.path("."));
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        // Signals come at random times of what the work takes, sooner each time that none of them hits it.
        let start = Instant::now();
        assert!(spawn().wait().unwrap().code().is_some_and(|code| code < 2), "{arguments:?}");
        let mut span = start.elapsed();
        let clean = || {
            for name in ["new.tdc", "new.tsv", "new.csv", "new.parquet"] {
                let _ = std::fs::remove_file(folder.path(name));
            }
            let _ = std::fs::remove_dir_all(folder.path("out"));
            restore_state();
        };
        clean();
        let (mut hits, mut rounds) = (0, 0);
        while if is_long { hits < HITS } else { rounds < 2 } {
            rounds += 1;
            assert!(rounds < 100, "{arguments:?} was never hit");
            let (signal, _, code) = signals[rounds % signals.len()];
            let mut child = spawn();
            wait_for_handler(&mut child);
            sleep(span.mul_f64(random()));
            let before = processor_time(child.id());
            send(&child, signal);
            let mut told = String::new();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            let work = processor_time(child.id()) - before;
            let status = child.wait().unwrap();
            if status.code() != Some(code) {
                // It was done before the signal came.
                assert!(matches!(status.code(), Some(0 | 1)), "{arguments:?}: {told}");
                span /= 2;
                clean();
                continue;
            }
            hits += 1;
            assert_eq!(told, "tadoc: cancelled\n", "{arguments:?}");
            most = most.max(work);
            assert!(work < MOST_WORK, "{arguments:?}: {work:?}");
            let half_written = std::fs::read_dir(folder.path("out"))
                .into_iter()
                .flatten()
                .any(|entry| entry.unwrap().file_name() != "a");
            assert!(!half_written, "{arguments:?}");
            let _ = std::fs::remove_dir_all(folder.path("out"));
            // What has its name is whole: the signal came when all was done but to say so.
            for name in ["new.tdc", "e.tdc", "edited.tdc"] {
                if folder.path(name).exists() {
                    folder.run(&["verify", name]).exits(0);
                }
            }
            for name in ["new.tdc", "new.tsv", "new.csv", "new.parquet", "e.tdc.view"] {
                let _ = std::fs::remove_file(folder.path(name));
            }
            assert_eq!(folder.names(), inputs, "{arguments:?}");
            assert_eq!(temporary.names(), [""; 0], "{arguments:?}");
            restore_state();
        }
    }
    println!("the slowest took {most:?} of the processor");
}
