//! The oracle's answers as the rows that the command prints. It holds all text and every key in memory, so it
//! is for small corpora, or for tasks that have few keys.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use anyhow::{Context, Result};
use tadoc_engine::text::escape;
use tadoc_oracle::{Lexer, Oracle};

use crate::corpus::Corpus;
use crate::task::{SEQUENCE_TERMS, TaskName};

/// The rows of a task, as tab-separated text.
pub fn rows(corpus: &Corpus, task: TaskName) -> Result<Vec<u8>> {
    let mut named = Vec::with_capacity(corpus.files.len());
    for (file, _) in &corpus.files {
        let name = file.strip_prefix(&corpus.folder)?.as_os_str().as_bytes().to_vec();
        let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        named.push((name, bytes));
    }
    // By the bytes of names, which is not the order of paths.
    named.sort();
    let (names, documents): (Vec<String>, Vec<_>) = named
        .into_iter()
        .map(|(name, bytes)| (escape(&name).to_string(), (String::new(), bytes)))
        .unzip();
    print(&Oracle::new(Lexer::Words, &documents), &names, task)
}

fn print(oracle: &Oracle<'_>, names: &[String], task: TaskName) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let joined = |sequence: &[Vec<u8>]| {
        sequence.iter().map(|term| escape(term).to_string()).collect::<Vec<_>>().join(" ")
    };
    match task {
        TaskName::WordCount | TaskName::Sort => {
            let rows = match task {
                TaskName::Sort => oracle.sort(),
                _ => oracle.word_count(),
            };
            for (term, count) in rows {
                writeln!(out, "{}\t{count}", escape(&term))?;
            }
        }
        TaskName::InvertedIndex => {
            for (term, documents) in oracle.inverted_index() {
                for document in documents {
                    writeln!(out, "{}\t{}", escape(&term), names[document])?;
                }
            }
        }
        TaskName::TermVector => {
            for (name, vector) in names.iter().zip(oracle.term_vector(None)) {
                for (term, count) in vector {
                    writeln!(out, "{name}\t{}\t{count}", escape(&term))?;
                }
            }
        }
        TaskName::SequenceCount => {
            for (sequence, count) in oracle.sequence_count(SEQUENCE_TERMS) {
                writeln!(out, "{}\t{count}", joined(&sequence))?;
            }
        }
        TaskName::RankedInvertedIndex => {
            for (sequence, documents) in oracle.ranked_inverted_index(SEQUENCE_TERMS) {
                for (document, count) in documents {
                    writeln!(out, "{}\t{}\t{count}", joined(&sequence), names[document])?;
                }
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        // As paths, a/x comes first; as bytes, a-b does.
        std::fs::write(folder.path().join("a/x"), "so it is").unwrap();
        std::fs::write(folder.path().join("a-b"), "it is it").unwrap();
        let corpus = Corpus::open(folder.path()).unwrap();
        let rows = |task| String::from_utf8(rows(&corpus, task).unwrap()).unwrap();
        assert_eq!(rows(TaskName::WordCount), "it\t3\nis\t2\nso\t1\n");
        assert_eq!(rows(TaskName::Sort), "is\t2\nit\t3\nso\t1\n");
        assert_eq!(rows(TaskName::InvertedIndex), "is\ta-b\nis\ta/x\nit\ta-b\nit\ta/x\nso\ta/x\n");
        let vectors = "a-b\tit\t2\na-b\tis\t1\na/x\tis\t1\na/x\tit\t1\na/x\tso\t1\n";
        assert_eq!(rows(TaskName::TermVector), vectors);
        assert_eq!(rows(TaskName::SequenceCount), "it is it\t1\nso it is\t1\n");
        assert_eq!(rows(TaskName::RankedInvertedIndex), "it is it\ta-b\t1\nso it is\ta/x\t1\n");
    }
}
