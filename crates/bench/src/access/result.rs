//! A run of `bench access` in figures.

use serde::Serialize;

use super::inside::{Batch, Measured};
use super::operations::Kind;
use super::whole::Question;
use crate::bars::Bar;
use crate::machine::Machine;

/// All that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct AccessRun {
    pub date: String,
    pub command: String,
    pub machine: Machine,
    /// Threads, beside one.
    pub threads: usize,
    /// How many programs ran on average in the minute before: figures of a busy machine say little.
    pub load: Option<f64>,
    pub corpora: Vec<CorpusResult>,
    /// Where a shorter and a longer text were measured.
    pub growth: Vec<Growth>,
    pub bars: Vec<Bar>,
}

/// One corpus.
#[derive(Debug, Clone, Serialize)]
pub struct CorpusResult {
    pub name: String,
    pub files: usize,
    pub text_bytes: u64,
    /// Of the archive without an index.
    pub archive_bytes: u64,
    /// Where not all words were searched for in all documents: how many were.
    pub capped: Option<usize>,
    pub indexes: Vec<IndexResult>,
}

/// A corpus with one index.
#[derive(Debug, Clone, Serialize)]
pub struct IndexResult {
    pub index: String,
    /// Of the archive with the index.
    pub bytes: u64,
    pub measured: Measured,
    /// Questions as whole commands, if there are documents for them.
    pub whole: Vec<Question>,
}

impl IndexResult {
    /// The batch of a kind that was run on so many threads.
    pub fn batch(&self, kind: Kind, threads: usize) -> Option<&Batch> {
        let mut batches = self.measured.batches.iter();
        batches.find(|batch| batch.kind == kind && batch.threads == threads)
    }

    /// What is in memory, the file being 1.
    pub fn memory_ratio(&self) -> f64 {
        (self.measured.heap_bytes + self.measured.mapped_bytes) as f64 / self.bytes as f64
    }
}

impl CorpusResult {
    /// What was measured with an index.
    pub fn index(&self, name: &str) -> Option<&IndexResult> {
        self.indexes.iter().find(|index| index.index == name)
    }

    /// The part of the text that the archive with an index is.
    pub fn share(&self, index: &IndexResult) -> f64 {
        index.bytes as f64 / self.text_bytes as f64
    }
}

/// How much longer an operation takes on the longer text, on one thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Growth {
    pub index: String,
    pub kind: Kind,
    /// Nanoseconds an operation, or an offset where offsets are what takes the time.
    pub shorter: f64,
    pub longer: f64,
}

impl Growth {
    pub fn ratio(&self) -> f64 {
        self.longer / self.shorter
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::lone::Lone;
    use super::*;

    /// A corpus of a text of 100 MB, whose operations of each kind on one thread take so many nanoseconds.
    pub fn corpus(name: &str, nanoseconds: [f64; 6]) -> CorpusResult {
        let index = |index: &str, bytes| {
            let batch = |(kind, nanoseconds)| Batch {
                kind,
                threads: 1,
                operations: 1000,
                offsets: 2000,
                median_seconds: nanoseconds * 1e-6,
                best_seconds: nanoseconds * 0.9e-6,
            };
            let batches = Kind::ALL.into_iter().zip(nanoseconds).map(batch).collect();
            let measured = Measured {
                load_seconds: 0.5,
                heap_bytes: bytes / 4,
                mapped_bytes: bytes / 2,
                resident_bytes: bytes,
                lone: Some(Lone {
                    questions: 1000,
                    bytes: 100_000_000,
                    count_seconds: 0.001,
                    search_seconds: 0.05,
                    plain_seconds: 0.2,
                }),
                batches,
            };
            let whole = vec![Question {
                document: "a.txt".into(),
                bytes: 100_000,
                word: "the".into(),
                count_seconds: 0.008,
                search_seconds: 0.009,
                pipe_seconds: 0.010,
            }];
            IndexResult { index: index.into(), bytes, measured, whole }
        };
        CorpusResult {
            name: name.into(),
            files: 1,
            text_bytes: 100_000_000,
            archive_bytes: 10_000_000,
            capped: None,
            indexes: vec![index("small", 20_000_000), index("fast", 40_000_000)],
        }
    }
}
