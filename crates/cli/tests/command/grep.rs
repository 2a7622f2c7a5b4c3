//! `tadoc grep`: formats, exit codes and errors; and the same bytes as ripgrep prints, where it is installed.

use std::path::Path;
use std::process::Command;

use crate::folder::{Folder, prose};

/// A corpus with an archive `c.tdc` of its folder `in`.
fn corpus() -> Folder {
    let folder = Folder::new();
    folder.write("in/a.txt", "one fish\ntwo fish\nred fish\nblue fish\n");
    folder.write("in/b.txt", "no\nend: Fish");
    folder.write("in/c.bin", "fish\n\0fish\n");
    folder.write("in/empty", "");
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder
}

fn prints(folder: &Folder, arguments: &[&str], expected: &str) {
    let mut all = vec!["grep"];
    all.extend(arguments);
    all.push("c.tdc");
    let run = folder.run(&all).succeeds();
    assert_eq!(run.text(), expected, "{arguments:?}");
}

#[test]
fn lines_counts_and_names() {
    let folder = corpus();
    let binary = "c.bin: binary file matches (found \"\\0\" byte around offset 5)\n";
    prints(&folder, &["o fish"], "a.txt:two fish\n");
    prints(&folder, &["-n", "red|Fish"], "a.txt:3:red fish\nb.txt:2:end: Fish\n");
    prints(&folder, &["^fish$"], binary);
    prints(&folder, &["-a", "^fish$"], "c.bin:fish\n");
    prints(&folder, &["-I", "red"], "red fish\n");
    prints(
        &folder,
        &["--column", "-b", "fish", "--document", "a*", "-m1"],
        "a.txt:1:5:0:one fish\n",
    );
    prints(&folder, &["-c", "fish"], "a.txt:4\nc.bin:2\n");
    prints(&folder, &["--count-matches", "[of]"], "a.txt:6\nb.txt:1\nc.bin:2\n");
    prints(&folder, &["-l", "fish"], "a.txt\nc.bin\n");
    prints(&folder, &["--files-without-match", "fish"], "b.txt\nempty\n");
    prints(&folder, &["-o", "-i", "[a-z] f"], "a.txt:e f\na.txt:o f\na.txt:d f\na.txt:e f\n");
    prints(
        &folder,
        &["-A1", "-n", "-e", "one", "-e", "end"],
        "a.txt:1:one fish\na.txt-2-two fish\n--\nb.txt:2:end: Fish\n",
    );
    prints(&folder, &["--heading", "-n", "o "], "a.txt\n2:two fish\n");
    prints(&folder, &["-v", "-c", "fish"], "b.txt:2\n");
    prints(&folder, &["-q", "fish"], "");
    let color = "\x1b[0m\x1b[35ma.txt\x1b[0m:\x1b[0m\x1b[32m2\x1b[0m:t\x1b[0m\x1b[1m\x1b[31mwo\x1b[0m fish\n";
    prints(&folder, &["-n", "--color", "always", "wo"], color);
    folder.write("patterns", "red\nblue\n");
    prints(&folder, &["-f", "patterns", "-N"], "a.txt:red fish\na.txt:blue fish\n");
}

#[test]
fn explain_tells_how_text_was_searched() {
    let folder = corpus();
    let run = folder.run(&["grep", "--explain", "o fish", "c.tdc"]).exits(0);
    assert_eq!(run.text(), "a.txt:two fish\n");
    let told = run.stderr();
    for line in ["method    ", "estimate  automaton ", "lines     ", "search    "] {
        assert!(told.lines().any(|found| found.starts_with(line)), "{told}");
    }
    // Lines that do not match are not found on the grammar.
    let told = folder.run(&["grep", "--explain", "-v", "fish", "c.tdc"]).exits(0).stderr();
    assert!(told.contains("method    expanded and scanned, "), "{told}");
    assert!(!told.contains("estimate") && !told.contains("automaton"), "{told}");
}

#[test]
fn json_is_ripgrep_s() {
    let folder = corpus();
    let run = folder.run(&["grep", "--json", "-i", "d.*fish", "c.tdc"]).succeeds();
    let lines = run.json();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["begin", "match", "end", "begin", "match", "end", "summary"]);
    assert_eq!(
        run.text().lines().nth(1).unwrap(),
        "{\"type\":\"match\",\"data\":{\"path\":{\"text\":\"a.txt\"},\"lines\":{\"text\":\"red fish\\n\"},\
         \"line_number\":3,\"absolute_offset\":18,\"submatches\":[{\"match\":{\"text\":\"d fish\"},\"start\":2,\"end\":8}]}}"
    );
    assert_eq!(lines[4]["data"]["lines"]["text"], "end: Fish");
    assert_eq!(lines[6]["data"]["stats"]["searches"], 4);
    assert_eq!(lines[6]["data"]["stats"]["matches"], 2);
}

#[test]
fn exit_codes_and_errors() {
    let folder = corpus();
    assert_eq!(folder.run(&["grep", "nowhere", "c.tdc"]).exits(1).text(), "");
    assert_eq!(folder.run(&["grep", "-q", "nowhere", "c.tdc"]).exits(1).text(), "");
    folder
        .run(&["grep", "fish", "c.tdc", "--document", "*.pdf"])
        .exits(1)
        .says("no document matches");
    let unclosed = folder.run(&["grep", "a(b", "c.tdc"]).exits(2).stderr();
    assert!(unclosed.contains("^\nerror: unclosed group"), "{unclosed}");
    folder.run(&["grep", "a\\nb", "c.tdc"]).exits(2).says("asks for a newline");
    folder.run(&["grep", "((\\w{100}){100}){100}", "c.tdc"]).exits(2).says("would take more than");
    folder.run(&["grep", "fish"]).exits(2).says("an archive to look into is missing");
    folder.run(&["grep", "fish", "missing.tdc"]).exits(2).says("missing.tdc");
    folder.run(&["grep", "fish", "in/a.txt"]).exits(2).says("in/a.txt");
    folder.run(&["grep", "fish", "c.tdc", "--document", "z"]).exits(2).says("has no document");
    folder.run(&["grep", "-f", "missing", "c.tdc"]).exits(2).says("cannot read the patterns");
    let both = folder.run(&["grep", "--json", "-c", "fish", "c.tdc"]).exits(2).stderr();
    assert!(both.contains("cannot be used with"), "{both}");
}

#[test]
fn several_archives_are_one_corpus() {
    let folder = corpus();
    folder.write("more/z.txt", "a red herring is no fish\n");
    folder.run(&["compress", "more", "-o", "d.tdc"]).succeeds();
    let run = folder.run(&["grep", "red", "c.tdc", "d.tdc"]).succeeds();
    assert_eq!(run.text(), "a.txt:red fish\nz.txt:a red herring is no fish\n");
    let run = folder.run(&["grep", "-q", "red", "c.tdc", "d.tdc"]).succeeds();
    assert_eq!(run.text(), "");
}

/// Texts with everything that lines and patterns can trip over.
fn awkward() -> Folder {
    let folder = Folder::new();
    let prose = prose(200_000);
    folder.write("in/prose.txt", &prose);
    folder.write("in/crlf.txt", "The first line\r\nthe SECOND line\r\n\r\nlast");
    folder.write("in/unicode.txt", "Stra\u{df}e \u{c9}t\u{e9} \u{65e5}\u{672c}\u{8a9e}\nna\u{ef}ve caf\u{e9}\n\u{3b1}\u{3b2}\u{3b3} \u{391}\u{392}\u{393}\n");
    folder.write("in/bytes.txt", b"\xff\xfe the \xc3\n\x80the end\nplain\n");
    folder.write("in/empty.txt", "");
    folder.write("in/newlines.txt", "\n\n\n  \n\t\n");
    folder.write("in/one line without end.txt", "just the one");
    folder.write(
        "in/sub/log.txt",
        "2024-01-02 ERROR disk_01 full\n2024-01-02 INFO disk_02 fine\n".repeat(300),
    );
    folder.write("in/sub-log.txt", "Alpha_42 beta_7\nGamma_123 ab1.cd xyz99.log\n".repeat(20));
    folder.write(
        "in/code.rs",
        "fn main() {\n    let x = foo(bar);\n    // TODO: the end\n    baz(x, x);\n}\n",
    );
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    folder
}

const PATTERNS: &[&str] = &[
    "the",
    "ERROR",
    "disk_0[12]",
    r"[A-Z][a-z]+_[0-9]{2,}",
    r"\b[a-z]{3}[0-9]+\.[a-z]+\b",
    "^",
    "$",
    "^$",
    r"^\s*$",
    r"\w+",
    r"\d{4}-\d\d",
    "e.*e",
    "(?i)the",
    "x*",
    ".",
    r"[^\x00-\x7f]",
    r"\pL+\s\pL+",
    "caf\u{e9}",
    "\u{df}",
    r"line\r?$",
    "foo|bar|baz",
    r"\(x",
    "zzz nothing",
    r"[aeiou]{3,}",
    r"\bto\b.*\bbe\b",
];

const FLAGS: &[&[&str]] = &[
    &[],
    &["-n"],
    &["-i", "-n"],
    &["-S"],
    &["-w", "-n"],
    &["-x"],
    &["-v", "-n"],
    &["-c"],
    &["-c", "-v"],
    &["-c", "-i", "-m", "3"],
    &["--count-matches"],
    &["-l"],
    &["--files-without-match"],
    &["-o", "-n", "-b"],
    &["-o", "--column"],
    &["-A2", "-n"],
    &["-B1"],
    &["-C", "2", "-n", "-b"],
    &["-C1", "-v", "-n"],
    &["-m", "2", "-n"],
    &["-m1", "-A3", "-n"],
    &["-a", "-n"],
    &["-F"],
    &["--column", "-b"],
    &["--color", "always", "-n"],
    &["--color", "always", "-o", "--heading"],
    &["--heading", "-n", "-A1"],
    &["-I", "-n"],
    &["-0", "-n", "-A1"],
    &["-0", "-c"],
    &["-0", "-l"],
    &["-0", "--files-without-match"],
    &["--null", "--heading", "--color", "always"],
];

fn has_ripgrep() -> bool {
    let is_there = Command::new("rg").arg("--version").output().is_ok();
    if !is_there {
        eprintln!("ripgrep is not installed: nothing was compared");
    }
    is_there
}

/// What ripgrep prints for the files of `in` in the order of their names, and its exit code.
fn ripgrep(folder: &Path, flags: &[&str], pattern: &str, files: &[String]) -> (Vec<u8>, i32) {
    let output = Command::new("rg")
        .args([
            "--no-config",
            "--no-mmap",
            "--encoding",
            "none",
            "--with-filename",
            "-j1",
            "--sort",
            "path",
        ])
        .args(flags)
        .args(["-e", pattern, "--"])
        .args(files)
        .current_dir(folder.join("in"))
        .output()
        .unwrap();
    assert!(output.status.code() != Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    (output.stdout, output.status.code().unwrap())
}

#[test]
fn ripgrep_prints_the_same() {
    if !has_ripgrep() {
        return;
    }
    let folder = awkward();
    let listed = folder.run(&["list", "c.tdc", "--format", "jsonl"]).succeeds().json();
    let files: Vec<String> =
        listed.iter().map(|row| row["document"].as_str().unwrap().to_owned()).collect();
    for pattern in PATTERNS {
        for flags in FLAGS {
            compare(&folder, flags, pattern, &files);
        }
    }
}

/// Of binary files only what does not depend on how ripgrep reads them: a NUL ends lines for it.
#[test]
fn ripgrep_tells_the_same_of_binary_files() {
    if !has_ripgrep() {
        return;
    }
    let folder = Folder::new();
    folder.write("in/a", "the text\n");
    folder.write("in/b", "the text before\nx\0y the text behind\nthe end");
    folder.write("in/c", "not\0this\n");
    folder.write("in/d", "the text\n");
    folder.run(&["compress", "in", "-o", "c.tdc"]).succeeds();
    let files = ["a", "b", "c", "d"].map(str::to_owned);
    let flags: &[&[&str]] = &[
        &[],
        &["-n"],
        &["-c"],
        &["-l"],
        &["-o"],
        &["-a"],
        &["--heading"],
        &["--files-without-match"],
        &["--color", "always"],
        &["-I"],
        &["-A1", "-n"],
        &["--count-matches"],
    ];
    for flags in flags {
        for pattern in ["the", "text", "behind"] {
            compare(&folder, flags, pattern, &files);
        }
    }
}

fn compare(folder: &Folder, flags: &[&str], pattern: &str, files: &[String]) {
    let (expected, code) = ripgrep(&folder.path(""), flags, pattern, files);
    let mut arguments = vec!["grep"];
    arguments.extend_from_slice(flags);
    arguments.extend(["-e", pattern, "c.tdc"]);
    let run = folder.run(&arguments).exits(code);
    if run.bytes() != expected {
        let found = String::from_utf8_lossy(run.bytes());
        let expected = String::from_utf8_lossy(&expected);
        let place = found.lines().zip(expected.lines()).position(|(left, right)| left != right);
        let place = place.unwrap_or(found.lines().count().min(expected.lines().count()));
        panic!(
            "{flags:?} {pattern:?}, line {place}: {:?}, ripgrep prints {:?}",
            found.lines().nth(place),
            expected.lines().nth(place)
        );
    }
}
