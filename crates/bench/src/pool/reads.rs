//! Random access in a pool, beside the same commands on the archive in memory: one document's bytes, a count and a search.
//!
//! The first command makes the pool, under the limit that tasks have. All others run under one that is a small part of the archive, to say nothing
//! of its text. What they print must be what the commands print that have all of it in memory.

use std::ffi::OsString;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::Setting;
use super::result::PoolCosts;
use crate::analytics::turns::take_turns;
use crate::measure::{Job, Measurement};
use crate::paths;

/// Of the archive's length, one in so many bytes is the limit of data for reads.
const ARCHIVE_PER_LIMIT: u64 = 8;
/// Bytes that are extracted.
const EXTRACTED: u64 = 64;

/// A command in a pool.
#[derive(Debug, Clone, Serialize)]
pub struct ReadResult {
    pub command: String,
    /// On the archive.
    pub in_memory: PoolCosts,
    /// In a pool that is there.
    pub in_pool: PoolCosts,
    /// Whether both printed the same.
    pub same: bool,
}

/// All of them.
#[derive(Debug, Clone, Serialize)]
pub struct Reads {
    pub archive_bytes: u64,
    pub limit_bytes: u64,
    pub pool_bytes: u64,
    /// What making the pool took.
    pub new_pool: PoolCosts,
    pub results: Vec<ReadResult>,
}

impl Setting {
    /// Measures some commands.
    pub(super) fn reads(&self, rounds: usize) -> Result<Reads> {
        let pool = paths::work("pool")?.join(format!("{}.reads.pool", self.corpus.name));
        let _ = fs::remove_file(&pool);
        let in_pool = |job: Job, words: &[OsString]| {
            job.args(words).args(["--backend", "pool", "--pool"]).arg(&pool)
        };
        let archive_bytes = self.files.archive.metadata()?.len();
        let limit_bytes = archive_bytes / ARCHIVE_PER_LIMIT;
        let commands = self.commands()?;
        let first = commands.first().context("there are commands")?;
        let made: [Measurement; 1] = [in_pool(self.limited(&self.tadoc), first).measure()?];
        let mut results = Vec::new();
        for words in &commands {
            let command = words[0].to_string_lossy().into_owned();
            eprintln!("{}: {command}", self.corpus.name);
            let whole = Job::new(&self.tadoc).args(words);
            let part = in_pool(self.limited_to(limit_bytes, &self.tadoc), words);
            let mut turns: [&mut dyn FnMut() -> Result<Measurement>; 2] =
                [&mut || whole.measure(), &mut || part.measure()];
            let given = take_turns(&mut turns, rounds)?;
            let mut pooled = words.clone();
            pooled.extend(["--backend", "pool", "--pool"].map(OsString::from));
            pooled.push(pool.clone().into());
            let same = self.printed(words)? == self.printed(&pooled)?;
            let [in_memory, in_pool] = [0, 1].map(|place: usize| PoolCosts::new(&given[place]));
            results.push(ReadResult { command, in_memory, in_pool, same });
        }
        let pool_bytes = pool.metadata()?.len();
        let _ = fs::remove_file(&pool);
        let new_pool = PoolCosts::new(&made);
        Ok(Reads { archive_bytes, limit_bytes, pool_bytes, new_pool, results })
    }

    /// What a command prints.
    fn printed(&self, words: &[OsString]) -> Result<Vec<u8>> {
        let output = Command::new(&self.tadoc).args(words).output().context("running tadoc")?;
        if !output.status.success() {
            bail!("`tadoc {}` failed", words[0].to_string_lossy());
        }
        Ok(output.stdout)
    }

    /// The commands: about the document in the middle of those that are long enough, and its longest word.
    fn commands(&self) -> Result<Vec<Vec<OsString>>> {
        let archive = self.files.archive.as_os_str();
        let listed =
            self.printed(&["list".into(), archive.into(), "--format".into(), "tsv".into()])?;
        let listed = String::from_utf8(listed).context("reading the names of documents")?;
        let long: Vec<(&str, u64)> = listed
            .lines()
            .filter_map(|line| {
                let mut columns = line.split('\t');
                let (name, bytes) = (columns.next()?, columns.next()?.parse().ok()?);
                (bytes >= EXTRACTED).then_some((name, bytes))
            })
            .collect();
        let (name, bytes) = *long.get(long.len() / 2).context("no document is long enough")?;
        let text = self.printed(&["cat".into(), archive.into(), name.into()])?;
        let words = text.split(|byte| !byte.is_ascii_alphabetic());
        let word = words.max_by_key(|word| word.len()).unwrap_or_default();
        let word = String::from_utf8_lossy(word).into_owned();
        let command = |command: &str, rest: &[&str]| {
            let rest = rest.iter().map(|word| OsString::from(*word));
            let words = [command.into(), archive.to_owned()].into_iter().chain(rest);
            words.chain(["--quiet".into()]).collect::<Vec<OsString>>()
        };
        let (middle, length) = ((bytes / 2).to_string(), EXTRACTED.to_string());
        Ok(vec![
            command("extract", &[name, &middle, &length]),
            command("count", &[&word]),
            command("search", &[&word]),
        ])
    }
}
