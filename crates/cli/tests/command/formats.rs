//! The formats of rows, and what the endings of files say about them. What other programs make of
//! them is tested by `tests/formats.py`, which `cargo xtask test formats` runs.

use crate::folder::Folder;

/// All commands that answer with rows.
const COMMANDS: &[&[&str]] = &[
    &["list", "c.tdc"],
    &["search", "c.tdc", "this"],
    &["count", "c.tdc", "this"],
    &["sample", "c.tdc", "--seed", "1"],
    &["kwic", "c.tdc", "this"],
    &["find", "c.tdc", "this"],
    &["word-count", "c.tdc"],
    &["sort", "c.tdc"],
    &["inverted-index", "c.tdc"],
    &["term-vector", "c.tdc"],
    &["sequence-count", "c.tdc"],
    &["ranked-inverted-index", "c.tdc"],
    &["tfidf", "c.tdc"],
    &["cooccurrence", "c.tdc"],
    &["collocations", "c.tdc"],
];

fn archive() -> Folder {
    let folder = Folder::with(&["in/a", "in/b"]);
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder
}

#[test]
fn endings_choose_the_format() {
    let folder = archive();
    let printed = |format: &str| {
        folder.run(&["word-count", "c.tdc", "--format", format]).succeeds().bytes().to_vec()
    };
    let mut endings = vec![
        ("tsv", "tsv"),
        ("CSV", "csv"),
        ("json", "json"),
        ("jsonl", "jsonl"),
        ("ndjson", "jsonl"),
    ];
    if cfg!(feature = "columns") {
        endings.extend([
            ("arrow", "arrow"),
            ("feather", "arrow"),
            ("arrows", "arrows"),
            ("parquet", "parquet"),
        ]);
    }
    for (ending, format) in endings {
        let file = format!("words.{ending}");
        folder.run(&["word-count", "c.tdc", "-o", &file]).succeeds();
        assert_eq!(folder.read(&file), printed(format), "{ending}");
    }
    let array: Vec<serde_json::Value> = serde_json::from_slice(&printed("json")).unwrap();
    let lines = folder.run(&["word-count", "c.tdc", "--format", "jsonl"]).json();
    assert_eq!(array, lines);
    // A format that is given wins over the ending.
    folder.run(&["word-count", "c.tdc", "--format", "csv", "-o", "words.txt"]).succeeds();
    assert_eq!(folder.read("words.txt"), printed("csv"));
}

#[test]
fn unknown_endings_are_refused_before_any_work() {
    let folder = archive();
    let before = folder.names();
    for command in COMMANDS {
        for file in ["x.txt", "x", "x.gz", "x.parquet.gz", "x.arrows.zst", "x.csv.xz"] {
            let run = folder.run(&[*command, &["-o", file]].concat()).exits(2);
            run.says(file).says("one of these endings: .tsv .csv .json .jsonl .ndjson .mtx");
        }
    }
    let wrapped = ["list", "c.tdc", "--format", "parquet", "-o", "x.parquet.zst"];
    folder.run(&wrapped).exits(2).says("leave .gz or .zst out");
    assert_eq!(folder.names(), before);
    // What is no regular file needs no ending.
    folder.run(&["word-count", "c.tdc", "-o", "/dev/null"]).succeeds();
}

#[cfg(all(feature = "compressed-rows", feature = "decompress"))]
#[test]
fn gz_and_zst_compress_any_text() {
    use std::io::Read;
    let folder = archive();
    for format in ["tsv", "csv", "json", "jsonl", "mtx"] {
        let printed = folder.run(&["term-vector", "c.tdc", "--format", format]).succeeds();
        for ending in ["gz", "zst"] {
            let file = format!("rows.{format}.{ending}");
            folder.run(&["term-vector", "c.tdc", "-o", &file]).succeeds();
            // The command's own reader of compressed files tells what is in it.
            folder.write(format!("{file}.in/{file}"), folder.read(&file));
            folder
                .run(&["compress", "-z", &format!("{file}.in"), "-o", &format!("{file}.tdc")])
                .succeeds();
            let unpacked = folder.run(&["restore", &format!("{file}.tdc"), "--stdout"]).succeeds();
            assert_eq!(unpacked.bytes(), printed.bytes(), "{file}");
        }
    }
    // A format that is given is compressed all the same.
    folder.run(&["list", "c.tdc", "--format", "csv", "-o", "list.gz"]).succeeds();
    let mut magic = [0; 2];
    folder.read("list.gz").as_slice().read_exact(&mut magic).unwrap();
    assert_eq!(magic, [0x1f, 0x8b]);
}

#[test]
fn tsv_has_a_header_if_it_is_asked_for() {
    let folder = archive();
    let plain = folder.run(&["list", "c.tdc", "--long"]).succeeds();
    let headed = folder.run(&["list", "c.tdc", "--long", "--header"]).succeeds();
    assert_eq!(headed.text(), format!("document\tbytes\tmode\tmodified\n{}", plain.text()));
    let csv = folder.run(&["list", "c.tdc", "--format", "csv"]).succeeds();
    let same = folder.run(&["list", "c.tdc", "--format", "csv", "--header"]).succeeds();
    assert_eq!(csv.text(), same.text());
}

/// Every command that answers with rows takes the same flags.
#[test]
fn every_command_of_rows_takes_every_format() {
    let folder = archive();
    let mut formats = vec!["table", "tsv", "csv", "json", "jsonl"];
    if cfg!(feature = "columns") {
        formats.extend(["arrow", "arrows", "parquet"]);
    }
    for command in COMMANDS {
        for format in &formats {
            let file = format!("{}.{format}", command[0]);
            let flags = ["--header", "--all", "--format", format, "-o", &file];
            folder.run(&[*command, &flags].concat()).succeeds();
            assert!(!folder.read(&file).is_empty(), "{command:?} {format}");
        }
    }
}
