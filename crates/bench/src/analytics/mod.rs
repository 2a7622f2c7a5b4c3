//! `cargo xtask bench analytics`: the six tasks on archives beside the same tasks on plain text.
//!
//! Four contenders answer each task on each corpus, with the same number of threads: (a) a loaded archive, (b) the
//! command from the archive's file, (c) the plain-text program on text in memory, (d) zstd piped into it. (a)
//! and (c) take turns in this process, (b) and (d) as processes. More can be asked for: a stored view (b') is
//! measured where `tadoc` stores one, DuckDB where it is installed; `--strategies` measures both ways through the
//! grammar, `--check` compares the rows byte by byte.
//!
//! `--commands-only` measures (b) and (d) alone, which needs no loaded archive and no text in memory.
//!
//! `turns` interleaves, `prepare` makes the files, `inside` and `outside` measure, `limit` says what memory allows, `check` and
//! `oracle` compare rows; `result`, `bars` and `render` are the figures, the promises and the tables.

mod bars;
pub mod check;
pub mod inside;
mod limit;
mod oracle;
mod outside;
pub mod prepare;
mod render;
mod result;
pub mod turns;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use self::inside::{Inside, Loaded};
use self::outside::{DuckDb, Outside};
use self::prepare::{Files, Needs, Preparation};
use self::result::{AnalyticsRun, CheckResult, CorpusResult, InsideResult, TaskResult};
use crate::corpus::Corpus;
use crate::machine::{self, Machine};
use crate::source::{self, Source};
use crate::task::TaskName;
use crate::{paths, run, units};

/// The six tasks on archives beside the same tasks on plain text
///
/// Each task is answered by (a) a loaded archive, (b) the tadoc command from the file, (c) the best
/// plain-text program on text in memory and (d) zstd -dc piped into that program; in turns, on the same number of
/// threads.
#[derive(Debug, Args)]
pub struct Analytics {
    /// Folders, each a corpus, or small, medium or large for all that `cargo xtask corpus` made of
    /// that name; or archives, whose text is restored [default: medium]
    #[arg(value_name = "CORPUS")]
    corpora: Vec<PathBuf>,

    /// The tasks [default: all six]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TASK,…")]
    tasks: Vec<TaskName>,

    /// Threads on both sides [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// How often each contender answers; more often where answers take little time
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Measure (b) and (d) alone, which is quick: no loaded archive, no stored view, no text in memory
    #[arg(long, conflicts_with_all = ["strategies", "duckdb", "no_times"])]
    commands_only: bool,

    /// Measure both strategies and what auto chooses
    #[arg(long)]
    strategies: bool,

    /// Compare the rows of tadoc with those of the plain-text program, byte by byte
    #[arg(long)]
    check: bool,

    /// Compare them with those of the oracle too, which is slow and holds every key in memory
    #[arg(long)]
    oracle: bool,

    /// Do not measure the contenders: for --strategies, --check and --oracle alone
    #[arg(long)]
    no_times: bool,

    /// Measure DuckDB too, once each; the package must be in target/venv
    #[arg(long)]
    duckdb: bool,

    /// The command to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    tadoc: Option<PathBuf>,

    /// A folder of archives that are made already, NAME.tdc for the corpus NAME
    #[arg(long, value_name = "DIR")]
    archives: Option<PathBuf>,

    /// A folder of compressed tars that are made already, NAME.tar.zst for the corpus NAME
    #[arg(long, value_name = "DIR")]
    tars: Option<PathBuf>,

    /// Level of zstd for tars that are not made already; lower ones are for a quick look
    #[arg(long, value_name = "LEVEL", default_value_t = 19, value_parser = clap::value_parser!(u8).range(1..=19))]
    zstd_level: u8,

    /// Write the figures as JSON to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

impl Analytics {
    pub fn run(self) -> Result<()> {
        if self.no_times && !(self.strategies || self.check || self.oracle) {
            bail!("--no-times leaves nothing to do without --strategies, --check or --oracle");
        }
        let tadoc = match &self.tadoc {
            Some(tadoc) => tadoc.clone(),
            None => paths::tadoc()?,
        };
        let sources = source::find(&self.corpora, &tadoc)?;
        let preparation = Preparation {
            tadoc,
            archives: self.archives.clone(),
            tars: self.tars.clone(),
            zstd_level: self.zstd_level,
            ..Preparation::default()
        }
        .of(&sources);
        let threads = match self.threads {
            Some(threads) => threads.get(),
            None => std::thread::available_parallelism()?.get(),
        };
        let duckdb = if self.duckdb { DuckDb::find() } else { None };
        let load = machine::load();
        let bandwidth = (!self.commands_only).then(|| limit::bandwidth(threads)).transpose()?;
        let needs = Needs {
            tar: !self.no_times,
            viewed: !self.commands_only,
            text: !self.commands_only || self.check || self.oracle,
        };
        let mut corpora = Vec::new();
        for Source { corpus, .. } in sources {
            let files = preparation.make(&corpus, needs)?;
            let setting = Setting {
                arguments: &self,
                tadoc: &preparation.tadoc,
                corpus: &corpus,
                files: &files,
                threads,
            };
            let result = setting.measure(duckdb.as_ref())?;
            println!("{}", render::corpus(&result, bandwidth));
            corpora.push(result);
        }
        let run = AnalyticsRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            threads,
            load,
            bandwidth,
            medians: result::medians(&corpora),
            bars: bars::check(&corpora),
            corpora,
        };
        print!("{}", render::ending(&run));
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&run)? + "\n";
            fs::write(path, json).with_context(|| format!("writing {}", path.display()))?;
        }
        if self.write {
            let text = render::markdown(&run);
            let path = run::write(&paths::runs(), &run.date, "analytics", &text, &run)?;
            println!("\nwritten to {}", path.display());
        }
        let mut checks = run.corpora.iter().flat_map(|corpus| &corpus.checks);
        if checks.any(|check| check.difference.is_some()) {
            bail!("answers differ");
        }
        Ok(())
    }

    fn tasks(&self) -> Vec<TaskName> {
        let chosen = |task: &TaskName| self.tasks.is_empty() || self.tasks.contains(task);
        TaskName::ALL.into_iter().filter(chosen).collect()
    }
}

/// A corpus that is to be measured.
struct Setting<'s> {
    arguments: &'s Analytics,
    tadoc: &'s Path,
    corpus: &'s Corpus,
    files: &'s Files,
    threads: usize,
}

impl Setting<'_> {
    fn measure(&self, duckdb: Option<&DuckDb>) -> Result<CorpusResult> {
        let Self { arguments, corpus, files, threads, .. } = *self;
        let tasks = arguments.tasks();
        let rounds = arguments.rounds as usize;
        let text = (!arguments.no_times).then_some(corpus.folder.as_path());
        let loaded = (!arguments.commands_only)
            .then(|| Loaded::open(&files.archive, text, threads))
            .transpose()?;
        let mut result = CorpusResult {
            name: corpus.name.clone(),
            files: corpus.files.len(),
            text_bytes: corpus.bytes(),
            archive_bytes: length(&files.archive)?,
            tar_bytes: files.tar.as_deref().map(length).transpose()?,
            view: loaded.as_ref().map(Loaded::view),
            tasks: Vec::new(),
            strategies: Vec::new(),
            checks: Vec::new(),
        };
        if !arguments.no_times {
            for &task in &tasks {
                eprintln!("{}: {}", corpus.name, task.name());
                result.tasks.push(self.times(loaded.as_ref(), task, duckdb)?);
            }
        }
        if let (true, Some(loaded)) = (arguments.strategies, &loaded) {
            for &task in &tasks {
                eprintln!("{}: strategies of {}", corpus.name, task.name());
                result.strategies.push(loaded.strategies(task, rounds)?);
            }
        }
        // Memory is given back before programs run that need much.
        drop(loaded);
        result.checks = self.checks(&tasks)?;
        Ok(result)
    }

    fn times(
        &self,
        loaded: Option<&Loaded>,
        task: TaskName,
        duckdb: Option<&DuckDb>,
    ) -> Result<TaskResult> {
        let rounds = self.arguments.rounds as usize;
        let inside = |loaded: &Loaded| -> Result<_> {
            let Inside { rows, first_seconds, archive, text } = loaded.compare(task, rounds)?;
            let limit = loaded.limit(task, rows)?;
            Ok(InsideResult { rows, first_seconds, archive, text, limit })
        };
        let inside = loaded.map(inside).transpose()?;
        let Outside { command, viewed, pipeline } =
            outside::compare(self.tadoc, self.files, task, self.threads, rounds)?;
        Ok(TaskResult {
            task,
            inside,
            command,
            viewed,
            pipeline,
            duckdb: duckdb.and_then(|duckdb| duckdb.ask(self.corpus, task, self.threads)),
        })
    }

    fn checks(&self, tasks: &[TaskName]) -> Result<Vec<CheckResult>> {
        let Self { arguments, tadoc, corpus, files, threads } = *self;
        let mut checks = Vec::new();
        for &task in tasks {
            if arguments.check {
                eprintln!("{}: checking {}", corpus.name, task.name());
                checks.push(check::with_rival(tadoc, &files.archive, corpus, task, threads)?);
            }
            if arguments.oracle {
                eprintln!("{}: asking the oracle for {}", corpus.name, task.name());
                checks.push(check::with_oracle(tadoc, &files.archive, corpus, task, threads)?);
            }
        }
        Ok(checks)
    }
}

fn length(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        analytics: Analytics,
    }

    fn parse(line: &str) -> Analytics {
        Line::try_parse_from(line.split(' ')).unwrap().analytics
    }

    #[test]
    fn tasks_are_chosen_by_name_and_stay_in_order() {
        assert_eq!(parse("analytics").tasks(), TaskName::ALL);
        let some = parse("analytics web --tasks term-vector,sort");
        assert_eq!(some.tasks(), [TaskName::Sort, TaskName::TermVector]);
        assert_eq!(some.corpora, [PathBuf::from("web")]);
        assert!(Line::try_parse_from(["analytics", "--tasks", "grep"]).is_err());
    }

    #[test]
    fn commands_alone_cannot_have_what_needs_a_loaded_archive() {
        assert!(parse("analytics a.tdc --commands-only --check").commands_only);
        for wrong in ["--strategies", "--no-times", "--duckdb"] {
            assert!(Line::try_parse_from(["analytics", "--commands-only", wrong]).is_err());
        }
    }

    #[test]
    fn something_must_be_left_to_do() {
        let error = parse("analytics --no-times").run().unwrap_err();
        assert!(error.to_string().contains("leaves nothing to do"), "{error}");
    }
}
