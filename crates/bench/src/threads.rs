//! `cargo xtask bench threads`: how much faster whole commands are on more threads.
//!
//! The six tasks from the archive's file to rows, and compressing the folder, as processes: each on every number of
//! threads, in turns. Of each the least wall time counts, as noise only adds to it.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::analytics::prepare::{Needs, Preparation};
use crate::bars::{Bar, LEAST_BYTES};
use crate::corpus::Corpus;
use crate::machine::{self, Machine};
use crate::measure::{Job, Measurement};
use crate::source::{self, Source};
use crate::table::Table;
use crate::task::TaskName;
use crate::units::{MB, MIB};
use crate::{paths, render, run, units};

/// The promises are about so many threads beside one: what is measured, by how much it is faster at least, and on how
/// much text.
const PROMISED: usize = 16;
const LEAST: [(&str, f64, u64); 3] = [
    ("word-count", 5.0, LEAST_BYTES),
    ("inverted-index", 8.0, LEAST_BYTES),
    (COMPRESS, 7.0, 300_000_000),
];

/// As tables have it.
const COMPRESS: &str = "compress";

/// Whole commands on one thread and on more
///
/// Each task from the archive's file to rows, and compressing the folder, on each number of threads in
/// turns; the least of the times counts.
#[derive(Debug, Args)]
pub struct Threads {
    /// Folders, each a corpus, or small, medium or large for all that `cargo xtask corpus` made of
    /// that name; or archives, whose text is restored to be compressed [default: medium]
    #[arg(value_name = "CORPUS|ARCHIVE")]
    corpora: Vec<PathBuf>,

    /// Numbers of threads, such as 1,2,4,8,16 [default: 1 and one for each core]
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    threads: Vec<NonZeroUsize>,

    /// The tasks [default: all six]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TASK,…")]
    tasks: Vec<TaskName>,

    /// Do not measure compressing
    #[arg(long)]
    no_compress: bool,

    /// Measure compressing alone
    #[arg(long, conflicts_with_all = ["tasks", "no_compress"])]
    compress_only: bool,

    /// How often each is measured
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// The command to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    tadoc: Option<PathBuf>,

    /// A folder of archives that are made already, NAME.tdc for the corpus NAME
    #[arg(long, value_name = "DIR")]
    archives: Option<PathBuf>,

    /// Write the figures as JSON to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

/// All that was measured.
#[derive(Debug, Serialize)]
struct ThreadsRun {
    date: String,
    command: String,
    machine: Machine,
    load: Option<f64>,
    rounds: u32,
    rows: Vec<Row>,
    bars: Vec<Bar>,
}

/// A command on a corpus.
#[derive(Debug, Clone, Serialize)]
struct Row {
    corpus: String,
    text_bytes: u64,
    /// A task, or compressing.
    what: &'static str,
    times: Vec<Times>,
}

/// A command on so many threads.
#[derive(Debug, Clone, Serialize)]
struct Times {
    threads: usize,
    seconds: f64,
    all_seconds: Vec<f64>,
    user_seconds: f64,
    peak_bytes: u64,
}

impl Row {
    fn on(&self, threads: usize) -> Option<&Times> {
        self.times.iter().find(|times| times.threads == threads)
    }

    /// How many times as fast as on one thread.
    fn speed(&self, threads: usize) -> Option<f64> {
        Some(self.on(1)?.seconds / self.on(threads)?.seconds)
    }
}

impl Times {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            seconds: f64::INFINITY,
            all_seconds: Vec::new(),
            user_seconds: f64::INFINITY,
            peak_bytes: 0,
        }
    }

    fn note(&mut self, measured: &Measurement) {
        self.all_seconds.push(measured.seconds);
        self.seconds = self.seconds.min(measured.seconds);
        self.user_seconds = self.user_seconds.min(measured.user_seconds);
        self.peak_bytes = self.peak_bytes.max(measured.peak_bytes);
    }
}

impl Threads {
    pub fn run(self) -> Result<()> {
        let threads = self.numbers(std::thread::available_parallelism()?.get());
        if threads.len() < 2 {
            bail!("one number of threads leaves nothing to compare with; say which with --threads");
        }
        let tadoc = match &self.tadoc {
            Some(tadoc) => tadoc.clone(),
            None => paths::tadoc()?,
        };
        let sources = source::find(&self.corpora, &tadoc)?;
        let preparation = Preparation {
            tadoc: tadoc.clone(),
            archives: self.archives.clone(),
            ..Preparation::default()
        }
        .of(&sources);
        let load = machine::load();
        let mut rows = Vec::new();
        for Source { corpus, .. } in sources {
            let before = rows.len();
            if !self.compress_only {
                let needs = Needs { tar: false, viewed: false, text: false };
                let archive = preparation.make(&corpus, needs)?.archive;
                for task in self.tasks() {
                    let job = |threads: usize| task_job(&tadoc, task, &archive, threads);
                    rows.push(self.measure(&corpus, task.name(), &threads, job)?);
                }
            }
            if !self.no_compress {
                corpus.warm_up(&[])?;
                let output = paths::work("threads")?.join("compressed.tdc");
                let job = |threads: usize| compress_job(&tadoc, &corpus, &output, threads);
                rows.push(self.measure(&corpus, COMPRESS, &threads, job)?);
                fs::remove_file(&output)?;
            }
            println!("{}", table(&rows[before..]).text());
        }
        let run = ThreadsRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            load,
            rounds: self.rounds,
            bars: bars(&rows),
            rows,
        };
        print!("{}", ending(&run.bars));
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&run)? + "\n";
            fs::write(path, json).with_context(|| format!("writing {}", path.display()))?;
        }
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "threads", &markdown(&run), &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }

    fn tasks(&self) -> impl Iterator<Item = TaskName> {
        let chosen = |task: &TaskName| self.tasks.is_empty() || self.tasks.contains(task);
        TaskName::ALL.into_iter().filter(chosen)
    }

    /// One and those asked for, or one and all cores; in order.
    fn numbers(&self, cores: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = match self.threads.is_empty() {
            true => vec![cores],
            false => self.threads.iter().map(|threads| threads.get()).collect(),
        };
        numbers.push(1);
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// A command on each number of threads, in turns; another one begins in every round.
    fn measure(
        &self,
        corpus: &Corpus,
        what: &'static str,
        threads: &[usize],
        job: impl Fn(usize) -> Job,
    ) -> Result<Row> {
        eprintln!("{}: {what}", corpus.name);
        let mut times: Vec<Times> = threads.iter().map(|&threads| Times::new(threads)).collect();
        for round in 0..self.rounds as usize {
            for turn in 0..times.len() {
                let index = (round + turn) % threads.len();
                times[index].note(&job(threads[index]).measure()?);
            }
        }
        Ok(Row { corpus: corpus.name.clone(), text_bytes: corpus.bytes(), what, times })
    }
}

/// A task from the archive's file to rows.
pub fn task_job(tadoc: &Path, task: TaskName, archive: &Path, threads: usize) -> Job {
    Job::new(tadoc)
        .arg(task.name())
        .arg(archive)
        .args(["--format", "tsv", "-o", "/dev/null", "--threads"])
        .arg(threads.to_string())
}

fn compress_job(tadoc: &Path, corpus: &Corpus, output: &Path, threads: usize) -> Job {
    Job::new(tadoc)
        .args(["compress", "--quiet", "--force", "--threads", &threads.to_string()])
        .arg(&corpus.folder)
        .arg("-o")
        .arg(output)
}

/// Checks the promises, where so many threads were measured: on each corpus, so where it is slowest.
fn bars(rows: &[Row]) -> Vec<Bar> {
    let bars = LEAST.into_iter().filter_map(|(what, least, bytes)| {
        let counting = rows.iter().filter(|row| row.what == what && row.text_bytes >= bytes);
        let speeds = counting.filter_map(|row| Some((row.speed(PROMISED)?, &row.corpus)));
        let (found, corpus) = speeds.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let what = format!("{what}: from 1 to {PROMISED} threads, lowest ({corpus})");
        Some(Bar::at_least(&what, found, least))
    });
    bars.collect()
}

/// The promises; why there are none, if so.
fn ending(bars: &[Bar]) -> String {
    if bars.is_empty() {
        return format!(
            "The promises are about 1 and {PROMISED} threads on {:.0} MB, compressing on {:.0} MB: they are not \
             checked.\n",
            LEAST_BYTES as f64 / MB,
            LEAST[2].2 as f64 / MB
        );
    }
    render::bars(bars).text()
}

fn table(rows: &[Row]) -> Table {
    let numbers: Vec<usize> = match rows {
        [row, ..] => row.times.iter().map(|times| times.threads).collect(),
        [] => Vec::new(),
    };
    let mut headings = vec!["corpus and command".to_owned(), "text MB".to_owned()];
    headings.extend(numbers.iter().map(|threads| format!("ms on {threads}")));
    headings.extend(numbers.iter().skip(1).map(|threads| format!("speed on {threads}")));
    headings.push("CPU ms, least and most".to_owned());
    headings.push("peak MiB".to_owned());
    let mut table = Table::new(headings);
    for row in rows {
        let mut cells = vec![format!("{} {}", row.corpus, row.what)];
        cells.push(format!("{:.0}", row.text_bytes as f64 / MB));
        cells.extend(row.times.iter().map(|times| format!("{:.1}", times.seconds * 1e3)));
        let speeds = numbers.iter().skip(1).map(|&threads| row.speed(threads));
        cells.extend(speeds.map(|speed| speed.map_or("-".into(), |speed| format!("{speed:.2}x"))));
        let user = row.times.iter().map(|times| times.user_seconds * 1e3);
        let (least, most) = (user.clone().fold(f64::INFINITY, f64::min), user.fold(0.0, f64::max));
        cells.push(format!("{least:.0}, {most:.0}"));
        let peak = row.times.iter().map(|times| times.peak_bytes).max().unwrap_or(0);
        cells.push(format!("{:.0}", peak as f64 / MIB));
        table.row(cells);
    }
    table
}

fn markdown(run: &ThreadsRun) -> String {
    let load = run.load.map(|load| format!("- load of the machine before: {load:.2}\n"));
    format!(
        "# Threads, {}\n\n{}{}\nWhole commands: `tadoc TASK ARCHIVE --format tsv -o /dev/null` from the archive's \
         file in the page cache, sequences of 3 terms; `tadoc compress FOLDER`. Of {} each the least wall time \
         counts; speed is that on one thread divided by it.\n\n{}\n## Promises\n\n{}",
        run.date,
        render::machine(&run.machine, &run.command),
        load.unwrap_or_default(),
        units::counted(run.rounds as usize, "round", "rounds"),
        table(&run.rows).markdown(),
        if run.bars.is_empty() { ending(&[]) } else { render::bars(&run.bars).markdown() },
    )
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        threads: Threads,
    }

    fn parse(line: &str) -> Threads {
        Line::try_parse_from(line.split(' ')).unwrap().threads
    }

    fn row(corpus: &str, megabytes: u64, what: &'static str, seconds: &[(usize, f64)]) -> Row {
        let times = |&(threads, seconds)| Times {
            seconds,
            all_seconds: vec![seconds],
            user_seconds: 1.0,
            peak_bytes: 1 << 20,
            ..Times::new(threads)
        };
        let times = seconds.iter().map(times).collect();
        Row { corpus: corpus.into(), text_bytes: megabytes * 1_000_000, what, times }
    }

    #[test]
    fn one_thread_is_always_there() {
        assert_eq!(parse("threads").numbers(16), [1, 16]);
        assert_eq!(parse("threads").numbers(1), [1]);
        assert_eq!(parse("threads a.tdc --threads 8,2,2").numbers(16), [1, 2, 8]);
        assert!(Line::try_parse_from(["threads", "--threads", "0"]).is_err());
    }

    #[test]
    fn promises_are_about_sixteen_threads_and_the_slowest_corpus() {
        let rows = [
            row("web", 60, "word-count", &[(1, 1.0), (2, 0.6), (16, 0.1)]),
            row("logs", 60, "word-count", &[(1, 1.0), (2, 0.6), (16, 0.21)]),
            row("logs", 60, "inverted-index", &[(1, 8.0), (16, 1.0)]),
            row("logs", 60, "sort", &[(1, 8.0), (16, 8.0)]),
            row("logs", 60, "compress", &[(1, 8.0), (16, 8.0)]),
            row("large", 300, "compress", &[(1, 7.0), (16, 1.0)]),
            row("tiny", 1, "word-count", &[(1, 1.0), (16, 1.0)]),
        ];
        let told = bars(&rows);
        let told: Vec<_> = told.iter().map(|bar| (&bar.what[..], bar.met)).collect();
        let expected = [
            ("word-count: from 1 to 16 threads, lowest (logs)", false),
            ("inverted-index: from 1 to 16 threads, lowest (logs)", true),
            ("compress: from 1 to 16 threads, lowest (large)", true),
        ];
        assert_eq!(told, expected);
        assert_eq!(bars(&[row("web", 60, "word-count", &[(1, 1.0), (2, 0.6)])]), []);
        assert!(ending(&[]).contains("not checked"));
    }

    #[test]
    fn least_times_count() {
        let mut times = Times::new(2);
        for (seconds, peak_bytes) in [(3.0, 7), (1.0, 9), (2.0, 8)] {
            let user_seconds = 2.0 * seconds;
            times.note(&Measurement { seconds, user_seconds, peak_bytes, anonymous_bytes: 0 });
        }
        assert_eq!((times.seconds, times.user_seconds, times.peak_bytes), (1.0, 2.0, 9));
        assert_eq!(times.all_seconds.len(), 3);
    }

    #[test]
    fn tables_have_a_column_for_each_number() {
        let rows = [row("web", 60, "word-count", &[(1, 1.0), (2, 0.5), (16, 0.1)])];
        let text = table(&rows).text();
        for part in ["ms on 16", "speed on 2", "web word-count", "2.00x", "10.00x"] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
