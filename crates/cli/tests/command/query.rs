//! `tadoc query`: one result a line and in order, whatever is wrong with some of the operations.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};
use tadoc_oracle::{Lexer, Oracle, Random};

use crate::access::archive;
use crate::folder::{Folder, prose};

/// Documents for batches of operations: a name that is escaped, bytes that are not UTF-8, nothing, and much.
pub fn documents() -> Vec<(String, Vec<u8>)> {
    vec![
        ("a.txt".to_string(), b"to be, or not to be".to_vec()),
        ("b\tc".to_string(), b"be to\xff be\n".to_vec()),
        ("empty".to_string(), Vec::new()),
        ("long".to_string(), prose(40_000)),
    ]
}

/// A folder with an archive of them, `c.tdc`.
pub fn opened() -> Folder {
    let folder = Folder::new();
    archive(&folder, "c.tdc", &documents());
    folder
}

/// The results of operations, one for each.
#[track_caller]
fn query(folder: &Folder, lines: &[String]) -> Vec<Value> {
    let input = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let results = folder.run_with(&["query", "c.tdc", "-f", "-"], input.as_bytes()).operations();
    assert_eq!(results.len(), lines.len());
    results
}

#[test]
fn results_are_in_order_and_as_promised() {
    let folder = opened();
    let asked_and_given = [
        (
            json!({"op": "extract", "document": "a.txt", "offset": 3, "length": 3}),
            json!({"text": "be,"}),
        ),
        (
            json!({"op": "extract", "document": "b\tc", "offset": 3, "length": 4}),
            json!({"base64": "dG//IA=="}),
        ),
        (
            json!({"op": "extract", "document": "b\\tc", "offset": 9, "length": 40}),
            json!({"text": "\n"}),
        ),
        (
            json!({"op": "extract", "document": "empty", "offset": 0, "length": 1}),
            json!({"text": ""}),
        ),
        (json!({"op": "search", "word": "be", "document": "a.txt"}), json!({"offsets": [3, 17]})),
        (
            json!({"op": "search", "word": "to be", "document": "a.txt"}),
            json!({"offsets": [0, 14]}),
        ),
        (json!({"op": "search", "word": "nowhere0"}), json!({"offsets": [], "documents": []})),
        (json!({"op": "search", "word": "be", "document": "empty"}), json!({"offsets": []})),
        (
            json!({"op": "search", "word": "be"}),
            json!({"offsets": [3, 17, 0, 7], "documents": ["a.txt", "a.txt", "b\tc", "b\tc"]}),
        ),
        (json!({"op": "count", "word": "be"}), json!({"count": 4})),
        (json!({"op": "count", "word": "be", "document": "b\tc"}), json!({"count": 2})),
        (json!({"op": "sample", "k": 0, "seed": 7}), json!({"words": []})),
        (json!({"op": "sample", "k": 5, "seed": 7, "document": "empty"}), json!({"words": []})),
    ];
    let (asked, given): (Vec<Value>, Vec<Value>) = asked_and_given.into_iter().unzip();
    let lines: Vec<String> = asked.iter().map(Value::to_string).collect();
    for index in ["none", "small", "fast"] {
        folder.run(&["index", "--index", index, "c.tdc", "--quiet"]).succeeds();
        assert_eq!(query(&folder, &lines), given, "{index}");
    }
    // From a file too, and with nothing to do.
    folder.write("ops.jsonl", lines.join("\n") + "\n\n");
    let run = folder.run(&["query", "c.tdc", "-f", "ops.jsonl"]).succeeds();
    assert_eq!(run.json(), given);
    folder.write("none.jsonl", "");
    assert_eq!(folder.run(&["query", "c.tdc", "-f", "none.jsonl"]).succeeds().text(), "");
}

#[test]
fn words_are_drawn() {
    let folder = opened();
    let documents = documents();
    let line = json!({"op": "sample", "k": 20, "seed": 7, "document": "long"}).to_string();
    let all = json!({"op": "sample", "k": 20, "seed": 8}).to_string();
    let results = query(&folder, &[line.clone(), line, all]);
    assert_eq!(results[0], results[1]);
    let oracle = Oracle::new(Lexer::Words, &documents);
    for result in &results {
        let words = result["words"].as_array().unwrap();
        assert_eq!(words.len(), 20);
        for word in words {
            let document = documents.iter().position(|(name, _)| word["document"] == name[..]);
            let offset = word["offset"].as_u64().unwrap() as usize;
            let text = word["word"].as_str().unwrap();
            assert!(oracle.is_occurrence(document.unwrap(), offset, text.as_bytes()), "{word}");
        }
    }
}

#[test]
fn what_is_wrong_stops_nothing() {
    let folder = opened();
    let wrong: [(&str, &str); 27] = [
        ("{", "JSON"),
        ("no json", "JSON"),
        ("[1]", "an array"),
        ("7", "found 7"),
        ("\u{feff}", "JSON"),
        ("{}", "needs \"op\""),
        (r#"{"op":7}"#, "expects a string in \"op\""),
        (r#"{"op":"frobnicate"}"#, "there is no operation \"frobnicate\""),
        (r#"{"op":"insert","document":"a.txt","offset":0,"text":"x"}"#, "insert is an edit"),
        (r#"{"op":"append","document":"a.txt","base64":"eA=="}"#, "append is an edit"),
        (r#"{"op":"delete","document":"a.txt","offset":0,"length":1}"#, "delete is an edit"),
        (r#"{"op":"replace"}"#, "replace is an edit"),
        (r#"{"op":"extract","document":"a.txt","offset":0}"#, "extract needs \"length\""),
        (r#"{"op":"extract","offset":0,"length":1}"#, "extract needs \"document\""),
        (r#"{"op":"extract","document":"none","offset":0,"length":1}"#, "no document"),
        (r#"{"op":"extract","document":"*.txt","offset":0,"length":1}"#, "no document"),
        (r#"{"op":"extract","document":"a.txt","offset":20,"length":1}"#, "past the end"),
        (r#"{"op":"extract","document":"a.txt","offset":-1,"length":1}"#, "found -1"),
        (r#"{"op":"extract","document":"a.txt","offset":1.5,"length":1}"#, "found 1.5"),
        (r#"{"op":"extract","document":"a.txt","offset":"1","length":1}"#, "found \"1\""),
        (r#"{"op":"extract","document":5,"offset":1,"length":1}"#, "a string in \"document\""),
        (r#"{"op":"search"}"#, "search needs \"word\""),
        (r#"{"op":"search","word":""}"#, "there is no word"),
        (r#"{"op":"search","word":"a-b"}"#, "2 words"),
        (r#"{"op":"count","word":"be","documents":"a.txt"}"#, "count has no field \"documents\""),
        (r#"{"op":"sample","seed":1}"#, "sample needs \"k\""),
        (r#"{"op":"sample","k":99999999999,"seed":1}"#, "at most"),
    ];
    let good = r#"{"op":"count","word":"not"}"#;
    let lines: Vec<String> =
        wrong.iter().flat_map(|(line, _)| [line.to_string(), good.to_string()]).collect();
    let results = query(&folder, &lines);
    for ((line, told), results) in wrong.iter().zip(results.chunks(2)) {
        let error =
            results[0]["error"].as_str().unwrap_or_else(|| panic!("{line}: {}", results[0]));
        assert!(error.contains(told), "{line}: {error}");
        assert_eq!(results[1], json!({"count": 1}));
    }
    // Bytes that are no text, and a line that does not end.
    let input = [
        &b"{\"op\":\"count\",\"word\":\"\xff\"}\n"[..],
        &vec![b' '; 3 << 20],
        b"\n",
        good.as_bytes(),
    ];
    let results = folder.run_with(&["query", "c.tdc", "-f", "-"], &input.concat()).operations();
    assert!(results[0]["error"].is_string());
    assert!(results[1]["error"].as_str().unwrap().contains("this line is longer"));
    assert_eq!((results.len(), &results[2]), (3, &json!({"count": 1})));
    folder.run(&["query", "c.tdc", "-f", "missing.jsonl"]).exits(2).says("missing.jsonl");
    folder.run(&["query", "c.tdc", "-f", "."]).exits(2).says("cannot read .");
    folder.run(&["query", "missing.tdc", "-f", "-"]).exits(2).says("missing.tdc");
    folder.run(&["query", "c.tdc"]).exits(2);
}

/// More operations than are taken at a time, of all kinds, against the commands that are there for each.
#[test]
fn many_operations() {
    let folder = opened();
    let documents = documents();
    let oracle = Oracle::new(Lexer::Words, &documents);
    let words = ["the", "tide", "of the", "to be", "not", "nowhere0", "gauge reads"];
    let in_long: Vec<Vec<usize>> =
        words.iter().map(|word| oracle.search(3, word.as_bytes())).collect();
    let mut random = Random::new(3);
    let mut lines = Vec::new();
    let mut expected = Vec::new();
    for _ in 0..120_000 {
        let (operation, result) = match random.below(8) {
            0 => {
                let place = random.below(7) as usize;
                (
                    json!({"op": "search", "word": words[place], "document": "long"}),
                    json!({"offsets": in_long[place]}),
                )
            }
            1..4 => {
                let place = random.below(7) as usize;
                (
                    json!({"op": "count", "word": words[place], "document": "long"}),
                    json!({"count": in_long[place].len()}),
                )
            }
            _ => {
                let (offset, length) = (random.below(40_001) as usize, random.below(70) as usize);
                let bytes = oracle.extract(3, offset, length).unwrap();
                (
                    json!({"op": "extract", "document": "long", "offset": offset, "length": length}),
                    json!({"text": str::from_utf8(bytes).unwrap()}),
                )
            }
        };
        lines.push(operation.to_string());
        expected.push(result);
    }
    folder.run(&["index", "--index", "fast", "c.tdc", "--quiet"]).succeeds();
    let results = query(&folder, &lines);
    for ((found, expected), line) in results.iter().zip(&expected).zip(&lines) {
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn an_answer_comes_while_the_input_is_open() {
    let folder = opened();
    let mut command = folder.command(&["query", "c.tdc", "-f", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for (word, count) in [("be", 4), ("not", 1), ("nowhere0", 0)] {
        writeln!(input, "{}", json!({"op": "count", "word": word})).unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer, json!({"count": count}));
    }
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_has_seen_enough() {
    let folder = opened();
    let line = json!({"op": "search", "word": "the"}).to_string() + "\n";
    folder.write("ops.jsonl", line.repeat(5000));
    let mut command = folder.command(&["query", "c.tdc", "-f", "ops.jsonl"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
