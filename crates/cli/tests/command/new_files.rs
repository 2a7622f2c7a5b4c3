//! Files that the command makes: what they may replace, who may read them, and what a killed process leaves.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::folder::{Folder, prose};

/// Somebody who is not root.
const SOMEBODY: (u32, u32) = (12345, 54321);

/// With two files and an archive of each.
fn with_archives() -> Folder {
    let folder = Folder::with(&["a", "b"]);
    for name in ["a", "b"] {
        folder.run(&["compress", name, "-o", &format!("{name}.tdc")]).succeeds();
    }
    folder
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(folder: &Folder, name: &str) -> u32 {
    fs::metadata(folder.path(name)).unwrap().mode() & 0o7777
}

/// Owner, group and mode.
fn rights(folder: &Folder, name: &str) -> (u32, u32, u32) {
    let metadata = fs::metadata(folder.path(name)).unwrap();
    (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
}

/// Gives a file to somebody; whether that is allowed.
fn give_away(folder: &Folder, name: &str) -> bool {
    match chown(folder.path(name), Some(SOMEBODY.0), Some(SOMEBODY.1)) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            println!("skipped: only root can give files away");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Commands that write a file to a path, and what they read.
fn writers(path: &str) -> [Vec<String>; 3] {
    [
        &["compress", "b", "-o", path][..],
        &["transcode", "b.tdc", "--level", "dense", "-o", path],
        &["word-count", "b.tdc", "--format", "tsv", "-o", path],
    ]
    .map(|arguments| arguments.iter().map(ToString::to_string).collect())
}

/// What a file says, but for the folder of its names, which an archive has as seen from its own place.
fn said(folder: &Folder, bytes: &[u8]) -> Vec<u8> {
    if !bytes.starts_with(b"\x89TDC") {
        return bytes.to_vec();
    }
    let copy = tempfile::NamedTempFile::new().unwrap();
    fs::write(copy.path(), bytes).unwrap();
    let path = copy.path().to_str().unwrap();
    folder.run(&["verify", path]).succeeds();
    let [names, text] = [&["list", path, "--long"][..], &["restore", path, "--stdout"]]
        .map(|arguments| folder.run(arguments).succeeds().bytes().to_vec());
    let level = folder.run(&["info", path]).succeeds();
    let level = level.text().lines().find(|line| line.contains("level")).unwrap().to_owned();
    [names, text, level.into_bytes()].concat()
}

/// What each of [`writers`] writes says.
fn written(folder: &Folder) -> [Vec<u8>; 3] {
    let written = writers("alone").map(|arguments| {
        folder.run(&arguments).succeeds();
        let bytes = said(folder, &folder.read("alone"));
        fs::remove_file(folder.path("alone")).unwrap();
        bytes
    });
    assert!(written.iter().all(|bytes| !bytes.is_empty()));
    written
}

#[test]
fn links_are_followed_and_stay() {
    let folder = with_archives();
    fs::create_dir(folder.path("far")).unwrap();
    symlink("far/target", folder.path("link")).unwrap();
    for (arguments, bytes) in writers("link").iter().zip(written(&folder)) {
        // It leads nowhere yet.
        folder.run(arguments).succeeds();
        assert_eq!(said(&folder, &folder.read("far/target")), bytes, "{arguments:?}");
        folder.write("far/target", "precious");
        folder.run(arguments).exits(2).says("link exists already");
        assert_eq!(folder.read("far/target"), b"precious");
        folder.run(&[&arguments[..], &["--force".into()]].concat()).succeeds();
        assert_eq!(said(&folder, &folder.read("far/target")), bytes, "{arguments:?}");
        assert!(folder.path("link").is_symlink());
        assert_eq!(fs::read_dir(folder.path("far")).unwrap().count(), 1);
        fs::remove_file(folder.path("far/target")).unwrap();
        let mut to_folder = arguments.clone();
        *to_folder.last_mut().unwrap() = "far".into();
        to_folder.push("--force".into());
        folder.run(&to_folder).exits(2).says("is a folder");
    }
    // An archive that a link leads to is replaced where it is.
    fs::rename(folder.path("a.tdc"), folder.path("far/a.tdc")).unwrap();
    symlink("far/a.tdc", folder.path("a.tdc")).unwrap();
    for arguments in [
        &["index", "--index", "fast", "a.tdc"][..],
        &["append", "a.tdc", "a", "--text", "more"],
        &["recompress", "a.tdc"],
    ] {
        let before = folder.read("a.tdc");
        folder.run(arguments).succeeds();
        assert!(folder.path("a.tdc").is_symlink() && before != folder.read("far/a.tdc"));
    }
}

#[test]
fn the_target_of_a_link_is_no_input() {
    let folder = Folder::with(&["in/a"]);
    symlink("in/c.tdc", folder.path("c.tdc")).unwrap();
    for _ in 0..2 {
        folder.run(&["compress", "in", "-o", "c.tdc", "--force"]).succeeds();
        assert_eq!(folder.run(&["list", "c.tdc", "--format", "tsv"]).text().lines().count(), 1);
    }
}

#[test]
fn pipes_are_written_into() {
    let folder = with_archives();
    make_pipe(&folder.path("pipe"));
    for (arguments, bytes) in writers("pipe").iter().zip(written(&folder)) {
        for force in [&[][..], &["--force".to_string()]] {
            let found = thread::scope(|scope| {
                let reader = scope.spawn(|| folder.read("pipe"));
                folder.run(&[&arguments[..], force].concat()).succeeds();
                reader.join().unwrap()
            });
            assert_eq!(said(&folder, &found), bytes, "{arguments:?}");
            assert!(fs::metadata(folder.path("pipe")).unwrap().file_type().is_fifo());
        }
    }
    let mut command = folder.command(&["compress", "b", "-o", "/dev/stdout"]);
    assert_eq!(said(&folder, &command.output().unwrap().stdout), written(&folder)[0]);
    assert_eq!(folder.names(), ["a", "a.tdc", "b", "b.tdc", "pipe"]);
}

#[test]
fn devices_stay_devices() {
    let folder = with_archives();
    let made = Command::new("mknod").arg(folder.path("null")).args(["c", "1", "3"]).output();
    if !made.unwrap().status.success() || fs::write(folder.path("null"), "x").is_err() {
        println!("skipped: devices cannot be made and written here");
        return;
    }
    for arguments in writers("null") {
        folder.run(&arguments).succeeds();
        folder.run(&[&arguments[..], &["--force".into()]].concat()).succeeds();
        let metadata = fs::metadata(folder.path("null")).unwrap();
        assert!(metadata.file_type().is_char_device(), "{arguments:?}");
    }
    assert_eq!(folder.names(), ["a", "a.tdc", "b", "b.tdc", "null"]);
}

#[test]
fn what_replaces_a_file_is_for_the_same_people() {
    let folder = with_archives();
    let replacers = [
        &["index", "--index", "fast", "a.tdc"][..],
        &["append", "a.tdc", "a", "--text", "more"],
        &["recompress", "a.tdc"],
        &["compress", "b", "-o", "a.tdc", "--force"],
        &["transcode", "b.tdc", "--level", "dense", "-o", "a.tdc", "--force"],
        &["list", "b.tdc", "-o", "a.tdc", "--format", "tsv", "--force"],
    ];
    for mode in [0o600, 0o640] {
        folder.run(&["compress", "a", "-o", "a.tdc", "--force"]).succeeds();
        set_mode(&folder, "a.tdc", mode);
        let is_given = give_away(&folder, "a.tdc");
        let before = rights(&folder, "a.tdc");
        for arguments in replacers {
            folder.run(arguments).succeeds();
            assert_eq!(rights(&folder, "a.tdc"), before, "{arguments:?}");
        }
        assert!(!is_given || (before.0, before.1) == SOMEBODY);
    }
}

#[test]
fn who_cannot_keep_the_group_keeps_its_members_out() {
    let folder = with_archives();
    if !give_away(&folder, "") {
        return;
    }
    for (before, after) in [(0o664, 0o644), (0o604, 0o600)] {
        for arguments in [
            &["index", "--index", "fast", "a.tdc"][..],
            &["index", "--index", "none", "a.tdc"],
            &["compress", "b", "-o", "a.tdc", "--force"],
        ] {
            chown(folder.path("a.tdc"), Some(0), Some(0)).unwrap();
            set_mode(&folder, "a.tdc", before);
            let mut command = folder.command(arguments);
            match command.uid(SOMEBODY.0).gid(SOMEBODY.1).status() {
                Ok(status) => assert!(status.success(), "{arguments:?}"),
                Err(error) => return println!("skipped: others cannot run this build: {error}"),
            }
            assert_eq!(rights(&folder, "a.tdc"), (SOMEBODY.0, SOMEBODY.1, after), "{arguments:?}");
        }
    }
}

#[test]
fn what_is_derived_from_an_archive_is_no_more_readable() {
    let folder = with_archives();
    for of_archive in [0o600, 0o640, 0o644] {
        set_mode(&folder, "a.tdc", of_archive);
        let is_given = give_away(&folder, "a.tdc");
        // Views and copies that are there are narrowed, too.
        for _ in 0..2 {
            folder.run(&["index", "--view", "a.tdc"]).succeeds();
            let copy = ["transcode", "a.tdc", "-o", "copy.tdc", "--level", "dense", "--force"];
            folder.run(&copy).succeeds();
            for name in ["a.tdc.view", "copy.tdc"] {
                assert_eq!(mode(&folder, name) & !of_archive, 0, "{name}, {of_archive:o}");
            }
            set_mode(&folder, "a.tdc.view", 0o644);
            set_mode(&folder, "copy.tdc", 0o644);
        }
        if is_given {
            for name in ["a.tdc.view", "copy.tdc"] {
                let (owner, group, _) = rights(&folder, name);
                assert_eq!((owner, group), SOMEBODY, "{name}");
            }
        }
        fs::remove_file(folder.path("copy.tdc")).unwrap();
    }
}

#[cfg(feature = "pool")]
#[test]
fn pools_are_no_more_readable_than_all_their_archives() {
    let folder = with_archives();
    let in_pool = |task: &str, archives: &[&str]| {
        let arguments = [&[task][..], archives, &["--backend", "pool", "--pool", "pool"]].concat();
        folder.run(&arguments)
    };
    set_mode(&folder, "a.tdc", 0o600);
    set_mode(&folder, "b.tdc", 0o644);
    for archives in [&["a.tdc"][..], &["a.tdc", "b.tdc"], &["b.tdc", "a.tdc"]] {
        in_pool("word-count", archives).exits(0);
        assert_eq!(mode(&folder, "pool"), 0o600);
        // One that another version has made.
        set_mode(&folder, "pool", 0o644);
        in_pool("word-count", archives).exits(0);
        assert_eq!(mode(&folder, "pool"), 0o600);
        fs::remove_file(folder.path("pool")).unwrap();
    }
    folder.run(&["search", "a.tdc", "this", "--backend", "pool", "--pool", "pool"]).exits(0);
    assert_eq!(mode(&folder, "pool"), 0o600);
    fs::remove_file(folder.path("pool")).unwrap();
    if give_away(&folder, "a.tdc") {
        in_pool("word-count", &["a.tdc"]).exits(0);
        assert_eq!(rights(&folder, "pool"), (SOMEBODY.0, SOMEBODY.1, 0o600));
        fs::remove_file(folder.path("pool")).unwrap();
    }
    // What is no pool is left alone.
    folder.write("pool", "no pool, but a file of some length that anybody may read as it is");
    set_mode(&folder, "pool", 0o644);
    in_pool("word-count", &["a.tdc"]).exits(2);
    assert_eq!(mode(&folder, "pool"), 0o644);
}

/// Files beside `name` that are on their way to it.
fn asides(folder: &Folder, name: &str) -> Vec<String> {
    let start = format!("{name}.tmp-");
    folder.names().into_iter().filter(|found| found.starts_with(&start)).collect()
}

/// Runs a command and kills it while it has a file beside `name`, as often as it takes to leave one behind.
fn leave_behind(folder: &Folder, arguments: &[&str], name: &str) {
    for _ in 0..500 {
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while asides(folder, name).is_empty() && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        if !asides(folder, name).is_empty() {
            return;
        }
    }
    panic!("{arguments:?} was never killed in the middle");
}

/// Kills a command that compresses what a pipe gives, while it waits for that with its archive begun.
fn leave_behind_by_compress(folder: &Folder, meanwhile: impl FnOnce()) {
    let _ = fs::remove_file(folder.path("pipe"));
    make_pipe(&folder.path("pipe"));
    let mut command = folder.command(&["compress", "pipe", "-o", "c.tdc", "--force"]);
    let mut child = command.spawn().unwrap();
    let writer = fs::OpenOptions::new().write(true).open(folder.path("pipe")).unwrap();
    assert_eq!(asides(folder, "c.tdc").len(), 1);
    meanwhile();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(writer);
    assert_eq!(asides(folder, "c.tdc").len(), 1);
}

#[test]
fn the_next_writer_removes_what_a_killed_one_left() {
    let folder = Folder::with(&["a", "b"]);
    for next in [
        &["compress", "a", "-o", "c.tdc", "--force"][..],
        &["index", "--index", "small", "c.tdc"],
        &["append", "c.tdc", "a", "--text", "more"],
        &["add", "c.tdc", "b"],
        &["recompress", "c.tdc"],
        &["transcode", "c.tdc", "-o", "c.tdc", "--level", "dense", "--force"],
        &["list", "c.tdc", "-o", "c.tdc", "--format", "tsv", "--force"],
    ] {
        folder.run(&["compress", "a", "-o", "c.tdc", "--force"]).succeeds();
        if next[0] == "recompress" {
            folder.run(&["append", "c.tdc", "a", "--text", "more"]).succeeds();
        }
        leave_behind_by_compress(&folder, || {});
        folder.run(next).exits(0);
        assert!(asides(&folder, "c.tdc").is_empty(), "{next:?}");
    }
}

#[test]
fn what_is_being_written_is_left_alone() {
    let folder = Folder::with(&["a"]);
    leave_behind_by_compress(&folder, || {
        folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    });
}

#[test]
fn what_was_left_behind_is_no_input() {
    let folder = Folder::with(&["a"]);
    leave_behind_by_compress(&folder, || {});
    fs::remove_file(folder.path("pipe")).unwrap();
    folder.run(&["compress", ".", "-o", "c.tdc"]).succeeds();
    assert_eq!(folder.run(&["list", "c.tdc", "--format", "tsv"]).text(), "a\t30\n");
}

#[test]
fn every_writer_that_is_killed_is_cleaned_up_after() {
    let folder = Folder::new();
    folder.write("a", prose(400_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    let counts = ["cooccurrence", "c.tdc", "--window", "64", "-o", "pairs.tsv", "--force"];
    for (arguments, name) in [
        (&["transcode", "c.tdc", "--level", "dense", "-o", "d.tdc", "--force"][..], "d.tdc"),
        (&["index", "--index", "fast", "c.tdc"], "c.tdc"),
        (&["index", "--view", "c.tdc"], "c.tdc.view"),
        (&counts, "pairs.tsv"),
    ] {
        leave_behind(&folder, arguments, name);
        folder.run(arguments).succeeds();
        assert!(asides(&folder, name).is_empty(), "{arguments:?}");
    }
    assert!(folder.names().iter().all(|name| !name.contains(".tmp-")), "{:?}", folder.names());
}
