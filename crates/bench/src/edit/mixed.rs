//! Batches of reads and edits in sequence, of two lengths: whether what they take grows with the
//! operations alone.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::Serialize;
use tadoc_engine::access::{Access, Index};
use tadoc_engine::update::{BatchOptions, Operation};
use tadoc_engine::{Corpus, Editor};
use tadoc_oracle::Random;

use super::{CorpusResult, Drawn, EDIT_BYTES};
use crate::bars::{Bar, LEAST_BYTES};

/// Operations of a shorter and of a longer run.
const OPERATIONS: [u64; 2] = [20_000, 100_000];

/// Of 100 operations, so many are edits.
const EDITS_IN_100: [u64; 2] = [20, 50];

/// Operations of a batch.
const BATCH: usize = 5000;

/// Bytes that are extracted.
const EXTRACTED: u64 = 64;

/// Seconds of the processor for the longer run on so much text, and how much faster than its
/// operations it may grow.
const MOST_SECONDS: f64 = 1.5;
const TEXT: f64 = 67e6;
const MOST_GROWTH: f64 = 1.1;

/// A run of batches.
#[derive(Debug, Serialize)]
pub struct Mixed {
    pub index: &'static str,
    pub edits_in_100: u64,
    pub operations: u64,
    /// Of all threads, opening included.
    pub cpu_seconds: f64,
}

/// Runs batches on copies of an archive, each so many times; the least of what they take counts, as noise only adds to it.
pub fn measure(
    archive: &Path,
    drawn: &Drawn,
    work: &Path,
    seed: u64,
    rounds: u32,
) -> Result<Vec<Mixed>> {
    let path = work.join("mixed.tdc");
    let mut all = Vec::new();
    for (name, index) in [("none", Index::None), ("fast", Index::Fast)] {
        for edits_in_100 in EDITS_IN_100 {
            for count in OPERATIONS {
                let operations = operations(archive, drawn, count, edits_in_100, seed)?;
                let mut cpu_seconds = f64::INFINITY;
                for _ in 0..rounds {
                    fs::copy(archive, &path).context("copying the archive")?;
                    tadoc_engine::access::store(&path, index, &())?;
                    cpu_seconds = cpu_seconds.min(run(&path, &operations)?);
                }
                all.push(Mixed { index: name, edits_in_100, operations: count, cpu_seconds });
            }
        }
    }
    fs::remove_file(&path)?;
    Ok(all)
}

/// Runs operations in batches; gives the seconds of the processor that they take, opening included.
fn run(archive: &Path, operations: &[Operation]) -> Result<f64> {
    let mut batches = operations.chunks(BATCH).map(<[Operation]>::to_vec);
    let before = cpu_seconds()?;
    Editor::open(archive)?.run(
        &mut || Ok(batches.next()),
        BatchOptions::default(),
        &mut |outcomes| outcomes.into_iter().try_for_each(|outcome| outcome.map(drop)),
    )?;
    Ok(cpu_seconds()? - before)
}

/// Operations on documents and words that are drawn: of reads half are extracts, a quarter counts
/// and a quarter searches in one document.
fn operations(
    archive: &Path,
    drawn: &Drawn,
    count: u64,
    edits_in_100: u64,
    seed: u64,
) -> Result<Vec<Operation>> {
    let corpus = Corpus::open(archive)?;
    let lexer = Access::open(&corpus, Index::None)?.lexer();
    let documents = corpus.documents()?;
    let mut lengths: Vec<u64> = documents.iter().map(|document| document.bytes).collect();
    let mut random = Random::new(seed);
    let mut operations = Vec::new();
    while (operations.len() as u64) < count {
        let chosen = random.below(documents.len() as u64) as usize;
        let (document, bytes) = (documents[chosen].name.clone(), &mut lengths[chosen]);
        let text = drawn.text(random.below(u64::MAX));
        let offset = random.below(*bytes + 1);
        if random.below(100) < edits_in_100 {
            operations.push(match random.below(4) {
                0 => {
                    let length = (*bytes - offset).min(EDIT_BYTES as u64);
                    *bytes -= length;
                    Operation::Delete { document, offset, length }
                }
                1 => {
                    *bytes += text.len() as u64;
                    Operation::Append { document, text: text.to_vec() }
                }
                _ => {
                    *bytes += text.len() as u64;
                    Operation::Insert { document, offset, text: text.to_vec() }
                }
            });
            continue;
        }
        if random.below(2) == 0 {
            operations.push(Operation::Extract { document, offset, length: EXTRACTED });
            continue;
        }
        // Not the first word, which may be the end of one.
        let words = tadoc_engine::access::words(lexer, text);
        let Some(word) = words.get(1) else { continue };
        let (document, phrase) = (Some(document), text[word.clone()].to_vec());
        operations.push(match random.below(2) {
            0 => Operation::Count { document, phrase },
            _ => Operation::Search { document, phrase },
        });
    }
    Ok(operations)
}

/// What this process has taken of the processor.
fn cpu_seconds() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).context("asking for the time taken")?;
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(microseconds as f64 / 1e6)
}

/// Checks the promises; none without a corpus that counts.
pub fn bars(corpora: &[CorpusResult]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for corpus in corpora.iter().filter(|corpus| corpus.text_bytes >= LEAST_BYTES) {
        for pair in corpus.mixed.chunks(2) {
            let [shorter, longer] = pair else { continue };
            let what =
                format!("{}, index {}, {} % edits", corpus.name, longer.index, longer.edits_in_100);
            let seconds = longer.cpu_seconds * TEXT / (corpus.text_bytes as f64).max(TEXT);
            bars.push(Bar {
                what: format!("{what}: CPU s for {} operations on 67 MB", longer.operations),
                limit: format!("≤ {MOST_SECONDS}"),
                found: format!("{seconds:.2}"),
                met: seconds <= MOST_SECONDS,
            });
            let operations = longer.operations as f64 / shorter.operations as f64;
            let growth = longer.cpu_seconds / shorter.cpu_seconds / operations;
            bars.push(Bar::at_most(
                &format!("{what}: growth to that of operations"),
                growth,
                MOST_GROWTH,
            ));
        }
    }
    bars
}
