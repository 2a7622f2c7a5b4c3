//! What machines and people read: formats, reports, help, the demo.

use serde_json::Value;

use crate::folder::{Folder, prose};

fn archive() -> Folder {
    let folder = Folder::new();
    folder.write("in/a,b.txt", prose(30_000));
    folder.write("in/sub/c", "c\n");
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder
}

#[test]
fn lists_in_each_format() {
    let folder = archive();
    let list = |format: &str| {
        folder.run(&["list", "c.tdc", "--format", format]).succeeds().text().to_owned()
    };
    assert_eq!(folder.run(&["list", "c.tdc"]).text(), list("tsv"));
    assert_eq!(list("tsv"), "a,b.txt\t30000\nsub/c\t2\n");
    assert_eq!(list("csv"), "document,bytes\n\"a,b.txt\",30000\nsub/c,2\n");
    assert_eq!(
        list("jsonl"),
        "{\"document\":\"a,b.txt\",\"bytes\":30000}\n{\"document\":\"sub/c\",\"bytes\":2}\n"
    );
    assert_eq!(
        list("json"),
        "[\n{\"document\":\"a,b.txt\",\"bytes\":30000},\n{\"document\":\"sub/c\",\"bytes\":2}\n]\n"
    );
    assert_eq!(
        list("table"),
        "  29.3 KiB  a,b.txt\n       2 B  sub/c\n  29.3 KiB  in 2 documents\n"
    );
    let long = folder.run(&["list", "c.tdc", "--long", "--format", "jsonl"]).succeeds().json();
    assert!(long[0]["mode"].is_string() && long[0]["modified"].is_string());
}

#[test]
fn answers_to_a_file() {
    let folder = archive();
    let printed = folder.run(&["list", "c.tdc", "--format", "csv"]).succeeds();
    // The file's ending says the format, and --format says it better.
    folder.run(&["list", "c.tdc", "-o", "list.csv"]).succeeds();
    assert_eq!(folder.read("list.csv"), printed.text().as_bytes());
    folder.run(&["list", "c.tdc", "--format", "csv", "--output", "list.txt"]).succeeds();
    assert_eq!(folder.read("list.txt"), printed.text().as_bytes());
    let refused = folder.run(&["list", "c.tdc", "-o", "list.csv"]).exits(2);
    refused.says("list.csv exists already; give another name, or --force");
    folder.run(&["list", "c.tdc", "-o", "list.csv", "--force", "--format", "table"]).succeeds();
    assert!(String::from_utf8(folder.read("list.csv")).unwrap().contains("in 2 documents"));
    folder.run(&["list", "c.tdc", "-o", "no/list.csv"]).exits(2).says("cannot write no/list.csv");
    folder.run(&["list", "c.tdc", "-o", "in"]).exits(2).says("in: this is a folder");
    folder.run(&["list", "c.tdc", "--force"]).exits(2);
    folder.run(&["list", "c.tdc", "--format", "mtx", "-o", "m"]).exits(2).says("no matrix");
    assert_eq!(folder.names(), ["c.tdc", "in", "list.csv", "list.txt"]);
}

#[test]
fn columns_for_other_tools() {
    let folder = archive();
    for (format, magic) in [("parquet", &b"PAR1"[..]), ("arrows", &b"\xff\xff\xff\xff"[..])] {
        let run = folder.run(&["list", "c.tdc", "--long", "--format", format]);
        if cfg!(feature = "columns") {
            assert!(run.succeeds().bytes().starts_with(magic));
        } else {
            run.exits(2).says("feature `columns`");
        }
    }
}

#[test]
fn info_in_figures() {
    let folder = archive();
    let info = &folder.run(&["info", "c.tdc", "--json"]).succeeds().json()[0];
    assert_eq!(info["documents"], 2);
    assert_eq!(info["text_bytes"], 30_002);
    assert_eq!(info["lexer"], "words");
    assert_eq!(info["builder"], "repair");
    assert_eq!(info["level"], "fast");
    let bytes = folder.read("c.tdc").len();
    assert_eq!(info["archive_bytes"], bytes);
    for key in
        ["version", "tokens", "token_types", "words", "rules", "symbols", "root_symbols", "depth"]
    {
        assert!(info[key].as_u64().is_some_and(|figure| figure > 0), "{key}: {}", info[key]);
    }
    let sections = info["sections"].as_array().unwrap();
    let total: u64 = sections.iter().map(|section| section["bytes"].as_u64().unwrap()).sum();
    assert!(total > 0 && total <= bytes as u64);
    assert_eq!(info["segments"].as_array().unwrap().len(), 1);
    let text = folder.run(&["info", "c.tdc"]).succeeds();
    assert!(text.text().contains("ratio"), "{}", text.text());
}

#[test]
fn reports() {
    let folder = archive();
    assert_eq!(
        folder.run(&["verify", "c.tdc"]).succeeds().text(),
        "ok: 2 documents, 30,002 bytes\n"
    );
    let verified = &folder.run(&["verify", "c.tdc", "--json"]).succeeds().json()[0];
    assert_eq!(verified["ok"], true);
    assert_eq!(verified["documents"], 2);
    assert_eq!(verified["bytes"], 30_002);
    let report = &folder.run(&["compress", "in", "-o", "d.tdc", "--json"]).succeeds().json()[0];
    assert_eq!(report["documents"], 2);
    assert_eq!(report["text_bytes"], 30_002);
    assert_eq!(report["archive_bytes"], folder.read("d.tdc").len());
    assert_eq!(report["skipped"], Value::Array(Vec::new()));
}

#[test]
fn the_demo_runs() {
    let folder = Folder::new();
    let demo = folder.run(&["demo"]).succeeds();
    assert!(demo.text().contains("$ tadoc compress sample -o sample.tdc"), "{}", demo.text());
    assert!(demo.text().contains("$ tadoc word-count sample.tdc "), "{}", demo.text());
    assert!(!demo.text().contains('\x1b'));
    assert!(folder.names().is_empty());
    folder.run(&["demo", "--keep", "kept"]).succeeds();
    assert_eq!(
        folder.read("kept/sample/manual/en/operation.md"),
        folder.read("kept/copy/manual/en/operation.md")
    );
    folder.run(&["verify", "kept/sample.tdc"]).succeeds();
}

#[test]
fn help_completions_and_manual() {
    let folder = Folder::new();
    for arguments in
        [&["help"][..], &["--help"], &["-h"], &["help", "compress"], &["cat", "--help"]]
    {
        let help = folder.run(arguments).succeeds();
        assert!(help.text().contains("Examples:"), "{}", help.text());
        assert!(!help.text().contains('\x1b'));
    }
    assert!(folder.run(&["--version"]).succeeds().text().starts_with("tadoc "));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&["completions", shell]).succeeds();
        for command in ["transcode", "ranked-inverted-index", "collocations"] {
            assert!(script.text().contains(command), "{shell}");
        }
    }
    folder.run(&["man", "man/man1"]).succeeds();
    for (page, text) in [("compress", "lexer"), ("word-count", "stop"), ("tfidf", "norm")] {
        let page = folder.read(format!("man/man1/tadoc-{page}.1"));
        assert!(String::from_utf8(page).unwrap().contains(text));
    }
}
