//! What the system refuses or takes away: files over a limit, threads, standard output, bytes of an archive
//! that is open.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Output, Stdio};

use crate::folder::{Folder, TADOC, prose};

/// Runs the command by a shell: `script` has `"$0" "$@"` where it goes.
fn by_shell(folder: &Folder, script: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, TADOC]).args(arguments).current_dir(folder.path("."));
    command.stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn assert_fails(output: &Output, what: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.starts_with("tadoc: ") && told.contains(what), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn a_file_over_the_limit_is_an_error() {
    let folder = Folder::new();
    folder.write("a", prose(300_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    let length = folder.read("c.tdc").len();
    let names = folder.names();
    for arguments in [
        &["compress", "a", "-o", "new.tdc"][..],
        &["transcode", "c.tdc", "-o", "new.tdc", "--level", "dense"],
        &["index", "c.tdc", "--view"],
        &["index", "c.tdc", "--index", "fast"],
        &["sequence-count", "c.tdc", "-o", "new.tsv"],
        &["restore", "c.tdc", "-C", "out"],
        &["append", "c.tdc", "a", "--text", "more"],
    ] {
        // Blocks of 512 bytes, or of 1024.
        let output = by_shell(&folder, "ulimit -f 16; exec \"$0\" \"$@\"", arguments);
        assert_fails(&output, "File too large");
        assert_fails(&output, "ulimit -f");
        // A folder without a file stays.
        let _ = std::fs::remove_dir(folder.path("out"));
        assert_eq!(folder.names(), names, "{arguments:?}");
    }
    assert_eq!(folder.read("c.tdc").len(), length);
    folder.run(&["verify", "c.tdc"]).exits(0);
}

#[test]
fn closed_standard_output_is_an_error() {
    let folder = Folder::with(&["a", "b"]);
    folder.run(&["compress", "a", "b", "-o", "c.tdc"]).succeeds();
    folder.write("questions", "{\"op\":\"count\",\"word\":\"this\"}\n");
    for arguments in [
        &["list", "c.tdc"][..],
        &["info", "c.tdc"],
        &["info", "c.tdc", "--json"],
        &["verify", "c.tdc"],
        &["cat", "c.tdc", "a"],
        &["restore", "c.tdc", "--stdout"],
        &["extract", "c.tdc", "a", "0", "4"],
        &["search", "c.tdc", "this"],
        &["count", "c.tdc", "this"],
        &["kwic", "c.tdc", "this"],
        &["sample", "c.tdc", "-k", "1", "--seed", "1"],
        &["find", "c.tdc", "this"],
        &["grep", "this", "c.tdc"],
        &["word-count", "c.tdc"],
        &["tfidf", "c.tdc", "--format", "csv"],
        &["cooccurrence", "c.tdc"],
        &["query", "c.tdc", "-f", "questions"],
        &["edit", "c.tdc", "-f", "questions"],
        &["demo"],
        &["completions", "bash"],
    ] {
        let output = by_shell(&folder, "exec \"$0\" \"$@\" >&-", arguments);
        assert_fails(&output, "standard output");
        // Open for reading alone.
        let output = by_shell(&folder, "exec \"$0\" \"$@\" 1</dev/null", arguments);
        if arguments[0] != "demo" {
            assert_fails(&output, "standard output");
        }
        for fine in ["> /dev/null", "</dev/null >/dev/null", "1<>/dev/null", "<&-"] {
            let script = format!("exec \"$0\" \"$@\" {fine}");
            let output = by_shell(&folder, &script, arguments);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{arguments:?} {fine}: {told}");
        }
    }
    // What prints nothing does not ask.
    let output = by_shell(&folder, "exec \"$0\" \"$@\" >&-", &["compress", "a", "-o", "d.tdc"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn threads_that_cannot_be_started_are_no_panic() {
    let folder = Folder::with(&["a", "b"]);
    folder.run(&["compress", "a", "b", "-o", "c.tdc"]).succeeds();
    std::fs::copy(folder.path("c.tdc"), folder.path("b.tdc")).unwrap();
    folder.run(&["insert", "c.tdc", "a", "0", "--text", "x"]).succeeds();
    folder.write("questions", "{\"op\":\"count\",\"word\":\"this\"}\n");
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    // The limit binds nobody who may pass it: root runs the commands as someone else.
    let script = match is_root {
        true => "exec setpriv --reuid 65534 --clear-groups prlimit --nproc=1:1 \"$0\" \"$@\"",
        false => "exec prlimit --nproc=1:1 \"$0\" \"$@\"",
    };
    if by_shell(&folder, script, &["--version"]).status.code() != Some(0) {
        eprintln!("skipped: no util-linux here, or others may not run the command");
        return;
    }
    if is_root {
        for path in [folder.path("."), folder.path("c.tdc")] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
        }
    }
    let mut ended_well = 0;
    for arguments in [
        &["compress", "a", "b", "-o", "new.tdc"][..],
        &["transcode", "b.tdc", "-o", "other.tdc", "--level", "dense"],
        &["list", "c.tdc"],
        &["info", "c.tdc"],
        &["verify", "c.tdc"],
        &["restore", "c.tdc", "-C", "out"],
        &["cat", "c.tdc", "a"],
        &["extract", "c.tdc", "a", "0", "4"],
        &["search", "c.tdc", "this"],
        &["count", "c.tdc", "this"],
        &["kwic", "c.tdc", "this"],
        &["sample", "c.tdc", "-k", "1", "--seed", "1"],
        &["find", "c.tdc", "this"],
        &["grep", "this", "c.tdc"],
        &["word-count", "c.tdc"],
        &["word-count", "c.tdc", "--threads", "64"],
        &["sequence-count", "c.tdc"],
        &["cooccurrence", "c.tdc"],
        &["index", "c.tdc", "--view"],
        &["query", "c.tdc", "-f", "questions"],
        &["edit", "c.tdc", "-f", "questions"],
        &["append", "c.tdc", "a"],
        &["insert", "c.tdc", "a", "0", "--text", "y"],
        &["recompress", "c.tdc"],
        &["demo"],
    ] {
        let output = by_shell(&folder, script, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("panicked"), "{arguments:?}: {told}");
        match output.status.code() {
            Some(0) => ended_well += 1,
            Some(2) => assert!(told.contains("cannot start a thread"), "{arguments:?}: {told}"),
            code => panic!("{arguments:?} ended with {code:?}: {told}"),
        }
    }
    assert!(ended_well > 10, "only {ended_well} commands did their work");
}

#[test]
fn threads_have_a_limit() {
    let folder = Folder::with(&["a"]);
    folder.run(&["compress", "a", "-o", "c.tdc", "--threads", "3"]).succeeds();
    for arguments in [
        &["compress", "a", "-o", "d.tdc"][..],
        &["word-count", "c.tdc"],
        &["search", "c.tdc", "this"],
        &["grep", "this", "c.tdc"],
        &["edit", "c.tdc", "-f", "-"],
        &["recompress", "c.tdc"],
    ] {
        for wrong in ["0", "1025", "18446744073709551615"] {
            let run = folder.run(&[arguments, &["--threads", wrong]].concat()).exits(2);
            let told = run.stderr();
            assert!(told.contains("--threads") && told.contains("1..=1024"), "{told}");
        }
    }
}

#[test]
fn an_archive_truncated_while_it_is_read_is_an_error() {
    let folder = Folder::new();
    folder.write("a", prose(3_000_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    folder.run(&["index", "c.tdc", "--index", "fast"]).succeeds();
    let mut command = folder.command(&["query", "c.tdc", "-f", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    questions.write_all(b"{\"op\":\"count\",\"word\":\"the\"}\n").unwrap();
    let mut answer = String::new();
    answers.read_line(&mut answer).unwrap();
    assert!(answer.starts_with("{\"count\":"), "{answer}");
    let archive = File::options().write(true).open(folder.path("c.tdc")).unwrap();
    archive.set_len(100).unwrap();
    for offset in (0..3_000_000).step_by(50_000) {
        let extract =
            format!("{{\"op\":\"extract\",\"document\":\"a\",\"offset\":{offset},\"length\":9}}\n");
        // It may have ended by then.
        let _ = questions.write_all(extract.as_bytes());
    }
    drop(questions);
    let output = child.wait_with_output().unwrap();
    assert_fails(&output, "a file was truncated while it was read");
}
