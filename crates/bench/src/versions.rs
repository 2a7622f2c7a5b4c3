//! `cargo xtask bench versions`: two builds of the command beside each other.
//!
//! Both answer the same question on the same archive in turns, as whole commands from the archive to
//! its rows. Of each the least wall time counts, as noise only adds to it. Archives are read as they
//! are: with a stored view beside them, if there is one.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::bars::Bar;
use crate::machine::Machine;
use crate::measure::{Job, Measurement};
use crate::statistics::geometric_mean;
use crate::table::Table;
use crate::units::MIB;
use crate::{paths, render, run, units};

/// The questions, as command lines.
const QUESTIONS: [&str; 10] = [
    "word-count",
    "sort",
    "inverted-index",
    "term-vector",
    "sequence-count",
    "sequence-count --per-document",
    "ranked-inverted-index",
    "tfidf",
    "cooccurrence",
    "collocations",
];

/// The new build may take so many times as long.
const MOST: f64 = 1.02;

/// Two builds of the command on the same archives, in turns
#[derive(Debug, Args)]
pub struct Versions {
    /// Archives
    #[arg(required = true)]
    archives: Vec<PathBuf>,

    /// The build to compare with
    #[arg(long, value_name = "FILE")]
    old: PathBuf,

    /// The build that is measured; by default, that of this checkout
    #[arg(long, value_name = "FILE")]
    new: Option<PathBuf>,

    /// Threads of both
    #[arg(long, default_value_t = 2)]
    threads: usize,

    /// How often each is measured
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Ask only these, such as 'sequence-count --per-document'
    #[arg(long, value_name = "QUESTION")]
    only: Vec<String>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

/// All that was measured.
#[derive(Debug, Serialize)]
struct VersionsRun {
    date: String,
    command: String,
    machine: Machine,
    threads: usize,
    rows: Vec<Row>,
    bars: Vec<Bar>,
}

/// A question on an archive.
#[derive(Debug, Serialize)]
struct Row {
    archive: String,
    question: String,
    /// Old and new; nothing of a build that failed.
    builds: [Option<Measurement>; 2],
}

impl Row {
    /// How many times as fast the new build is.
    fn speed(&self) -> Option<f64> {
        let [old, new] = self.builds;
        Some(old?.seconds / new?.seconds)
    }
}

impl Versions {
    /// Measures all, and prints the tables.
    pub fn run(self) -> Result<()> {
        let new = match &self.new {
            Some(new) => new.clone(),
            None => paths::tadoc()?,
        };
        let questions: Vec<&str> = match self.only.is_empty() {
            true => QUESTIONS.to_vec(),
            false => self.only.iter().map(String::as_str).collect(),
        };
        let mut rows = Vec::new();
        for archive in &self.archives {
            let name = archive.file_stem().context("an archive has a name")?.to_string_lossy();
            for question in &questions {
                eprintln!("{name}: {question}");
                let mut row = Row {
                    archive: name.to_string(),
                    question: question.to_string(),
                    builds: [None; 2],
                };
                for _ in 0..self.rounds {
                    for (best, build) in row.builds.iter_mut().zip([&self.old, &new]) {
                        let job = Job::new(build)
                            .args(question.split(' '))
                            .arg(archive)
                            .args(["--format", "tsv", "-o", "/dev/null", "--threads"])
                            .arg(self.threads.to_string());
                        // A build that cannot answer is a result, too.
                        let Ok(measured) = job.measure() else { continue };
                        let least = best.get_or_insert(measured);
                        least.seconds = least.seconds.min(measured.seconds);
                        least.user_seconds = least.user_seconds.min(measured.user_seconds);
                        least.peak_bytes = least.peak_bytes.max(measured.peak_bytes);
                        least.anonymous_bytes = least.anonymous_bytes.max(measured.anonymous_bytes);
                    }
                }
                rows.push(row);
            }
        }
        let bars = questions.iter().filter_map(|question| bar(question, &rows)).collect();
        let run = VersionsRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            threads: self.threads,
            rows,
            bars,
        };
        println!("{}\n{}", table(&run.rows).text(), render::bars(&run.bars).text());
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "versions", &markdown(&run), &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }
}

/// The time of a question over all archives, the old build's being 1.
fn bar(question: &str, rows: &[Row]) -> Option<Bar> {
    let of_question = rows.iter().filter(|row| row.question == question);
    let times: Vec<f64> = of_question.filter_map(Row::speed).map(|speed| 1.0 / speed).collect();
    Some(Bar::at_most(&format!("{question}: time, new / old"), geometric_mean(&times)?, MOST))
}

fn table(rows: &[Row]) -> Table {
    let headings = [
        "archive",
        "question",
        "old s",
        "new s",
        "speed",
        "old CPU s",
        "new CPU s",
        "old MiB",
        "new MiB",
    ];
    let mut table = Table::new(headings);
    for row in rows {
        let [old, new] = row.builds;
        let cell = |of: Option<Measurement>, value: fn(&Measurement) -> f64, places: usize| {
            of.map_or("failed".to_owned(), |of| format!("{:.places$}", value(&of)))
        };
        let memory = |of: &Measurement| of.anonymous_bytes as f64 / MIB;
        table.row([
            row.archive.clone(),
            row.question.clone(),
            cell(old, |of| of.seconds, 3),
            cell(new, |of| of.seconds, 3),
            row.speed().map_or("-".to_owned(), |speed| format!("{speed:.2}x")),
            cell(old, |of| of.user_seconds, 2),
            cell(new, |of| of.user_seconds, 2),
            cell(old, memory, 0),
            cell(new, memory, 0),
        ]);
    }
    table
}

fn markdown(run: &VersionsRun) -> String {
    format!(
        "# Two builds, {}\n\n{}\n{} threads; the least wall time of each, and the most memory of the \
         process's own (RssAnon).\n\n{}\n{}",
        run.date,
        render::machine(&run.machine, &run.command),
        run.threads,
        table(&run.rows).markdown(),
        render::bars(&run.bars).markdown(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(question: &str, seconds: [Option<f64>; 2]) -> Row {
        let measured = |seconds| Measurement {
            seconds,
            user_seconds: seconds,
            peak_bytes: 1 << 21,
            anonymous_bytes: 1 << 20,
        };
        let builds = seconds.map(|seconds| seconds.map(measured));
        Row { archive: "a".into(), question: question.into(), builds }
    }

    #[test]
    fn bars_are_geometric_means_of_builds_that_both_answered() {
        let rows = [
            row("sort", [Some(1.0), Some(2.0)]),
            row("sort", [Some(8.0), Some(1.0)]),
            row("sort", [None, Some(1.0)]),
            row("tfidf", [None, Some(1.0)]),
        ];
        let bar = bar("sort", &rows).unwrap();
        assert_eq!(bar, Bar::at_most("sort: time, new / old", 0.5, MOST));
        assert!(super::bar("tfidf", &rows).is_none());
        let text = table(&rows).text();
        assert!(text.contains("failed") && text.contains("8.00x"), "{text}");
    }
}
