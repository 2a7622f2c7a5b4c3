//! Where documents come from and what they are called.

use std::fs;
use std::os::unix::fs::symlink;

use crate::folder::{Folder, Run, TADOC};

/// The names of an archive's documents.
pub fn names(folder: &Folder, archive: &str) -> Vec<String> {
    let list = folder.run(&["list", archive]).succeeds();
    list.text().lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn paths_name_documents() {
    let folder = Folder::with(&["x/b", "x/a", "y/c", "z"]);
    folder.run(&["compress", "./x/", "-o", "1.tdc"]).succeeds();
    assert_eq!(names(&folder, "1.tdc"), ["a", "b"]);
    folder.run(&["compress", "./z", "./x", "y", "-o", "2.tdc"]).succeeds();
    assert_eq!(names(&folder, "2.tdc"), ["x/a", "x/b", "y/c", "z"]);
    let absolute = folder.path("z");
    let absolute = absolute.to_str().unwrap();
    folder.run(&["compress", absolute, "-o", "3.tdc"]).succeeds();
    assert_eq!(names(&folder, "3.tdc"), [absolute.trim_start_matches('/')]);
}

#[test]
fn parent_folders_are_not_part_of_names() {
    let folder = Folder::with(&["work/here", "x/a", "z"]);
    let mut command =
        folder.command(&["compress", "../x/a", "../z", "../x/../work/here", "-o", "c.tdc"]);
    assert!(command.current_dir(folder.path("work")).status().unwrap().success());
    assert_eq!(names(&folder, "work/c.tdc"), ["work/here", "x/a", "z"]);
}

#[test]
fn standard_input_is_a_document() {
    let folder = Folder::with(&["a"]);
    folder.run_with(&["compress", "-", "-o", "1.tdc"], b"from a pipe\n").succeeds();
    assert_eq!(names(&folder, "1.tdc"), ["stdin"]);
    let arguments = ["compress", "a", "-", "--name", "pipe.txt", "-o", "2.tdc"];
    folder.run_with(&arguments, b"from a pipe\n").succeeds();
    assert_eq!(names(&folder, "2.tdc"), ["a", "pipe.txt"]);
    assert_eq!(folder.run(&["cat", "2.tdc", "pipe.txt"]).bytes(), b"from a pipe\n");
    folder.run_with(&["compress", "-", "-o", "empty.tdc"], b"").succeeds();
    assert_eq!(folder.run(&["list", "empty.tdc"]).text(), "stdin\t0\n");
}

#[test]
fn lines_are_documents() {
    let folder = Folder::new();
    let arguments = ["compress", "-", "--name", "log", "--split", "lines", "-o", "c.tdc"];
    folder.run_with(&arguments, b"first\r\n\nlast").succeeds();
    let list = folder.run(&["list", "c.tdc"]).succeeds();
    assert_eq!(list.text(), "log:0000000001\t7\nlog:0000000002\t1\nlog:0000000003\t4\n");
    assert_eq!(folder.run(&["cat", "c.tdc", "log:0000000003"]).text(), "last");
    assert_eq!(folder.run(&["restore", "c.tdc", "--stdout"]).text(), "first\r\n\nlast");
}

#[test]
fn lists_of_paths() {
    let folder = Folder::with(&["x/a", "x/b", "line\nfeed", "c"]);
    folder.write("list", "x/a\nc\n");
    folder.run(&["compress", "--from", "list", "-o", "1.tdc"]).succeeds();
    assert_eq!(names(&folder, "1.tdc"), ["c", "x/a"]);
    let arguments = ["compress", "c", "--from0", "-", "-o", "2.tdc"];
    folder.run_with(&arguments, b"line\nfeed\0x\0").succeeds();
    assert_eq!(names(&folder, "2.tdc"), ["c", "line\\nfeed", "x/a", "x/b"]);
    folder.run_with(&["compress", "--from", "-", "-o", "3.tdc"], b"").exits(2).says("empty");
    folder.run(&["compress", "--from", "nolist", "-o", "3.tdc"]).exits(2).says("nolist");
}

#[test]
fn links_and_pipes_in_folders_are_left_out_with_a_warning() {
    let folder = Folder::with(&["in/file"]);
    symlink("..", folder.path("in/loop")).unwrap();
    symlink("file", folder.path("in/link")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("in/pipe")).status().unwrap();
    assert!(made.success());
    let run = folder.run(&["compress", "in", "-o", "c.tdc", "--json"]).exits(0);
    assert!(run.stderr().contains("warning: left out 2 symbolic links: in/link, in/loop"));
    assert!(run.stderr().contains("warning: left out 1 special file: in/pipe"));
    assert_eq!(run.json()[0]["skipped"].as_array().unwrap().len(), 3);
    assert_eq!(names(&folder, "c.tdc"), ["file"]);
}

#[test]
fn a_link_or_pipe_that_is_given_is_read() {
    let folder = Folder::with(&["real/file"]);
    symlink("real/file", folder.path("link")).unwrap();
    folder.run(&["compress", "link", "-o", "1.tdc"]).succeeds();
    assert_eq!(names(&folder, "1.tdc"), ["link"]);
    let script = format!("{TADOC} compress <(echo hello) -o 2.tdc && {TADOC} cat 2.tdc '*'");
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", &script]).current_dir(folder.path(""));
    assert_eq!(bash.output().unwrap().stdout, b"hello\n");
}

#[test]
fn the_archive_does_not_swallow_itself() {
    let folder = Folder::with(&["a", "b"]);
    folder.run(&["compress", ".", "-o", "c.tdc"]).succeeds();
    folder.run(&["compress", ".", "-o", "c.tdc", "--force"]).succeeds();
    assert_eq!(names(&folder, "c.tdc"), ["a", "b"]);
    let refused = folder.run(&["compress", "a", "c.tdc", "-o", "c.tdc", "--force"]);
    refused.exits(2).says("both an input and the archive");
}

#[test]
fn memory_and_segments() {
    let folder = Folder::new();
    folder.write("a", crate::folder::prose(200_000));
    folder.run(&["compress", "a", "-o", "c.tdc", "--memory", "256M"]).succeeds();
    folder
        .run(&["compress", "a", "-o", "d.tdc", "--memory", "1K"])
        .exits(2)
        .says("too little memory");
    let wrong: Run = folder.run(&["compress", "a", "-o", "d.tdc", "--memory", "lots"]).exits(2);
    assert!(wrong.stderr().contains("expected a size such as 512M"), "{}", wrong.stderr());
    assert!(fs::metadata(folder.path("d.tdc")).is_err());
}

#[test]
fn memory_is_bounded_for_text_without_white_space() {
    const MEMORY: u64 = 300 << 20;
    let folder = Folder::new();
    // A sparse file costs nothing to make: one word, or separators only.
    let sparse = std::fs::File::create(folder.path("sparse")).unwrap();
    sparse.set_len(700 << 20).unwrap();
    // Words that are all different, and longer than words can be.
    let mut state = 1_u32;
    let random = (0..60 << 20).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'a' + (state >> 24) as u8 % 26
    });
    folder.write("blob", random.collect::<Vec<u8>>());
    for arguments in [
        "compress sparse -o a.tdc --memory 300M --lexer whitespace",
        "compress sparse -o b.tdc --memory 300M",
        "compress blob -o c.tdc --memory 300M",
        "compress - -o d.tdc --memory 300M < sparse",
    ] {
        folder.run_within(MEMORY + MEMORY / 8, arguments).exits(0);
    }
    let bytes = |name: &str| std::fs::metadata(folder.path(name)).unwrap().len();
    assert!(bytes("a.tdc") < 10_000 && bytes("b.tdc") < 10_000 && bytes("d.tdc") < 10_000);
}

#[test]
fn runs_of_one_digit_take_no_room() {
    let folder = Folder::new();
    folder.write("a", vec![b'a'; 5 << 20]);
    let runs: Vec<String> = (0..500).map(|n| "0".repeat(5000 + n)).collect();
    folder.write("zeros", runs.join("\n"));
    folder.run(&["compress", "a", "zeros", "-o", "x.tdc"]).succeeds();
    assert!(folder.read("x.tdc").len() < 20_000, "{} bytes", folder.read("x.tdc").len());
    folder.run(&["verify", "x.tdc"]).succeeds();
}
