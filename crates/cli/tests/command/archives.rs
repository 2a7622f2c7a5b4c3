//! Several archives as one corpus, documents by one name of flag everywhere, and refusals that say what to type.

use serde_json::{Value, json};
use tadoc_oracle::Document;

use crate::access::archive;
use crate::folder::{Folder, prose};

/// Documents whose names are in order over both archives.
fn first() -> Vec<Document> {
    vec![
        ("a/one.log".to_string(), b"connection refused\nbroken heart\nHearts of oak\n".to_vec()),
        ("a/two.txt".to_string(), prose(5_000)),
    ]
}

fn second() -> Vec<Document> {
    vec![
        ("b/one.log".to_string(), b"a connection, and a heart that is broken\n".to_vec()),
        ("b/two.txt".to_string(), prose(9_000)[2_000..].to_vec()),
    ]
}

/// A folder with an archive of each, and one of all of them.
fn opened() -> Folder {
    let folder = Folder::new();
    archive(&folder, "a.tdc", &first());
    archive(&folder, "b.tdc", &second());
    archive(&folder, "all.tdc", &[first(), second()].concat());
    folder
}

/// Questions without their archives: what comes before these, and behind.
const QUESTIONS: &[(&[&str], &[&str])] = &[
    (&["search"], &["heart"]),
    (&["search"], &["the tide", "--max-count", "7"]),
    (&["search"], &["connection", "-d", "*.log"]),
    (&["search", "--match", "^heart", "-i"], &[]),
    (&["count"], &["the"]),
    (&["count"], &["a level", "--per-document"]),
    (&["count", "--match", "^[0-9]+$", "--per-document"], &[]),
    (&["kwic"], &["tide gauge", "--max-count", "1500"]),
    (&["kwic", "--match", "heart", "--words", "2"], &[]),
    (&["find"], &["broken connection gauge"]),
    (&["find"], &["north station", "-d", "*.txt", "--no-snippets"]),
    (&["find"], &["\"broken heart\" gauge"]),
    (&["find"], &["heart -refused"]),
    (&["sample", "-k", "500", "--seed", "7"], &[]),
    (&["sample", "-k", "50", "--seed", "7", "-d", "*.log"], &[]),
    (&["list"], &[]),
    (&["list", "-d", "*/one.*", "--long"], &[]),
    (&["cat"], &["-d", "*"]),
    (&["head"], &["-d", "*.txt", "-n", "2"]),
    (&["grep", "-n", "heart"], &[]),
    (&["grep", "-c", "gauge"], &["-d", "b/*"]),
    (&["extract"], &["b/one.log", "2", "10"]),
    (&["word-count"], &["-d", "*.txt"]),
    (&["inverted-index"], &[]),
];

#[test]
fn several_archives_answer_as_one_that_has_all() {
    let folder = opened();
    for (before, behind) in QUESTIONS {
        let ask = |archives: &[&str]| {
            folder.run(&[before, archives, behind].concat()).succeeds().bytes().to_vec()
        };
        let whole = ask(&["all.tdc"]);
        assert!(!whole.is_empty(), "{before:?} {behind:?}");
        assert!(ask(&["a.tdc", "b.tdc"]) == whole, "{before:?} {behind:?}");
    }
    // With every index, and in no pool.
    for archive in ["a.tdc", "b.tdc", "all.tdc"] {
        folder.run(&["index", "--index", "fast", archive, "--quiet"]).succeeds();
    }
    for (before, behind) in QUESTIONS {
        let ask = |archives: &[&str]| {
            folder.run(&[before, archives, behind].concat()).succeeds().bytes().to_vec()
        };
        assert!(ask(&["a.tdc", "b.tdc"]) == ask(&["all.tdc"]), "{before:?} {behind:?}");
    }
    if cfg!(feature = "pool") {
        let pool = ["count", "a.tdc", "b.tdc", "heart", "--backend", "pool", "--pool", "p"];
        folder.run(&pool).exits(2).says("a pool holds one archive");
    }
}

#[test]
fn rows_tell_their_archives() {
    let folder = opened();
    // The same names in both.
    archive(&folder, "c.tdc", &first());
    let with = |arguments: &[&str]| {
        folder.run(&[arguments, &["--with-archive"]].concat()).succeeds().text().to_owned()
    };
    assert_eq!(
        with(&["search", "a.tdc", "c.tdc", "heart"]),
        "a.tdc\ta/one.log\t26\nc.tdc\ta/one.log\t26\n"
    );
    assert_eq!(with(&["count", "a.tdc", "b.tdc", "heart"]), "a.tdc\t1\nb.tdc\t1\n");
    assert_eq!(
        with(&["count", "b.tdc", "a.tdc", "broken", "--per-document"]),
        "b.tdc\tb/one.log\t1\na.tdc\ta/one.log\t1\n"
    );
    assert_eq!(
        with(&["list", "c.tdc", "a.tdc", "-d", "*.log"]),
        "c.tdc\ta/one.log\t46\na.tdc\ta/one.log\t46\n"
    );
    assert_eq!(
        with(&["grep", "oak", "a.tdc", "c.tdc"]),
        "a.tdc:a/one.log:Hearts of oak\nc.tdc:a/one.log:Hearts of oak\n"
    );
    assert_eq!(
        with(&["grep", "-c", "oak", "a.tdc", "c.tdc"]),
        "a.tdc:a/one.log:1\nc.tdc:a/one.log:1\n"
    );
    assert_eq!(
        with(&["head", "a.tdc", "c.tdc", "-d", "*.log", "-n", "1"]),
        "==> a.tdc:a/one.log <==\nconnection refused\n\n==> c.tdc:a/one.log <==\nconnection refused\n"
    );
    assert_eq!(
        with(&["inverted-index", "a.tdc", "c.tdc", "--match", "^oak$"]),
        "a.tdc\toak\ta/one.log\nc.tdc\toak\ta/one.log\n"
    );
    for command in ["term-vector", "tfidf", "sequence-count", "ranked-inverted-index"] {
        let more: &[&str] = if command == "sequence-count" { &["--per-document"] } else { &[] };
        let ask = [&[command, "a.tdc", "b.tdc"], more].concat();
        let plain = folder.run(&ask).succeeds().text().to_owned();
        let rows = with(&ask);
        assert_eq!(rows.lines().count(), plain.lines().count());
        for (row, plain) in rows.lines().zip(plain.lines()) {
            let (archive, row) = row.split_once('\t').unwrap();
            assert_eq!(row, plain);
            let folder = &archive[..1];
            assert!(row.split('\t').any(|cell| cell.starts_with(&format!("{folder}/"))), "{row}");
        }
    }
    for (command, more) in
        [("kwic", &["heart"][..]), ("find", &["heart"]), ("sample", &["--seed", "1"])]
    {
        let header = with(&[&[command, "a.tdc", "b.tdc"], more, &["--format", "csv"]].concat());
        assert!(header.starts_with("archive,document,"), "{header}");
    }
    let json = folder.run(&["grep", "oak", "a.tdc", "--json", "--with-archive"]).succeeds().json();
    assert_eq!(json[1]["data"]["archive"]["text"], "a.tdc");
    folder.run(&["sequence-count", "a.tdc", "--with-archive"]).exits(2).says("give --per-document");
    // Both have it, so it is not told which is meant; cat prints both.
    let extract = ["extract", "a.tdc", "c.tdc", "a/one.log", "0", "4"];
    folder.run(&extract).exits(2).says("is in a.tdc and in c.tdc");
    let both = folder.run(&["cat", "a.tdc", "c.tdc", "-d", "a/one.log"]).succeeds();
    assert_eq!(both.bytes().len(), 2 * first()[0].1.len());
    folder.run(&["cat", "a.tdc", "c.tdc", "b.tdc"]).exits(2).says("name documents with -d");
    folder.run(&["cat", "a.tdc"]).exits(2).says("-d '*'");
}

#[test]
fn all_archives_are_checked_and_described() {
    let folder = opened();
    let mut bytes = folder.read("b.tdc");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("b.tdc", bytes);
    let run = folder.run(&["verify", "b.tdc", "a.tdc", "--json"]).exits(1).says("b.tdc");
    let reports = run.json();
    assert_eq!(
        (reports[0]["archive"].as_str(), reports[0]["ok"].as_bool()),
        (Some("b.tdc"), Some(false))
    );
    assert_eq!(
        (reports[1]["archive"].as_str(), reports[1]["ok"].as_bool()),
        (Some("a.tdc"), Some(true))
    );
    let told = folder.run(&["verify", "a.tdc", "all.tdc"]).succeeds();
    assert!(told.text().starts_with("a.tdc: ok: ") && told.text().contains("\nall.tdc: ok: "));
    let info = folder.run(&["info", "a.tdc", "all.tdc", "--json"]).succeeds().json();
    assert_eq!(info[0]["documents"], 2);
    assert_eq!(info[1]["documents"], 4);
}

#[test]
fn documents_are_chosen_by_one_flag() {
    let folder = opened();
    for command in [
        &["search", "all.tdc", "the"][..],
        &["count", "all.tdc", "the"],
        &["kwic", "all.tdc", "the"],
        &["find", "all.tdc", "the"],
        &["sample", "all.tdc", "--seed", "1"],
        &["list", "all.tdc"],
        &["grep", "the", "all.tdc"],
        &["word-count", "all.tdc"],
        &["cat", "all.tdc"],
        &["head", "all.tdc"],
    ] {
        let ask = |flag: &str| {
            let run = folder.run(&[command, &[flag, "a/t*", flag, "b/t*"]].concat());
            run.succeeds().bytes().to_vec()
        };
        let asked = ask("--documents");
        assert!(ask("-d") == asked, "{command:?}");
        // As the contract had it first.
        assert!(ask("--document") == asked, "{command:?}");
        folder.run(&[command, &["-d", "*.none"]].concat()).exits(1).says("no document matches");
    }
}

#[test]
fn words_that_match_are_those_of_word_count() {
    let folder = opened();
    for (pattern, flags) in
        [("^heart", &["-i"][..]), ("^[0-9]+$", &[]), ("e$", &["--stem", "en"]), (".", &[])]
    {
        let ask = |command: &str| {
            folder.run(&[&[command, "all.tdc", "--match", pattern], flags].concat()).succeeds()
        };
        let counted: u64 = ask("word-count")
            .text()
            .lines()
            .map(|row| row.split_once('\t').unwrap().1.parse::<u64>().unwrap())
            .sum();
        assert!(counted > 0);
        assert_eq!(ask("count").text().trim(), counted.to_string(), "{pattern}");
        assert_eq!(ask("search").text().lines().count() as u64, counted, "{pattern}");
        assert_eq!(ask("kwic").text().lines().count() as u64, counted, "{pattern}");
    }
    let kwic =
        folder.run(&["kwic", "a.tdc", "--match", "^hearts?$", "-i", "--words", "0"]).succeeds();
    assert_eq!(kwic.text(), "a/one.log\t26\t\theart\t\na/one.log\t32\t\tHearts\t\n");
    folder.run(&["count", "a.tdc", "--match", "^nowhere$"]).exits(1);
    folder.run(&["count", "a.tdc", "--match", "("]).exits(2);
    folder
        .run(&["search", "a.tdc", "heart", "--match", "x"])
        .exits(2)
        .says("all arguments are archives");
}

#[test]
fn refusals_say_what_to_type() {
    let folder = opened();
    for command in ["kwic", "search", "count", "find"] {
        let run = folder.run(&[command, "a.tdc", "connection", "refused"]).exits(2);
        run.says(&format!("tadoc {command} a.tdc 'connection refused'"));
        folder.run(&[command, "heart"]).exits(2).says("ARCHIVE");
        folder.run(&[command, "missing.tdc", "heart"]).exits(2).says("missing.tdc");
    }
    for command in ["kwic", "search", "count"] {
        let run = folder.run(&[command, "a.tdc", "heart*"]).exits(2);
        run.says(&format!("tadoc {command} a.tdc --match '^heart'"));
        folder
            .run(&[command, "a.tdc", "a broken heart*"])
            .exits(2)
            .says("tadoc grep 'a broken heart\\w*'");
        folder.run(&[command, "a.tdc", "b.tdc"]).exits(2).says("is a file");
    }
    folder.run(&["find", "a.tdc", "heart*"]).exits(2).says("wildcards are not supported");
    folder.run(&["find", "a.tdc", "heart AND soul"]).exits(2).says("no operator here");
    folder.run(&["find", "a.tdc", "heart OR soul"]).exits(2).says("no operator here");
    folder.run(&["find", "a.tdc", "heart NOT"]).exits(2).says("NOT at the end");
    folder.run(&["extract", "a.tdc", "a/one.log", "zero", "4"]).exits(2).says("\"zero\"");
}

#[test]
fn phrases_are_required_and_words_excluded() {
    let folder = Folder::new();
    let documents = [
        ("1", "a broken heart"),
        ("2", "the heart is broken"),
        ("3", "broken, heart and liver"),
        ("4", "liver"),
    ];
    let documents: Vec<Document> =
        documents.map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).to_vec();
    archive(&folder, "c.tdc", &documents);
    let found = |query: &str| {
        let run = folder.run(&["find", "c.tdc", query, "--no-snippets"]);
        let rows = run.text().lines().map(|row| row.split_once('\t').unwrap());
        let mut rows: Vec<(String, String)> =
            rows.map(|(name, score)| (name.to_owned(), score.to_owned())).collect();
        rows.sort();
        rows
    };
    let names =
        |query: &str| found(query).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ");
    assert_eq!(names("broken heart"), "1 2 3");
    assert_eq!(names("\"broken heart\""), "1 3");
    assert_eq!(names("\"broken heart\" -liver"), "1");
    assert_eq!(names("heart liver NOT \"broken heart\""), "2 4");
    assert_eq!(names("heart \"nothing\""), "");
    // Scores are those without.
    let all = found("broken heart");
    assert!(found("\"broken heart\"").iter().all(|row| all.contains(row)));
    folder.run(&["find", "c.tdc", "heart \"nothing\""]).exits(1);
}

#[test]
fn windows_mean_the_same() {
    let folder = Folder::new();
    archive(&folder, "c.tdc", &[("1".to_string(), b"a x b. a y b. a b.".to_vec())]);
    for (window, pairs) in [("1", 1), ("2", 3)] {
        for command in ["cooccurrence", "collocations"] {
            let run = folder.run(&[command, "c.tdc", "--window", window]).succeeds();
            let row = run.text().lines().find(|row| row.starts_with("a\tb\t")).unwrap().to_owned();
            let count: u64 = row.split('\t').nth(2).unwrap().parse().unwrap();
            // Unordered pairs have those of the other order, too.
            let other = if command == "cooccurrence" { 2 } else { 0 };
            assert_eq!(count, pairs + other, "{command} {window}");
        }
    }
    folder.run(&["kwic", "c.tdc", "a", "--window", "3"]).exits(2);
    folder.run(&["kwic", "c.tdc", "a", "--context", "3"]).succeeds();
}

#[test]
fn operations_are_asked_of_all_archives() {
    let folder = opened();
    archive(&folder, "c.tdc", &first());
    let ask = |archives: &[&str], more: &[&str], lines: &[Value]| {
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let arguments = [&["query"], archives, &["-f", "-"], more].concat();
        folder.run_with(&arguments, input.as_bytes()).operations()
    };
    let lines = [
        json!({"op": "count", "word": "heart"}),
        json!({"op": "count", "word": "the", "document": "b/two.txt"}),
        json!({"op": "search", "word": "connection"}),
        json!({"op": "search", "word": "the tide"}),
        json!({"op": "search", "word": "gauge", "document": "a/two.txt"}),
        json!({"op": "extract", "document": "b/one.log", "offset": 2, "length": 10}),
        json!({"op": "extract", "document": "none", "offset": 2, "length": 10}),
        json!({"op": "sample", "k": 40, "seed": 3}),
        json!({"op": "sample", "k": 4, "seed": 3, "document": "b/two.txt"}),
    ];
    assert_eq!(ask(&["a.tdc", "b.tdc"], &[], &lines), ask(&["all.tdc"], &[], &lines));
    let lines = [
        json!({"op": "search", "word": "oak"}),
        json!({"op": "extract", "document": "a/one.log", "offset": 0, "length": 1}),
        json!({"op": "sample", "k": 1, "seed": 3}),
    ];
    let results = ask(&["a.tdc", "c.tdc"], &["--with-archive"], &lines);
    let names = ["a/one.log", "a/one.log"];
    let found = json!({"offsets": [42, 42], "documents": names, "archives": ["a.tdc", "c.tdc"]});
    assert_eq!(results[0], found);
    assert!(results[1]["error"].as_str().unwrap().contains("is in a.tdc and in c.tdc"));
    assert!(results[2]["words"][0]["archive"].as_str().unwrap().ends_with(".tdc"));
}
