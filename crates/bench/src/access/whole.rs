//! Lone questions as whole commands: a word counted and searched in one document of an archive, beside writing out the
//! document and counting the lines that have the word.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use tadoc_engine::Corpus;

use super::lone::LENGTHS;
use crate::contenders::is_there;
use crate::measure::Job;
use crate::paths;

/// Questions at the most, each about a document of its own.
const QUESTIONS: usize = 10;
/// How often each is asked; the least of the times counts, as noise only adds to it.
const ROUNDS: usize = 7;

/// What people do who have a document: write it out and look for the word.
const PIPELINE: &str = r#""$0" cat "$1" "$2" | rg --no-config -a -c -w -F -e "$3"; test $? -le 1"#;

/// A question, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    pub document: String,
    pub bytes: u64,
    pub word: String,
    pub count_seconds: f64,
    pub search_seconds: f64,
    pub pipe_seconds: f64,
}

impl Question {
    /// The slower of both commands, the pipeline being 1.
    pub fn ratio(&self) -> f64 {
        self.count_seconds.max(self.search_seconds) / self.pipe_seconds
    }
}

/// Asks about some of the documents and words that were drawn, if there are documents of the right length.
pub fn measure(archive: &Path, words: &[(u32, String)]) -> Result<Vec<Question>> {
    if !is_there("rg") {
        eprintln!("ripgrep is not there, so that whole commands are left out");
        return Ok(Vec::new());
    }
    let tadoc = paths::tadoc()?;
    let mut questions: Vec<Question> = Vec::new();
    for (name, bytes, word) in chosen(archive, words)? {
        let job = |command: &str| {
            let job = Job::new(&tadoc).arg(command).arg(archive).args(["-d", &name]);
            job.args(["--format", "tsv", "--", &word])
        };
        let pipe = Job::new("sh").args(["-c", PIPELINE]).arg(&tadoc).arg(archive);
        let jobs = [job("count"), job("search"), pipe.args([&name, &word])];
        let mut least = [f64::INFINITY; 3];
        for round in 0..ROUNDS {
            for turn in 0..jobs.len() {
                let index = (round + turn) % jobs.len();
                least[index] = least[index].min(jobs[index].measure()?.seconds);
            }
        }
        let [count_seconds, search_seconds, pipe_seconds] = least;
        questions.push(Question {
            document: name,
            bytes,
            word,
            count_seconds,
            search_seconds,
            pipe_seconds,
        });
    }
    Ok(questions)
}

/// The first documents of the right length among those that were drawn, each with its first word.
fn chosen(archive: &Path, words: &[(u32, String)]) -> Result<Vec<(String, u64, String)>> {
    let corpus = Corpus::open(archive)?;
    let documents = corpus.documents()?;
    let mut taken: Vec<u32> = Vec::new();
    let mut chosen = Vec::new();
    for (document, word) in words {
        let found = documents.get(*document as usize).context("a document that was drawn")?;
        if chosen.len() == QUESTIONS {
            break;
        }
        // Commands take text.
        let Ok(name) = std::str::from_utf8(&found.name) else { continue };
        if LENGTHS.contains(&found.bytes) && !taken.contains(document) {
            taken.push(*document);
            chosen.push((name.to_owned(), found.bytes, word.clone()));
        }
    }
    Ok(chosen)
}
