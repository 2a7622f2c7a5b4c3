//! The rival's rows are those of the oracle, on all of its cases, for all tasks and both lexers, from memory
//! and from a tar.

use std::fmt::Write as _;
use std::process::Command;

use tadoc_engine::Lexer;
use tadoc_engine::text::escape;
use tadoc_oracle::{Case, Oracle, Sequence};

use super::{Task, Text, run, run_on_tar};

const LEXERS: [(Lexer, tadoc_oracle::Lexer); 2] = [
    (Lexer::Words, tadoc_oracle::Lexer::Words),
    (Lexer::Whitespace, tadoc_oracle::Lexer::Whitespace),
];

fn tasks() -> Vec<Task> {
    let mut tasks = vec![Task::WordCount, Task::Sort, Task::InvertedIndex, Task::TermVector];
    for n in 1..=5 {
        tasks.extend([Task::SequenceCount(n), Task::RankedInvertedIndex(n)]);
    }
    tasks
}

/// The rows that the oracle would print.
fn expected(task: Task, lexer: tadoc_oracle::Lexer, case: &Case) -> String {
    let oracle = Oracle::new(lexer, &case.documents);
    let name = |document: usize| escape(case.documents[document].0.as_bytes()).to_string();
    let joined = |sequence: &Sequence| {
        let terms: Vec<String> = sequence.iter().map(|term| escape(term).to_string()).collect();
        terms.join(" ")
    };
    let mut rows = String::new();
    let mut row = |row: std::fmt::Arguments| writeln!(rows, "{row}").unwrap();
    match task {
        Task::WordCount | Task::Sort => {
            let terms = if task == Task::Sort { oracle.sort() } else { oracle.word_count() };
            for (term, count) in terms {
                row(format_args!("{}\t{count}", escape(&term)));
            }
        }
        Task::InvertedIndex => {
            for (term, documents) in oracle.inverted_index() {
                for document in documents {
                    row(format_args!("{}\t{}", escape(&term), name(document)));
                }
            }
        }
        Task::TermVector => {
            for (document, vector) in oracle.term_vector(None).iter().enumerate() {
                for (term, count) in vector {
                    row(format_args!("{}\t{}\t{count}", name(document), escape(term)));
                }
            }
        }
        Task::SequenceCount(n) => {
            for (sequence, count) in oracle.sequence_count(n) {
                row(format_args!("{}\t{count}", joined(&sequence)));
            }
        }
        Task::RankedInvertedIndex(n) => {
            for (sequence, documents) in oracle.ranked_inverted_index(n) {
                for (document, count) in documents {
                    row(format_args!("{}\t{}\t{count}", joined(&sequence), name(document)));
                }
            }
        }
    }
    rows
}

#[track_caller]
fn check(what: &str, expected: &str, found: &[u8]) {
    let found = std::str::from_utf8(found).expect("rows are UTF-8");
    for (index, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, expected, "{what}, row {index}");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{what}");
}

#[test]
fn all_cases_from_memory() {
    for case in tadoc_oracle::cases() {
        let text = Text::of(&case.documents);
        for (lexer, oracle_lexer) in LEXERS {
            for task in tasks() {
                let expected = expected(task, oracle_lexer, &case);
                for threads in 1..=3 {
                    let (mut answer, _) = run(task, &text, lexer, threads).unwrap();
                    let mut found = Vec::new();
                    answer.write(threads, &mut found).unwrap();
                    let what = format!("{}, {task:?}, {lexer:?}, {threads} threads", case.name);
                    check(&what, &expected, &found);
                    assert_eq!(answer.rows.len(), expected.lines().count() as u64, "{what}");
                }
            }
        }
    }
}

/// A tar of a case, as the program makes it in one of its formats.
fn tar(case: &Case, format: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in &case.documents {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let mut command = Command::new("tar");
    command.arg(format!("--format={format}")).args(["-cf", "-", "-C"]).arg(folder.path()).arg(".");
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    made.stdout
}

#[test]
fn all_cases_from_a_tar() {
    // A file system cannot have both `a` and `a/b`.
    let is_folder = |case: &Case, name: &str| {
        case.documents.iter().any(|(other, _)| other.starts_with(&format!("{name}/")))
    };
    let mut cases = tadoc_oracle::cases();
    cases.retain(|case| !case.documents.iter().any(|(name, _)| is_folder(case, name)));
    assert!(cases.len() > 30);
    for (case, format) in cases.iter().zip(["gnu", "pax", "ustar"].iter().cycle()) {
        let tar = tar(case, format);
        let (lexer, oracle_lexer) = LEXERS[0];
        for task in [Task::InvertedIndex, Task::TermVector, Task::RankedInvertedIndex(3)] {
            let (mut answer, _) = run_on_tar(task, &tar[..], lexer, 2).unwrap();
            let mut found = Vec::new();
            answer.write(2, &mut found).unwrap();
            let expected = expected(task, oracle_lexer, case);
            check(&format!("{}, {format}, {task:?}", case.name), &expected, &found);
        }
    }
}

#[test]
fn long_names_come_through_every_format() {
    let name = format!("{}/{}/leaf", "b".repeat(90), "c".repeat(40));
    let documents = vec![("a".to_string(), b"one".to_vec()), (name, b"two".to_vec())];
    let case = Case { name: "long names".into(), documents };
    for format in ["gnu", "pax", "ustar"] {
        let (mut answer, _) =
            run_on_tar(Task::InvertedIndex, &tar(&case, format)[..], Lexer::Words, 1).unwrap();
        let mut found = Vec::new();
        answer.write(1, &mut found).unwrap();
        check(format, &expected(Task::InvertedIndex, LEXERS[0].1, &case), &found);
    }
}

#[test]
fn a_folder_is_its_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("a")).unwrap();
    let long = "many words ".repeat(150_000);
    let documents = vec![
        ("a-b".to_string(), b"first".to_vec()),
        ("a.txt".to_string(), long.into_bytes()),
        ("a/b".to_string(), b"then a last one".to_vec()),
    ];
    for (name, bytes) in &documents {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let text = Text::open(folder.path()).unwrap();
    let case = Case { name: "folder".into(), documents };
    let expected = expected(Task::TermVector, LEXERS[0].1, &case);
    for text in [text, Text::open(folder.path()).unwrap().load().unwrap()] {
        let (mut answer, _) = run(Task::TermVector, &text, Lexer::Words, 2).unwrap();
        let mut found = Vec::new();
        answer.write(2, &mut found).unwrap();
        check("folder", &expected, &found);
    }
}

#[test]
fn broken_tars_are_errors() {
    let documents = vec![("a".to_string(), vec![b'x'; 3000])];
    let tar = tar(&Case { name: "broken".into(), documents }, "gnu");
    for length in [700, 1500, 2000] {
        assert!(run_on_tar(Task::Sort, &tar[..length], Lexer::Words, 1).is_err(), "{length}");
    }
}
