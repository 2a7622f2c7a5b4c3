//! Ctrl-C: the work ends in order and leaves nothing half-written.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::folder::{Folder, prose};

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until the command has installed its handler (Linux shows which signals are caught).
fn wait_for_handler(child: &Child) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        if u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0 {
            return;
        }
        sleep(Duration::from_millis(2));
    }
    panic!("no handler");
}

#[track_caller]
fn assert_cancelled(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "tadoc: cancelled\n");
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn while_waiting_for_standard_input() {
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
