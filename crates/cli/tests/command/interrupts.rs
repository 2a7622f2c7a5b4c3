//! Ctrl-C: the work ends in order and leaves nothing half-written.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::folder::{Folder, prose};

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

const SIGINT: u64 = 1 << 1;

/// A set of signals in what Linux tells about a process.
fn signals(process: &str, set: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let digits = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
    u64::from_str_radix(digits.trim(), 16).unwrap()
}

/// Whether signals do anything here: in the background of a script they do not.
fn are_ignored() -> bool {
    signals("self", "SigIgn:") & SIGINT != 0
}

fn wait_for_handler(child: &Child) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while signals(&child.id().to_string(), "SigCgt:") & SIGINT == 0 {
        assert!(Instant::now() < deadline, "no handler");
        sleep(Duration::from_millis(2));
    }
}

#[track_caller]
fn assert_cancelled(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "tadoc: cancelled\n");
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn while_waiting_for_standard_input() {
    if are_ignored() {
        return;
    }
    let folder = Folder::new();
    let mut command = folder.command(&["compress", "-", "-o", "c.tdc"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_handler(&child);
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"a beginning without an end").unwrap();
    sleep(Duration::from_millis(100));
    interrupt(&child);
    assert_cancelled(child);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    drop(input);
}

#[test]
fn while_compressing() {
    if are_ignored() {
        return;
    }
    let folder = Folder::new();
    folder.write("a", prose(60_000_000));
    for wait in [0, 100, 300] {
        let mut command = folder.command(&["compress", "a", "-o", "c.tdc"]);
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        wait_for_handler(&child);
        sleep(Duration::from_millis(wait));
        let start = Instant::now();
        interrupt(&child);
        assert_cancelled(child);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        assert_eq!(folder.names(), ["a"]);
    }
}

#[test]
fn while_answering() {
    if are_ignored() {
        return;
    }
    let folder = Folder::new();
    folder.write("a", prose(20_000_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    for wait in [0, 100, 300] {
        let mut command =
            folder.command(&["cooccurrence", "c.tdc", "--window", "64", "-o", "pairs.tsv"]);
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        wait_for_handler(&child);
        sleep(Duration::from_millis(wait));
        let start = Instant::now();
        interrupt(&child);
        assert_cancelled(child);
        // The work itself takes many times longer.
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(folder.names(), ["a", "c.tdc"]);
    }
}

#[test]
fn while_restoring() {
    if are_ignored() {
        return;
    }
    let folder = Folder::new();
    folder.write("a", prose(60_000_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    let mut command = folder.command(&["restore", "c.tdc", "-C", "out"]);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    wait_for_handler(&child);
    interrupt(&child);
    assert_cancelled(child);
    let left: Vec<_> = std::fs::read_dir(folder.path("out")).into_iter().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
