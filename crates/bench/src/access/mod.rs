//! `cargo xtask bench access`: operations of random access on loaded archives, as the papers measure them.
//!
//! For each corpus and index, a fresh copy of this program ([`inside`]) loads the archive and runs 100,000 operations of
//! each kind in one batch, on one thread and on all: [`operations`] draws them; and `lone` asks one by one, `whole` as
//! whole commands. `--scale` does the same on a shorter
//! and a longer text, `--check` compares answers with those of plain text ([`check`]). `result`, `bars` and `render`
//! are the figures, the promises and the tables.

mod bars;
mod check;
pub mod inside;
mod lone;
pub mod operations;
mod plain;
mod prepare;
mod render;
mod result;
mod scale;
mod whole;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use tadoc_engine::access::Index;

use self::operations::Drawn;
use self::result::{AccessRun, CorpusResult, IndexResult};
use crate::corpus::{self, Corpus};
use crate::machine::{self, Machine};
use crate::units::parse_size;
use crate::{paths, run, units};

/// All indexes, by the names that the command has for them.
const INDEXES: [(&str, Index); 3] =
    [("none", Index::None), ("small", Index::Small), ("fast", Index::Fast)];

/// Random access to loaded archives: extract, count, search and sample
///
/// Each operation is run 100,000 times in one batch, with every index, on one thread and on all. Words are drawn
/// from the vocabulary of documents that are drawn.
#[derive(Debug, Args)]
pub struct Access {
    /// Folders, each a corpus, or small, medium or large for all that `cargo xtask corpus` made of
    /// that name [default: medium]
    #[arg(value_name = "CORPUS")]
    corpora: Vec<PathBuf>,

    /// Operations of each kind
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    operations: u64,

    /// The indexes
    #[arg(long, value_delimiter = ',', value_name = "INDEX,…", value_parser = ["none", "small", "fast"],
        default_values = ["none", "small", "fast"])]
    indexes: Vec<String>,

    /// Threads, beside one [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// How often each batch is run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(3..))]
    rounds: u32,

    /// Measure a shorter and a longer text made of all corpora, such as 100MB and 1GB
    #[arg(long, num_args = 2, value_names = ["SHORTER", "LONGER"], value_parser = parse_size)]
    scale: Option<Vec<u64>>,

    /// Compare the answers of an archive with those of plain text, and measure nothing
    #[arg(long, value_name = "ARCHIVE", requires = "folder", conflicts_with_all = ["corpora", "scale"])]
    check: Option<PathBuf>,

    /// The text of the archive to check
    #[arg(long, value_name = "FOLDER", requires = "check")]
    folder: Option<PathBuf>,

    /// What is drawn follows from this
    #[arg(long, default_value_t = 1)]
    seed: u64,

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

impl Access {
    pub fn run(self) -> Result<()> {
        if let (Some(archive), Some(folder)) = (&self.check, &self.folder) {
            return check::run(archive, folder, &self.indexes(), self.operations, self.seed);
        }
        let threads = match self.threads {
            Some(threads) => threads.get(),
            None => std::thread::available_parallelism()?.get(),
        };
        let load = machine::load();
        let corpora: Vec<Corpus> = corpus::find(&self.corpora, &paths::corpora())?
            .iter()
            .map(|folder| Corpus::open(folder))
            .collect::<Result<_>>()?;
        let (corpora, growth) = match self.scale.as_deref() {
            Some(&[shorter, longer]) => {
                let parts = scale::parts(&corpora, shorter, longer)?;
                let results = self.measure(&parts, None, threads)?;
                let growth = scale::growth(&results);
                scale::clear()?;
                (results, growth)
            }
            _ => (self.measure(&corpora, self.archives.as_deref(), threads)?, Vec::new()),
        };
        let run = AccessRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            threads,
            load,
            bars: bars::check(&corpora, &growth),
            corpora,
            growth,
        };
        print!("{}", render::ending(&run));
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&run)? + "\n";
            fs::write(path, json).with_context(|| format!("writing {}", path.display()))?;
        }
        if self.write {
            let kind = if run.growth.is_empty() { "access" } else { "access-scale" };
            let text = render::markdown(&run);
            let path = run::write(&paths::runs(), &run.date, kind, &text, &run)?;
            println!("\nwritten to {}", path.display());
        }
        Ok(())
    }

    fn indexes(&self) -> Vec<(&'static str, Index)> {
        let asked = |(name, _): &(&str, Index)| self.indexes.iter().any(|asked| asked == name);
        INDEXES.into_iter().filter(asked).collect()
    }

    fn measure(
        &self,
        corpora: &[Corpus],
        archives: Option<&Path>,
        threads: usize,
    ) -> Result<Vec<CorpusResult>> {
        let mut results = Vec::new();
        for corpus in corpora {
            let result = self.measure_corpus(corpus, archives, threads)?;
            println!("{}", render::corpus(&result));
            results.push(result);
        }
        Ok(results)
    }

    fn measure_corpus(
        &self,
        corpus: &Corpus,
        archives: Option<&Path>,
        threads: usize,
    ) -> Result<CorpusResult> {
        let archive = prepare::archive(corpus, archives)?;
        let archive_bytes = prepare::length(&archive)?;
        eprintln!("{}: drawing operations", corpus.name);
        // Words are counted to draw some that have not too many occurrences.
        prepare::index(&archive, Index::Fast)?;
        let drawn = Drawn::of(&archive, self.operations, self.seed)?;
        let file = prepare::operations(corpus, &drawn)?;
        let mut indexes = Vec::new();
        for (name, index) in self.indexes() {
            eprintln!("{}: index {name}", corpus.name);
            let bytes = prepare::index(&archive, index)?;
            let measured = self.measure_index(&archive, &file, name, threads)?;
            let whole = whole::measure(&archive, &drawn.words)?;
            indexes.push(IndexResult { index: name.into(), bytes, measured, whole });
        }
        fs::remove_file(&archive).with_context(|| format!("removing {}", archive.display()))?;
        fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
        Ok(CorpusResult {
            name: corpus.name.clone(),
            files: corpus.files.len(),
            text_bytes: corpus.bytes(),
            archive_bytes,
            capped: (drawn.capped < drawn.words.len()).then_some(drawn.capped),
            indexes,
        })
    }

    /// Measures an archive with the index that it has, in a process of its own: what it holds is then its own, too.
    fn measure_index(
        &self,
        archive: &Path,
        operations: &Path,
        index: &str,
        threads: usize,
    ) -> Result<inside::Measured> {
        let program = std::env::current_exe().context("finding this program")?;
        let mut command = Command::new(program);
        command.arg("access-inside").arg(archive).args(["--index", index]);
        command.arg("--operations").arg(operations);
        command.args(["--rounds", &self.rounds.to_string()]);
        // One thread first; all of them only where they are more.
        command.args(["--threads", "1"]);
        if threads > 1 {
            command.args(["--threads", &threads.to_string()]);
        }
        let printed = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let printed = printed.context("starting a copy of this program")?;
        if !printed.status.success() {
            bail!("measuring {} failed", archive.display());
        }
        serde_json::from_slice(&printed.stdout).context("reading figures")
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        access: Access,
    }

    #[test]
    fn indexes_are_chosen_by_name_and_stay_in_order() {
        let indexes = |line: &str| {
            let line = Line::try_parse_from(line.split(' ')).unwrap();
            line.access.indexes().into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(indexes("access"), ["none", "small", "fast"]);
        assert_eq!(indexes("access web --indexes fast,none"), ["none", "fast"]);
        assert!(Line::try_parse_from(["access", "--indexes", "huge"]).is_err());
        assert!(Line::try_parse_from(["access", "--check", "a.tdc"]).is_err());
    }
}
