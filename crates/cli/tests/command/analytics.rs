//! The analytics as scripts see them: every command's rows are those of the plain program, whatever the
//! strategy and the number of threads; and what its flags do.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use tadoc_engine::text::escape;
use tadoc_oracle::{Case, Document, Lexer, Oracle, TfidfOptions, cases};
use tadoc_testing::archives::compress_with;

use crate::folder::{Folder, Run, prose};

/// All commands, with arguments that make them short to compare.
const COMMANDS: [&[&str]; 13] = [
    &["word-count"],
    &["sort"],
    &["inverted-index"],
    &["term-vector"],
    &["sequence-count"],
    &["sequence-count", "--n", "1"],
    &["sequence-count", "--per-document", "--n", "2"],
    &["ranked-inverted-index"],
    &["ranked-inverted-index", "--n", "1"],
    &["tfidf"],
    &["cooccurrence"],
    &["cooccurrence", "--window", "1", "--ordered"],
    &["collocations"],
];

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
}

/// Writes documents as an archive. By the library, for names that a file system would not take.
fn archive(folder: &Folder, name: &str, documents: &[Document], lexer: tadoc_engine::Lexer) {
    let options = tadoc_engine::CompressOptions { lexer, ..Default::default() };
    compress_with(documents, &folder.path(name), &options);
}

fn ask(folder: &Folder, command: &[&str], more: &[&str]) -> Run {
    folder.run(&[command, more].concat())
}

/// The rows of the plain program as TSV.
fn expected(oracle: &Oracle, documents: &[Document], command: &[&str]) -> String {
    let mut lines = String::new();
    let name = |number: usize| escape(documents[number].0.as_bytes());
    let joined = |terms: &[Vec<u8>]| escape(&terms.join(&b' ')).to_string();
    let value = |flag: &str, default: usize| {
        let place = command.iter().position(|word| *word == flag);
        place.map_or(default, |place| command[place + 1].parse().unwrap())
    };
    let n = value("--n", 3);
    match command[0] {
        "word-count" | "sort" => {
            let rows = if command[0] == "sort" { oracle.sort() } else { oracle.word_count() };
            for (term, count) in rows {
                writeln!(lines, "{}\t{count}", escape(&term)).unwrap();
            }
        }
        "inverted-index" => {
            for (term, of_term) in oracle.inverted_index() {
                for document in of_term {
                    writeln!(lines, "{}\t{}", escape(&term), name(document)).unwrap();
                }
            }
        }
        "term-vector" => {
            for (document, terms) in oracle.term_vector(None).into_iter().enumerate() {
                for (term, count) in terms {
                    writeln!(lines, "{}\t{}\t{count}", name(document), escape(&term)).unwrap();
                }
            }
        }
        "sequence-count" if command.contains(&"--per-document") => {
            let rows = oracle.sequence_count_per_document(n);
            for (document, sequences) in rows.into_iter().enumerate() {
                for (terms, count) in sequences {
                    writeln!(lines, "{}\t{}\t{count}", joined(&terms), name(document)).unwrap();
                }
            }
        }
        "sequence-count" => {
            for (terms, count) in oracle.sequence_count(n) {
                writeln!(lines, "{}\t{count}", joined(&terms)).unwrap();
            }
        }
        "ranked-inverted-index" => {
            for (terms, of_terms) in oracle.ranked_inverted_index(n) {
                for (document, count) in of_terms {
                    writeln!(lines, "{}\t{}\t{count}", joined(&terms), name(document)).unwrap();
                }
            }
        }
        "tfidf" => {
            let rows = oracle.tfidf(TfidfOptions::default());
            for (document, terms) in rows.into_iter().enumerate() {
                for (term, weight) in terms {
                    writeln!(lines, "{}\t{}\t{weight}", name(document), escape(&term)).unwrap();
                }
            }
        }
        "cooccurrence" => {
            let window = value("--window", 5);
            let rows = match command.contains(&"--ordered") {
                true => oracle.ordered_cooccurrence(window),
                false => oracle.cooccurrence(window),
            };
            for ((first, second), count) in rows {
                writeln!(lines, "{}\t{}\t{count}", escape(&first), escape(&second)).unwrap();
            }
        }
        "collocations" => {
            for row in oracle.collocations(value("--window", 1) + 1) {
                writeln!(
                    lines,
                    "{}\t{}\t{}\t{}\t{}\t{}\t{}",
                    escape(&row.first),
                    escape(&row.second),
                    row.count,
                    row.pmi,
                    row.log_likelihood,
                    row.t_score,
                    row.log_dice
                )
                .unwrap();
            }
        }
        other => panic!("{other}"),
    }
    lines
}

/// Compares rows. Weights and scores may differ in their last digits, and with that the order of collocations.
#[track_caller]
fn assert_rows(found: &str, expected: &str, command: &[&str], what: &str) {
    if found == expected {
        return;
    }
    let reals = match command[0] {
        "tfidf" => 1,
        "collocations" => 4,
        _ => 0,
    };
    let rows = |text: &str| -> Vec<(String, Vec<f64>)> {
        let mut rows: Vec<_> = text
            .lines()
            .map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                let (keys, numbers) = fields.split_at(fields.len() - reals);
                (keys.join("\t"), numbers.iter().map(|number| number.parse().unwrap()).collect())
            })
            .collect();
        if command[0] == "collocations" {
            let descends = |pair: &[(String, Vec<f64>)]| pair[0].1[1] >= pair[1].1[1];
            assert!(text != found || rows.windows(2).all(descends), "{what}: {command:?}");
            rows.sort_by(|one, other| one.0.cmp(&other.0));
        }
        rows
    };
    let (found_rows, expected_rows) = (rows(found), rows(expected));
    assert_eq!(found_rows.len(), expected_rows.len(), "{what}: {command:?}");
    for (one, other) in found_rows.iter().zip(&expected_rows) {
        let close = |pair: (&f64, &f64)| (pair.0 - pair.1).abs() <= 1e-9 * pair.1.abs().max(1.0);
        let equal = one.0 == other.0 && one.1.iter().zip(&other.1).all(close);
        assert!(equal, "{what}: {command:?}: {one:?} is not {other:?}");
    }
}

#[test]
fn every_command_equals_the_plain_program() {
    let wanted = |case: &Case| {
        // Few enough to be quick in every command, and awkward enough.
        case.name == "sample" || case.size() < 20_000
    };
    let mut odd = cases().into_iter().filter(wanted).collect::<Vec<_>>();
    odd.push(Case {
        name: "odd names".to_string(),
        documents: vec![
            ("a\tb\\c".to_string(), b"tab and back\\slash".to_vec()),
            ("new\nline".to_string(), b"bad \xff\xfe bytes and\xc3 more and more".to_vec()),
            ("space in it/\u{1b}[31m".to_string(), "Ünïcode ÜNÏCODE 漢字".into()),
        ],
    });
    for case in odd {
        let folder = Folder::new();
        let lexers = [
            (tadoc_engine::Lexer::Words, Lexer::Words),
            (tadoc_engine::Lexer::Whitespace, Lexer::Whitespace),
        ];
        // The whitespace lexer differs in its words only; a few cases tell whether it is taken.
        let lexers = if case.name == "sample" || case.name == "odd names" {
            &lexers[..]
        } else {
            &lexers[..1]
        };
        for (lexer, of_oracle) in lexers {
            let name = format!("{lexer:?}.tdc");
            archive(&folder, &name, &case.documents, *lexer);
            let oracle = Oracle::new(*of_oracle, &case.documents);
            for command in COMMANDS {
                let run = ask(&folder, command, &[&name]).succeeds();
                assert_rows(
                    run.text(),
                    &expected(&oracle, &case.documents, command),
                    command,
                    &case.name,
                );
            }
        }
    }
}

fn sample() -> (Folder, Vec<Document>) {
    let folder = Folder::new();
    let documents = case("sample").documents;
    archive(&folder, "c.tdc", &documents, tadoc_engine::Lexer::Words);
    (folder, documents)
}

#[test]
fn threads_and_strategies_change_nothing() {
    let (folder, _) = sample();
    for command in COMMANDS {
        let first = ask(&folder, command, &["c.tdc", "--threads", "1"]).succeeds();
        for threads in ["2", "3"] {
            let other = ask(&folder, command, &["c.tdc", "--threads", threads]).succeeds();
            assert!(first.bytes() == other.bytes(), "{command:?}, {threads} threads");
        }
        for strategy in ["top-down", "bottom-up", "auto"] {
            let other = ask(&folder, command, &["c.tdc", "--strategy", strategy]).succeeds();
            assert!(first.bytes() == other.bytes(), "{command:?}, {strategy}");
        }
    }
}

#[test]
fn little_memory_changes_nothing_or_is_refused() {
    let (folder, _) = sample();
    let mut answered = 0;
    for command in COMMANDS {
        let whole = ask(&folder, command, &["c.tdc"]).succeeds();
        let run = ask(&folder, command, &["c.tdc", "--memory", "40K"]);
        if run.stderr().is_empty() {
            assert!(run.exits(0).bytes() == whole.bytes(), "{command:?}");
            answered += 1;
        } else {
            run.exits(2).says("bytes are needed, 40960 are allowed; raise --memory");
        }
    }
    // Most work needs no more, or goes in several passes.
    assert!(answered > COMMANDS.len() / 2, "{answered}");
}

#[test]
fn several_archives_are_one_corpus() {
    let (folder, documents) = sample();
    let (some, others) = documents.split_at(documents.len() / 3);
    archive(&folder, "a.tdc", some, tadoc_engine::Lexer::Words);
    archive(&folder, "b.tdc", others, tadoc_engine::Lexer::Words);
    for command in COMMANDS {
        let whole = ask(&folder, command, &["c.tdc"]).succeeds();
        let both = ask(&folder, command, &["a.tdc", "b.tdc"]).succeeds();
        assert!(whole.bytes() == both.bytes(), "{command:?}");
    }
    // A name that is in both stays two documents.
    let twice = folder.run(&["inverted-index", "a.tdc", "a.tdc", "--match", "^the$"]).succeeds();
    let once = folder.run(&["inverted-index", "a.tdc", "--match", "^the$"]).succeeds();
    assert!(once.text().lines().count() > 1);
    assert_eq!(twice.text(), once.text().repeat(2));
    // One that is in one of them only is found there.
    let name = escape(others[0].0.as_bytes()).to_string();
    let asked = ["a.tdc", "b.tdc", "--documents", &name];
    let one = folder.run(&[&["word-count"], &asked[..]].concat()).succeeds();
    let oracle = Oracle::new(Lexer::Words, others).with_documents([0]);
    assert_eq!(one.text(), expected(&oracle, others, &["word-count"]));
    folder.run(&["word-count", "a.tdc", "b.tdc", "--documents", "no"]).exits(2).says("no document");
}

#[test]
fn archives_of_different_lexers_are_told() {
    let folder = Folder::new();
    let documents = [("a".to_string(), b"one-two three".to_vec())];
    archive(&folder, "w.tdc", &documents, tadoc_engine::Lexer::Words);
    archive(&folder, "s.tdc", &documents, tadoc_engine::Lexer::Whitespace);
    let run = folder.run(&["sort", "w.tdc", "s.tdc"]).exits(0);
    assert_eq!(run.text(), "one\t1\none-two\t1\nthree\t2\ntwo\t1\n");
    run.says("warning: words are not the same thing");
}

#[test]
fn chosen_documents_are_a_corpus_of_their_own() {
    let (folder, documents) = sample();
    let globs = ["c.tdc", "--documents", "logs/*", "--documents", "mail*"];
    let chosen = documents
        .iter()
        .enumerate()
        .filter(|(_, (name, _))| name.starts_with("logs/") || name.starts_with("mail"));
    let chosen: Vec<usize> = chosen.map(|(number, _)| number).collect();
    assert!(chosen.len() > 1 && chosen.len() < documents.len());
    let oracle = Oracle::new(Lexer::Words, &documents).with_documents(chosen);
    for command in COMMANDS {
        let run = ask(&folder, command, &globs).succeeds();
        assert_rows(run.text(), &expected(&oracle, &documents, command), command, "chosen");
        let none = ask(&folder, command, &["c.tdc", "--documents", "*.none"]).exits(1);
        none.says("no document matches");
    }
    // Those that are found are asked, if any is.
    folder.run(&["sort", "c.tdc", "--documents", "*.none", "--documents", "logs/*"]).succeeds();
}

#[test]
fn the_analyzer_s_flags() {
    let (folder, documents) = sample();
    folder.write("stop", "GAUGE\n tide \n\n");
    let english = tadoc_engine::StopWords::of(tadoc_engine::Language::English).unwrap();
    let own = tadoc_engine::StopWords::from_lines(b"gauge\ntide");
    let analyzer = tadoc_engine::Analyzer::new;
    let settings: [(&[&str], tadoc_engine::Analyzer); 6] = [
        (&["-i"], analyzer().fold_case(true)),
        (&["--stem", "EN"], analyzer().stem(Some(tadoc_engine::Language::English))),
        (&["--stop-words", "english"], analyzer().stop_words(english.clone())),
        (
            &["--stop-words", "stop", "--stop-words", "en", "--ignore-case"],
            analyzer().fold_case(true).stop_words(english.and(own)),
        ),
        (&["--match", "^[a-z]{3}$"], analyzer().matching("^[a-z]{3}$").unwrap()),
        (
            &["--stem", "german", "--match", "e"],
            analyzer().stem(Some(tadoc_engine::Language::German)).matching("e").unwrap(),
        ),
    ];
    for (flags, analyzer) in settings {
        let oracle = Oracle::new(Lexer::Words, &documents)
            .with_analyzer(move |word| analyzer.term(word).map(|term| term.into_owned()));
        for command in [
            &["word-count"][..],
            &["sequence-count", "--n", "2"],
            &["tfidf"],
            &["cooccurrence", "--window", "2"],
        ] {
            let run = ask(&folder, command, &[&["c.tdc"], flags].concat()).succeeds();
            let expected = expected(&oracle, &documents, command);
            assert!(!expected.is_empty());
            assert_rows(run.text(), &expected, command, &flags.join(" "));
        }
    }
}

#[test]
fn the_first_rows_and_the_frequent_ones() {
    let (folder, documents) = sample();
    let whole = |command: &[&str]| ask(&folder, command, &["c.tdc"]).succeeds().text().to_owned();
    for command in COMMANDS {
        let short = ask(&folder, command, &["c.tdc", "--top", "3"]).succeeds();
        // Rows of a group are those of the same value in this column.
        let group = match command[0] {
            "inverted-index" | "ranked-inverted-index" | "term-vector" | "tfidf" => Some(0),
            "sequence-count" if command.contains(&"--per-document") => Some(1),
            _ => None,
        };
        let key = |line: &str| group.map(|place| line.split('\t').nth(place).unwrap().to_owned());
        let whole = whole(command);
        let mut lines: Vec<&str> = whole.lines().collect();
        if command[0] == "tfidf" {
            let weight = |line: &str| line.rsplit('\t').next().unwrap().parse::<f64>().unwrap();
            let mut groups: Vec<&mut [&str]> =
                lines.chunk_by_mut(|one, other| key(one) == key(other)).collect();
            for group in &mut groups {
                group.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
            }
        }
        let groups = lines.chunk_by(|one, other| key(one) == key(other));
        let expected: Vec<&str> = groups.flat_map(|group| group.iter().take(3)).copied().collect();
        assert!(expected.len() < lines.len());
        assert_eq!(short.text().lines().collect::<Vec<_>>(), expected, "{command:?}");
    }
    let oracle = Oracle::new(Lexer::Words, &documents).with_min_count(7);
    for command in COMMANDS {
        let run = ask(&folder, command, &["c.tdc", "--min-count", "7"]).succeeds();
        let expected = expected(&oracle, &documents, command);
        assert!(!expected.is_empty(), "{command:?}");
        assert_rows(run.text(), &expected, command, "at least 7");
        // Nothing is that frequent; that is an answer too.
        let none = ask(&folder, command, &["c.tdc", "--min-count", "1000000"]).succeeds();
        assert_eq!(none.text(), "");
    }
}

#[test]
fn weights_and_measures() {
    let (folder, documents) = sample();
    let oracle = Oracle::new(Lexer::Words, &documents);
    let defaults = TfidfOptions::default();
    let settings: [(&[&str], TfidfOptions); 4] = [
        (&["--norm", "l1"], TfidfOptions { norm: tadoc_oracle::Norm::L1, ..defaults }),
        (
            &["--norm", "none", "--no-idf"],
            TfidfOptions { norm: tadoc_oracle::Norm::None, use_idf: false, ..defaults },
        ),
        (&["--no-smooth-idf"], TfidfOptions { smooth_idf: false, ..defaults }),
        (&["--sublinear-tf"], TfidfOptions { sublinear_tf: true, ..defaults }),
    ];
    for (flags, options) in settings {
        let run = ask(&folder, &["tfidf", "c.tdc"], flags).succeeds();
        let found = run.text().lines().map(|line| line.rsplit('\t').next().unwrap());
        let expected = oracle.tfidf(options);
        let mut expected = expected.iter().flatten().map(|(_, weight)| *weight);
        for found in found {
            let (found, expected) = (found.parse::<f64>().unwrap(), expected.next().unwrap());
            assert!((found - expected).abs() <= 1e-9 * expected.max(1.0), "{flags:?}");
        }
        assert_eq!(expected.next(), None);
    }
    // Columns from 3 on are pmi, log_likelihood, t_score and log_dice.
    for (measure, column) in [("pmi", 3), ("log-likelihood", 4), ("t-score", 5), ("log-dice", 6)] {
        let run = folder.run(&["collocations", "c.tdc", "--window", "4", "--measure", measure]);
        let run = run.succeeds();
        let scores = run.text().lines().map(|line| line.split('\t').nth(column).unwrap());
        let scores: Vec<f64> = scores.map(|score| score.parse().unwrap()).collect();
        assert!(scores.len() > 100 && scores.is_sorted_by(|one, other| one >= other), "{measure}");
    }
}

#[test]
fn other_formats() {
    let (folder, documents) = sample();
    let header = |command: &[&str]| {
        let run = ask(&folder, command, &["c.tdc", "--format", "csv"]).succeeds();
        run.text().lines().next().unwrap().to_owned()
    };
    let headers = [
        "term,count",
        "term,count",
        "term,document",
        "document,term,count",
        "sequence,count",
        "sequence,count",
        "sequence,document,count",
        "sequence,document,count",
        "sequence,document,count",
        "document,term,weight",
        "first,second,count",
        "first,second,count",
        "first,second,count,pmi,log_likelihood,t_score,log_dice",
    ];
    for (command, expected) in COMMANDS.into_iter().zip(headers) {
        assert_eq!(header(command), expected);
        let rows = ask(&folder, command, &["c.tdc"]).succeeds().text().lines().count();
        let json = ask(&folder, command, &["c.tdc", "--format", "jsonl"]).succeeds().json();
        assert_eq!(json.len(), rows);
        let mut keys: Vec<&str> = json[0].as_object().unwrap().keys().map(String::as_str).collect();
        let mut columns: Vec<&str> = expected.split(',').collect();
        keys.sort_unstable();
        columns.sort_unstable();
        assert_eq!(keys, columns);
        ask(&folder, command, &["c.tdc", "--format", "table", "--top", "2"]).succeeds();
        if cfg!(feature = "columns") {
            for (format, magic) in [("parquet", &b"PAR1"[..]), ("arrows", &b"\xff\xff\xff\xff"[..])]
            {
                let run = ask(&folder, command, &["c.tdc", "--format", format]).succeeds();
                assert!(run.bytes().starts_with(magic), "{command:?}");
            }
        }
    }
    // A matrix says the same as rows, by numbers.
    let terms = folder.run(&["sort", "c.tdc", "--min-count", "2"]).succeeds();
    let terms: Vec<&str> =
        terms.text().lines().map(|line| line.split('\t').next().unwrap()).collect();
    for command in ["term-vector", "tfidf"] {
        folder.run(&[command, "c.tdc", "--min-count", "2", "-o", "m.mtx", "--force"]).succeeds();
        let matrix = String::from_utf8(folder.read("m.mtx")).unwrap();
        let mut lines = matrix.lines().skip_while(|line| line.starts_with('%'));
        let rows = folder.run(&[command, "c.tdc", "--min-count", "2"]).succeeds();
        let count = rows.text().lines().count();
        let shape = format!("{} {} {count}", documents.len(), terms.len());
        assert_eq!(lines.next(), Some(&shape[..]));
        let named = lines.map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let number = |place: usize| fields[place].parse::<usize>().unwrap() - 1;
            let document = escape(documents[number(0)].0.as_bytes());
            format!("{document}\t{}\t{}", terms[number(1)], fields[2])
        });
        assert!(named.eq(rows.text().lines()), "{command}");
        let run = folder.run(&[command, "c.tdc", "--top", "3", "--format", "mtx"]).exits(2);
        run.says("--top");
    }
}

#[test]
fn explanations_go_to_standard_error() {
    let (folder, documents) = sample();
    for command in COMMANDS {
        let plain = ask(&folder, command, &["c.tdc"]).succeeds();
        let run = ask(&folder, command, &["c.tdc", "--explain", "--threads", "2"]).exits(0);
        assert!(plain.bytes() == run.bytes(), "{command:?}");
        let stderr = run.stderr();
        let line = |title: &str| {
            let line = stderr.lines().find(|line| line.split(' ').next() == Some(title));
            line.unwrap_or_else(|| panic!("no {title} in {stderr}"))[10..].to_owned()
        };
        assert!(line("backend").starts_with("cpu, 2 threads"), "{stderr}");
        assert!(line("strategy").contains(": "), "{stderr}");
        let count = |title: &str| line(title).replace(',', "").parse::<usize>().unwrap();
        assert_eq!(count("rows"), plain.text().lines().count());
        assert!(
            count("words") > count("terms") && count("documents") == documents.len(),
            "{stderr}"
        );
        // Counts of words are in the archive.
        let counts_only = ["word-count", "sort"].contains(&command[0]);
        assert_eq!(line("grammar").starts_with("not needed"), counts_only, "{stderr}");
        assert!(counts_only || count("symbols") > count("rules"), "{stderr}");
        assert!(stderr.lines().filter(|line| line.starts_with("step ")).count() > 3, "{stderr}");
        for step in ["open", "view", "task", "output", "total"] {
            assert!(line(step).ends_with('s'), "{stderr}");
        }
    }
    let asked = folder.run(&["sort", "c.tdc", "--strategy", "bottom-up", "--explain"]);
    assert!(asked.stderr().contains("bottom-up: as asked for"));
}

#[test]
fn what_is_refused() {
    let (folder, _) = sample();
    folder.write("text", "no archive");
    folder.write("taken.tsv", "precious");
    for command in COMMANDS {
        ask(&folder, command, &["none.tdc"]).exits(2).says("none.tdc");
        ask(&folder, command, &["text"]).exits(2).says("not a tadoc archive");
        ask(&folder, command, &["c.tdc", "text"]).exits(2).says("text");
        ask(&folder, command, &["c.tdc", "-o", "taken.tsv"])
            .exits(2)
            .says("taken.tsv exists already");
        ask(&folder, command, &["c.tdc", "--documents", "none"]).exits(2).says("no document");
        let klingon = ask(&folder, command, &["c.tdc", "--stem", "klingon"]).exits(2);
        assert!(klingon.stderr().contains("english"), "{}", klingon.stderr());
        let neither = ask(&folder, command, &["c.tdc", "--stop-words", "klingon"]).exits(2);
        neither.says("\"klingon\" is neither");
        let polish = ask(&folder, command, &["c.tdc", "--stop-words", "polish"]).exits(2);
        polish.says("no list of stop words for polish");
        let pattern = ask(&folder, command, &["c.tdc", "--match", "a("]).exits(2);
        assert!(pattern.stderr().contains("not a regular expression"), "{}", pattern.stderr());
        for flags in [
            &["--threads", "0"][..],
            &["--memory", "much"],
            &["--top", "0"],
            &["--min-count", "0"],
            &["--format", "xml"],
        ] {
            ask(&folder, command, &[&["c.tdc"], flags].concat()).exits(2);
        }
        if !["term-vector", "tfidf"].contains(&command[0]) {
            let matrix = ask(&folder, command, &["c.tdc", "--format", "mtx"]).exits(2);
            matrix.says("no matrix");
        }
    }
    for flags in [
        &["sequence-count", "c.tdc", "--n", "0"][..],
        &["sequence-count", "c.tdc", "--n", "9"],
        &["ranked-inverted-index", "c.tdc", "--n", "0"],
        &["ranked-inverted-index", "c.tdc", "--n", "9"],
        &["cooccurrence", "c.tdc", "--window", "0"],
        &["cooccurrence", "c.tdc", "--window", "65"],
        &["collocations", "c.tdc", "--window", "0"],
        &["collocations", "c.tdc", "--measure", "chi"],
        &["tfidf", "c.tdc", "--norm", "l3"],
        &["tfidf", "c.tdc", "--no-idf", "--no-smooth-idf"],
        &["word-count"],
        &["word-count", "c.tdc", "--n", "3"],
        &["word-count", "c.tdc", "--strategy", "sideways"],
    ] {
        folder.run(flags).exits(2);
    }
    // Any memory is enough: what does not fit goes to temporary files.
    let little = folder.run(&["ranked-inverted-index", "c.tdc", "--memory", "1"]).succeeds();
    let all = folder.run(&["ranked-inverted-index", "c.tdc"]).succeeds();
    assert!(little.bytes() == all.bytes());
    assert_eq!(folder.read("taken.tsv"), b"precious");
    assert_eq!(folder.names(), ["c.tdc", "taken.tsv", "text"]);
}

/// What a little memory keeps in files is in the rest of it where there can be no files, and an error
/// where there is no rest.
#[test]
fn without_temporary_files_tables_take_the_rest_of_memory() {
    let folder = Folder::new();
    folder.write("a", prose(30_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    let ask = |memory: &str| {
        let mut command = folder.command(&["sequence-count", "c.tdc", "--memory", memory]);
        command.env("TMPDIR", folder.path("missing")).output().unwrap()
    };
    let expected = folder.run(&["sequence-count", "c.tdc"]).succeeds();
    // What is too little by itself is the part of the other that tables take before there are files.
    let (enough, little) = (ask("512K"), ask("64K"));
    assert_eq!(enough.status.code(), Some(0));
    assert!(enough.stdout == expected.bytes());
    assert_eq!(little.status.code(), Some(2));
    let said = String::from_utf8_lossy(&little.stderr);
    assert!(said.contains("a temporary file"), "{said}");
}

#[test]
fn damage_is_told_with_its_archive() {
    let (folder, _) = sample();
    let mut bytes = folder.read("c.tdc");
    // In many places, as a question reads only the sections that it needs.
    for sixteenth in 1..16 {
        let place = bytes.len() * sixteenth / 16;
        bytes[place] ^= 1;
    }
    folder.write("d.tdc", bytes);
    for command in COMMANDS {
        let run = ask(&folder, command, &["d.tdc", "-o", "answer.tsv"]).exits(2);
        run.says("d.tdc: ");
        ask(&folder, command, &["c.tdc", "d.tdc", "-o", "answer.tsv"]).exits(2);
    }
    assert_eq!(folder.names(), ["c.tdc", "d.tdc"]);
}

#[test]
fn readers_that_have_seen_enough_are_no_failure() {
    let folder = Folder::new();
    folder.write("a", prose(300_000));
    folder.run(&["compress", "a", "-o", "c.tdc"]).succeeds();
    let mut command = folder.command(&["sequence-count", "c.tdc", "--n", "8"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

#[test]
fn failures_in_writing_are_told() {
    let (folder, _) = sample();
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    for command in COMMANDS {
        let run = ask(&folder, command, &["c.tdc", "-o", "/dev/full"]).exits(2);
        run.says("/dev/full: No space left");
    }
}

/// Words between white space are what the standard tools make of them.
#[test]
fn standard_tools_count_the_same() {
    let folder = Folder::new();
    folder.write("text", prose(100_000));
    folder.run(&["compress", "text", "-o", "c.tdc", "--lexer", "whitespace"]).succeeds();
    let pipeline = "tr -s ' \\t\\n\\v\\f\\r' '\\n' < text | LC_ALL=C sort | uniq -c";
    let mut command = Command::new("sh");
    let output = command.args(["-c", pipeline]).current_dir(folder.path("")).output();
    let Ok(output) = output.map(|output| String::from_utf8(output.stdout).unwrap()) else { return };
    let counted: String = output
        .lines()
        .filter_map(|line| line.trim_start().split_once(' '))
        .filter(|(_, word)| !word.is_empty())
        .map(|(count, word)| format!("{word}\t{count}\n"))
        .collect();
    assert!(counted.lines().count() > 16);
    assert_eq!(folder.run(&["sort", "c.tdc"]).succeeds().text(), counted);
}

/// Words of ASCII text as a line of Python cuts and counts them.
#[test]
fn python_counts_the_same() {
    let folder = Folder::new();
    folder.write("text", prose(100_000));
    folder.run(&["compress", "text", "-o", "c.tdc"]).succeeds();
    let script = "import re, collections\n\
                  words = re.findall(r'[A-Za-z0-9_]+', open('text').read())\n\
                  for word, count in sorted(collections.Counter(words).items()): print(word, count, sep='\\t')";
    let output = Command::new("python3").args(["-c", script]).current_dir(folder.path("")).output();
    // Where there is no Python, there is nothing to compare with.
    let Ok(output) = output else { return };
    let counted = String::from_utf8(output.stdout).unwrap();
    assert!(counted.lines().count() > 16);
    assert_eq!(folder.run(&["sort", "c.tdc"]).succeeds().text(), counted);
}

#[test]
fn stored_views_answer_the_same_and_stale_ones_are_told() {
    let folder = Folder::new();
    folder.write("text", prose(20_000));
    folder.run(&["compress", "text", "-o", "c.tdc"]).succeeds();
    let flags: &[&str] = &["c.tdc", "--ignore-case"];
    let before = COMMANDS.map(|command| ask(&folder, command, flags).succeeds());
    folder.run(&["index", "--view", "c.tdc"]).succeeds();
    assert!(folder.path("c.tdc.view").exists());
    for (command, before) in COMMANDS.into_iter().zip(before) {
        let run = ask(&folder, command, flags).succeeds();
        assert_eq!(run.text(), before.text(), "{command:?}");
    }
    let explained = folder.run(&["sort", "c.tdc", "--explain"]).exits(0).stderr();
    assert!(explained.contains("stored beside"), "{explained}");

    folder.write("text", prose(10_000));
    folder.run(&["compress", "text", "-o", "c.tdc", "--force"]).succeeds();
    let refused = folder.run(&["word-count", "c.tdc"]).exits(0);
    refused.says("c.tdc.view cannot be used: malformed: it is of another archive").says(
        "; delete it, or make it again with `tadoc index --view`; the archive itself is read",
    );
    folder.run(&["index", "c.tdc"]).exits(2);
    folder.run(&["index", "--view", "missing.tdc"]).exits(2).says("missing.tdc");
}
