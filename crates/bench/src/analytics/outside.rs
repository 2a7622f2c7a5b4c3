//! What is measured as processes, from files to rows: the command on an archive (b), on one with a stored view
//! (b'), decompressing into the plain-text program (d), and DuckDB.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::prepare::Files;
use super::result::{Cost, DuckDbResult};
use super::turns::take_turns;
use crate::corpus::Corpus;
use crate::measure::Job;
use crate::task::TaskName;
use crate::{paths, zstd};

/// What people do with a compressed tar: decompress it into the program that counts, which is this one. The
/// largest process counts for the peak of memory.
const PIPELINE: &str = r#""$1" | "$0" rival "$2" --tar-stdin --output tsv --threads "$3""#;

/// Seconds after which DuckDB is not waited for any longer.
const DUCKDB_SECONDS: &str = "600";

/// What the processes took.
pub struct Outside {
    pub command: Cost,
    pub viewed: Option<Cost>,
    pub pipeline: Cost,
}

/// The tasks that are measured with a stored view too: those that do little beside loading it.
fn has_viewed(task: TaskName) -> bool {
    matches!(task, TaskName::WordCount | TaskName::Sort)
}

/// A task on each file of a corpus, in turns.
pub fn compare(
    tadoc: &Path,
    files: &Files,
    task: TaskName,
    threads: usize,
    rounds: usize,
) -> Result<Outside> {
    let this = std::env::current_exe().context("finding this program")?;
    let tar = files.tar.as_ref().context("the tar was not made")?;
    let threads = threads.to_string();
    let command = |archive: &PathBuf| {
        Job::new(tadoc).arg(task.name()).arg(archive).args([
            "--format",
            "tsv",
            "-o",
            "/dev/null",
            "--threads",
            &threads,
        ])
    };
    let plain = command(&files.archive);
    let script = format!("{} {PIPELINE}", zstd::decompressing());
    let pipeline = Job::new("sh").args(["-c", &script]).arg(this).arg(tar);
    let pipeline = pipeline.args([task.name(), &threads]);
    let viewed = files.viewed.as_ref().filter(|_| has_viewed(task)).map(command);

    let mut jobs = vec![plain, pipeline];
    jobs.extend(viewed);
    let mut calls: Vec<_> = jobs.iter().map(|job| || job.measure()).collect();
    let mut turns: Vec<&mut dyn FnMut() -> Result<_>> = Vec::new();
    turns.extend(calls.iter_mut().map(|call| call as &mut dyn FnMut() -> _));
    let given = take_turns(&mut turns, rounds)?;
    Ok(Outside {
        command: Cost::of_processes(&given[0]),
        pipeline: Cost::of_processes(&given[1]),
        viewed: given.get(2).map(|measured| Cost::of_processes(measured)),
    })
}

/// DuckDB for Python, where it is installed.
#[derive(Debug, Clone)]
pub struct DuckDb {
    python: PathBuf,
}

/// What duckdb.py prints about itself.
#[derive(Debug, Deserialize)]
struct Told {
    read: f64,
    count: f64,
}

impl DuckDb {
    /// Looks for the package in `target/venv`; says so if it is not there.
    pub fn find() -> Option<Self> {
        let python = paths::virtual_environment().join("bin/python");
        let found = Command::new(&python).args(["-c", "import duckdb"]).output();
        if found.is_ok_and(|output| output.status.success()) {
            return Some(Self { python });
        }
        eprintln!("DuckDB is left out: `pip install duckdb` into target/venv first");
        None
    }

    /// A task, once. `None` where it has no query for it, fails, or takes too long.
    pub fn ask(&self, corpus: &Corpus, task: TaskName, threads: usize) -> Option<DuckDbResult> {
        if task == TaskName::RankedInvertedIndex {
            return None;
        }
        let output = Command::new("timeout")
            .arg(DUCKDB_SECONDS)
            .arg(&self.python)
            .arg(paths::duckdb_script())
            .arg(task.name())
            .arg(&corpus.folder)
            .args(["--output", "none", "--threads", &threads.to_string()])
            .output()
            .ok()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let told = told(&said);
        if told.is_none() {
            let why = said.lines().last().unwrap_or("it took too long");
            eprintln!("{}: DuckDB has no {}: {why}", corpus.name, task.name());
        }
        told
    }
}

fn told(said: &str) -> Option<DuckDbResult> {
    let Told { read, count } = serde_json::from_str(said.lines().last()?).ok()?;
    Some(DuckDbResult { read_seconds: read, query_seconds: count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_duckdb_says_is_read() {
        let said = "a warning\n{\"read\": 0.5, \"count\": 1.5, \"rows\": 3, \"user\": 2.0}\n";
        let expected = DuckDbResult { read_seconds: 0.5, query_seconds: 1.5 };
        assert_eq!(told(said), Some(expected));
        assert_eq!(told("Traceback\nInvalidInputException: not UTF-8"), None);
        assert_eq!(told(""), None);
    }
}
