//! The best plain-text program that we can write for the six tasks: what tadoc's analytics are measured
//! against.
//!
//! It takes no shortcut that tadoc could not take too, and every one that it can: the words of the same lexer, found
//! 64 bytes at a time, short ones as their own hash keys, tables of each thread's own that are merged in the end, terms numbered in their
//! order, sequences as integers in buckets that fit in cache, and all threads from the first byte to the last
//! row. The text is read once; nothing of it is held but the words.
//!
//! Cost: one pass of lexing and hashing over the text, and what the module of the task says.

mod answer;
mod command;
mod cut;
mod documents;
mod huge;
mod intern;
mod key;
mod lex;
mod sequences;
mod tar;
#[cfg(test)]
mod tests;
mod text;
mod vocabulary;
mod windows;
mod words;

use std::io::Read;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use tadoc_engine::Lexer;

pub use answer::Answer;
pub use command::Rival;
pub use text::Text;

use answer::{Labels, Rows};
use documents::{Bags, Distinct, InvertedIndex, TermVector};
use key::{Key, Shape};
use lex::{Lexed, Names, Sink};
use sequences::{RankedIndex, SequenceCount};
use vocabulary::Vocabulary;
use windows::{Streams, Windows};
use words::{Counts, TermCounts};

/// The longest sequences that are counted.
pub const LONGEST: usize = 5;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    WordCount,
    Sort,
    InvertedIndex,
    TermVector,
    /// Sequences of so many terms, at most [`LONGEST`].
    SequenceCount(usize),
    /// Sequences of so many terms, at most [`LONGEST`].
    RankedInvertedIndex(usize),
}

/// Seconds of each phase.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub struct Phases {
    /// Listing and mapping files. Small files are read while lexing.
    pub read: f64,
    /// Cutting words and giving them numbers, by document where the task wants it.
    pub lex: f64,
    /// Making one sorted vocabulary of those of all threads.
    pub vocabulary: f64,
    /// Counting sequences, or inverting lists.
    pub count: f64,
    /// Formatting and writing.
    pub output: f64,
}

/// Answers a question about a text on so many threads.
pub fn run(task: Task, text: &Text, lexer: Lexer, threads: usize) -> Result<(Answer, Phases)> {
    let job = Job { task, lexer, threads };
    job.run(InMemory(text))
}

/// Answers a question about the documents of a tar stream, lexing while it is read.
pub fn run_on_tar(
    task: Task,
    stream: impl Read,
    lexer: Lexer,
    threads: usize,
) -> Result<(Answer, Phases)> {
    let job = Job { task, lexer, threads };
    job.run(Stream(stream))
}

/// Where documents come from: gives their names, and what each thread kept of them.
trait Source {
    fn lex<S: Sink>(self, lexer: Lexer, threads: usize) -> Result<(Names, Vec<Lexed<S>>)>;
}

struct InMemory<'t>(&'t Text);

impl Source for InMemory<'_> {
    fn lex<S: Sink>(self, lexer: Lexer, threads: usize) -> Result<(Names, Vec<Lexed<S>>)> {
        Ok((self.0.names().to_vec(), lex::text(self.0, lexer, threads)?))
    }
}

struct Stream<R>(R);

impl<R: Read> Source for Stream<R> {
    fn lex<S: Sink>(self, lexer: Lexer, threads: usize) -> Result<(Names, Vec<Lexed<S>>)> {
        lex::stream(self.0, lexer, threads)
    }
}

/// Everything behind lexing.
struct Lexicon<S> {
    vocabulary: Vocabulary,
    /// For each thread the terms of its words.
    maps: Vec<Vec<u32>>,
    lexed: Vec<Lexed<S>>,
    /// The documents' names, sorted.
    names: Names,
    /// For each document as it came its place among the sorted.
    ranks: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Job {
    task: Task,
    lexer: Lexer,
    threads: usize,
}

impl Job {
    fn run(self, source: impl Source) -> Result<(Answer, Phases)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.context("starting threads")?;
        match self.task {
            Task::WordCount | Task::Sort | Task::SequenceCount(1) => {
                self.with::<Counts>(source, &pool, |lexicon| {
                    let counts = lexicon.lexed.iter().map(|lexed| &lexed.sink.0[..]);
                    let counts = words::sum(lexicon.vocabulary.len(), counts, &lexicon.maps);
                    Box::new(match self.task {
                        Task::Sort => TermCounts::by_term(counts),
                        _ => TermCounts::by_count(counts),
                    })
                })
            }
            Task::InvertedIndex => self.with::<Distinct>(source, &pool, |lexicon| {
                let sinks = lexicon.lexed.drain(..).map(|lexed| lexed.sink).collect();
                let terms = lexicon.vocabulary.len();
                Box::new(InvertedIndex::new(sinks, &lexicon.maps, &lexicon.ranks, terms))
            }),
            Task::TermVector => self.with::<Bags>(source, &pool, |lexicon| {
                let sinks = lexicon.lexed.drain(..).map(|lexed| lexed.sink).collect();
                Box::new(TermVector::new(sinks, &lexicon.maps, &lexicon.ranks))
            }),
            Task::SequenceCount(n) | Task::RankedInvertedIndex(n) => {
                ensure!((1..=LONGEST).contains(&n), "sequences have 1 to {LONGEST} terms");
                self.with::<Streams>(source, &pool, |lexicon| {
                    let shape = Shape::new(n, lexicon.vocabulary.len());
                    if shape.key_bits() <= u64::BITS {
                        self.sequences::<u64>(shape, lexicon)
                    } else {
                        self.sequences::<u128>(shape, lexicon)
                    }
                })
            }
        }
    }

    fn sequences<K: Key>(self, shape: Shape, lexicon: &mut Lexicon<Streams>) -> Box<dyn Rows> {
        let counts = lexicon.lexed.iter().map(|lexed| &lexed.sink.counts[..]);
        let counts = words::sum(lexicon.vocabulary.len(), counts, &lexicon.maps);
        let ranked = matches!(self.task, Task::RankedInvertedIndex(_));
        let lexed = std::mem::take(&mut lexicon.lexed);
        let (maps, ranks) = (&lexicon.maps, &lexicon.ranks);
        let windows = Windows::<K>::new(lexed, maps, ranks, &counts, shape, ranked);
        if ranked {
            Box::new(RankedIndex::new(&windows))
        } else {
            Box::new(SequenceCount::new(&windows))
        }
    }

    /// Lexes, merges the vocabularies, and lets `count` make the rows.
    fn with<S: Sink + Sync>(
        self,
        source: impl Source,
        pool: &rayon::ThreadPool,
        count: impl FnOnce(&mut Lexicon<S>) -> Box<dyn Rows> + Send,
    ) -> Result<(Answer, Phases)> {
        let mut phases = Phases::default();
        let mut clock = Instant::now();
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
        let (names, lexed) = source.lex::<S>(self.lexer, self.threads)?;
        phases.lex = lap();
        let (names, ranks) = sort_names(names)?;
        let interners: Vec<_> = lexed.iter().map(|lexed| &lexed.interner).collect();
        let (vocabulary, maps) = pool.install(|| Vocabulary::merge(&interners));
        phases.vocabulary = lap();
        let mut lexicon = Lexicon { vocabulary, maps, lexed, names, ranks };
        let rows = pool.install(|| count(&mut lexicon));
        phases.count = lap();
        let labels = Labels { terms: lexicon.vocabulary, names: lexicon.names };
        Ok((Answer { labels, rows }, phases))
    }
}

/// Sorts names, and says where each went.
fn sort_names(names: Names) -> Result<(Names, Vec<u32>)> {
    if names.is_sorted_by(|a, b| a < b) {
        let ranks = (0..names.len() as u32).collect();
        return Ok((names, ranks));
    }
    let mut numbered: Vec<(Vec<u8>, u32)> = names.into_iter().zip(0..).collect();
    numbered.sort_unstable();
    let mut ranks = vec![0; numbered.len()];
    for (rank, (_, document)) in (0..).zip(&numbered) {
        ranks[*document as usize] = rank;
    }
    let names: Vec<_> = numbered.into_iter().map(|(name, _)| name).collect();
    ensure!(names.is_sorted_by(|a, b| a < b), "two documents have one name");
    Ok((names, ranks))
}
