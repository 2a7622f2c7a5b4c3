//! `-z`: compressed files taken as their content.

use std::io::Write;

use crate::folder::{Folder, prose};

fn compressed(suffix: &str, text: &[u8]) -> Vec<u8> {
    match suffix {
        "gz" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        "zst" => zstd::stream::encode_all(text, 3).unwrap(),
        "xz" => liblzma::encode_all(text, 6).unwrap(),
        "bz2" => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        other => panic!("{other}"),
    }
}

const SUFFIXES: [&str; 4] = ["gz", "zst", "xz", "bz2"];

#[test]
fn files_by_suffix() {
    let folder = Folder::with(&["in/plain"]);
    let text = prose(300_000);
    for suffix in SUFFIXES {
        let half = text.len() / 2;
        let members =
            [compressed(suffix, &text[..half]), compressed(suffix, &text[half..])].concat();
        folder.write(format!("in/{suffix}.txt.{suffix}"), members);
    }
    folder.run(&["compress", "-z", "in", "-o", "c.tdc"]).succeeds();
    for suffix in SUFFIXES {
        let cat = folder.run(&["cat", "c.tdc", &format!("{suffix}.txt")]).succeeds();
        assert!(cat.bytes() == text, "{suffix}");
    }
    assert_eq!(folder.run(&["cat", "c.tdc", "plain"]).bytes(), folder.read("in/plain"));
    let as_they_are = folder.run(&["compress", "in", "-o", "raw.tdc"]).exits(0);
    as_they_are
        .says("4 files are bzip2-, gzip-, xz-, Zstandard-compressed and are stored as they are");
    let raw = folder.run(&["cat", "raw.tdc", "gz.txt.gz"]).succeeds();
    assert!(raw.bytes() == folder.read("in/gz.txt.gz"));
}

#[test]
fn standard_input_by_its_first_bytes() {
    let folder = Folder::new();
    let text = prose(10_000);
    for suffix in SUFFIXES {
        let archive = format!("{suffix}.tdc");
        folder
            .run_with(&["compress", "-z", "-", "-o", &archive], &compressed(suffix, &text))
            .succeeds();
        assert!(folder.run(&["cat", &archive, "stdin"]).succeeds().bytes() == text, "{suffix}");
    }
    folder.run_with(&["compress", "-z", "-", "-o", "plain.tdc"], &text).succeeds();
    assert!(folder.run(&["cat", "plain.tdc", "stdin"]).succeeds().bytes() == text);
}

#[test]
fn damaged_files_are_told() {
    let folder = Folder::with(&["in/good"]);
    let whole = compressed("gz", &prose(10_000));
    folder.write("in/cut.gz", &whole[..whole.len() / 2]);
    let run = folder.run(&["compress", "-z", "in", "-o", "c.tdc"]).exits(2);
    run.says("cannot be decompressed as gzip");
    assert_eq!(folder.names(), ["in"]);
    folder.write("in/cut.gz", "no gzip at all");
    folder.run(&["compress", "-z", "in", "-o", "c.tdc"]).exits(2).says("not gzip data");
    let skipped =
        folder.run(&["compress", "-z", "in", "-o", "c.tdc", "--skip-unreadable"]).exits(0);
    assert!(skipped.stderr().contains("left out in/cut.gz"), "{}", skipped.stderr());
}

#[test]
fn files_that_are_cut_short_are_skipped_if_asked() {
    let folder = Folder::with(&["in/good", "more/good too"]);
    // Larger than what is kept in memory, so that it takes a temporary file.
    let text = prose(17 << 20);
    let write = |name: &str, suffix: &str, text: &[u8]| {
        let whole = compressed(suffix, text);
        folder.write(format!("in/{name}-{suffix}-whole.{suffix}"), &whole);
        folder.write(format!("in/{name}-{suffix}-cut.{suffix}"), &whole[..whole.len() - 9]);
    };
    SUFFIXES.into_iter().for_each(|suffix| write("small", suffix, &text[..10_000]));
    write("large", "gz", &text);
    folder.run(&["compress", "-z", "in", "-o", "c.tdc"]).exits(2).says("cannot be decompressed");
    let arguments = ["compress", "-z", "in", "-o", "c.tdc", "--skip-unreadable", "--json"];
    let skipped = folder.run(&arguments).exits(0);
    assert_eq!(skipped.stderr().lines().count(), 5, "{}", skipped.stderr());
    assert!(
        skipped.stderr().contains("left out in/large-gz-cut.gz: cannot be decompressed as gzip")
    );
    assert_eq!(skipped.json()[0]["skipped"].as_array().unwrap().len(), 5);
    let list = folder.run(&["list", "c.tdc"]).succeeds();
    assert_eq!(list.text().lines().count(), 6, "{}", list.text());
    folder.run(&["verify", "c.tdc"]).succeeds();
    assert!(folder.run(&["cat", "c.tdc", "large-gz-whole"]).succeeds().bytes() == text);
    for suffix in SUFFIXES {
        let small = folder.run(&["cat", "c.tdc", &format!("small-{suffix}-whole")]).succeeds();
        assert!(small.bytes() == &text[..10_000], "{suffix}");
    }
    folder.write("more/cut.gz", &compressed("gz", &text[..10_000])[..1000]);
    folder.run(&["add", "-z", "c.tdc", "more"]).exits(2).says("nothing was added");
    let skipped = folder.run(&["add", "-z", "c.tdc", "more", "--skip-unreadable"]).exits(0);
    skipped.says("left out more/cut.gz");
    assert_eq!(folder.run(&["list", "c.tdc"]).text().lines().count(), 7);
}

#[test]
fn compressed_files_that_are_stored_as_they_are_are_told() {
    let folder = Folder::with(&["in/plain", "in/by name only.gz"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder.write("in/1.gz", compressed("gz", b"text"));
    let one = folder.run(&["compress", "in", "-o", "1.tdc"]).exits(0);
    one.says("warning: 1 file is gzip-compressed and is stored as it is; -z takes its content");
    folder.write("in/2.gz", compressed("gz", b"text"));
    let two = folder.run(&["compress", "in", "-o", "2.tdc"]).exits(0);
    two.says(
        "warning: 2 files are gzip-compressed and are stored as they are; -z takes their content",
    );
    let added = folder.run(&["add", "c.tdc", "in/2.gz"]).exits(0);
    added.says("1 file is gzip-compressed");
}
