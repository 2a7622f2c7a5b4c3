//! What is measured in a process of its own: an archive is loaded, and batches are run on it.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use tadoc_engine::Corpus;
use tadoc_engine::access::{Access, Outcome};

use super::INDEXES;
use super::lone::Lone;
use super::operations::{Drawn, Kind};
use crate::statistics::median;

/// So many operations of each kind are run before anything is measured, so that all is loaded.
const WARM_UP: usize = 200;
/// A batch that would take longer than this is cut: what is slow is known after fewer operations.
const LONGEST_SECONDS: f64 = 10.0;

/// Loads an archive, runs batches on it and prints what they took as JSON
#[derive(Debug, Args)]
pub struct Inside {
    archive: PathBuf,
    #[arg(long)]
    index: String,
    #[arg(long)]
    operations: PathBuf,
    #[arg(long)]
    threads: Vec<usize>,
    #[arg(long)]
    rounds: usize,
}

/// An archive that was loaded and asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// From the file to the first answers of every kind.
    pub load_seconds: f64,
    /// What the archive holds on the heap, and what it has mapped, once it is loaded.
    pub heap_bytes: u64,
    pub mapped_bytes: u64,
    /// What the process has in memory more than before, once all is loaded.
    pub resident_bytes: u64,
    /// Questions asked one by one, if there are documents for them.
    pub lone: Option<Lone>,
    pub batches: Vec<Batch>,
}

/// Operations of one kind that were run at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub kind: Kind,
    pub threads: usize,
    /// Operations; words for samples.
    pub operations: u64,
    /// Offsets that searches gave.
    pub offsets: u64,
    pub median_seconds: f64,
    pub best_seconds: f64,
}

impl Batch {
    /// Operations in a second.
    pub fn speed(&self) -> f64 {
        self.operations as f64 / self.median_seconds
    }

    /// The same in the best round.
    pub fn best_speed(&self) -> f64 {
        self.operations as f64 / self.best_seconds
    }

    /// Offsets in a second.
    pub fn offset_speed(&self) -> f64 {
        self.offsets as f64 / self.median_seconds
    }
}

impl Inside {
    pub fn run(self) -> Result<()> {
        let file = File::open(&self.operations)
            .with_context(|| format!("reading {}", self.operations.display()))?;
        let drawn: Drawn = serde_json::from_reader(BufReader::new(file))?;
        let mut batches: Vec<_> =
            Kind::ALL.into_iter().map(|kind| (kind, drawn.batch(kind))).collect();
        let Some((_, index)) = INDEXES.into_iter().find(|(name, _)| *name == self.index) else {
            bail!("there is no index {}", self.index);
        };
        let before = resident();
        let start = Instant::now();
        let corpus = Corpus::open(&self.archive)?;
        let access = Access::open(&corpus, index)?;
        ensure!(access.index() == index, "the archive has no index {}", self.index);
        access.load()?;
        let (heap_bytes, mapped_bytes) = access.memory();
        // Offsets of searches over all documents would be most of what is in memory.
        for (_, operations) in batches.iter().filter(|(kind, _)| *kind != Kind::SearchInAll) {
            let some = &operations[..operations.len().min(WARM_UP)];
            access.run(some).into_iter().collect::<tadoc_engine::Result<Vec<_>>>()?;
        }
        let load_seconds = start.elapsed().as_secs_f64();
        let resident_bytes = resident().saturating_sub(before);
        for (_, operations) in &mut batches {
            let some = &operations[..operations.len().min(WARM_UP)];
            let start = Instant::now();
            drop(access.run(some));
            let each = start.elapsed().as_secs_f64() / some.len().max(1) as f64;
            operations.truncate(((LONGEST_SECONDS / each) as usize).max(WARM_UP));
        }
        let mut measured = Measured {
            load_seconds,
            heap_bytes,
            mapped_bytes,
            resident_bytes,
            lone: Lone::measure(&access, &drawn.words)?,
            batches: Vec::new(),
        };
        for &threads in &self.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
            for (kind, operations) in &batches {
                let mut seconds = Vec::new();
                let mut given = (0, 0);
                for _ in 0..self.rounds {
                    let (taken, outcomes) = pool.install(|| {
                        let start = Instant::now();
                        let outcomes = access.run(operations);
                        (start.elapsed().as_secs_f64(), outcomes)
                    });
                    seconds.push(taken);
                    given = counted(outcomes)?;
                }
                measured.batches.push(Batch {
                    kind: *kind,
                    threads,
                    operations: given.0,
                    offsets: given.1,
                    median_seconds: median(&seconds),
                    best_seconds: seconds.into_iter().fold(f64::INFINITY, f64::min),
                });
            }
        }
        println!("{}", serde_json::to_string(&measured)?);
        Ok(())
    }
}

/// How many operations there were, words for samples; and how many offsets they gave.
fn counted(outcomes: Vec<tadoc_engine::Result<Outcome>>) -> Result<(u64, u64)> {
    let (mut operations, mut offsets) = (0, 0);
    for outcome in outcomes {
        operations += 1;
        match outcome? {
            Outcome::Offsets(documents) => {
                offsets += documents.iter().map(|(_, offsets)| offsets.len() as u64).sum::<u64>();
            }
            Outcome::Words(words) => operations += (words.len() as u64).saturating_sub(1),
            Outcome::Bytes(_) | Outcome::Count(_) => {}
        }
    }
    Ok((operations, offsets))
}

/// Bytes that this process has in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    kibibytes.unwrap_or(0_u64) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_held_is_seen() {
        let before = resident();
        let held = vec![1_u8; 64 << 20];
        assert!(resident() >= before + (32 << 20));
        assert_eq!(held[held.len() - 1], 1);
    }

    #[test]
    fn words_that_are_drawn_are_operations() {
        let word = tadoc_engine::access::Sampled {
            archive: 0,
            document: 0,
            offset: 0,
            word: b"a".to_vec(),
        };
        let outcomes = vec![
            Ok(Outcome::Words(vec![word; 10])),
            Ok(Outcome::Offsets(vec![(0, vec![1, 2]), (3, vec![7])])),
            Ok(Outcome::Count(5)),
        ];
        assert_eq!(counted(outcomes).unwrap(), (12, 3));
    }
}
