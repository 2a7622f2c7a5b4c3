//! `tadoc-bench rival TASK`: the plain-text program as a command.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use nix::sys::resource::{UsageWho, getrusage};
use tadoc_engine::Lexer;

use super::{Answer, LONGEST, Phases, Text, run, run_on_tar};
use crate::task::TaskName;

/// Answers a task over plain text: what tadoc is measured against
#[derive(Debug, Args)]
pub struct Rival {
    #[arg(value_enum)]
    task: TaskName,

    /// A folder, or a file
    #[arg(required_unless_present = "tar_stdin")]
    path: Option<PathBuf>,

    /// Read a tar from standard input instead
    #[arg(long, conflicts_with = "path")]
    tar_stdin: bool,

    /// Terms of a sequence
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=LONGEST as i64))]
    n: u8,

    #[arg(long, value_enum, default_value_t = LexerName::Words)]
    lexer: LexerName,

    /// Threads [default: one for each core]
    #[arg(long)]
    threads: Option<std::num::NonZeroUsize>,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Output::Tsv)]
    output: Output,

    /// Hold the text in memory and answer so many times, to measure without starting and reading
    #[arg(long, value_name = "TIMES", conflicts_with = "tar_stdin")]
    repeat: Option<u32>,

    /// Print the seconds of each phase and the peak of memory as JSON to standard error
    #[arg(long)]
    time: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LexerName {
    Words,
    Whitespace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Tsv,
    None,
}

impl Rival {
    pub fn run(self) -> Result<()> {
        let begin = Instant::now();
        let task = self.task.of_text(self.n.into());
        let lexer = match self.lexer {
            LexerName::Words => Lexer::Words,
            LexerName::Whitespace => Lexer::Whitespace,
        };
        let threads = match self.threads {
            Some(threads) => threads.get(),
            None => std::thread::available_parallelism()?.get(),
        };
        let Some(path) = &self.path else {
            let (answer, phases) = run_on_tar(task, io::stdin().lock(), lexer, threads)?;
            self.end(answer, phases, threads, begin)?;
            // Giving back memory piece by piece is no part of answering.
            std::process::exit(0)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut text = pool.install(|| Text::open(path))?;
        if self.repeat.is_some() {
            text = pool.install(|| text.load())?;
        }
        let read = begin.elapsed().as_secs_f64();
        for _ in 1..self.repeat.unwrap_or(1) {
            let begin = Instant::now();
            let (answer, phases) = run(task, &text, lexer, threads)?;
            self.end(answer, phases, threads, begin)?;
        }
        let begin = if self.repeat.is_some() { Instant::now() } else { begin };
        let (answer, phases) = run(task, &text, lexer, threads)?;
        self.end(answer, Phases { read, ..phases }, threads, begin)?;
        std::process::exit(0)
    }

    /// Writes the rows and the times.
    fn end(
        &self,
        mut answer: Answer,
        mut phases: Phases,
        threads: usize,
        begin: Instant,
    ) -> Result<()> {
        let writing = Instant::now();
        if self.output == Output::Tsv {
            // Unbuffered: rows come in large pieces, and a line buffer would look for the last line of each.
            let output = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
            answer.write(threads, output).context("writing rows")?;
            phases.output = writing.elapsed().as_secs_f64();
        }
        if self.time {
            let usage = getrusage(UsageWho::RUSAGE_SELF).context("asking for peak memory")?;
            let mut times = serde_json::to_value(phases)?;
            times["total"] = begin.elapsed().as_secs_f64().into();
            times["rows"] = answer.rows.len().into();
            times["peak_bytes"] = (usage.max_rss() as u64 * 1024).into();
            let user = usage.user_time();
            times["user"] = (user.tv_sec() as f64 + user.tv_usec() as f64 / 1e6).into();
            eprintln!("{times}");
        }
        // Whoever asks once does not wait for memory to be given back piece by piece.
        std::mem::forget(answer);
        Ok(())
    }
}
