//! `cargo xtask bench loading`: archives of two builds, each loaded by the build that made it.
//!
//! `load` of both builds' harness does what a query does before it can answer: it decodes every grammar and opens
//! every dictionary. They take turns, as processes; the least of the times counts, as noise only adds to it.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::bars::{Bar, LEAST_BYTES};
use crate::contenders::Level;
use crate::corpus::{self, Corpus};
use crate::machine::{self, Machine};
use crate::measure::Job;
use crate::table::Table;
use crate::units::{self, MB};
use crate::{paths, render, run};

/// How many times as fast dense archives are loaded at least, on so many threads.
const LEAST: [(usize, f64); 2] = [(2, 4.0), (16, 16.0)];

/// Loading archives of two builds, in turns
///
/// Each build compresses the corpora, or has archives that are made already, and loads its own with `tadoc-bench load`.
#[derive(Debug, Args)]
pub struct Loading {
    /// Folders, each a corpus, or small, medium or large for all that `cargo xtask corpus` made of
    /// that name [default: medium, or all archives that both builds have]
    #[arg(value_name = "CORPUS")]
    corpora: Vec<PathBuf>,

    /// A folder with tadoc and tadoc-bench of the build to compare with, such as its target/release
    #[arg(long, value_name = "DIR")]
    old: PathBuf,

    /// A folder of archives that the old build has made, NAME.tdc for the corpus NAME
    #[arg(long, value_name = "DIR", requires = "archives", conflicts_with = "corpora")]
    old_archives: Option<PathBuf>,

    /// A folder of archives that this build has made
    #[arg(long, value_name = "DIR", requires = "old_archives")]
    archives: Option<PathBuf>,

    /// Level of the archives that are made
    #[arg(long, value_enum, default_value = "dense")]
    level: Level,

    /// Numbers of threads [default: one for each core]
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    threads: Vec<NonZeroUsize>,

    /// How often each is loaded
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Write the figures as JSON to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

/// All that was measured.
#[derive(Debug, Serialize)]
struct LoadingRun {
    date: String,
    command: String,
    machine: Machine,
    load: Option<f64>,
    rows: Vec<Row>,
    bars: Vec<Bar>,
}

/// A corpus on so many threads: figures of the old build and of the new one.
#[derive(Debug, Clone, Serialize)]
struct Row {
    corpus: String,
    text_bytes: u64,
    threads: usize,
    archive_bytes: [u64; 2],
    seconds: [f64; 2],
    peak_bytes: [u64; 2],
}

impl Row {
    /// How many times as fast the new build is.
    fn speed(&self) -> f64 {
        self.seconds[0] / self.seconds[1]
    }
}

/// The archives of a corpus, of the old build and of the new one.
struct Pair {
    name: String,
    archives: [PathBuf; 2],
}

impl Loading {
    pub fn run(self) -> Result<()> {
        let this = std::env::current_exe().context("finding this program")?;
        let benches = [self.old.join("tadoc-bench"), this];
        if !benches[0].exists() {
            bail!(
                "{} is missing: `cargo build --release -p tadoc-bench` there",
                benches[0].display()
            );
        }
        let threads: Vec<usize> = match self.threads.is_empty() {
            true => vec![std::thread::available_parallelism()?.get()],
            false => self.threads.iter().map(|threads| threads.get()).collect(),
        };
        let load = machine::load();
        let mut rows = Vec::new();
        for pair in self.pairs()? {
            for &threads in &threads {
                eprintln!("{}: {threads} threads", pair.name);
                rows.push(self.measure(&pair, &benches, threads)?);
            }
        }
        let run = LoadingRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            load,
            bars: match self.level {
                Level::Dense => bars(&rows),
                Level::Fast => Vec::new(),
            },
            rows,
        };
        println!("{}\n{}", table(&run.rows).text(), render::bars(&run.bars).text());
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&run)? + "\n";
            fs::write(path, json).with_context(|| format!("writing {}", path.display()))?;
        }
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "loading", &markdown(&run), &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }

    /// The archives that are there, or those that both builds make of the corpora.
    fn pairs(&self) -> Result<Vec<Pair>> {
        if let (Some(old), Some(new)) = (&self.old_archives, &self.archives) {
            return ready_made(old, new);
        }
        let work = [paths::work("loading/old")?, paths::work("loading/new")?];
        let commands = [self.old.join("tadoc"), paths::tadoc()?];
        let mut pairs = Vec::new();
        for folder in corpus::find(&self.corpora, &paths::corpora())? {
            let corpus = Corpus::open(&folder)?;
            eprintln!("{}: compressing", corpus.name);
            let archives = work.clone().map(|work| work.join(format!("{}.tdc", corpus.name)));
            for (tadoc, archive) in commands.iter().zip(&archives) {
                let job = Job::new(tadoc)
                    .args(["compress", "--quiet", "--force", "--level", self.level.name()])
                    .arg(&corpus.folder);
                job.arg("-o").arg(archive).measure()?;
            }
            pairs.push(Pair { name: corpus.name, archives });
        }
        Ok(pairs)
    }

    fn measure(&self, pair: &Pair, benches: &[PathBuf; 2], threads: usize) -> Result<Row> {
        corpus::warm_up(&pair.archives)?;
        let opened = tadoc_engine::Corpus::open(&pair.archives[1])?;
        let text_bytes = opened.documents()?.iter().map(|document| document.bytes).sum();
        drop(opened);
        let mut row = Row {
            corpus: pair.name.clone(),
            text_bytes,
            threads,
            archive_bytes: [length(&pair.archives[0])?, length(&pair.archives[1])?],
            seconds: [f64::INFINITY; 2],
            peak_bytes: [0; 2],
        };
        for round in 0..self.rounds as usize {
            for turn in 0..2 {
                let build = (round + turn) % 2;
                // Older builds have no option for it.
                let job = Job::new("env").arg(format!("RAYON_NUM_THREADS={threads}"));
                let job = job.arg(&benches[build]).arg("load").arg(&pair.archives[build]);
                let measured = job.measure()?;
                row.seconds[build] = row.seconds[build].min(measured.seconds);
                row.peak_bytes[build] = row.peak_bytes[build].max(measured.peak_bytes);
            }
        }
        Ok(row)
    }
}

fn length(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(metadata.len())
}

/// The archives that two folders have of the same names, in order.
fn ready_made(old: &Path, new: &Path) -> Result<Vec<Pair>> {
    let listing = fs::read_dir(new).with_context(|| format!("listing {}", new.display()))?;
    let mut pairs = Vec::new();
    for entry in listing {
        let path = entry?.path();
        let other = path.file_name().map(|name| old.join(name)).filter(|other| other.is_file());
        let is_archive = path.extension().is_some_and(|extension| extension == "tdc");
        if let (Some(other), Some(name), true) = (other, path.file_stem(), is_archive) {
            let name = name.to_string_lossy().into_owned();
            pairs.push(Pair { name, archives: [other, path] });
        }
    }
    if pairs.is_empty() {
        bail!("{} and {} have no archives of the same names", old.display(), new.display());
    }
    pairs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(pairs)
}

/// Checks the promises on each number of threads that has one: on each corpus, so where it is least.
fn bars(rows: &[Row]) -> Vec<Bar> {
    let bars = LEAST.into_iter().filter_map(|(threads, least)| {
        let counting =
            rows.iter().filter(|row| row.threads == threads && row.text_bytes >= LEAST_BYTES);
        let slowest = counting.min_by(|one, other| one.speed().total_cmp(&other.speed()))?;
        let what = format!("dense: loading on {threads} threads, lowest ({})", slowest.corpus);
        Some(Bar::at_least(&what, slowest.speed(), least))
    });
    bars.collect()
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "corpus",
        "text MB",
        "threads",
        "old MB",
        "new MB",
        "old ms",
        "new ms",
        "speed",
        "old peak MB",
        "new peak MB",
    ]);
    for row in rows {
        let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / MB);
        table.row([
            row.corpus.clone(),
            megabytes(row.text_bytes),
            row.threads.to_string(),
            megabytes(row.archive_bytes[0]),
            megabytes(row.archive_bytes[1]),
            format!("{:.1}", row.seconds[0] * 1e3),
            format!("{:.1}", row.seconds[1] * 1e3),
            format!("{:.2}x", row.speed()),
            megabytes(row.peak_bytes[0]),
            megabytes(row.peak_bytes[1]),
        ]);
    }
    table
}

fn markdown(run: &LoadingRun) -> String {
    let load = run.load.map(|load| format!("- load of the machine before: {load:.2}\n"));
    format!(
        "# Loading, {}\n\n{}{}\nArchives of two builds, each loaded by its own (`tadoc-bench load`): every grammar \
         decoded, every dictionary opened. Whole processes in turns, from files in the page cache; the least wall \
         times.\n\n{}\n## Promises\n\n{}",
        run.date,
        render::machine(&run.machine, &run.command),
        load.unwrap_or_default(),
        table(&run.rows).markdown(),
        render::bars(&run.bars).markdown(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(corpus: &str, threads: usize, seconds: [f64; 2]) -> Row {
        Row {
            corpus: corpus.into(),
            text_bytes: LEAST_BYTES,
            threads,
            archive_bytes: [1_200_000, 1_000_000],
            seconds,
            peak_bytes: [1, 2],
        }
    }

    #[test]
    fn each_corpus_and_number_of_threads_counts() {
        let rows = [
            row("web", 2, [4.0, 1.0]),
            row("logs", 2, [9.0, 1.0]),
            row("web", 16, [16.0, 1.0]),
            row("logs", 16, [15.0, 1.0]),
            row("logs", 4, [1.0, 1.0]),
        ];
        let bars = bars(&rows);
        let told: Vec<_> = bars.iter().map(|bar| (&bar.what[..], bar.met)).collect();
        let expected = [
            ("dense: loading on 2 threads, lowest (web)", true),
            ("dense: loading on 16 threads, lowest (logs)", false),
        ];
        assert_eq!(told, expected);
        assert!(table(&rows).text().contains("16.00x"));
    }

    #[test]
    fn archives_of_both_builds_are_found() {
        let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (folder, name) in [(&old, "a.tdc"), (&new, "a.tdc"), (&new, "b.tdc"), (&old, "c.tdc")] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let pairs = ready_made(old.path(), new.path()).unwrap();
        let names: Vec<_> = pairs.iter().map(|pair| &pair.name[..]).collect();
        assert_eq!(names, ["a"]);
        assert_eq!(pairs[0].archives, [old.path().join("a.tdc"), new.path().join("a.tdc")]);
        assert!(ready_made(old.path(), &old.path().join("none")).is_err());
    }
}
