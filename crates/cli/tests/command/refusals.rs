//! Bad input and wrong usage: a clear message, the right exit code, and nothing left behind.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use crate::folder::{Folder, TADOC, prose};

#[test]
fn an_existing_archive_is_not_replaced_unless_forced() {
    let folder = Folder::with(&["a"]);
    folder.write("c.tdc", "precious");
    let refused = folder.run(&["compress", "a", "-o", "c.tdc"]).exits(2);
    refused.says("c.tdc exists already; give another name, or --force");
    assert_eq!(folder.read("c.tdc"), b"precious");
    folder.run(&["compress", "a", "-o", "c.tdc", "--force"]).succeeds();
    folder.run(&["verify", "c.tdc"]).succeeds();
}

#[test]
fn existing_files_are_not_replaced_unless_forced() {
    let folder = Folder::with(&["in/a", "in/b"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.write("out/b", "precious");
    let refused = folder.run(&["restore", "c.tdc", "-C", "out"]).exits(1);
    refused.says("exists already; --force replaces it");
    assert_eq!(folder.read("out/a"), folder.read("in/a"));
    assert_eq!(folder.read("out/b"), b"precious");
    folder.run(&["restore", "c.tdc", "-C", "out", "--force"]).succeeds();
    assert_eq!(folder.read("out/b"), folder.read("in/b"));
}

#[test]
fn nothing_is_restored_outside_of_the_folder() {
    for name in ["../evil", "/tmp/tadoc-evil", "a/../../evil", "..", "a/..", "."] {
        let folder = Folder::with(&["a"]);
        let arguments = ["compress", "-", "--name", name, "-o", "c.tdc"];
        let compressed = folder.run_with(&arguments, b"evil");
        if compressed.stderr().is_empty() {
            folder.run(&["restore", "c.tdc", "-C", "inner/out"]).exits(1).says("not restored");
        } else {
            compressed.exits(2).says("cannot be the name of a document");
            assert_eq!(folder.names(), ["a"], "{name}");
        }
        assert!(!folder.path("evil").exists() && !folder.path("inner/evil").exists(), "{name}");
        assert!(!std::path::Path::new("/tmp/tadoc-evil").exists());
    }
}

#[test]
fn links_in_the_way_are_not_followed() {
    let folder = Folder::with(&["in/sub/file", "in/top"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    fs::create_dir_all(folder.path("elsewhere")).unwrap();
    fs::create_dir_all(folder.path("out")).unwrap();
    symlink("../elsewhere", folder.path("out/sub")).unwrap();
    for force in [&[][..], &["--force"]] {
        let mut arguments = vec!["restore", "c.tdc", "-C", "out", "sub/file"];
        arguments.extend(force);
        let run = folder.run(&arguments).exits(1);
        assert!(run.stderr().starts_with("tadoc: "), "{}", run.stderr());
        assert!(fs::read_dir(folder.path("elsewhere")).unwrap().next().is_none());
    }
    folder.write("target", "precious");
    symlink("../target", folder.path("out/top")).unwrap();
    folder.run(&["restore", "c.tdc", "-C", "out", "top"]).exits(1);
    folder.run(&["restore", "c.tdc", "-C", "out", "top", "--force"]);
    assert_eq!(folder.read("target"), b"precious");
}

#[test]
fn two_documents_of_one_name() {
    let folder = Folder::with(&["x/a", "y/a"]);
    let refused = folder.run(&["compress", "x/a", "./x/a", "-o", "c.tdc"]).exits(2);
    refused.says("two documents are called");
    assert_eq!(folder.names(), ["x", "y"]);
}

#[test]
fn what_is_not_there() {
    let folder = Folder::with(&["a"]);
    fs::create_dir(folder.path("empty")).unwrap();
    folder.run(&["compress", "missing", "-o", "c.tdc"]).exits(2).says("cannot read missing");
    folder.run(&["compress", "empty", "-o", "c.tdc"]).exits(2).says("no files in empty");
    folder.run(&["compress", "a", "-o", "no/folder/c.tdc"]).exits(2).says("no/folder");
    assert_eq!(folder.names(), ["a", "empty"]);
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    folder.run(&["cat", "c.tdc", "b"]).exits(2).says("has no document");
    folder.run(&["cat", "c.tdc", "*.log"]).exits(1).says("no document matches");
    folder.run(&["restore", "c.tdc", "*.log"]).exits(1).says("no document matches");
    for command in ["list", "info", "verify"] {
        folder.run(&[command, "missing.tdc"]).exits(2).says("missing.tdc");
        folder.run(&[command, "a"]).exits(2).says("not a tadoc archive");
        folder.run(&[command, "empty"]).exits(2).says("empty");
    }
}

#[test]
fn wrong_usage() {
    let folder = Folder::with(&["a"]);
    for arguments in [
        &["compress", "a"][..],
        &["compress", "-o", "c.tdc"],
        &["compress", "a", "-o", "c.tdc", "--level", "best"],
        &["compress", "a", "-o", "c.tdc", "--threads", "0"],
        &["compress", "a", "-o", "c.tdc", "--name", "x"],
        &["compress", "-", "-", "-o", "c.tdc"],
        &["compress", "a", "-o", "-"],
        &["cat", "c.tdc"],
        &["transcode", "c.tdc", "-o", "d.tdc"],
        &["restore", "c.tdc", "--stdout", "-C", "x"],
        &["frobnicate"],
        &[],
    ] {
        let run = folder.run(arguments).exits(2);
        assert_ne!(run.stderr(), "", "{arguments:?}");
        assert_eq!(run.text(), "");
    }
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn an_unreadable_file() {
    let folder = Folder::with(&["in/a", "in/secret"]);
    fs::set_permissions(folder.path("in/secret"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(folder.path("in/secret")).is_ok() {
        return; // The superuser reads everything.
    }
    let refused = folder.run(&["compress", "in", "-o", "c.tdc"]).exits(2);
    refused.says("cannot read in/secret (--skip-unreadable leaves such files out)");
    assert_eq!(folder.names(), ["in"]);
    let run = folder.run(&["compress", "in", "-o", "c.tdc", "--skip-unreadable"]).exits(0);
    assert!(run.stderr().contains("warning: left out in/secret"), "{}", run.stderr());
}

#[test]
fn damage_is_found() {
    let folder = Folder::new();
    folder.write("a", prose(20_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    let whole = folder.read("c.tdc");
    for at in [whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        folder.write("d.tdc", &damaged);
        folder.run(&["verify", "d.tdc"]).exits(1).says("d.tdc");
        let report = folder.run(&["verify", "--json", "d.tdc"]).exits(1).json();
        assert_eq!(report[0]["ok"], false);
        folder.write("d.tdc", &whole[..at]);
        folder.run(&["verify", "d.tdc"]).exits(1).says("d.tdc");
    }
}

#[test]
fn a_full_disk_is_told() {
    let folder = Folder::new();
    folder.write("a", prose(100_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    for arguments in [
        &["cat", "c.tdc", "a"][..],
        &["restore", "c.tdc", "--stdout"],
        &["list", "c.tdc"],
        &["list", "c.tdc", "--format", "json"],
        &["list", "c.tdc", "--format", "table"],
        &["info", "c.tdc"],
        &["verify", "c.tdc"],
        &["completions", "bash"],
        &["demo"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output =
            folder.command(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("tadoc: standard output: No space left"), "{stderr}");
    }
}

/// A limit on the size of files stands for a full disk.
#[test]
fn an_archive_that_does_not_fit_leaves_nothing() {
    let folder = Folder::new();
    let text: Vec<u8> =
        (0..200_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    folder.write("a", text);
    let script = format!("ulimit -f 8; trap '' XFSZ; exec {TADOC} compress a -o c.tdc");
    let mut shell = Command::new("bash");
    let output = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("c.tdc") && stderr.contains("File too large"), "{stderr}");
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new();
    folder.write("a", prose(2_000_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    folder.write("lines", "one\n".repeat(50_000));
    folder.run(&["compress", "lines", "--split", "lines", "-o", "l.tdc"]).succeeds();
    for command in [
        "cat c.tdc a",
        "restore c.tdc --stdout",
        "list l.tdc",
        "list l.tdc --format json",
        "completions bash",
    ] {
        let script = format!("set -o pipefail; {TADOC} {command} | head -1 > /dev/null");
        let mut shell = Command::new("bash");
        let output = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
        assert_eq!(output.status.code(), Some(0), "{command}");
    }
}

/// The name of an archive is told also where the message has it in one of its words.
#[test]
fn an_archive_with_a_short_name_is_told() {
    let folder = Folder::with(&["x"]);
    folder.run(&["compress", "x", "-o", "c.tdc"]).succeeds();
    std::fs::copy(folder.path("c.tdc"), folder.path("a")).unwrap();
    folder.run(&["extract", "a", "x", "1000000", "1"]).exits(2).says("tadoc: a: offset 1000000 ");
    folder.run(&["rename", "a", "x", "x/../y"]).exits(2).says("tadoc: a: ");
    let mut bytes = folder.read("a");
    bytes.truncate(bytes.len() / 2);
    folder.write("a", bytes);
    for command in [&["verify", "a"][..], &["list", "a"], &["append", "a", "x", "--text", "y"]] {
        let code = if command[0] == "verify" { 1 } else { 2 };
        folder.run(command).exits(code).says("tadoc: a: ");
    }
}
