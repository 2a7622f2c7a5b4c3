//! What documents are called: by `compress` and by `add`, and which names are refused.

use std::fs;

use crate::folder::Folder;
use crate::inputs::names;

#[test]
fn files_are_added_under_the_names_that_compressing_gives() {
    let folder = Folder::with(&["logs/syslog.1", "logs/old/syslog.2", "elsewhere/x"]);
    // One folder, beside the archive, above it, and elsewhere: paths inside of it.
    fs::create_dir_all(folder.path("logs/archives")).unwrap();
    fs::create_dir_all(folder.path("backup")).unwrap();
    for archive in ["x.tdc", "logs/archives/x.tdc", "backup/x.tdc"] {
        let exclude = "logs/archives/x.tdc";
        folder.run(&["compress", "logs", "-o", archive]).succeeds();
        folder.write("logs/syslog.5", archive);
        folder.write("logs/old/syslog.6", format!("{archive} again"));
        folder.run(&["add", archive, "logs/syslog.5", "./logs/old/syslog.6"]).succeeds();
        let expected = ["old/syslog.2", "old/syslog.6", "syslog.1", "syslog.5"];
        assert_eq!(names(&folder, archive), expected, "{archive}");
        let taken = folder.run(&["add", archive, "logs/old"]).exits(2);
        taken.says("a document “old/syslog.2” already, and nothing was added; give --replace");
        folder.run(&["add", archive, "logs/old", "--replace"]).succeeds();
        assert_eq!(names(&folder, archive), expected, "{archive}");
        // From another folder, too.
        folder.write("logs/old/syslog.7", format!("{archive} once more"));
        let path = folder.path(archive);
        let mut command = folder.command(&["add", path.to_str().unwrap(), "syslog.7"]);
        assert!(command.current_dir(folder.path("logs/old")).status().unwrap().success());
        assert!(names(&folder, archive).contains(&"old/syslog.7".to_owned()));
        // What is not below it is named as ever.
        folder.run(&["add", archive, "elsewhere/x"]).succeeds();
        assert!(names(&folder, archive).contains(&"elsewhere/x".to_owned()));
        for file in ["logs/syslog.5", "logs/old/syslog.6", "logs/old/syslog.7", exclude] {
            let _ = fs::remove_file(folder.path(file));
        }
    }
    // Nothing in the archive tells where the folder is.
    let bytes = folder.read("backup/x.tdc");
    let above = folder.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    assert!(!bytes.windows(above.len()).any(|window| window == above.as_bytes()));
}

#[test]
fn names_stay_relative_to_the_same_folder() {
    let folder = Folder::with(&["in/logs/a", "in/logs/b"]);
    // Paths as given, relative to where one was then.
    let mut command = folder.command(&["compress", "logs/a", "-o", "../c.tdc"]);
    assert!(command.current_dir(folder.path("in")).status().unwrap().success());
    folder.run(&["add", "c.tdc", "in/logs/b"]).succeeds();
    assert_eq!(names(&folder, "c.tdc"), ["logs/a", "logs/b"]);
    // Also after the archive was written anew, and moved with its folder.
    folder.run(&["recompress", "c.tdc"]).exits(0);
    fs::create_dir(folder.path("sub")).unwrap();
    folder.run(&["transcode", "c.tdc", "--level", "dense", "-o", "sub/d.tdc"]).exits(0);
    folder.run(&["index", "c.tdc", "--index", "small"]).exits(0);
    folder.write("in/logs/c", "the third");
    for archive in ["c.tdc", "sub/d.tdc"] {
        folder.run(&["add", archive, "in/logs/c"]).succeeds();
        assert_eq!(names(&folder, archive), ["logs/a", "logs/b", "logs/c"], "{archive}");
    }
    fs::create_dir(folder.path("moved")).unwrap();
    fs::rename(folder.path("in"), folder.path("moved/in")).unwrap();
    fs::rename(folder.path("c.tdc"), folder.path("moved/c.tdc")).unwrap();
    folder.write("moved/in/logs/d", "the fourth");
    folder.run(&["add", "moved/c.tdc", "moved/in/logs/d"]).succeeds();
    assert_eq!(names(&folder, "moved/c.tdc"), ["logs/a", "logs/b", "logs/c", "logs/d"]);
}

#[test]
fn a_directory_and_a_prefix() {
    let folder = Folder::with(&["host/log/a", "host/log/sub/b", "host/c", "d"]);
    let arguments = ["compress", "-C", "host", "log", "c", "--prefix", "host1/", "-o", "c.tdc"];
    folder.run(&arguments).succeeds();
    let expected = ["host1/c", "host1/log/a", "host1/log/sub/b"];
    assert_eq!(names(&folder, "c.tdc"), expected);
    folder.run(&["compress", "-C", "host", "log", "-o", "one.tdc"]).succeeds();
    assert_eq!(names(&folder, "one.tdc"), ["log/a", "log/sub/b"]);
    folder.run(&["compress", "-C", "host", ".", "-o", "all.tdc"]).succeeds();
    assert_eq!(names(&folder, "all.tdc"), ["c", "log/a", "log/sub/b"]);
    // What is recorded is taken, unless something else is asked for.
    folder.write("host/log/e", "new");
    folder.run(&["add", "c.tdc", "host/log/e"]).succeeds();
    assert!(names(&folder, "c.tdc").contains(&"host1/log/e".to_owned()));
    folder.write("host/log/f", "newer");
    folder.run(&["add", "c.tdc", "-C", "host/log", "f", "--prefix", "host2-"]).succeeds();
    assert!(names(&folder, "c.tdc").contains(&"host2-f".to_owned()));
    folder.run_with(&["add", "c.tdc", "-", "--prefix", "host3/"], b"piped").succeeds();
    assert!(names(&folder, "c.tdc").contains(&"host3/stdin".to_owned()));
    for path in ["../d", "/etc/hostname", "log/../../d"] {
        let refused = folder.run(&["add", "c.tdc", "-C", "host", path]).exits(2);
        refused.says("is not below host, the folder of -C");
    }
}

#[test]
fn the_same_bytes_under_another_name_are_told() {
    let folder = Folder::new();
    let long = crate::folder::prose(50_000);
    for (name, text) in
        [("in/short", &long[..100]), ("in/other", &long[100..200]), ("in/long", &long)]
    {
        folder.write(name, text);
    }
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.write("new/copy", &long[..100]);
    folder.write("new/long copy", &long);
    folder.write("new/as long", [&long[1..], b"x"].concat());
    folder.write("new/empty", "");
    let told = folder.run(&["add", "c.tdc", "new"]).exits(0);
    let mut lines: Vec<String> = told.stderr().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("“copy” has the same bytes as “short”"), "{lines:?}");
    assert!(lines[1].contains("“long copy” has the same bytes as “long”"), "{lines:?}");
    // A document of the same name that it takes the place of is no other one.
    folder.run(&["add", "c.tdc", "new/as long", "--prefix", "again/"]).exits(0).says("“as long”");
    folder.run(&["remove", "c.tdc", "again/new/as long"]).succeeds();
    folder.run(&["add", "c.tdc", "-C", "new", "as long", "--replace"]).succeeds();
    // Edited and renamed ones are compared as they are now.
    folder.run(&["rename", "c.tdc", "short", "zzz"]).succeeds();
    folder.run(&["remove", "c.tdc", "copy"]).succeeds();
    folder.run(&["append", "c.tdc", "other", "--text", "x"]).succeeds();
    folder.run(&["add", "c.tdc", "-C", "in", "other", "--prefix", "un"]).succeeds();
    folder.run(&["add", "c.tdc", "-C", "new", "copy"]).exits(0).says("same bytes as “zzz”");
}

#[test]
fn names_that_could_not_be_restored_are_refused() {
    let folder = Folder::with(&["in/a", "in/b/c"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    for name in ["../x", "/x", "x//y", "./x", "x/..", ".tadoc-1-0"] {
        let refused = folder.run(&["rename", "c.tdc", "a", name]).exits(2);
        refused.says("cannot be the name of a document");
        let refused = folder.run_with(&["add", "c.tdc", "-", "--name", name], b"x").exits(2);
        refused.says("cannot be the name of a document");
        let arguments = ["compress", "-", "--name", name, "-o", "d.tdc"];
        folder.run_with(&arguments, b"x").exits(2).says("cannot be the name of a document");
    }
    // A file where a folder has to be, in both directions.
    let both = "both a document and a folder";
    folder.run(&["rename", "c.tdc", "a", "b"]).exits(2).says(both);
    folder.run(&["rename", "c.tdc", "a", "b/c/d"]).exits(2).says(both);
    folder.run_with(&["add", "c.tdc", "-", "--name", "a/x"], b"x").exits(2).says(both);
    folder.run_with(&["add", "c.tdc", "-", "--name", "b"], b"x").exits(2).says(both);
    let arguments = ["compress", "in/a", "-", "--name", "in/a/x", "-o", "d.tdc"];
    folder.run_with(&arguments, b"x").exits(2).says(both);
    assert_eq!(names(&folder, "c.tdc"), ["a", "b/c"]);
    // One that leaves makes room.
    folder.run(&["rename", "c.tdc", "a", "a/b"]).succeeds();
    folder.run(&["rename", "c.tdc", "b/c", "b"]).succeeds();
    folder.run(&["rename", "c.tdc", "a/b", "a"]).succeeds();
    folder.run(&["restore", "c.tdc", "-C", "out"]).succeeds();
    assert_eq!(folder.read("out/b"), folder.read("in/b/c"));
}
