//! What all questions have in common on the command line: archives, documents, terms, and the way of the work.

use clap::{Args, ValueEnum};
use tadoc::{Analyzer, TaskQuery};

use crate::commands::archives::{ArchiveArguments, DocumentArguments, ReadArguments};
use crate::commands::terms::AnalyzerArguments;
use crate::rows::FormatArguments;
use crate::units;

/// The arguments that every question has.
#[derive(Debug, Args)]
pub struct Shared {
    #[command(flatten)]
    pub archives: ArchiveArguments,

    #[command(flatten)]
    pub documents: DocumentArguments,

    /// Leave out what occurs less than N times in all: terms, sequences or pairs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub min_count: u64,

    #[command(flatten)]
    pub format: FormatArguments,

    #[command(flatten)]
    pub terms: TermArguments,

    #[command(flatten)]
    pub work: WorkArguments,

    #[command(flatten)]
    pub reading: ReadArguments,
}

impl Shared {
    /// A task with what limits its answer and its work.
    pub fn limited(&self, task: TaskQuery, top: Option<usize>, strategy: Strategy) -> TaskQuery {
        let task = task.min_count(self.min_count);
        let task = top.into_iter().fold(task, TaskQuery::top);
        let task = self.work.memory.into_iter().fold(task, TaskQuery::memory);
        match strategy {
            Strategy::Auto => task,
            Strategy::TopDown => task.strategy(tadoc::Strategy::TopDown),
            Strategy::BottomUp => task.strategy(tadoc::Strategy::BottomUp),
        }
    }
}

/// What makes terms of words, and which terms are asked about.
#[derive(Debug, Args)]
#[command(next_help_heading = "Terms")]
pub struct TermArguments {
    #[command(flatten)]
    words: AnalyzerArguments,

    /// Only terms in which the regular expression matches; ^…$ makes it match the whole term
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<String>,
}

impl TermArguments {
    /// The analyzer that does it.
    pub fn analyzer(&self) -> anyhow::Result<Analyzer> {
        let analyzer = self.words.analyzer()?;
        match &self.matching {
            Some(pattern) => Ok(analyzer.matching(pattern)?),
            None => Ok(analyzer),
        }
    }
}

/// How the work is done.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct WorkArguments {
    /// The most memory to use beside the grammar and the answer, such as 512M or 1.5G [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    memory: Option<u64>,

    /// Tell on standard error what was chosen, and what each step cost
    #[arg(long)]
    pub explain: bool,
}

/// `--strategy`, for questions that can be answered in more than one way.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct StrategyArgument {
    /// Which way to go through the grammar; the answer is the same
    #[arg(long, value_enum, default_value_t = Strategy::Auto)]
    pub strategy: Strategy,
}

/// `--strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// The one that looks cheaper
    Auto,
    /// Weights go from the documents down to the rules
    TopDown,
    /// Tables go from the rules up to the documents
    BottomUp,
}
