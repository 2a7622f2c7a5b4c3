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
    folder.run(&["compress", "in", "-o", "raw.tdc"]).succeeds();
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
