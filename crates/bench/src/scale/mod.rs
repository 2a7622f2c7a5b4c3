//! `cargo xtask bench scale`: whether time grows with the length alone, and memory stays in its bounds.
//!
//! Texts of several lengths are made of the same part of every folder, and each is compressed, with the memory that tadoc
//! takes by itself and with `--memory`, loaded, and asked the six tasks, as whole processes; of each the least wall time
//! counts, as noise only adds to it. `result` has the figures, the promises and the table.

mod result;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use self::result::{Row, ScaleRun, Step, bars, markdown, table};
use crate::contenders::Level;
use crate::corpus::{self, Corpus};
use crate::machine::{self, Machine};
use crate::measure::Job;
use crate::task::TaskName;
use crate::threads::task_job;
use crate::units::{self, MB, parse_size};
use crate::{paths, render, run};

/// Time per MB of compressing, loading and the six tasks on ever longer texts, and memory under a budget
///
/// A text is made of the same part of every folder. It is compressed with the memory that tadoc takes by itself and
/// with --memory; the archive is loaded and asked each task.
#[derive(Debug, Args)]
pub struct Scale {
    /// Folders of text, as long together as the longest text; or small, medium or large for all that
    /// `cargo xtask corpus` made of that name
    #[arg(long, value_name = "DIR|NAME", num_args = 1.., required = true)]
    corpus: Vec<PathBuf>,

    /// Lengths of the texts, two or more
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "SIZE,…", value_parser = parse_size, default_values = ["100MB", "1GB"])]
    sizes: Vec<u64>,

    /// The budget
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GiB")]
    memory: u64,

    /// Level of tadoc
    #[arg(long, value_enum, default_value = "fast")]
    level: Level,

    /// The tasks [default: all six]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TASK,…")]
    tasks: Vec<TaskName>,

    /// Measure compressing alone
    #[arg(long, conflicts_with = "tasks")]
    compress_only: bool,

    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,

    /// How often each is measured
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Write the figures as JSON to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

impl Scale {
    pub fn run(self) -> Result<()> {
        if self.sizes.len() < 2 || !self.sizes.is_sorted_by(|one, other| one < other) {
            bail!("--sizes are two or more, each longer than the one before");
        }
        let corpora = corpus::find(&self.corpus, &paths::corpora())?;
        let corpora: Vec<Corpus> =
            corpora.iter().map(|folder| Corpus::open(folder)).collect::<Result<_>>()?;
        let total: u64 = corpora.iter().map(Corpus::bytes).sum();
        let longest = self.sizes[self.sizes.len() - 1];
        if total < longest {
            bail!(
                "there are {:.0} MB of text, fewer than the {:.0} MB to measure; `cargo xtask corpus large` \
                 makes longer ones",
                total as f64 / MB,
                longest as f64 / MB
            );
        }
        let work = paths::work("scale")?;
        let load = machine::load();
        let mut parts = Vec::new();
        for (number, &bytes) in self.sizes.iter().enumerate() {
            parts.push(Corpus::part_of_all(&corpora, bytes, &work.join(format!("text-{number}")))?);
        }
        let rows = self.measure(&parts, &work)?;
        fs::remove_dir_all(&work)?;
        let run = ScaleRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            load,
            corpora: corpora.into_iter().map(|corpus| corpus.name).collect(),
            level: self.level.name(),
            threads: self.threads(),
            bars: bars(&rows),
            rows,
        };
        println!("{}\n{}", table(&run.rows).text(), render::bars(&run.bars).text());
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&run)? + "\n";
            fs::write(path, json).with_context(|| format!("writing {}", path.display()))?;
        }
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "scale", &markdown(&run), &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }

    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, |threads| threads as usize)
    }

    /// What is done with every text, in order: tasks and loading read what was compressed first.
    fn steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::Compress(None)];
        if !self.compress_only {
            let chosen = |task: &TaskName| self.tasks.is_empty() || self.tasks.contains(task);
            steps.push(Step::Load);
            steps.extend(TaskName::ALL.into_iter().filter(chosen).map(Step::Task));
        }
        steps.push(Step::Compress(Some(self.memory)));
        steps
    }

    /// Every step on every text, the texts in turns.
    fn measure(&self, parts: &[Corpus], work: &Path) -> Result<Vec<Row>> {
        let tadoc = paths::tadoc()?;
        let mut rows = Vec::new();
        for &step in &self.steps() {
            rows.extend(parts.iter().map(|part| Row::new(step, part.bytes())));
        }
        for _ in 0..self.runs {
            for (number, part) in parts.iter().enumerate() {
                part.warm_up(&[])?;
                for (step, row) in
                    self.steps().iter().zip(rows.iter_mut().skip(number).step_by(parts.len()))
                {
                    eprintln!("{:.0} MB: {}", part.bytes() as f64 / MB, step.name());
                    self.take(*step, &tadoc, part, work, row)?;
                }
            }
        }
        Ok(rows)
    }

    /// Measures a step once. A program that is refused its memory is a result, too.
    fn take(
        &self,
        step: Step,
        tadoc: &Path,
        part: &Corpus,
        work: &Path,
        row: &mut Row,
    ) -> Result<()> {
        if let Step::Compress(memory) = step {
            // What was made of another text shall not be read in the place of this one's.
            let _ = fs::remove_file(archive(work, memory));
        }
        match self.job(step, tadoc, part, work)?.measure() {
            Ok(measured) => row.note(&measured),
            Err(error) => {
                eprintln!("{error:#}");
                row.failed += 1;
            }
        }
        if let Step::Compress(memory) = step {
            row.archive_bytes = fs::metadata(archive(work, memory)).ok().map(|file| file.len());
        }
        Ok(())
    }

    fn job(&self, step: Step, tadoc: &Path, part: &Corpus, work: &Path) -> Result<Job> {
        let threads = self.threads();
        Ok(match step {
            Step::Compress(memory) => {
                let mut job = Job::new(tadoc)
                    .args(["compress", "--quiet", "--force", "--level", self.level.name()])
                    .args(["--threads", &threads.to_string()]);
                if let Some(memory) = memory {
                    job = job.arg("--memory").arg(memory.to_string());
                }
                job.arg(&part.folder).arg("-o").arg(archive(work, memory))
            }
            Step::Load => {
                let this = std::env::current_exe().context("finding this program")?;
                let job = Job::new("env").arg(format!("RAYON_NUM_THREADS={threads}")).arg(this);
                job.arg("load").arg(archive(work, None))
            }
            Step::Task(task) => task_job(tadoc, task, &archive(work, None), threads),
        })
    }
}

/// Where archives are made: under the budget, or as tadoc does by itself.
fn archive(work: &Path, memory: Option<u64>) -> PathBuf {
    work.join(if memory.is_some() { "budget.tdc" } else { "scale.tdc" })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        scale: Scale,
    }

    fn parse(line: &str) -> Scale {
        Line::try_parse_from(line.split(' ')).unwrap().scale
    }

    #[test]
    fn sizes_are_given_in_either_way() {
        let sizes = |line: &str| parse(line).sizes;
        assert_eq!(sizes("scale --corpus a b"), [100_000_000, 1_000_000_000]);
        assert_eq!(sizes("scale --corpus a --sizes 1GB,10GB"), [1_000_000_000, 10_000_000_000]);
        assert_eq!(sizes("scale --sizes 1MB 2MB 3MB --corpus a").len(), 3);
        let error = parse("scale --corpus a --sizes 2MB,1MB").run().unwrap_err();
        assert!(error.to_string().contains("longer than the one before"), "{error}");
    }

    #[test]
    fn steps_are_those_asked_for() {
        let names = |line: &str| -> Vec<String> {
            parse(line).steps().into_iter().map(|step| step.name()).collect()
        };
        assert_eq!(names("scale --corpus a").len(), 9);
        let some = names("scale --corpus a --tasks sort");
        assert_eq!(some, ["compress", "load", "sort", "compress --memory 1024 MiB"]);
        assert_eq!(names("scale --corpus a --compress-only").len(), 2);
    }
}
