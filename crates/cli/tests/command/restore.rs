//! Restoring when something is in the way: what can be restored is, and the rest is told.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::folder::{Folder, prose};

fn golden(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/v1");
    folder.join(name).to_str().unwrap().to_owned()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.append(&mut files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

#[test]
fn what_has_another_digest_is_not_restored() {
    let folder = Folder::new();
    let archive = golden("bad/digest.tdc");
    let run = folder.run(&["restore", &archive, "-C", "out"]).exits(1);
    run.says("is damaged: its digest is");
    assert_eq!(files(&folder.path("out")), Vec::<PathBuf>::new());
    let run = folder.run(&["cat", &archive, "a.txt"]).exits(1);
    assert_eq!(run.text(), "to be");
    run.says("is damaged: its digest is");
    let run = folder.run(&["restore", &archive, "--stdout"]).exits(1);
    assert_eq!(run.text(), "to be");
    // With an index, nothing is decoded, and all is compared the same.
    folder.write("c.tdc", fs::read(&archive).unwrap());
    folder.run(&["index", "c.tdc", "--index", "fast"]).exits(0);
    folder.run(&["cat", "c.tdc", "a.txt"]).exits(1).says("is damaged: its digest is");
    // An edited document has no digest any more.
    folder.run(&["append", "c.tdc", "a.txt", "--text", " or not"]).succeeds();
    folder.run(&["restore", "c.tdc", "-C", "out"]).succeeds();
    assert_eq!(folder.read("out/a.txt"), b"to be or not");
}

/// Changes a digest: the last ones of the section are at its end, and the checksums are made right
/// again.
fn with_wrong_digest(archive: &[u8], which: usize) -> Vec<u8> {
    let number = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let mut bytes = archive.to_vec();
    let (table, length) = (number(&bytes, 24), number(&bytes, 32));
    let entry =
        (table..table + length).step_by(40).find(|&at| &bytes[at..at + 4] == b"DOCS").unwrap();
    let (offset, size) = (number(&bytes, entry + 16), number(&bytes, entry + 24));
    bytes[offset + size - 4 * (which + 1)] ^= 1;
    let sum = xxhash_rust::xxh64::xxh64(&bytes[offset..offset + size], 0);
    bytes[entry + 32..entry + 40].copy_from_slice(&sum.to_le_bytes());
    let sum = xxhash_rust::xxh64::xxh64(&bytes[table..table + length], 0);
    bytes[40..48].copy_from_slice(&sum.to_le_bytes());
    let sum = xxhash_rust::xxh64::xxh64(&bytes[..56], 0);
    bytes[56..64].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn of_a_damaged_archive_all_else_is_restored() {
    let folder = Folder::new();
    let text = prose(400_000);
    // Two runs of small documents that each a larger one ends, one of a large document alone, and
    // some at the end.
    for (name, text) in [
        ("a/1", &text[..10]),
        ("a/2", &text[..0]),
        ("a/3", &text[..300_000]),
        ("b/1", &text[..20]),
        ("b/2", &text[..5000]),
        ("c", &text[..200_000]),
        ("d", &text[..30]),
        ("e", &text[..40]),
    ] {
        folder.write(format!("in/{name}"), text);
    }
    folder.run(&["compress", "in", "-o", "good.tdc"]).succeeds();
    let good = folder.read("good.tdc");
    for (which, wrong) in
        [&["d", "e"][..], &["c"], &["b/1", "b/2"], &["a/1", "a/2", "a/3"]].iter().enumerate()
    {
        folder.write("c.tdc", with_wrong_digest(&good, which));
        let run = folder.run(&["restore", "c.tdc", "-C", "out"]).exits(1);
        assert_eq!(run.stderr().lines().count(), wrong.len(), "{}", run.stderr());
        for path in files(&folder.path("in")) {
            let name = path.strip_prefix(folder.path("in")).unwrap().to_str().unwrap();
            let restored = folder.path("out").join(name);
            if wrong.contains(&name) {
                assert!(
                    run.stderr().contains(&format!("“{name}” is not restored")),
                    "{}",
                    run.stderr()
                );
                assert!(!restored.exists());
                // Asked for alone, it is compared as well.
                folder.run(&["cat", "c.tdc", name]).exits(1).says("is damaged");
            } else {
                assert!(fs::read(&restored).unwrap() == fs::read(&path).unwrap());
                let cat = folder.run(&["cat", "c.tdc", name]).succeeds();
                assert!(cat.bytes() == fs::read(&path).unwrap());
            }
        }
        assert_eq!(files(&folder.path("out")).len(), 8 - wrong.len());
        fs::remove_dir_all(folder.path("out")).unwrap();
        // Renamed documents keep their digests, wherever their names are now.
        folder.run(&["rename", "c.tdc", wrong[0], "zzz"]).succeeds();
        let run = folder.run(&["restore", "c.tdc", "-C", "out"]).exits(1);
        assert_eq!(run.stderr().lines().count(), wrong.len(), "{}", run.stderr());
        assert_eq!(files(&folder.path("out")).len(), 8 - wrong.len());
        fs::remove_dir_all(folder.path("out")).unwrap();
        // A run of which one was changed cannot be compared.
        folder.run(&["append", "c.tdc", "zzz", "--text", "x"]).succeeds();
        folder.run(&["restore", "c.tdc", "-C", "out"]).succeeds();
        fs::remove_dir_all(folder.path("out")).unwrap();
    }
}

#[test]
fn bad_names_do_not_block_the_others() {
    let folder = Folder::new();
    let archive = golden("bad/name-parent.tdc");
    let run = folder.run(&["restore", &archive, "-C", "out"]).exits(1);
    run.says("is not restored: its name leads out of the folder");
    // What is in the way of some.
    let folder = Folder::with(&["in/a/b", "in/c", "in/d/e", "in/f", "in/g"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.write("out/a", "a file where a folder has to be");
    folder.write("out/c", "precious");
    fs::create_dir_all(folder.path("out/f")).unwrap();
    let run = folder.run(&["restore", "c.tdc", "-C", "out"]).exits(1);
    let told = run.stderr();
    assert_eq!(told.lines().count(), 3, "{told}");
    assert!(told.contains("“a/b” is not restored: “a” on its way is a link or a file"), "{told}");
    assert!(
        told.contains("out/c exists already") && told.contains("out/f exists already"),
        "{told}"
    );
    for name in ["d/e", "g"] {
        assert_eq!(folder.read(format!("out/{name}")), folder.read(format!("in/{name}")));
    }
    assert_eq!(folder.read("out/c"), b"precious");
    let run = folder.run(&["restore", "c.tdc", "-C", "out", "--force"]).exits(1);
    assert_eq!(run.stderr().lines().count(), 2, "{}", run.stderr());
    assert_eq!(folder.read("out/c"), folder.read("in/c"));
}

#[test]
fn long_lists_end_with_a_count() {
    let folder = Folder::new();
    for number in 0..50 {
        folder.write(format!("in/{number}"), "text");
    }
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.run(&["restore", "c.tdc", "-C", "out"]).succeeds();
    let run = folder.run(&["restore", "c.tdc", "-C", "out"]).exits(1);
    assert_eq!(run.stderr().lines().count(), 21);
    assert!(run.stderr().ends_with("and 30 more were not restored\n"), "{}", run.stderr());
}

#[test]
fn a_restore_goes_on_and_leaves_out() {
    let folder = Folder::with(&["in/a.log", "in/b.txt", "in/sub/c.log", "in/sub/d.txt"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.run(&["restore", "c.tdc", "-C", "out", "--exclude", "*.log"]).succeeds();
    assert!(folder.path("out/b.txt").exists() && folder.path("out/sub/d.txt").exists());
    assert_eq!(files(&folder.path("out")).len(), 2);
    folder.write("out/b.txt", "mine");
    folder.run(&["restore", "c.tdc", "-C", "out", "--skip-existing"]).succeeds();
    assert_eq!(files(&folder.path("out")).len(), 4);
    assert_eq!(folder.read("out/b.txt"), b"mine");
    let arguments =
        ["restore", "c.tdc", "-C", "o", "sub/*", "--exclude", "sub/c.log", "--exclude", "x"];
    folder.run(&arguments).succeeds();
    assert_eq!(files(&folder.path("o")).len(), 1);
    folder.run(&["restore", "c.tdc", "--force", "--skip-existing"]).exits(2);
}

#[test]
fn files_that_were_split_into_lines_come_back() {
    let folder = Folder::new();
    for (name, text) in [
        ("a", &b"one\ntwo\n\nno line feed at the end"[..]),
        ("a.txt", b"only\n"),
        ("b/crlf", b"one\r\ntwo\r\n"),
        ("b/empty", b""),
        ("b/feeds", b"\n\n\n"),
        ("long", &prose(100_000)),
    ] {
        folder.write(format!("in/{name}"), text);
    }
    fs::set_permissions(folder.path("in/b/empty"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions(folder.path("in/a"), fs::Permissions::from_mode(0o600)).unwrap();
    folder.run(&["compress", "in", "--split", "lines", "-o", "c.tdc"]).succeeds();
    folder.run(&["transcode", "c.tdc", "--level", "dense", "-o", "d.tdc"]).exits(0);
    for (number, archive) in ["c.tdc", "d.tdc"].into_iter().enumerate() {
        let out = format!("out{number}");
        folder.run(&["restore", archive, "-C", &out]).succeeds();
        let restored = files(&folder.path(&out));
        assert_eq!(restored.len(), 6, "{restored:?}");
        for path in files(&folder.path("in")) {
            let name = path.strip_prefix(folder.path("in")).unwrap();
            let back = folder.path(&out).join(name);
            assert!(fs::read(&back).unwrap() == fs::read(&path).unwrap(), "{}", name.display());
            let (of, at) = (path.metadata().unwrap(), back.metadata().unwrap());
            assert_eq!((of.mode(), of.mtime_nsec()), (at.mode(), at.mtime_nsec()));
        }
    }
    // Some of them, by their names; and lines as files.
    folder.run(&["restore", "c.tdc", "-C", "some", "b/*", "a"]).succeeds();
    assert_eq!(files(&folder.path("some")).len(), 4);
    folder.run(&["restore", "c.tdc", "-C", "some", "a:0000000001"]).exits(2).says("--pieces");
    folder.run(&["restore", "c.tdc", "-C", "lines", "--pieces", "a:*"]).succeeds();
    assert_eq!(files(&folder.path("lines")).len(), 4);
    assert_eq!(folder.read("lines/a:0000000002"), b"two\n");
    // After edits, a file is the lines that there are; a document of its name keeps lines apart.
    folder.run(&["remove", "c.tdc", "a:0000000001"]).succeeds();
    folder.run(&["append", "c.tdc", "a:0000000004", "--text", "\n"]).succeeds();
    folder.run_with(&["add", "c.tdc", "-", "--name", "a:0000000007"], b"late\n").succeeds();
    folder
        .run_with(&["add", "c.tdc", "-", "--name", "b/empty:0000000001"], b"no more\n")
        .succeeds();
    folder.run_with(&["add", "c.tdc", "-", "--name", "a.txt"], b"whole\n").succeeds();
    for _ in 0..2 {
        let _ = fs::remove_dir_all(folder.path("edited"));
        folder.run(&["restore", "c.tdc", "-C", "edited"]).succeeds();
        assert_eq!(folder.read("edited/a"), b"two\n\nno line feed at the end\nlate\n");
        assert_eq!(folder.read("edited/b/empty"), b"no more\n");
        assert_eq!(folder.read("edited/a.txt"), b"whole\n");
        assert_eq!(folder.read("edited/a.txt:0000000001"), b"only\n");
        folder.run(&["recompress", "c.tdc"]).exits(0);
    }
}

#[test]
fn a_damaged_line_takes_its_file_along() {
    let folder = Folder::new();
    folder.write("in/a", prose(10_000));
    folder.write("in/b", "short\n");
    folder.write("in/c", prose(20_000));
    folder.run(&["compress", "in", "--split", "lines", "-o", "good.tdc"]).succeeds();
    let good = folder.read("good.tdc");
    let mut most = 0;
    for which in 0..6 {
        folder.write("c.tdc", with_wrong_digest(&good, which));
        let run = folder.run(&["restore", "c.tdc", "-C", "out"]).exits(1);
        let told = run.stderr();
        for name in ["a", "b", "c"] {
            let restored = folder.path("out").join(name);
            let is_told = told.contains(&format!("“{name}” is not restored"));
            assert_eq!(is_told, !restored.exists(), "{name}: {told}");
            assert!(is_told || fs::read(&restored).unwrap() == folder.read(format!("in/{name}")));
        }
        most = most.max(told.lines().count());
        fs::remove_dir_all(folder.path("out")).unwrap();
    }
    // The last run of a goes on in b and c.
    assert_eq!(most, 3);
}

#[test]
fn what_nobody_else_may_read_is_never_readable() {
    let folder = Folder::new();
    let text = prose(3_000_000);
    folder.write("in/secret", &text);
    folder.write("in/sub/open", &text);
    fs::set_permissions(folder.path("in/secret"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(folder.path("in/sub/open"), fs::Permissions::from_mode(0o666)).unwrap();
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.run_with(&["add", "c.tdc", "-", "--name", "no mode"], b"text").succeeds();
    // Files on their way can be read by their owner alone.
    let seen = while_restoring(&folder, |path| path.metadata().map(|found| found.mode()).ok());
    assert_eq!(seen & 0o777, 0o600);
    folder.run(&["restore", "c.tdc", "-C", "done"]).succeeds();
    let mode = |name: &str| folder.path("done").join(name).metadata().unwrap().mode() & 0o777;
    assert_eq!((mode("secret"), mode("sub/open")), (0o600, 0o666));
    folder.write("made", "");
    assert_eq!(mode("no mode"), folder.path("made").metadata().unwrap().mode() & 0o777);
}

/// Restores again and again until a file is seen on its way; then kills the process. Gives what
/// `look` saw of it.
fn while_restoring<T>(folder: &Folder, look: impl Fn(&Path) -> Option<T>) -> T {
    loop {
        let mut command = folder.command(&["restore", "c.tdc", "-C", "out", "--force"]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut seen = None;
        while seen.is_none() && child.try_wait().unwrap().is_none() {
            seen = on_their_way(folder).iter().find_map(|path| look(path));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if let (Some(seen), false) = (seen, on_their_way(folder).is_empty()) {
            return seen;
        }
    }
}

/// Files that restoring has not given their names yet.
fn on_their_way(folder: &Folder) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for below in ["out", "out/sub"] {
        let entries = fs::read_dir(folder.path(below)).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        found.extend(paths.filter(|path| path.to_string_lossy().contains("/.tadoc-")));
    }
    found
}

#[test]
fn what_a_killed_restore_has_left_is_removed_by_the_next() {
    let folder = Folder::new();
    let text = prose(3_000_000);
    folder.write("in/sub/a", &text);
    folder.write("in/sub/b", "short");
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    while_restoring(&folder, |path| path.starts_with(folder.path("out/sub")).then_some(()));
    folder.write("out/.tadoc-1-0", "of a process that is gone");
    folder.write("out/.tadoc-mine", "not ours");
    // One that somebody writes is locked.
    folder.write("out/sub/.tadoc-1-1", "of a process that goes on");
    let locked = fs::File::open(folder.path("out/sub/.tadoc-1-1")).unwrap();
    locked.lock().unwrap();
    folder.run(&["restore", "c.tdc", "-C", "out", "--force"]).succeeds();
    let left: Vec<String> = files(&folder.path("out"))
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(left, [".tadoc-mine", ".tadoc-1-1", "a", "b"]);
    // What is left is not taken for a document either.
    drop(locked);
    let run = folder.run(&["compress", "out", "-o", "d.tdc"]).exits(0);
    run.says("left out 1 unfinished file of a restore: out/sub/.tadoc-1-1");
}
