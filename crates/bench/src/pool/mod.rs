//! `cargo xtask bench pool`: the six tasks in a pool, beside the same tasks in memory and on plain text.
//!
//! Everything is a process from its files to its rows. The pool and the plain-text program run
//! under a limit of their data (`prlimit --data`: memory of their own, which mapped files are not),
//! a share of the length of the text; where the plain-text program does not finish so, it runs
//! without one. The pool answers twice: made new by the question, which is measured beside the
//! in-memory backend that reads the archive; and made before by another question, beside the one
//! that maps a stored view. Contenders take turns; all files were read once before. Some commands
//! of random access follow ([`reads`]).

mod reads;
mod render;
mod result;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use self::result::{PoolCosts, PoolRun, TaskResult};
use crate::analytics::check::{self, CheckResult};
use crate::analytics::prepare::{Files, Needs, Preparation};
use crate::analytics::turns::take_turns;
use crate::corpus::Corpus;
use crate::machine::{self, Machine};
use crate::measure::{Job, Measurement};
use crate::task::TaskName;
use crate::{paths, run, units};

/// The six tasks in a pool, beside the in-memory backend and plain text
#[derive(Debug, Args)]
pub struct Pool {
    /// The folder that is the corpus; the promises are about at least 500 MB
    #[arg(value_name = "CORPUS")]
    corpus: PathBuf,

    /// The tasks [default: all six]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TASK,…")]
    tasks: Vec<TaskName>,

    /// How often each contender answers
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// The limit of data, in percent of the length of the text
    #[arg(long, value_name = "PERCENT", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,

    /// Compare the rows of the pool with those of the plain-text program, byte by byte
    #[arg(long)]
    check: bool,

    /// A folder of archives that are made already, NAME.tdc for the corpus NAME
    #[arg(long, value_name = "DIR")]
    archives: Option<PathBuf>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

/// What is made durable, and when, as the command names it.
const PERSIST: [&str; 3] = ["phase", "operation", "none"];

impl Pool {
    pub fn run(self) -> Result<()> {
        let load = machine::load();
        let corpus = Corpus::open(&self.corpus)?;
        let preparation = Preparation {
            tadoc: paths::tadoc()?,
            archives: self.archives.clone(),
            zstd_level: 1,
            ..Preparation::default()
        };
        let setting = Setting {
            files: preparation.make(&corpus, Needs { tar: false, viewed: true, text: true })?,
            tadoc: preparation.tadoc,
            this: std::env::current_exe().context("finding this program")?,
            pool: paths::work("pool")?.join(format!("{}.pool", corpus.name)),
            limit: corpus.bytes() * self.limit / 100,
            corpus,
        };
        let chosen = |task: &TaskName| self.tasks.is_empty() || self.tasks.contains(task);
        let (mut tasks, mut checks) = (Vec::new(), Vec::new());
        for task in TaskName::ALL.into_iter().filter(chosen) {
            eprintln!("{}: {}", setting.corpus.name, task.name());
            tasks.push(setting.measure(task, self.rounds as usize)?);
            if self.check {
                for persist in PERSIST {
                    checks.push(setting.check(task, persist)?);
                }
            }
        }
        let _ = fs::remove_file(&setting.pool);
        let reads = setting.reads(self.rounds as usize)?;
        let run = PoolRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            load,
            corpus: setting.corpus.name.clone(),
            files: setting.corpus.files.len(),
            text_bytes: setting.corpus.bytes(),
            limit_bytes: setting.limit,
            rounds: self.rounds,
            bars: result::bars(&tasks),
            tasks,
            reads,
            checks,
        };
        let text = render::markdown(&run);
        println!("{text}");
        if self.write {
            let path = run::write(&paths::runs(), &run.date, "pool", &text, &run)?;
            println!("written to {}", path.display());
        }
        let reads_differ = run.reads.results.iter().any(|read| !read.same);
        if reads_differ || run.checks.iter().any(|check| check.difference.is_some()) {
            bail!("answers differ");
        }
        Ok(())
    }
}

/// What is measured, and where everything lies.
struct Setting {
    corpus: Corpus,
    files: Files,
    tadoc: PathBuf,
    this: PathBuf,
    pool: PathBuf,
    limit: u64,
}

impl Setting {
    /// The command for a task on an archive, with its answer dropped.
    fn command(&self, job: Job, task: TaskName, archive: &Path) -> Job {
        job.arg(task.name()).arg(archive).args(["--quiet", "--format", "tsv", "-o", "/dev/null"])
    }

    fn in_memory(&self, task: TaskName, archive: &Path) -> Job {
        self.command(Job::new(&self.tadoc), task, archive).args(["--backend", "cpu"])
    }

    fn limited(&self, program: &Path) -> Job {
        self.limited_to(self.limit, program)
    }

    fn limited_to(&self, bytes: u64, program: &Path) -> Job {
        Job::new("prlimit").arg(format!("--data={bytes}")).arg(program)
    }

    fn in_pool(&self, task: TaskName, persist: &str) -> Job {
        let job = self.command(self.limited(&self.tadoc), task, &self.files.archive);
        job.args(["--backend", "pool", "--persist", persist, "--pool"]).arg(&self.pool)
    }

    /// The plain-text program, under the limit or, if it does not finish so, without one; and which it is.
    fn on_text(&self, task: TaskName) -> Result<(Job, bool)> {
        let job = |job: Job| {
            let job = job.args(["rival", task.name()]).arg(&self.corpus.folder);
            job.args(["--output", "tsv"])
        };
        let limited = job(self.limited(&self.this));
        match limited.measure() {
            Ok(_) => Ok((limited, true)),
            Err(_) => {
                eprintln!("{}: plain text does not finish within the limit", self.corpus.name);
                Ok((job(Job::new(&self.this)), false))
            }
        }
    }

    /// A run in a pool that is not there before.
    fn new_pool(&self, task: TaskName, persist: &str) -> Result<Measurement> {
        match fs::remove_file(&self.pool) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).context("removing the pool")
            }
            _ => self.in_pool(task, persist).measure(),
        }
    }

    /// A run in a pool that another question was asked of before.
    fn made_pool(&self, task: TaskName, persist: &str) -> Result<Measurement> {
        let other = match task {
            TaskName::TermVector => TaskName::InvertedIndex,
            _ => TaskName::TermVector,
        };
        self.in_pool(other, persist).measure()?;
        self.in_pool(task, persist).measure()
    }

    fn measure(&self, task: TaskName, rounds: usize) -> Result<TaskResult> {
        let viewed = self.files.viewed.as_ref().context("the view was not stored")?;
        let (archive, stored) =
            (self.in_memory(task, &self.files.archive), self.in_memory(task, viewed));
        let (text, text_is_limited) = self.on_text(task)?;
        let mut pool_bytes = 0;
        let mut turns: [&mut dyn FnMut() -> Result<Measurement>; 7] = [
            &mut || archive.measure(),
            &mut || stored.measure(),
            &mut || text.measure(),
            &mut || {
                let measured = self.new_pool(task, "phase");
                pool_bytes = self.pool.metadata().map_or(0, |metadata| metadata.len());
                measured
            },
            &mut || self.made_pool(task, "phase"),
            &mut || self.new_pool(task, "operation"),
            &mut || self.made_pool(task, "operation"),
        ];
        let given = take_turns(&mut turns, rounds)?;
        let costs = |place: usize| PoolCosts::new(&given[place]);
        Ok(TaskResult {
            task,
            archive: costs(0),
            stored: costs(1),
            text: costs(2),
            text_is_limited,
            phase: [costs(3), costs(4)],
            operation: [costs(5), costs(6)],
            pool_bytes,
        })
    }

    /// Compares the rows of a new pool with those of the plain-text program.
    fn check(&self, task: TaskName, persist: &'static str) -> Result<CheckResult> {
        eprintln!("{}: checking {} ({persist})", self.corpus.name, task.name());
        let _ = fs::remove_file(&self.pool);
        let mut command = Command::new(&self.tadoc);
        command.arg(task.name()).arg(&self.files.archive);
        command.args(["--quiet", "--format", "tsv", "--backend", "pool", "--persist", persist]);
        command.arg("--pool").arg(&self.pool);
        let threads = std::thread::available_parallelism()?.get();
        check::rows_with_rival(&mut command, &self.corpus, task, threads, persist)
    }
}
