//! Random access as scripts see it: columns, exit codes, and answers that are those of the plain program, whatever the
//! index.

use std::fmt::Write as _;
use std::process::Stdio;

use serde_json::Value;
use tadoc_engine::text::escape;
use tadoc_oracle::{Case, Document, Lexer, Oracle, cases};

use crate::folder::{Folder, Run, prose};

const INDEXES: [&str; 3] = ["none", "small", "fast"];

/// The sample corpus as an archive, with some documents of awkward names and bytes.
fn sample() -> (Folder, Vec<Document>) {
    let folder = Folder::new();
    let Case { mut documents, .. } =
        cases().into_iter().find(|case| case.name == "sample").unwrap();
    documents.extend([
        ("zz/a\tb\\c".to_string(), b"tide\ttable\r\nand\\more\n".to_vec()),
        ("zz/bytes".to_string(), b"one \xff\xfe two tide\x1b[31m three\nlast line".to_vec()),
        ("zz/empty".to_string(), Vec::new()),
        ("zz/level".to_string(), b"The LEVEL of\n  the water rises".to_vec()),
        ("zz/wide".to_string(), "日本語 tide 本 Ünïcode\n".into()),
    ]);
    documents.sort();
    archive(&folder, "c.tdc", &documents);
    (folder, documents)
}

/// Writes documents as an archive. By the library, for names that a file system would not take.
pub fn archive(folder: &Folder, name: &str, documents: &[Document]) {
    tadoc_testing::archives::compress_with(documents, &folder.path(name), &Default::default());
}

/// Runs with every index stored and in a pool, which is made and then used again; wants the same of each, and gives the last.
#[track_caller]
fn with_each_index(folder: &Folder, arguments: &[&str], code: i32) -> Run {
    let mut last: Option<Run> = None;
    for index in INDEXES {
        folder.run(&["index", "--index", index, "c.tdc", "--quiet"]).succeeds();
        for threads in ["1", "3"] {
            let run = folder.run(&[arguments, &["--threads", threads]].concat()).exits(code);
            if let Some(last) = last {
                assert!(last.bytes() == run.bytes(), "{arguments:?} with {index}");
            }
            last = Some(run);
        }
    }
    let last = last.unwrap();
    if cfg!(feature = "pool") {
        for persist in ["operation", "phase", "none"] {
            let place = ["--backend", "pool", "--pool", "c.pool", "--persist", persist, "--quiet"];
            let run = folder.run(&[arguments, &place].concat()).exits(code);
            assert!(last.bytes() == run.bytes(), "{arguments:?} in a pool, {persist}");
            assert_eq!(last.stderr(), run.stderr(), "{arguments:?} in a pool, {persist}");
        }
        // The next one may be of another archive.
        std::fs::remove_file(folder.path("c.pool")).unwrap();
    }
    last
}

fn tsv(documents: &[Document], places: &[(usize, usize)]) -> String {
    let mut lines = String::new();
    for &(document, offset) in places {
        writeln!(lines, "{}\t{offset}", escape(documents[document].0.as_bytes())).unwrap();
    }
    lines
}

#[test]
fn search_and_count_equal_the_plain_program() {
    let (folder, documents) = sample();
    let oracle = Oracle::new(Lexer::Words, &documents);
    for phrase in ["tide", "the tide", "the level of", "日", "two tide"] {
        let places = oracle.search_all(phrase.as_bytes());
        let found = !places.is_empty();
        let code = i32::from(!found);
        let run = with_each_index(&folder, &["search", "c.tdc", phrase], code);
        assert_eq!(run.text(), tsv(&documents, &places), "{phrase}");
        assert_eq!(run.stderr(), "");
        let run = with_each_index(&folder, &["count", "c.tdc", phrase], code);
        assert_eq!(run.text(), format!("{}\n", places.len()));
        let run = with_each_index(&folder, &["count", "c.tdc", phrase, "--per-document"], code);
        let mut counts = String::new();
        for (document, count) in oracle.count_by_document(phrase.as_bytes()) {
            writeln!(counts, "{}\t{count}", escape(documents[document].0.as_bytes())).unwrap();
        }
        assert_eq!(run.text(), counts);
    }
}

#[test]
fn documents_by_name_and_glob() {
    let (folder, documents) = sample();
    let chosen = |glob: &str| -> Vec<usize> {
        let start = glob.trim_end_matches('*');
        let documents = documents.iter().enumerate();
        documents.filter(|(_, (name, _))| name.starts_with(start)).map(|(place, _)| place).collect()
    };
    for (glob, of_glob) in [
        ("zz/*", chosen("zz/*")),
        ("manual/*", chosen("manual/*")),
        ("zz/a\\tb\\\\c", chosen("zz/a\tb")),
        ("zz/a\tb\\c", chosen("zz/a\tb")),
    ] {
        assert!(!of_glob.is_empty(), "{glob}");
        let oracle = Oracle::new(Lexer::Words, &documents).with_documents(of_glob);
        let places = oracle.search_all(b"tide");
        let run = folder.run(&["search", "c.tdc", "tide", "--document", glob]).exits(0);
        assert_eq!(run.text(), tsv(&documents, &places), "{glob}");
        let run = folder.run(&["count", "c.tdc", "tide", "--document", glob]).exits(0);
        assert_eq!(run.text(), format!("{}\n", places.len()));
    }
    for command in ["search", "count", "kwic", "find"] {
        let none = folder.run(&[command, "c.tdc", "tide", "--document", "*.none"]).exits(1);
        none.says("no document matches");
        let wrong = folder.run(&[command, "c.tdc", "tide", "--document", "none"]).exits(2);
        wrong.says("has no document").says("; `tadoc list` shows what it has");
    }
    folder.run(&["sample", "c.tdc", "--document", "*.none"]).exits(1).says("no document matches");
}

#[test]
fn terms_are_searched_for() {
    let (folder, documents) = sample();
    folder.write("stop", "of\nthe\n");
    let analyzer = tadoc_engine::Analyzer::new;
    let english = tadoc_engine::StopWords::of(tadoc_engine::Language::English).unwrap();
    let own = tadoc_engine::StopWords::from_lines(b"of\nthe");
    let settings: [(&[&str], tadoc_engine::Analyzer); 4] = [
        (&["-i"], analyzer().fold_case(true)),
        (&["--stem", "en"], analyzer().stem(Some(tadoc_engine::Language::English))),
        (&["--stop-words", "english", "-i"], analyzer().fold_case(true).stop_words(english)),
        (&["--stop-words", "stop"], analyzer().stop_words(own)),
    ];
    for (flags, analyzer) in settings {
        let oracle = Oracle::new(Lexer::Words, &documents)
            .with_analyzer(|word| analyzer.term(word).map(|term| term.into_owned()));
        for phrase in ["Tide", "the level of the water", "tides gauge", "level water"] {
            let places = oracle.search_all(phrase.as_bytes());
            let code = i32::from(places.is_empty());
            let run =
                with_each_index(&folder, &[&["search", "c.tdc", phrase], flags].concat(), code);
            assert_eq!(run.text(), tsv(&documents, &places), "{phrase} {flags:?}");
        }
    }
}

#[test]
fn answers_end_where_they_are_told_to() {
    let (folder, documents) = sample();
    let places = Oracle::new(Lexer::Words, &documents).search_all(b"the");
    assert!(places.len() > 20);
    for most in [1, 2, 19, places.len(), places.len() + 1] {
        let run =
            folder.run(&["search", "c.tdc", "the", "--max-count", &most.to_string()]).succeeds();
        assert_eq!(run.text(), tsv(&documents, &places[..most.min(places.len())]));
        let run = folder.run(&["kwic", "c.tdc", "the", "-m", &most.to_string()]).succeeds();
        assert_eq!(run.text().lines().count(), most.min(places.len()));
    }
    let huge = u64::MAX.to_string();
    let run = folder.run(&["search", "c.tdc", "the", "--max-count", &huge]).succeeds();
    assert_eq!(run.text(), tsv(&documents, &places));
    folder.run(&["search", "c.tdc", "the", "--max-count", "0"]).exits(2);
}

#[test]
fn every_format_has_the_columns() {
    let (folder, _) = sample();
    let header = |arguments: &[&str]| {
        let run = folder.run(&[arguments, &["--format", "csv"]].concat());
        run.text().lines().next().unwrap().to_owned()
    };
    assert_eq!(header(&["search", "c.tdc", "tide"]), "document,offset");
    assert_eq!(header(&["count", "c.tdc", "tide"]), "count");
    assert_eq!(header(&["count", "c.tdc", "tide", "--per-document"]), "document,count");
    assert_eq!(header(&["sample", "c.tdc", "-k", "2", "--seed", "1"]), "document,offset,word");
    assert_eq!(header(&["kwic", "c.tdc", "tide"]), "document,offset,left,keyword,right");
    assert_eq!(header(&["find", "c.tdc", "tide"]), "document,score,snippet");
    assert_eq!(header(&["find", "c.tdc", "tide", "--no-snippets"]), "document,score");
    let row = &folder.run(&["search", "c.tdc", "tide", "-m", "1", "--format", "jsonl"]).json()[0];
    assert!(row["document"].is_string() && row["offset"].is_u64());
    let count = folder.run(&["count", "c.tdc", "nowhere0", "--format", "jsonl"]).exits(1).json();
    assert_eq!(count[0]["count"], 0);
    if cfg!(feature = "columns") {
        for command in ["search", "kwic", "find"] {
            folder.run(&[command, "c.tdc", "tide", "-o", &format!("{command}.parquet")]).succeeds();
            assert!(folder.read(format!("{command}.parquet")).starts_with(b"PAR1"));
        }
    }
    folder.run(&["search", "c.tdc", "tide", "-o", "s.tsv"]).succeeds();
    folder.run(&["search", "c.tdc", "tide", "-o", "s.tsv"]).exits(2).says("exists already");
    folder.run(&["search", "c.tdc", "tide", "-o", "s.tsv", "--force"]).succeeds();
    folder.run(&["search", "c.tdc", "tide", "--format", "mtx"]).exits(2).says("no matrix");
}

#[test]
fn nothing_found_is_one_and_wrong_is_two() {
    let (folder, _) = sample();
    for command in ["search", "count", "kwic", "find"] {
        let run = folder.run(&[command, "c.tdc", "nowhere0"]).exits(1);
        assert_eq!(run.stderr(), "");
        assert_eq!(run.text(), if command == "count" { "0\n" } else { "" });
        let wordless = folder.run(&[command, "c.tdc", "..."]);
        wordless.exits(2).says("there is no word in");
        folder.run(&[command, "missing.tdc", "a"]).exits(2).says("missing.tdc");
        folder.run(&[command, "c.tdc"]).exits(2);
        folder.run(&[command, "c.tdc", "a", "--index", "huge"]).exits(2);
        folder.run(&[command, "c.tdc", "a", "--threads", "0"]).exits(2);
    }
    for command in ["search", "count", "kwic"] {
        let run = folder.run(&[command, "c.tdc", "it's"]).exits(2);
        run.says("2 words").says("it s");
    }
}

#[test]
fn bytes_of_a_document() {
    let (folder, documents) = sample();
    let (name, bytes) = &documents[0];
    for (offset, length) in
        [(0, 10), (7, 0), (bytes.len(), 5), (3, usize::MAX), (bytes.len() - 4, 9)]
    {
        let arguments = ["extract", "c.tdc", name, &offset.to_string(), &length.to_string()];
        let run = with_each_index(&folder, &arguments, 0);
        let expected = &bytes[offset..bytes.len().min(offset.saturating_add(length))];
        assert!(run.bytes() == expected, "{offset} {length}");
        assert_eq!(run.stderr(), "");
    }
    let run = folder.run(&["extract", "c.tdc", "zz/bytes", "0", "9"]).succeeds();
    assert_eq!(run.bytes(), b"one \xff\xfe tw");
    let past = (bytes.len() + 1).to_string();
    let run = folder.run(&["extract", "c.tdc", name, &past, "1"]).exits(2);
    assert_eq!(run.text(), "");
    run.says(&format!("offset {past} is past the end"));
    folder.run(&["extract", "c.tdc", "none", "0", "1"]).exits(2).says("has no document");
    folder.run(&["extract", "c.tdc", "zz/*", "0", "1"]).exits(2).says("one is wanted");
    folder.run(&["extract", "c.tdc", "zz/w*", "0", "3"]).succeeds();
    folder.run(&["extract", "c.tdc", "zz/wide", "-1", "3"]).exits(2);
}

#[test]
fn lines_of_documents() {
    let (folder, documents) = sample();
    let name = "manual/en/operation.md";
    let text = &documents.iter().find(|(other, _)| other == name).unwrap().1;
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let count = lines.len();
    assert!(count > 20);
    for (asked, range) in [
        ("1", 0..1),
        ("3:7", 2..7),
        (":4", 0..4),
        ("12:", 11..count),
        ("-3:", count - 3..count),
        ("-1", count - 1..count),
        ("5:-5", 4..count - 4),
        ("999999", 0..0),
        ("7:3", 0..0),
        (":", 0..count),
    ] {
        let run = with_each_index(&folder, &["cat", "c.tdc", name, "--lines", asked], 0);
        assert!(run.bytes() == lines[range].concat(), "{asked}");
    }
    for wrong in ["0", "x", "1-3", ""] {
        folder.run(&["cat", "c.tdc", name, "--lines", wrong]).exits(2);
    }
    // A last line without its end, an empty document, and several.
    let last = folder.run(&["cat", "c.tdc", "zz/bytes", "--lines", "2"]).succeeds();
    assert_eq!(last.bytes(), b"last line");
    let none = folder.run(&["cat", "c.tdc", "zz/empty", "--lines", "-1"]).succeeds();
    assert_eq!(none.bytes(), b"");
    let both = folder.run(&["cat", "c.tdc", "zz/wide", "zz/bytes", "--lines", "-1"]).succeeds();
    assert_eq!(both.bytes(), "日本語 tide 本 Ünïcode\nlast line".as_bytes());
    let whole = with_each_index(&folder, &["cat", "c.tdc", name, "zz/empty", name], 0);
    assert!(whole.bytes() == [&text[..], text].concat());
}

#[test]
fn beginnings_of_documents() {
    let (folder, documents) = sample();
    let name = "manual/en/operation.md";
    let text = &documents.iter().find(|(other, _)| other == name).unwrap().1;
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let head = |arguments: &[&str]| {
        with_each_index(&folder, &[&["head", "c.tdc"], arguments].concat(), 0).bytes().to_vec()
    };
    assert_eq!(head(&[name]), lines[..10].concat());
    assert_eq!(head(&[name, "-n", "3"]), lines[..3].concat());
    assert_eq!(head(&[name, "-n", "0"]), b"");
    assert_eq!(head(&[name, "-n", "99999999"]), *text);
    assert_eq!(head(&[name, "-c", "5"]), text[..5]);
    assert_eq!(head(&[name, "-c", "99999999"]), *text);
    assert_eq!(
        head(&["zz/wide", "zz/empty", "zz/a*", "-n", "1"]),
        "==> zz/wide <==\n日本語 tide 本 Ünïcode\n\n==> zz/empty <==\n\n==> zz/a\\tb\\\\c <==\ntide\ttable\r\n"
            .as_bytes()
    );
    folder.run(&["head", "c.tdc", name, "-n", "1", "-c", "1"]).exits(2);
    folder.run(&["head", "c.tdc", "none"]).exits(2).says("has no document");
    folder.run(&["head", "c.tdc", "*.none"]).exits(1).says("no document matches");
}

#[test]
fn samples_are_repeated_by_their_seed() {
    let (folder, documents) = sample();
    let oracle = Oracle::new(Lexer::Words, &documents);
    let drawn = with_each_index(&folder, &["sample", "c.tdc", "-k", "50", "--seed", "9"], 0);
    assert_eq!(drawn.stderr(), "");
    assert_eq!(drawn.text().lines().count(), 50);
    for line in drawn.text().lines() {
        let [name, offset, word] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let name = tadoc_engine::text::unescape(name).unwrap();
        let document = documents.iter().position(|(other, _)| other.as_bytes() == name).unwrap();
        let word = tadoc_engine::text::unescape(word).unwrap();
        assert!(oracle.is_occurrence(document, offset.parse().unwrap(), &word), "{line}");
    }
    let other = folder.run(&["sample", "c.tdc", "-k", "50", "--seed", "10"]).succeeds();
    assert_ne!(drawn.text(), other.text());
    // A seed that was not given is told, and draws the same again.
    let unseeded = folder.run(&["sample", "c.tdc", "-k", "20"]).exits(0);
    let seed = unseeded.stderr().trim().rsplit(' ').next().unwrap().to_owned();
    let again = folder.run(&["sample", "c.tdc", "-k", "20", "--seed", &seed]).succeeds();
    assert_eq!(unseeded.text(), again.text());
    let some = folder.run(&["sample", "c.tdc", "-k", "9", "--seed", "1", "--document", "zz/w*"]);
    assert!(some.succeeds().text().lines().all(|line| line.starts_with("zz/wide\t")));
    let none = folder.run(&["sample", "c.tdc", "-k", "9", "--seed", "1", "--document", "zz/empty"]);
    none.exits(1).says("there is no word");
}

#[test]
fn keywords_in_context_as_data() {
    let (folder, documents) = sample();
    let oracle = Oracle::new(Lexer::Words, &documents);
    for window in [0_usize, 1, 7, 40, 3000] {
        let arguments =
            ["kwic", "c.tdc", "the tide", "--context", &window.to_string(), "--format", "jsonl"];
        let run = with_each_index(&folder, &arguments, 0);
        let rows = run.json();
        let places = oracle.search_all(b"the tide");
        assert_eq!(rows.len(), places.len());
        for (row, &(document, offset)) in rows.iter().zip(&places) {
            let (name, bytes) = &documents[document];
            assert_eq!((&row["document"], &row["offset"]), (&(&name[..]).into(), &offset.into()));
            let (before, after) = bytes.split_at(offset);
            let keyword = row["keyword"].as_str().unwrap();
            assert!(after.starts_with(keyword.as_bytes()) && keyword.ends_with("tide"), "{row}");
            // The sample is UTF-8.
            let left: Vec<char> = str::from_utf8(before).unwrap().chars().collect();
            let left: String = left[left.len().saturating_sub(window)..].iter().collect();
            let right = str::from_utf8(&after[keyword.len()..]).unwrap();
            let right: String = right.chars().take(window).collect();
            assert_eq!(row["left"], left, "{row}");
            assert_eq!(row["right"], right, "{row}");
        }
    }
    // By words; text that is not UTF-8 is in base64, as elsewhere.
    let words = |count: &str| {
        let more = ["--words", count, "--document", "zz/*", "--format", "tsv"];
        folder.run(&[&["kwic", "c.tdc", "tide"], &more[..]].concat()).succeeds().text().to_owned()
    };
    assert_eq!(
        words("1"),
        "zz/a\\tb\\\\c\t0\t\ttide\t\\ttable\nzz/bytes\t11\ttwo \ttide\t\x1b[31m\nzz/wide\t10\t語 \ttide\t 本\n"
    );
    assert_eq!(words("0").lines().next(), Some("zz/a\\tb\\\\c\t0\t\ttide\t"));
    assert!(words("99").contains("one \\xff\\xfe two \ttide"));
    let run = folder.run(&["kwic", "c.tdc", "tide", "--words", "2", "--context", "3"]).exits(2);
    assert_ne!(run.stderr(), "");
    // A phrase is shown as it stands, with what is skipped over in it.
    let flags = ["--stop-words", "english", "-i", "--context", "0", "--format", "jsonl"];
    let run = folder.run(&[&["kwic", "c.tdc", "level water"], &flags[..]].concat());
    let keywords: Vec<Value> =
        run.exits(0).json().iter().map(|row| row["keyword"].clone()).collect();
    assert!(keywords.contains(&"LEVEL of\n  the water".into()), "{keywords:?}");
}

#[test]
fn keywords_in_context_for_people() {
    let (folder, _) = sample();
    let run = with_each_index(&folder, &["kwic", "c.tdc", "tide", "--format", "table"], 0);
    assert!(!run.text().contains(['\x1b', '\t', '\r']), "{}", run.text());
    assert!(run.text().contains("tide\\x1b[31m three last line"), "{}", run.text());
    // The keyword begins in the same column of every line.
    let column = |line: &str| {
        let before = line.split("tide").next().unwrap();
        before
            .chars()
            .map(|character| if ('\u{3000}'..'\u{a000}').contains(&character) { 2 } else { 1 })
            .sum::<usize>()
    };
    let alone: Vec<&str> =
        run.text().lines().filter(|line| line.matches("tide").count() == 1).collect();
    assert!(alone.len() > 5);
    assert!(alone.iter().all(|line| column(line) == column(alone[0])), "{}", run.text());
    assert!(run.text().lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn documents_that_fit_best() {
    let (folder, documents) = sample();
    let oracle = Oracle::new(Lexer::Words, &documents);
    for words in ["tide gauge", "water, level; unicorn", "the the the"] {
        let expected = oracle.find(words.as_bytes());
        let arguments = ["find", "c.tdc", words, "--format", "jsonl", "--top", "1000"];
        let rows = with_each_index(&folder, &arguments, 0).json();
        assert_eq!(rows.len(), expected.len(), "{words}");
        for (row, (document, score)) in rows.iter().zip(&expected) {
            assert!((row["score"].as_f64().unwrap() - score).abs() < 1e-9, "{row}");
            let same = expected.iter().any(|other| {
                (other.1 - score).abs() < 1e-9 && row["document"] == documents[other.0].0[..]
            });
            assert!(same, "{row}: {}", documents[*document].0);
        }
        let top = folder.run(&["find", "c.tdc", words, "--format", "jsonl"]).succeeds().json();
        assert_eq!(top[..], rows[..rows.len().min(10)]);
    }
    // A snippet has the words that made it, and is one line.
    let rows = folder.run(&["find", "c.tdc", "gauge", "--format", "jsonl"]).succeeds().json();
    for row in rows {
        let snippet = row["snippet"].as_str().unwrap();
        assert!(snippet.contains("gauge") && !snippet.contains(['\n', '\t']), "{row}");
        assert!(snippet.chars().count() <= 300, "{row}");
    }
    let list = folder.run(&["find", "c.tdc", "tide gauge", "--format", "table"]).succeeds();
    assert!(list.text().starts_with(" 1. "), "{}", list.text());
    assert!(list.text().lines().count() > 10 && !list.text().contains('\x1b'));
    let list = folder.run(&["find", "c.tdc", "three", "--format", "table", "--document", "zz/*"]);
    assert!(list.succeeds().text().contains("\\xff\\xfe two tide\\x1b[31m three"));
}

#[test]
fn readers_that_have_seen_enough() {
    let folder = Folder::new();
    folder.write("text", prose(3_000_000));
    folder.run(&["compress", "text", "-o", "c.tdc"]).succeeds();
    for arguments in [
        &["search", "c.tdc", "the"][..],
        &["kwic", "c.tdc", "the"],
        &["cat", "c.tdc", "text", "--lines", "1:"],
        &["extract", "c.tdc", "text", "0", "99999999"],
        &["head", "c.tdc", "text", "-n", "99999999"],
        &["sample", "c.tdc", "-k", "100000", "--seed", "1"],
    ] {
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn indexes_are_stored_and_removed() {
    let (folder, _) = sample();
    let before = folder.read("c.tdc");
    for index in ["small", "fast"] {
        folder.run(&["index", "--index", index, "c.tdc"]).succeeds();
        assert!(folder.read("c.tdc").len() > before.len());
        folder.run(&["verify", "c.tdc"]).succeeds();
    }
    folder.run(&["index", "--index", "none", "c.tdc"]).succeeds();
    assert!(folder.read("c.tdc") == before);
    folder.run(&["index", "c.tdc"]).exits(2);
    folder.run(&["index", "--index", "huge", "c.tdc"]).exits(2);
    folder.run(&["index", "--index", "fast", "missing.tdc"]).exits(2).says("missing.tdc");
    // Both at once; the view is of the archive as it is then.
    folder.run(&["index", "--index", "small", "--view", "c.tdc"]).succeeds();
    folder.run(&["word-count", "c.tdc", "--top", "1"]).succeeds();
    assert_eq!(folder.names(), ["c.tdc", "c.tdc.view"]);
}

/// What is told of a pool: how it is asked for wrongly, whose it is, and what had to be made again.
#[cfg(feature = "pool")]
#[test]
fn pools_are_told_of() {
    let (folder, _) = sample();
    let count = |arguments: &[&str]| folder.run(&[&["count", "c.tdc", "tide"], arguments].concat());
    let in_pool = ["--backend", "pool", "--pool", "c.pool"];
    let without = count(&[]).succeeds();
    let needs_file = count(&["--backend", "pool"]).exits(2);
    assert!(needs_file.stderr().contains("--pool FILE"), "{}", needs_file.stderr());
    for given in [["--pool", "c.pool"], ["--persist", "none"]] {
        let run = count(&given).exits(2);
        assert!(run.stderr().contains("is for --backend pool only"), "{}", run.stderr());
    }
    assert!(!folder.path("c.pool").exists());
    assert_eq!(count(&in_pool).succeeds().text(), without.text());
    // The second one finds it there, and says nothing.
    assert_eq!(count(&in_pool).succeeds().text(), without.text());
    let mut bytes = std::fs::read(folder.path("c.pool")).unwrap();
    // All that lies behind header and checkpoints.
    bytes[3 << 15..].iter_mut().for_each(|byte| *byte ^= 0x55);
    std::fs::write(folder.path("c.pool"), &bytes).unwrap();
    let run = count(&in_pool).exits(0);
    assert_eq!(run.text(), without.text());
    assert!(run.stderr().contains("made again"), "{}", run.stderr());
    count(&[&in_pool[..], &["--quiet"]].concat()).succeeds();
    archive(&folder, "other.tdc", &[("a".into(), b"tide".to_vec())]);
    let run = folder.run(&[&["count", "other.tdc", "tide"], &in_pool[..]].concat()).exits(2);
    assert!(run.stderr().contains("is of another archive"), "{}", run.stderr());
    std::fs::write(
        folder.path("text"),
        "no pool, but some text that is longer than a header of one\n",
    )
    .unwrap();
    let run = count(&["--backend", "pool", "--pool", "text"]).exits(2);
    assert!(run.stderr().contains("is not a pool"), "{}", run.stderr());
}
