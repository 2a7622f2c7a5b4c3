//! What a terminal shows: `script` gives the command one. Nothing from an archive steers it, long
//! tables end early, and the same command in a pipe gives all bytes and rows as they are.

use std::process::{Command, Stdio};

use crate::folder::{Folder, TADOC};

/// Names that would set a title, start lines of their own and turn text around, and one that is not
/// UTF-8.
const TITLE: &str = "a\x1b]0;x\x07b.txt";
const LINES: &str = "a\n2:fake line";
const TURNED: &str = "a\u{202e}txt.exe";
/// A text with a line that would clear the screen.
const TEXT: &str = "needle \x1b[2J\u{9b}1m\u{2066}end\\n\ttab\n";

/// What a terminal of 80 columns shows of a command, with its exit code; `None` where there is no
/// `script`.
fn on_terminal(folder: &Folder, arguments: &[&str]) -> Option<(String, i32)> {
    let quoted: Vec<String> =
        arguments.iter().map(|argument| format!("'{}'", argument.replace('\'', "'\\''"))).collect();
    let shell = format!("stty cols 80 rows 24; exec {TADOC} {}", quoted.join(" "));
    let run = Command::new("script")
        .args(["-q", "-e", "-c", &shell, "/dev/null"])
        .current_dir(folder.path(""))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output();
    let Ok(run) = run else {
        eprintln!("there is no `script`: nothing is shown on a terminal");
        return None;
    };
    // The terminal puts a carriage return before every line feed.
    let shown = String::from_utf8(run.stdout).expect("a terminal gets UTF-8").replace("\r\n", "\n");
    Some((shown, run.status.code().unwrap()))
}

/// What the command hides on a terminal, apart from what separates lines and columns.
fn steers(character: char) -> bool {
    let is_separator = matches!(character, '\n' | '\t');
    let turns = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\
                 \u{2066}\u{2067}\u{2068}\u{2069}\u{2028}\u{2029}\u{feff}";
    !is_separator && (character.is_control() || turns.contains(character))
}

fn awkward() -> Folder {
    let folder = Folder::new();
    for name in [TITLE, LINES, TURNED] {
        folder.write(format!("in/{name}"), TEXT);
    }
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder
}

#[test]
fn nothing_in_names_or_text_steers_a_terminal() {
    let folder = awkward();
    let commands: &[&[&str]] = &[
        &["list", "c.tdc"],
        &["list", "c.tdc", "--long", "--format", "tsv"],
        &["list", "c.tdc", "--format", "csv"],
        &["list", "c.tdc", "--format", "json"],
        &["list", "c.tdc", "--format", "jsonl"],
        &["grep", "needle", "c.tdc"],
        &["grep", "--no-heading", "needle", "c.tdc"],
        &["grep", "--color", "never", "-o", "needle.*", "c.tdc"],
        &["grep", "-c", "needle", "c.tdc"],
        &["grep", "-l", "needle", "c.tdc"],
        &["grep", "--json", "needle", "c.tdc"],
        &["kwic", "c.tdc", "needle"],
        &["find", "c.tdc", "needle"],
        &["search", "c.tdc", "needle"],
        &["count", "c.tdc", "needle", "--per-document"],
        &["sample", "c.tdc", "-k", "20", "--seed", "1"],
        &["inverted-index", "c.tdc"],
        &["term-vector", "c.tdc", "--format", "tsv"],
        &["tfidf", "c.tdc", "--format", "jsonl"],
        &["info", "c.tdc"],
        &["verify", "c.tdc"],
    ];
    for command in commands {
        let Some((shown, code)) = on_terminal(&folder, command) else { return };
        assert_eq!(code, 0, "{command:?}: {shown}");
        assert!(!shown.is_empty() && !shown.contains(steers), "{command:?}: {shown:?}");
        // CSV has line feeds within quotes.
        assert!(
            command.contains(&"csv") || !shown.contains("\n2:fake line"),
            "{command:?}: {shown:?}"
        );
    }
    // A name as it is shown is one that can be given back.
    let (shown, _) = on_terminal(&folder, &["grep", "-l", "needle", "c.tdc"]).unwrap();
    assert_eq!(shown, "a\\n2:fake line\na\\x1b]0;x\\x07b.txt\na\\xe2\\x80\\xaetxt.exe\n");
    for name in shown.lines() {
        assert_eq!(folder.run(&["cat", "c.tdc", name]).succeeds().text(), TEXT);
    }
    // Text keeps its backslashes and tabs.
    let (shown, _) = on_terminal(&folder, &["grep", "-IN", "needle", "c.tdc"]).unwrap();
    let line = "needle \\x1b[2J\\xc2\\x9b1m\\xe2\\x81\\xa6end\\n\ttab\n";
    assert_eq!(shown, line.repeat(3));
}

#[test]
fn what_is_wrong_is_told_without_steering() {
    let folder = awkward();
    folder.write(TITLE, "no archive");
    let commands: &[&[&str]] = &[
        &["info", TITLE],
        &["cat", "c.tdc", TURNED, "\u{202e}none"],
        &["cat", "c.tdc", "a\nb"],
        &["list", "c.tdc", "-o", "\x1b[2J.csv/x.csv"],
        &["compress", "missing\x1b]0;x\x07", "-o", "d.tdc"],
        &["grep", "(\u{202e}", "c.tdc"],
        &["no-\x1b[2J-command"],
        &["count", "c.tdc", "needle", "--\u{202e}flag"],
    ];
    for command in commands {
        // Standard error, on a terminal or not.
        let run = folder.run(command).exits(2);
        assert!(!run.stderr().contains(steers), "{command:?}: {:?}", run.stderr());
    }
    folder.run(&["cat", "c.tdc", "a\nb"]).exits(2).says("a\\nb");
    // A pattern's error has lines of its own.
    let run = folder.run(&["grep", "a(", "c.tdc"]).exits(2);
    assert!(run.stderr().lines().count() > 2, "{}", run.stderr());
}

#[test]
fn pipes_and_null_get_bytes_as_they_are() {
    let folder = awkward();
    let piped = folder.run(&["grep", "-I", "needle", "c.tdc"]).succeeds();
    assert_eq!(piped.text(), TEXT.repeat(3));
    let names = format!("{LINES}\0{TITLE}\0{TURNED}\0");
    assert_eq!(folder.run(&["grep", "-l0", "needle", "c.tdc"]).succeeds().text(), names);
    let counts = format!("{LINES}\x001\n{TITLE}\x001\n{TURNED}\x001\n");
    assert_eq!(folder.run(&["grep", "-c", "--null", "needle", "c.tdc"]).succeeds().text(), counts);
    let Some((shown, _)) = on_terminal(&folder, &["grep", "-l", "--null", "needle", "c.tdc"])
    else {
        return;
    };
    assert_eq!(shown, names);
    // Raw bytes are what `cat` is for.
    let (shown, _) = on_terminal(&folder, &["cat", "c.tdc", TURNED]).unwrap();
    assert_eq!(shown, TEXT);
}

#[test]
fn a_terminal_gets_the_first_hundred_rows() {
    let folder = Folder::new();
    for number in 0..150 {
        folder.write(format!("in/{number:03}.txt"), format!("common word{number:03}\n"));
    }
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    let last = |noun: &str, count: &str| format!("… 100 of {count} {noun}s; --all shows all");
    let commands: &[(&[&str], String, usize)] = &[
        (&["word-count", "c.tdc"], last("row", "151"), 151),
        (&["search", "c.tdc", "common"], last("row", "150"), 150),
        (&["inverted-index", "c.tdc"], last("row", "300"), 300),
        (&["count", "c.tdc", "common", "--per-document"], last("row", "150"), 150),
        (&["kwic", "c.tdc", "common"], last("occurrence", "150"), 150),
        (&["list", "c.tdc"], last("document", "150"), 150),
    ];
    for (command, line, rows) in commands {
        let Some((shown, code)) = on_terminal(&folder, command) else { return };
        assert_eq!(code, 0);
        let has = shown.lines().filter(|line| line.contains("0")).count();
        assert!((95..=105).contains(&has), "{command:?}: {shown}");
        assert!(shown.lines().any(|shown| shown == line), "{command:?}: {shown}");
        let all = [*command, &["--all"]].concat();
        let (shown, _) = on_terminal(&folder, &all).unwrap();
        assert!(!shown.contains('…') && shown.lines().count() >= *rows, "{all:?}: {shown}");
        // Pipes have all rows, tables too.
        assert_eq!(folder.run(command).succeeds().text().lines().count(), *rows, "{command:?}");
        let table = [*command, &["--format", "table"]].concat();
        let table = folder.run(&table).succeeds();
        assert!(table.text().lines().count() >= *rows && !table.text().contains('…'));
    }
    // Whoever says how many rows there are to be gets them.
    for command in [
        &["word-count", "c.tdc", "--top", "120"][..],
        &["search", "c.tdc", "common", "--max-count", "120"],
        &["kwic", "c.tdc", "common", "--max-count", "120"],
        &["sample", "c.tdc", "-k", "120", "--seed", "1"],
    ] {
        let (shown, _) = on_terminal(&folder, command).unwrap();
        assert!(shown.lines().count() >= 120 && !shown.contains('…'), "{command:?}: {shown}");
    }
}

#[test]
fn long_names_are_cut_in_the_middle_and_times_say_their_zone() {
    let folder = Folder::new();
    let name = format!("{}/server.log", "folder".repeat(20));
    folder.write(format!("in/data/{name}"), "one word\n");
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    let Some((shown, _)) = on_terminal(&folder, &["search", "c.tdc", "word"]) else { return };
    assert!(shown.contains("data/…/server.log "), "{shown}");
    let (shown, _) = on_terminal(&folder, &["list", "c.tdc", "--long"]).unwrap();
    assert!(shown.contains(" UTC  data/") && shown.contains("in 1 document\n"), "{shown}");
    let verified = folder.run(&["verify", "c.tdc"]).succeeds();
    assert_eq!(verified.text(), "ok: 1 document, 9 bytes\n");
    folder.run(&["append", "c.tdc", &format!("data/{name}"), "--text", "x"]).exits(0);
    let verified = folder.run(&["verify", "c.tdc"]).succeeds();
    assert_eq!(
        verified.text(),
        "ok: 1 document, 10 bytes, with a journal of 1 edit; digests of 0 documents compared\n"
    );
}
