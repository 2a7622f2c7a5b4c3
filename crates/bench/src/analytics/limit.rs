//! How far a task is from what memory allows: the least bytes that it must move, and how fast they can be moved.
//!
//! The bytes are a lower bound for any way to the answer on this view: the arrays that have to be read, each once,
//! and the answer in the fewest bytes that its numbers need. Nothing in between is counted.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use rayon::prelude::*;
use tadoc_engine::View;

use super::result::Limit;
use crate::task::{SEQUENCE_TERMS, TaskName};

/// Bytes read to measure the bandwidth: far more than any cache holds.
const BUFFER: usize = if cfg!(test) { 1 << 20 } else { 512 << 20 };
/// How often; the fastest counts, as it is the limit that is asked for.
const READS: usize = 5;

/// Bytes of memory that so many threads read in a second.
pub fn bandwidth(threads: usize) -> Result<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.context("starting threads")?.install(|| {
        let length = BUFFER / size_of::<u64>();
        // Written by all threads, so that every page is there.
        let numbers: Vec<u64> = (0..length as u64).into_par_iter().collect();
        let read = |_| {
            let start = Instant::now();
            let part = length.div_ceil(4 * threads);
            let sum: u64 = numbers
                .par_chunks(part)
                .map(|part| part.iter().fold(0, |sum: u64, &number| sum.wrapping_add(number)))
                .reduce(|| 0, u64::wrapping_add);
            black_box(sum);
            BUFFER as f64 / start.elapsed().as_secs_f64()
        };
        let fastest = (0..READS).map(read).max_by(f64::total_cmp);
        fastest.context("memory is read at least once")
    })
}

/// The lengths that a limit depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    pub terms: u64,
    pub rules: u64,
    pub documents: u64,
    pub root_symbols: u64,
    pub body_symbols: u64,
    /// Rows of the answer.
    pub rows: u64,
    /// Different sequences in the corpus.
    pub sequences: u64,
}

impl Lengths {
    /// Those of a view; rows and sequences are for whoever knows them to set.
    pub fn of(view: &View) -> Self {
        let grammar = view.network().grammar();
        let root_symbols = grammar.root().len() as u64;
        Self {
            terms: view.terms().len().into(),
            rules: grammar.rule_count().into(),
            documents: grammar.document_count() as u64,
            root_symbols,
            body_symbols: grammar.symbols().len() as u64 - root_symbols,
            rows: 0,
            sequences: 0,
        }
    }

    /// What a task must read and write: numbers of terms, documents and symbols, and counts in a document have 4
    /// bytes, counts in the corpus 8, and a sequence as few as its terms need, rounded up to 4.
    pub fn limit(&self, task: TaskName) -> Limit {
        let bodies = 4 * (self.body_symbols + self.rules);
        let roots = 4 * (self.root_symbols + self.documents);
        let term_bits = u64::from(self.terms.max(2).next_power_of_two().ilog2());
        let sequence = 4 * (SEQUENCE_TERMS as u64 * term_bits).div_ceil(32);
        let (read_bytes, written_bytes) = match task {
            // The root has been counted: what is read of it is how often each symbol stands there.
            TaskName::WordCount | TaskName::Sort => {
                (bodies + 4 * (self.terms + self.rules), (4 + 8) * self.rows)
            }
            TaskName::InvertedIndex => (bodies + roots, 4 * self.rows + 8 * self.terms),
            TaskName::TermVector => (bodies + roots, (4 + 4) * self.rows + 8 * self.documents),
            TaskName::SequenceCount => (bodies + roots, (sequence + 8) * self.rows),
            TaskName::RankedInvertedIndex => {
                (bodies + roots, (4 + 4) * self.rows + (sequence + 8) * self.sequences)
            }
        };
        Limit { read_bytes, written_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_bytes_of_each_task() {
        let lengths = Lengths {
            terms: 1000,
            rules: 10,
            documents: 5,
            root_symbols: 100,
            body_symbols: 30,
            rows: 7,
            sequences: 3,
        };
        let limit = |task| {
            let Limit { read_bytes, written_bytes } = lengths.limit(task);
            (read_bytes, written_bytes)
        };
        assert_eq!(limit(TaskName::WordCount), (160 + 4040, 84));
        assert_eq!(limit(TaskName::InvertedIndex), (160 + 420, 28 + 8000));
        assert_eq!(limit(TaskName::TermVector), (160 + 420, 56 + 40));
        // Three terms of 10 bits are 30 bits.
        assert_eq!(limit(TaskName::SequenceCount), (160 + 420, 7 * 12));
        assert_eq!(limit(TaskName::RankedInvertedIndex), (160 + 420, 56 + 3 * 12));
    }

    #[test]
    fn memory_can_be_read() {
        assert!(bandwidth(1).unwrap() > 1e6);
    }
}
