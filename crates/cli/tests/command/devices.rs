//! Work on devices: what `tadoc devices` lists, and answers that are the processor's. Tests run on the device that
//! `TADOC_TEST_DEVICE` names, or on whatever OpenCL has, such as PoCL; where there is none, those that need one say so.

use tadoc_engine::{CompressOptions, Input, Lexer, Source};
use tadoc_oracle::cases;

use crate::folder::{Folder, prose};

/// The six tasks with arguments that change what is asked of a device.
const COMMANDS: [&[&str]; 15] = [
    &["word-count"],
    &["word-count", "--top", "7"],
    &["sort"],
    &["sort", "--min-count", "3"],
    &["inverted-index"],
    &["inverted-index", "--top", "1", "--min-count", "2"],
    &["term-vector"],
    &["term-vector", "--top", "3", "--min-count", "2"],
    &["sequence-count"],
    &["sequence-count", "--n", "1"],
    &["sequence-count", "--n", "5", "--min-count", "2"],
    &["sequence-count", "--n", "2", "--per-document"],
    &["ranked-inverted-index"],
    &["ranked-inverted-index", "--n", "1", "--top", "2"],
    &["ranked-inverted-index", "--n", "4", "--min-count", "2"],
];

/// What chooses the device to test on.
fn device() -> Option<String> {
    tadoc_engine::gpu::testing::device().map(|device| device.info().selector())
}

/// An archive of documents.
fn archive(folder: &Folder, name: &str, documents: Vec<(Vec<u8>, Vec<u8>)>) {
    let inputs = documents.into_iter().map(|(name, bytes)| Input::new(name, Source::Bytes(bytes)));
    let options = CompressOptions { lexer: Lexer::Words, ..Default::default() };
    tadoc_engine::compress(inputs.collect(), &folder.path(name), &options, &()).unwrap();
}

#[test]
fn devices_are_listed() {
    let folder = Folder::new();
    let run = folder.run(&["devices", "--json"]);
    let report = &run.json()[0];
    let devices = report["devices"].as_array().unwrap();
    let usable = devices.iter().filter(|device| device["usable"] == true).count();
    run.exits(i32::from(usable == 0));
    let text = folder.run(&["devices"]).exits(i32::from(usable == 0));
    for device in devices {
        for key in ["selector", "name"] {
            assert!(text.text().contains(device[key].as_str().unwrap()), "{}", text.text());
        }
    }
    assert_eq!(text.text().contains("There is no device"), usable == 0);
}

#[test]
fn devices_are_measured() {
    let run = Folder::new().run(&["devices", "--json", "--measure"]);
    for device in run.json()[0]["devices"].as_array().unwrap() {
        let measured = &device["measured"];
        assert_eq!(measured.is_object(), device["usable"] == true);
        if measured.is_object() {
            assert!(measured["copy_bytes_per_second"].as_f64().unwrap() > 1e6, "{device}");
        }
    }
}

#[test]
fn answers_are_those_of_the_processor() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    let sample = cases().into_iter().find(|case| case.name == "sample").unwrap();
    let documents = sample.documents.into_iter();
    let documents = documents.map(|(name, bytes)| (name.into_bytes(), bytes)).collect();
    archive(&folder, "sample.tdc", documents);
    let documents = [("a", 60_000), ("b", 3), ("c", 50_000), ("empty", 0)];
    let documents = documents.map(|(name, bytes)| (name.as_bytes().to_vec(), prose(bytes)));
    archive(&folder, "prose.tdc", documents.to_vec());
    let on_device = |backend| ["--backend", backend, "--device", &device];
    for corpus in [&["sample.tdc"][..], &["prose.tdc"], &["prose.tdc", "sample.tdc", "prose.tdc"]] {
        for command in COMMANDS {
            let arguments = [command, corpus].concat();
            let processor =
                folder.run(&[&arguments[..], &["--backend", "cpu"]].concat()).succeeds();
            let found = folder.run(&[&arguments[..], &on_device("gpu")].concat()).succeeds();
            assert!(processor.bytes() == found.bytes(), "{arguments:?}");
        }
    }
    for strategy in ["top-down", "bottom-up"] {
        for command in COMMANDS {
            let arguments = [command, &["sample.tdc", "--strategy", strategy]].concat();
            let processor =
                folder.run(&[&arguments[..], &["--backend", "cpu"]].concat()).succeeds();
            let found = folder.run(&[&arguments[..], &on_device("gpu")].concat()).succeeds();
            assert!(processor.bytes() == found.bytes(), "{arguments:?}");
        }
    }
}

#[test]
fn every_format_is_written() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    let documents =
        vec![(b"x".to_vec(), prose(5000)), (b"y\xff".to_vec(), b"a b\xff a b".to_vec())];
    archive(&folder, "c.tdc", documents);
    let mut formats = vec!["table", "tsv", "csv", "json", "jsonl"];
    if cfg!(feature = "columns") {
        formats.extend(["arrow", "arrows", "parquet"]);
    }
    for command in COMMANDS {
        let matrix = (command == ["term-vector"]).then_some("mtx");
        for format in formats.iter().copied().chain(matrix) {
            let arguments = [command, &["c.tdc", "-i", "--format", format]].concat();
            let processor =
                folder.run(&[&arguments[..], &["--backend", "cpu"]].concat()).succeeds();
            // A device that is named is taken.
            let found = folder.run(&[&arguments[..], &["--device", &device]].concat()).succeeds();
            assert!(processor.bytes() == found.bytes(), "{arguments:?}");
        }
    }
    let explained = folder.run(&["sort", "c.tdc", "--explain", "--device", &device]).exits(0);
    let stderr = explained.stderr();
    let backend = stderr.lines().find(|line| line.starts_with("backend ")).unwrap();
    assert!(backend.starts_with("backend   gpu, "), "{stderr}");
    assert!(backend.ends_with(": the device was named"), "{stderr}");
}

#[test]
fn devices_that_are_not_there() {
    let folder = Folder::new();
    archive(&folder, "c.tdc", vec![(b"x".to_vec(), prose(5000))]);
    for command in COMMANDS {
        let arguments = [command, &["c.tdc"]].concat();
        let processor = folder.run(&[&arguments[..], &["--backend", "cpu"]].concat()).succeeds();
        let none = [&arguments[..], &["--device", "no such device"]].concat();
        // By itself the processor is taken, and why is told to those who ask.
        let found = folder.run(&none).succeeds();
        assert!(processor.bytes() == found.bytes(), "{arguments:?}");
        let explained = folder.run(&[&none[..], &["--explain"]].concat()).exits(0).stderr();
        assert!(explained.contains("backend   cpu, ") && explained.contains("no such device"));
        let refused = folder.run(&[&none[..], &["--backend", "gpu"]].concat()).exits(2);
        refused.says("no GPU can be used").says("no such device");
    }
    folder.run(&["sort", "c.tdc", "--backend", "tpu"]).exits(2);
    folder.run(&["tfidf", "c.tdc", "--backend", "gpu"]).exits(2);
}

/// Operations of every kind on `c.tdc`, some of which fail.
fn operations() -> Vec<u8> {
    let mut lines = String::new();
    for number in 0..300 {
        let offset = number * 37 % 6000;
        let word = ["gauge", "the", "no-such-word", "water every", "north"][number % 5];
        let document = ["x", "y", "missing"][number % 3];
        lines += &match number % 4 {
            0 => format!(
                r#"{{"op":"extract","document":"{document}","offset":{offset},"length":{number}}}"#
            ),
            1 => format!(r#"{{"op":"count","word":"{word}","document":"{document}"}}"#),
            2 => format!(r#"{{"op":"search","word":"{word}","document":"{document}"}}"#),
            _ => format!(r#"{{"op":"search","word":"{word}"}}"#),
        };
        lines.push('\n');
    }
    lines +=
        "{\"op\":\"count\",\"word\":\"the\"}\n{\"op\":\"sample\",\"k\":3,\"seed\":7}\nnonsense\n";
    lines.into_bytes()
}

#[test]
fn batches_are_those_of_the_processor() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    archive(&folder, "c.tdc", vec![(b"x".to_vec(), prose(5000)), (b"y".to_vec(), prose(700))]);
    folder.write("operations.jsonl", operations());
    let ask = |more: &[&str]| {
        // Some operations fail, which the exit code tells.
        folder.run(&[&["query", "c.tdc", "-f", "operations.jsonl"], more].concat()).exits(1)
    };
    let processor = ask(&["--backend", "cpu"]);
    assert_eq!(processor.text().lines().count(), 303);
    for backend in ["gpu", "auto"] {
        let found = ask(&["--backend", backend, "--device", &device]);
        assert_eq!(processor.text(), found.text());
    }
    let none = ["query", "c.tdc", "-f", "operations.jsonl", "--device", "no such device"];
    assert_eq!(folder.run(&none).exits(1).text(), processor.text());
    folder.run(&[&none[..], &["--backend", "gpu"]].concat()).exits(2).says("no GPU can be used");
}

#[test]
fn edits_are_those_of_the_processor() {
    let Some(device) = device() else { return };
    let folder = Folder::new();
    let documents = || vec![(b"x".to_vec(), prose(5000)), (b"y".to_vec(), prose(700))];
    let mut lines = String::new();
    for number in 0..200 {
        let (document, offset) = (["x", "y"][number % 2], number * 53 % 700);
        lines += &match number % 3 {
            0 => format!(r#"{{"op":"append","document":"{document}","text":"end {number} "}}"#),
            _ => format!(
                r#"{{"op":"insert","document":"{document}","offset":{offset},"text":"<{number}>"}}"#
            ),
        };
        lines.push('\n');
    }
    folder.write("edits.jsonl", lines);
    for offsets in ["sequence", "snapshot"] {
        let edited = |name: &str, more: &[&str]| {
            archive(&folder, name, documents());
            let edit = ["edit", name, "-f", "edits.jsonl", "--offsets", offsets];
            let results = folder.run(&[&edit[..], more].concat()).succeeds().text().to_owned();
            let text = |document: &str| folder.run(&["cat", name, document]).bytes().to_vec();
            (results, text("x"), text("y"))
        };
        let processor = edited(&format!("{offsets}-processor.tdc"), &["--backend", "cpu"]);
        let found = edited(&format!("{offsets}-device.tdc"), &["--device", &device]);
        assert!(processor == found, "{offsets}");
    }
}
