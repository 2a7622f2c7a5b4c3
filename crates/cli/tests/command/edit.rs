//! Editing as people and scripts do it: every command, what is refused, batches against a plain model, and what happens while
//! another process reads, edits, or ends the command.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use tadoc_oracle::{Lexer, Oracle, Random};

use crate::folder::{Folder, TADOC, prose};
use crate::query::{documents, opened};

/// The bytes of a document, from the command.
#[track_caller]
fn cat(folder: &Folder, document: &str) -> Vec<u8> {
    folder.run(&["cat", "c.tdc", document]).succeeds().bytes().to_vec()
}

#[track_caller]
fn list(folder: &Folder) -> String {
    folder.run(&["list", "c.tdc"]).succeeds().text().to_owned()
}

/// The results of operations, one for each.
#[track_caller]
fn edit(folder: &Folder, more: &[&str], operations: &[Value]) -> Vec<Value> {
    let input: String = operations.iter().map(|operation| format!("{operation}\n")).collect();
    let arguments = [&["edit", "c.tdc", "-f", "-"], more].concat();
    let results = folder.run_with(&arguments, input.as_bytes()).operations();
    assert_eq!(results.len(), operations.len());
    results
}

/// Waits until something holds, however long that takes on this machine.
fn wait_until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        sleep(Duration::from_millis(5));
    }
}

/// `tadoc append` with an open pipe.
fn start_append(folder: &Folder, more: &[&str]) -> (Child, ChildStdin) {
    let arguments = [&["append", "c.tdc", "log", "-"], more].concat();
    let mut command = folder.command(&arguments);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take().unwrap();
    (child, input)
}

#[test]
fn each_command_does_what_it_says() {
    let folder = opened();
    for (arguments, input) in [
        (&["insert", "c.tdc", "a.txt", "10", "--text", "perhaps "][..], &b""[..]),
        (&["insert", "c.tdc", "empty", "0"], b"not \xfe empty"),
        (&["append", "c.tdc", "a.txt"], b", that is"),
        (&["append", "c.tdc", "a.txt", "-"], b" the question"),
        (&["append", "c.tdc", "a.txt", "--text", "-?"], b"is not read"),
        (&["replace", "c.tdc", "a.txt", "0", "2", "--text", "2"], b""),
        (&["replace", "c.tdc", "b\\tc", "0", "3"], b"you "),
        (&["delete", "c.tdc", "b\tc", "8", "2"], b""),
    ] {
        folder.run_with(arguments, input).succeeds();
    }
    assert_eq!(cat(&folder, "a.txt"), b"2 be, or perhaps not to be, that is the question-?");
    assert_eq!(cat(&folder, "empty"), b"not \xfe empty");
    assert_eq!(cat(&folder, "b\tc"), b"you to\xff \n");
    folder.run(&["rename", "c.tdc", "b\\tc", "b/c d"]).succeeds();
    folder.run(&["remove", "c.tdc", "empty", "empty"]).succeeds();
    folder.run_with(&["append", "c.tdc", "new", "--durability", "none"], b"").succeeds();
    assert_eq!(list(&folder), "a.txt\t50\nb/c d\t9\nlong\t40000\nnew\t0\n");
    let info = folder.run(&["info", "c.tdc", "--json"]).succeeds().json().remove(0);
    assert_eq!(info["edits"]["edits"], 11);
    assert_eq!(info["edits"]["text_bytes"], 48);
    assert_eq!(info["edits"]["torn_bytes"], 0);
    assert!(info["edits"]["journal_bytes"].as_u64().unwrap() > 50);
    let file_bytes = fs::metadata(folder.path("c.tdc")).unwrap().len();
    assert_eq!(info["archive_bytes"], file_bytes);
    assert_eq!(info["text_bytes"], 40_059);
    let told = folder.run(&["info", "c.tdc"]).succeeds();
    assert!(told.text().contains("\n  edits      11 with 48 B of text, in a journal of "));
    let verified = folder.run(&["verify", "c.tdc"]).succeeds();
    assert_eq!(
        verified.text(),
        "ok: 4 documents, 40,059 bytes, with a journal of 11 edits; digests of 0 documents compared\n"
    );
    let count = folder.run(&["count", "c.tdc", "question"]).succeeds();
    assert_eq!(count.text(), "1\n");
    let report = folder.run(&["recompress", "c.tdc", "--json"]).succeeds().json().remove(0);
    assert_eq!((&report["edits"], &report["documents"]), (&json!(11), &json!(4)));
    assert_eq!(report["bytes_before"], file_bytes);
    assert_eq!(report["archive_bytes"], fs::metadata(folder.path("c.tdc")).unwrap().len());
    let info = folder.run(&["info", "c.tdc", "--json"]).succeeds().json().remove(0);
    assert_eq!(info["edits"], Value::Null);
    assert_eq!(cat(&folder, "a.txt"), b"2 be, or perhaps not to be, that is the question-?");
    assert_eq!(list(&folder), "a.txt\t50\nb/c d\t9\nlong\t40000\nnew\t0\n");
    folder.run(&["verify", "c.tdc"]).succeeds();
}

#[test]
fn files_become_documents_as_compress_names_them() {
    let folder = Folder::with(&["in/a", "in/sub/b", "other"]);
    fs::set_permissions(folder.path("in/a"), fs::Permissions::from_mode(0o640)).unwrap();
    let long = prose(9_000_000);
    folder.write("in/long", &long);
    folder.run(&["compress", "other", "-o", "c.tdc"]).succeeds();
    folder.run(&["add", "c.tdc", "in"]).succeeds();
    folder.run_with(&["add", "c.tdc", "-", "--name", "said"], b"standard").succeeds();
    let names = list(&folder);
    let names: Vec<&str> = names.lines().map(|row| row.split('\t').next().unwrap()).collect();
    assert_eq!(names, ["in/a", "in/long", "in/sub/b", "other", "said"]);
    assert_eq!(cat(&folder, "said"), b"standard");
    assert!(cat(&folder, "in/long") == long);
    // A name that is taken: nothing is added.
    folder.write("in/new", "new");
    let refused = folder.run(&["add", "c.tdc", "in"]).exits(2);
    refused.says("c.tdc: the archive has a document “in/a” already, and nothing was added");
    assert!(!list(&folder).contains("new"));
    folder.write("in/a", "another text");
    folder.run(&["add", "c.tdc", "in", "--replace"]).succeeds();
    assert_eq!(cat(&folder, "in/a"), b"another text");
    assert_eq!(cat(&folder, "in/new"), b"new");
    folder.run(&["restore", "c.tdc", "-C", "out"]).succeeds();
    for name in ["in/a", "in/sub/b", "in/long"] {
        let (before, after) = (folder.path(name), folder.path("out").join(name));
        let of = |path| fs::metadata(path).map(|of| (of.modified().unwrap(), of.permissions()));
        assert_eq!(of(before).unwrap(), of(after).unwrap(), "{name}");
    }
    // What cannot be read, what is no input, and what is given twice.
    folder.run(&["add", "c.tdc", "missing"]).exits(2).says("cannot read missing");
    folder.write("in/newer", "newer");
    let twice = folder.run(&["add", "c.tdc", "in/newer", "./in/newer"]).exits(2);
    twice.says("two documents are called");
    folder.run(&["add", "c.tdc", "c.tdc"]).exits(2).says("both an input and the archive");
    folder.run(&["add", "c.tdc"]).exits(2);
    folder.run(&["verify", "c.tdc"]).succeeds();
}

#[test]
fn what_is_wrong_is_told_and_changes_nothing() {
    let folder = opened();
    let before = folder.read("c.tdc");
    for (arguments, told) in [
        (&["insert", "c.tdc", "a.txt", "20", "--text", "x"][..], "offset 20 is past the end of"),
        (&["insert", "c.tdc", "none", "0", "--text", "x"], "the archive has no document “none”"),
        (&["insert", "c.tdc", "*.txt", "0", "--text", "x"], "has no document “*.txt”"),
        (&["delete", "c.tdc", "a.txt", "18", "2"], "2 bytes from offset 18 on are past the end"),
        (&["replace", "c.tdc", "a.txt", "99", "0", "--text", "x"], "offset 99 is past the end"),
        (&["remove", "c.tdc", "a.txt", "none"], "the archive has no document “none”"),
        (&["rename", "c.tdc", "a.txt", "long"], "the archive has a document “long” already"),
        (&["rename", "c.tdc", "a.txt", ""], "cannot be the name of a document"),
        (&["rename", "c.tdc", "none", "b"], "the archive has no document “none”"),
        (&["append", "missing.tdc", "a", "--text", "x"], "missing.tdc: No such file"),
        (&["edit", "c.tdc", "-f", "missing.jsonl"], "cannot read missing.jsonl"),
        (&["edit", "c.tdc", "-f", "."], "Is a directory"),
        (&["recompress", "missing.tdc"], "missing.tdc: No such file"),
    ] {
        let run = folder.run(arguments).exits(2).says(told);
        assert_eq!(run.text(), "", "{arguments:?}");
        assert!(folder.read("c.tdc") == before, "{arguments:?}");
    }
    folder.run(&["remove", "c.tdc", "--glob", "*.pdf"]).exits(1).says("no document matches");
    for arguments in [
        &["append", "c.tdc", "a.txt", "file"][..],
        &["append", "c.tdc", "a.txt", "-", "--text", "x"],
        &["insert", "c.tdc", "a.txt", "-1", "--text", "x"],
        &["delete", "c.tdc", "a.txt", "1"],
        &["delete", "c.tdc", "a.txt", "1", "1", "--durability", "some"],
        &["edit", "c.tdc"],
        &["edit", "c.tdc", "-f", "-", "--offsets", "any"],
        &["rename", "c.tdc", "a.txt"],
    ] {
        assert_ne!(folder.run(arguments).exits(2).stderr(), "", "{arguments:?}");
    }
    folder.write("text", "no archive");
    folder.run(&["append", "text", "a", "--text", "x"]).exits(2).says("not a tadoc archive");
    assert!(folder.read("c.tdc") == before);
    folder.run(&["remove", "c.tdc", "--glob", "*.txt", "e*"]).succeeds();
    assert_eq!(list(&folder), "b\\tc\t10\nlong\t40000\n");
}

#[test]
fn an_archive_that_may_not_be_written() {
    let folder = opened();
    fs::set_permissions(folder.path("c.tdc"), fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().append(true).open(folder.path("c.tdc")).is_ok() {
        eprintln!("skipped: the superuser writes everything");
        return;
    }
    let run = folder.run(&["append", "c.tdc", "a.txt", "--text", "x"]).exits(2);
    run.says(
        "c.tdc cannot be edited, as it may not be written; change its permissions, or edit a copy",
    );
    assert_eq!(cat(&folder, "a.txt"), b"to be, or not to be");
}

/// A limit on the size of files stands for a full disk.
#[test]
fn a_full_disk_keeps_what_was_acknowledged() {
    let folder = opened();
    folder.run(&["append", "c.tdc", "a.txt", "--text", ", they said"]).succeeds();
    let limit = fs::metadata(folder.path("c.tdc")).unwrap().len() / 1024 + 8;
    let lines: String = (0..2000_u32)
        .map(|number| {
            let text: String = (0..30)
                .map(|n| format!("{:x}", (number * 30 + n).wrapping_mul(2_654_435_761)))
                .collect();
            json!({"op": "append", "document": "a.txt", "text": text}).to_string() + "\n"
        })
        .collect();
    folder.write("ops.jsonl", lines);
    let script = format!(
        "ulimit -f {limit}; trap '' XFSZ; exec {TADOC} edit c.tdc -f ops.jsonl --durability operation"
    );
    let mut shell = Command::new("bash");
    let output = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("File too large"), "{stderr}");
    assert!(stderr.contains("what was acknowledged is kept"), "{stderr}");
    let acknowledged = output.stdout.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let info = folder.run(&["info", "c.tdc", "--json"]).succeeds().json().remove(0);
    let edits = info["edits"]["edits"].as_u64().unwrap();
    assert!(acknowledged > 0 && edits == acknowledged + 1, "{acknowledged} and {edits}");
    assert!(cat(&folder, "a.txt").starts_with(b"to be, or not to be, they said"));
    folder.run(&["append", "c.tdc", "a.txt", "--text", "!"]).succeeds();
    folder.run(&["verify", "c.tdc"]).succeeds();
}

/// A disk that really is full, where a small one can be mounted.
#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let folder = opened();
    fs::create_dir(folder.path("disk")).unwrap();
    let mount = "mount -t tmpfs -o size=256k none disk";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "bash", "-c", script]);
        command.current_dir(folder.path("")).output()
    };
    if !unshare(mount).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: nothing can be mounted");
        return;
    }
    let noise: String = (0..200_000_u32)
        .map(|number| format!("{:08x}", number.wrapping_mul(2_654_435_761)))
        .collect();
    folder.write("noise", noise);
    let script = format!(
        "{mount} && cp c.tdc disk/c.tdc && {TADOC} append disk/c.tdc a.txt --text '?'
         {TADOC} insert disk/c.tdc a.txt 0 < noise; code=$?
         cp disk/c.tdc after.tdc
         {TADOC} append disk/c.tdc a.txt --text '!' && cp disk/c.tdc later.tdc
         {TADOC} recompress disk/c.tdc && cp disk/c.tdc again.tdc; ls disk > names; exit $code"
    );
    let output = unshare(&script).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
    assert!(stderr.contains("what was acknowledged is kept"), "{stderr}");
    assert_eq!(folder.read("names"), b"c.tdc\n");
    for (name, end) in [("after.tdc", "?"), ("later.tdc", "?!"), ("again.tdc", "?!")] {
        folder.run(&["verify", name]).succeeds();
        let text = folder.run(&["cat", name, "a.txt"]).succeeds();
        assert_eq!(text.text(), format!("to be, or not to be{end}"), "{name}");
    }
}

/// Random reads and edits of all kinds against plain strings; in one go, in several, and with recompressing in between.
#[test]
fn batches_do_what_a_plain_model_does() {
    for (seed, more) in [
        (1, &[][..]),
        (2, &["--durability", "none", "--threads", "1"]),
        (3, &["--recompress", "4k"]),
    ] {
        let folder = opened();
        let mut model: BTreeMap<String, Vec<u8>> = documents().into_iter().collect();
        let mut random = Random::new(seed);
        for _ in 0..3 {
            let (operations, expected): (Vec<Value>, Vec<Value>) =
                (0..150).map(|_| operation(&mut random, &mut model)).unzip();
            let results = edit(&folder, more, &operations);
            for ((found, expected), operation) in results.iter().zip(&expected).zip(&operations) {
                match expected.get("error") {
                    None => assert_eq!(found, expected, "{seed}: {operation}"),
                    Some(told) => {
                        let (error, told) = (found["error"].as_str(), told.as_str().unwrap());
                        assert!(error.is_some_and(|error| error.contains(told)), "{found}");
                    }
                }
            }
            let names: Vec<String> = model
                .iter()
                .map(|(name, bytes)| format!("{}\t{}\n", name.replace('\t', "\\t"), bytes.len()))
                .collect();
            assert_eq!(list(&folder), names.concat());
            for (name, bytes) in &model {
                assert!(cat(&folder, name) == *bytes, "{seed}: {name}");
            }
        }
        folder.run(&["verify", "c.tdc"]).succeeds();
    }
}

/// An operation, and what is to come of it; the model is changed as it says.
fn operation(random: &mut Random, model: &mut BTreeMap<String, Vec<u8>>) -> (Value, Value) {
    const WORDS: [&str; 6] = ["tide", "be", "not", " ", "\n", "\u{e9}t\u{e9}"];
    let names: Vec<String> = model.keys().cloned().collect();
    let name = names[random.below(names.len() as u64) as usize].clone();
    let bytes = model.get_mut(&name).unwrap();
    let offset = random.below(bytes.len() as u64 + 1) as usize;
    let length = random.below((bytes.len() - offset).min(30) as u64 + 1) as usize;
    let text: String = (0..random.below(5)).map(|_| WORDS[random.below(6) as usize]).collect();
    let fresh = format!("new-{}", random.below(8));
    let done = json!({"ok": true});
    match random.below(14) {
        0..3 => {
            bytes.splice(offset..offset, text.bytes());
            (json!({"op": "insert", "document": name, "offset": offset, "text": text}), done)
        }
        3 => {
            bytes.extend_from_slice(b"\xff\x00");
            (json!({"op": "append", "document": name, "base64": "/wA="}), done)
        }
        4 => {
            bytes.drain(offset..offset + length);
            (json!({"op": "delete", "document": name, "offset": offset, "length": length}), done)
        }
        5 => {
            bytes.splice(offset..offset + length, text.bytes());
            (
                json!({"op": "replace", "document": name, "offset": offset, "length": length, "text": text}),
                done,
            )
        }
        6 => match model.contains_key(&fresh) {
            true => {
                (json!({"op": "add", "document": fresh, "text": ""}), json!({"error": "already"}))
            }
            false => {
                model.insert(fresh.clone(), text.clone().into_bytes());
                (json!({"op": "add", "document": fresh, "text": text}), done)
            }
        },
        7 if names.len() > 3 => {
            model.remove(&name);
            (json!({"op": "remove", "document": name}), done)
        }
        8 => match fresh != name && model.contains_key(&fresh) {
            true => (
                json!({"op": "rename", "document": name, "name": fresh}),
                json!({"error": "already"}),
            ),
            false => {
                let bytes = model.remove(&name).unwrap();
                model.insert(fresh.clone(), bytes);
                (json!({"op": "rename", "document": name, "name": fresh}), done)
            }
        },
        9 => {
            let past = bytes.len() + 1;
            (
                json!({"op": "insert", "document": name, "offset": past, "text": ""}),
                json!({"error": "past the end"}),
            )
        }
        10 => {
            let documents: Vec<(String, Vec<u8>)> =
                model.iter().map(|(name, bytes)| (name.clone(), bytes.clone())).collect();
            let oracle = Oracle::new(Lexer::Words, &documents);
            let found: Vec<(usize, usize)> = (0..documents.len())
                .flat_map(|place| {
                    oracle.search(place, b"be").into_iter().map(move |offset| (place, offset))
                })
                .collect();
            let offsets: Vec<usize> = found.iter().map(|(_, offset)| *offset).collect();
            let of: Vec<&String> = found.iter().map(|(place, _)| &documents[*place].0).collect();
            (json!({"op": "search", "word": "be"}), json!({"offsets": offsets, "documents": of}))
        }
        11 => {
            let documents = [(name.clone(), bytes.clone())];
            let count = Oracle::new(Lexer::Words, &documents).search(0, b"tide").len();
            (json!({"op": "count", "word": "tide", "document": name}), json!({"count": count}))
        }
        _ => {
            let part = &bytes[offset..offset + length];
            let result = match str::from_utf8(part) {
                Ok(text) => json!({"text": text}),
                Err(_) => {
                    use base64::prelude::{BASE64_STANDARD, Engine};
                    json!({"base64": BASE64_STANDARD.encode(part)})
                }
            };
            (json!({"op": "extract", "document": name, "offset": offset, "length": length}), result)
        }
    }
}

#[test]
fn wrong_operations_stop_nothing() {
    let folder = opened();
    let wrong = [
        ("{", "JSON"),
        (r#"{"op":"frobnicate"}"#, "add, remove and rename"),
        (
            r#"{"op":"insert","document":"a.txt","offset":0}"#,
            "insert needs \"text\", or \"base64\"",
        ),
        (r#"{"op":"append","document":"a.txt","text":"","base64":""}"#, "not both"),
        (r#"{"op":"append","document":"a.txt","base64":"*"}"#, "expects base64"),
        (r#"{"op":"append","document":"a.txt","text":7}"#, "expects a string in \"text\""),
        (r#"{"op":"delete","document":"a.txt","offset":0}"#, "delete needs \"length\""),
        (r#"{"op":"rename","document":"a.txt"}"#, "rename needs \"name\""),
        (r#"{"op":"remove","document":"none"}"#, "no document"),
        (r#"{"op":"remove","document":"a.txt","offset":1}"#, "remove has no field \"offset\""),
        (r#"{"op":"add","document":"","text":"x"}"#, "cannot be the name"),
    ];
    let good = r#"{"op":"append","document":"b\\tc","text":"x"}"#;
    let lines: String = wrong.iter().map(|(line, _)| format!("{line}\n{good}\n")).collect();
    let results = folder.run_with(&["edit", "c.tdc", "-f", "-"], lines.as_bytes()).operations();
    assert_eq!(results.len(), 2 * wrong.len());
    for ((line, told), results) in wrong.iter().zip(results.chunks(2)) {
        let error = results[0]["error"].as_str().unwrap_or_else(|| panic!("{line}"));
        assert!(error.contains(told), "{line}: {error}");
        assert_eq!(results[1], json!({"ok": true}));
    }
    assert_eq!(cat(&folder, "b\tc"), [&b"be to\xff be\n"[..], &vec![b'x'; wrong.len()]].concat());
    // Lines that are longer than those of query.
    let long = "long line ".repeat(300_000);
    let results = edit(&folder, &[], &[json!({"op": "add", "document": "big", "text": long})]);
    assert_eq!(results, [json!({"ok": true})]);
    assert!(cat(&folder, "big") == long.as_bytes());
}

#[test]
fn in_a_snapshot_offsets_mean_the_text_before() {
    let folder = opened();
    let at = |offset: u64, text: &str| json!({"op": "insert", "document": "a.txt", "offset": offset, "text": text});
    let operations = [
        at(19, "!"),
        at(0, "1"),
        json!({"op": "delete", "document": "a.txt", "offset": 5, "length": 4}),
        json!({"op": "extract", "document": "a.txt", "offset": 0, "length": 5}),
        at(0, "2"),
        at(7, "inside"),
        json!({"op": "append", "document": "a.txt", "text": "?"}),
        json!({"op": "replace", "document": "a.txt", "offset": 10, "length": 3, "text": "NOT"}),
        json!({"op": "add", "document": "new", "text": ""}),
        at(20, "past the end of the text before"),
        json!({"op": "count", "word": "be"}),
    ];
    let results = edit(&folder, &["--offsets", "snapshot"], &operations);
    assert_eq!(cat(&folder, "a.txt"), b"12to beinside NOT to be!?");
    assert_eq!(results[3], json!({"text": "to be"}));
    assert!(results[8]["error"].as_str().unwrap().contains("snapshot"));
    assert!(results[9]["error"].as_str().unwrap().contains("past the end"));
    assert_eq!(results[10], json!({"count": 4}));
    let made = results.iter().filter(|result| **result == json!({"ok": true})).count();
    assert_eq!(made, 7);
}

#[test]
fn a_result_comes_while_the_input_is_open() {
    let folder = opened();
    let mut command = folder.command(&["edit", "c.tdc", "-f", "-", "--durability", "operation"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 1..=20 {
        writeln!(input, "{}", json!({"op": "append", "document": "empty", "text": "x"})).unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer, json!({"ok": true}));
        // It is there for others, and others cannot edit.
        assert_eq!(cat(&folder, "empty").len(), number);
    }
    let refused = folder.run(&["append", "c.tdc", "empty", "--text", "y"]).exits(2);
    refused.says("c.tdc is being edited or replaced by another process");
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}

/// For query that is no error; here edits are left out.
#[test]
fn a_reader_that_has_seen_enough_is_told_of() {
    let folder = opened();
    let line = json!({"op": "extract", "document": "long", "offset": 0, "length": 4000});
    folder.write("ops.jsonl", format!("{line}\n").repeat(2000));
    let mut command = folder.command(&["edit", "c.tdc", "-f", "ops.jsonl"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("nobody reads the results any more"), "{stderr}");
}

#[test]
fn a_stream_is_there_for_readers_as_it_comes() {
    let folder = opened();
    let (mut child, mut input) = start_append(&folder, &[]);
    let mut sent = Vec::new();
    for number in 0..20 {
        // Not whole lines.
        let text = format!("line {number}\nand a");
        input.write_all(text.as_bytes()).unwrap();
        sent.extend_from_slice(text.as_bytes());
        let mut found = Vec::new();
        wait_until(|| {
            let run = folder.run(&["cat", "c.tdc", "log"]);
            found = run.bytes().to_vec();
            assert!(sent.starts_with(&found), "no prefix");
            found.len() == sent.len()
        });
    }
    let count = folder.run(&["count", "c.tdc", "and", "--document", "log"]).succeeds();
    assert_eq!(count.text(), "20\n");
    for command in [
        &["append", "c.tdc", "log", "--text", "x"][..],
        &["recompress", "c.tdc"],
        &["compress", "other", "-o", "c.tdc", "--force"],
        &["index", "--index", "fast", "c.tdc"],
        &["transcode", "c.tdc", "-o", "c.tdc", "--level", "dense", "--force"],
    ] {
        folder.write("other", "other");
        folder.run(command).exits(2).says("c.tdc is being edited or replaced by another process");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(cat(&folder, "log"), sent);
    let edits = folder.run(&["info", "c.tdc", "--json"]).succeeds().json().remove(0);
    assert!(edits["edits"]["transactions"].as_u64().unwrap() <= 21);
}

#[test]
fn a_long_stream_is_compressed_again_on_the_way() {
    let folder = opened();
    let text = prose(12_000_000);
    let arguments = ["append", "c.tdc", "log", "--recompress", "3M"];
    folder.run_with(&arguments, &text).succeeds();
    assert!(cat(&folder, "log") == text);
    let info = folder.run(&["info", "c.tdc", "--json"]).succeeds().json().remove(0);
    assert!(info["edits"]["text_bytes"].as_u64().unwrap_or(0) <= 3 << 20, "{}", info["edits"]);
    assert!(info["archive_bytes"].as_u64().unwrap() < text.len() as u64 / 2);
    folder.run(&["verify", "c.tdc"]).succeeds();
}

#[test]
fn an_index_and_levels_of_an_edited_archive() {
    let folder = opened();
    folder.run(&["insert", "c.tdc", "long", "100", "--text", " tide tides tide "]).succeeds();
    let count = |word| folder.run(&["count", "c.tdc", word]).exits(0).text().to_owned();
    let (tide, be) = (count("tide"), count("be"));
    for index in ["small", "fast", "none"] {
        folder.run(&["index", "--index", index, "c.tdc", "--quiet"]).succeeds();
        assert_eq!((count("tide"), count("be")), (tide.clone(), be.clone()), "{index}");
        folder.run(&["verify", "c.tdc"]).succeeds();
    }
    folder.run(&["index", "--view", "c.tdc", "--quiet"]).succeeds();
    let words = folder.run(&["word-count", "c.tdc"]).succeeds();
    assert!(words.text().contains(&format!("tide\t{tide}")), "{}", words.text());
    folder.run(&["append", "c.tdc", "long", "--text", " tide"]).succeeds();
    let words = folder.run(&["word-count", "c.tdc"]).exits(0);
    let more = tide.trim().parse::<u64>().unwrap() + 1;
    assert!(words.text().contains(&format!("tide\t{more}\n")), "the view is an old one");
    let arguments = ["transcode", "c.tdc", "-o", "d.tdc", "--level", "dense"];
    folder.run(&arguments).exits(2).says("c.tdc has 2 edits that are not part of its grammars yet");
    folder.run(&["recompress", "c.tdc", "--index", "fast", "--quiet"]).succeeds();
    assert_eq!(count("tide"), format!("{more}\n"));
    folder.run(&arguments).succeeds();
    folder.run(&["verify", "d.tdc"]).succeeds();
}

#[test]
fn damage_in_the_journal_is_told_with_its_place() {
    let folder = opened();
    let stored = folder.read("c.tdc").len();
    for text in ["first", "second", "third"] {
        folder.run(&["append", "c.tdc", "a.txt", "--text", text]).succeeds();
    }
    let mut bytes = folder.read("c.tdc");
    let second = stored + (bytes.len() - stored) / 2;
    bytes[second] ^= 1;
    folder.write("c.tdc", &bytes);
    let run = folder.run(&["verify", "c.tdc"]).exits(1);
    run.says("c.tdc: the journal of edits is damaged at byte ");
    folder.run(&["append", "c.tdc", "a.txt", "--text", "x"]).exits(2).says("damaged at byte");
    assert!(folder.read("c.tdc") == bytes);
    folder.run(&["recompress", "c.tdc"]).exits(2).says("tadoc recompress --keep-whole");
    folder.run(&["recompress", "c.tdc", "--keep-whole"]).exits(0);
    assert_eq!(cat(&folder, "a.txt"), b"to be, or not to befirst");
    // What a crash leaves is passed over, and cut off by the next edit.
    folder.run(&["append", "c.tdc", "a.txt", "--text", "!"]).succeeds();
    let whole = folder.read("c.tdc").len();
    folder.run(&["append", "c.tdc", "a.txt", "--text", "?"]).succeeds();
    let bytes = folder.read("c.tdc");
    folder.write("c.tdc", &bytes[..bytes.len() - 1]);
    let note = format!(
        "note: {} bytes of an unfinished edit at the end are ignored",
        bytes.len() - 1 - whole
    );
    let verified = folder.run(&["verify", "c.tdc"]).succeeds();
    assert!(verified.text().starts_with("ok: ") && verified.text().contains(&note));
    let verified = &folder.run(&["verify", "c.tdc", "--json"]).succeeds().json()[0];
    assert_eq!(
        (&verified["ok"], &verified["torn_bytes"]),
        (&json!(true), &json!(bytes.len() - 1 - whole))
    );
    let torn = format!("; {} bytes behind them do not count", bytes.len() - 1 - whole);
    let told = folder.run(&["info", "c.tdc"]).succeeds();
    assert!(told.text().contains(&torn), "{}", told.text());
    assert_eq!(cat(&folder, "a.txt"), b"to be, or not to befirst!");
    folder.run(&["append", "c.tdc", "a.txt", "--text", "!"]).succeeds();
    assert_eq!(cat(&folder, "a.txt"), b"to be, or not to befirst!!");
}

#[test]
fn completions_and_manual_pages_know_the_commands() {
    let folder = Folder::new();
    folder.run(&["man", "man"]).succeeds();
    let completions = folder.run(&["completions", "bash"]).succeeds();
    for command in
        ["insert", "append", "delete", "replace", "add", "remove", "rename", "edit", "recompress"]
    {
        assert!(completions.text().contains(&format!("tadoc,{command})")), "{command}");
        let page = folder.read(format!("man/tadoc-{command}.1"));
        assert!(String::from_utf8(page).unwrap().contains("corpus.tdc"), "{command}");
    }
}

/// The entry of a number: no other one is like it.
fn entry(number: usize) -> String {
    format!("entry {number} {}.\n", "word ".repeat(number % 7))
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    const KILLS: u64 = 60;
    let folder = opened();
    let mut random = Random::new(5);
    // Entries that were acknowledged, and that were given to the command.
    let (mut acknowledged, mut given) = (0, 0);
    let mut kill = 0;
    // On until one has come far enough to acknowledge something.
    while kill < KILLS || acknowledged == 0 {
        let durability = *random.choose(&["operation", "batch", "none"]);
        // Small enough that the archive is compressed again now and then.
        let more = ["--durability", durability, "--recompress", "20K"];
        let arguments = [&["edit", "c.tdc", "-f", "-"], &more[..]].concat();
        let mut command = folder.command(&arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let writer = std::thread::spawn(move || {
            let mut written = given;
            // Until it is killed.
            loop {
                let operation =
                    json!({"op": "append", "document": "empty", "text": entry(written)});
                if writeln!(input, "{operation}").is_err() {
                    return written + 1;
                }
                written += 1;
            }
        });
        let reader = std::thread::spawn(move || {
            BufReader::new(output)
                .lines()
                .map_while(Result::ok)
                .filter(|line| line == r#"{"ok":true}"#)
                .count()
        });
        sleep(Duration::from_millis(random.below(60)));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = given + reader.join().unwrap();
        let most = writer.join().unwrap();
        let text = cat(&folder, "empty");
        let whole: String = (0..most).map(entry).collect();
        assert!(whole.as_bytes().starts_with(&text), "kill {kill}: other entries than were given");
        given = text.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(text.last().copied().unwrap_or(b'\n'), b'\n', "kill {kill}: half an entry");
        assert!(given >= acknowledged, "kill {kill}: {acknowledged} acknowledged, {given} there");
        folder.run(&["verify", "c.tdc"]).succeeds();
        kill += 1;
    }
    // Whoever compresses it next leaves nothing of those that were killed.
    folder.run(&["append", "c.tdc", "empty", "--text", "end"]).succeeds();
    folder.run(&["recompress", "c.tdc"]).succeeds();
    let names = folder.names();
    assert!(names.iter().all(|name| !name.contains(".tmp-")), "{names:?}");
}
