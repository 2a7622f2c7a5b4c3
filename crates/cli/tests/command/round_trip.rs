//! Compress, look, restore, compare.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::folder::{Folder, prose};

/// Every file below a folder by its path's bytes.
fn tree(root: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, files: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(root, root, &mut files);
    files
}

fn awkward() -> Folder {
    let folder = Folder::new();
    folder.write("in/empty", "");
    folder.write("in/nul", b"a\0b\0\0c");
    folder.write("in/crlf.txt", "one\r\ntwo\r\n\r\nthree");
    folder.write("in/sjis", b"\x93\xfa\x96\x7b\x8c\xea \xff\xfe\xc3\x28");
    folder.write("in/deep/er/and/deeper/prose", prose(50_000));
    folder.write("in/deep/same prose", prose(50_000));
    folder.write("in/\u{65e5}\u{672c}.txt", "\u{65e5}\u{672c}\u{8a9e} text\n");
    folder.write("in/tab\there\nline", "odd name");
    folder.write("in/back\\slash", "odd name too");
    folder.write(Path::new(OsStr::from_bytes(b"in/caf\xe9")), "latin-1 name");
    folder
}

#[test]
fn what_goes_in_comes_out() {
    for options in [
        &[][..],
        &["--level", "dense"],
        &["--builder", "sequitur"],
        &["--lexer", "whitespace"],
        &["--threads", "1"],
    ] {
        let folder = awkward();
        let mut arguments = vec!["compress", "in", "-o", "c.tdc"];
        arguments.extend(options);
        folder.run(&arguments).succeeds();
        folder.run(&["verify", "c.tdc"]).succeeds();
        folder.run(&["restore", "c.tdc", "-C", "out"]).succeeds();
        assert_eq!(tree(&folder.path("in")), tree(&folder.path("out")), "{options:?}");
    }
}

#[test]
fn listed_names_can_be_asked_for_as_printed() {
    let folder = awkward();
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    let list = folder.run(&["list", "c.tdc"]).succeeds();
    let originals = tree(&folder.path("in"));
    let mut sorted: Vec<_> = originals.keys().cloned().collect();
    sorted.sort();
    assert_eq!(list.text().lines().count(), originals.len());
    for (line, name) in list.text().lines().zip(sorted) {
        let (printed, bytes) = line.split_once('\t').unwrap();
        let content = &originals[&name];
        assert_eq!(bytes, content.len().to_string(), "{printed}");
        assert_eq!(tadoc_engine::text::unescape(printed).as_deref(), Some(&name[..]));
        assert_eq!(folder.run(&["cat", "c.tdc", printed]).succeeds().bytes(), content);
        let raw = folder.run(&[OsStr::new("cat"), OsStr::new("c.tdc"), OsStr::from_bytes(&name)]);
        assert_eq!(raw.succeeds().bytes(), content);
    }
}

#[test]
fn times_and_modes_come_back() {
    let folder = Folder::with(&["in/tool", "in/note"]);
    let when = UNIX_EPOCH + Duration::new(1_234_567_890, 123_456_789);
    let tool = folder.path("in/tool");
    fs::File::options().write(true).open(&tool).unwrap().set_modified(when).unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(folder.path("in/note"), fs::Permissions::from_mode(0o444)).unwrap();
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.run(&["restore", "c.tdc", "-C", "out"]).succeeds();
    let restored = fs::metadata(folder.path("out/tool")).unwrap();
    assert_eq!(restored.modified().unwrap(), when);
    assert_eq!(restored.mode() & 0o7777, 0o750);
    assert_eq!(fs::metadata(folder.path("out/note")).unwrap().mode() & 0o7777, 0o444);
    let long = folder.run(&["list", "-l", "c.tdc"]).succeeds();
    assert!(
        long.text().contains("tool\t36\t0750\t2009-02-13T23:31:30.123456789Z\n"),
        "{}",
        long.text()
    );
}

#[test]
fn some_documents() {
    let folder = Folder::with(&["in/a.log", "in/b.log", "in/sub/c.log", "in/d.txt"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.run(&["restore", "c.tdc", "-C", "one", "sub/c.log"]).succeeds();
    assert_eq!(tree(&folder.path("one")).len(), 1);
    assert_eq!(folder.read("one/sub/c.log"), folder.read("in/sub/c.log"));
    folder.run(&["restore", "c.tdc", "-C", "some", "*.log", "a.log"]).succeeds();
    assert_eq!(tree(&folder.path("some")).len(), 3);
    let both = [folder.read("in/d.txt"), folder.read("in/a.log")].concat();
    assert_eq!(folder.run(&["cat", "c.tdc", "d.txt", "a.log"]).succeeds().bytes(), both);
    let all = folder.run(&["restore", "c.tdc", "--stdout"]).succeeds();
    let names = ["a.log", "b.log", "d.txt", "sub/c.log"];
    let expected: Vec<u8> =
        names.iter().flat_map(|name| folder.read(Path::new("in").join(name))).collect();
    assert_eq!(all.bytes(), expected);
}

#[test]
fn transcoded_archives_hold_the_same() {
    let folder = awkward();
    folder.run(&["compress", "in", "-o", "fast.tdc"]).succeeds();
    folder.run(&["transcode", "fast.tdc", "-o", "dense.tdc", "--level", "dense"]).succeeds();
    folder.run(&["transcode", "dense.tdc", "-o", "again.tdc", "--level", "fast"]).succeeds();
    folder.run(&["verify", "dense.tdc"]).succeeds();
    assert_eq!(folder.run(&["info", "dense.tdc", "--json"]).json()[0]["level"], "dense");
    folder.run(&["restore", "again.tdc", "-C", "out"]).succeeds();
    assert_eq!(tree(&folder.path("in")), tree(&folder.path("out")));
    let refused = folder.run(&["transcode", "fast.tdc", "-o", "dense.tdc", "--level", "dense"]);
    refused.exits(2).says("dense.tdc exists already");
    folder
        .run(&["transcode", "fast.tdc", "-o", "dense.tdc", "--level", "dense", "--force"])
        .succeeds();
}

#[test]
fn the_same_input_makes_the_same_archive() {
    let folder = awkward();
    folder.run(&["compress", "in", "-o", "1.tdc"]).succeeds();
    folder.run(&["compress", "in", "-o", "2.tdc"]).succeeds();
    assert!(folder.read("1.tdc") == folder.read("2.tdc"));
}
