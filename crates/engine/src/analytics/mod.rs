//! The analytics: six tasks on a view, and three that users ask for beyond them.
//!
//! [`CpuBackend`] answers the six tasks of [`Task`] on all threads of the rayon pool that it is called in; [`tfidf`],
//! [`cooccurrence`] and [`collocations`] are functions of their own. An answer gives its rows part by part
//! ([`Answer`]); what the rows are, exactly, is said with each task here and is the same on any number of threads, with any
//! strategy, and as of a plain program over the text.
//!
//! | task | rows | in the order of |
//! | --- | --- | --- |
//! | word count | term, occurrences | occurrences descending, then term |
//! | sort | term, occurrences | term |
//! | inverted index | term, document | term, then corpus |
//! | term vector | document, term, occurrences | corpus, then occurrences descending, then term |
//! | sequence count | sequence, occurrences | occurrences descending, then sequence |
//! | … per document | sequence, document, occurrences | corpus, then occurrences descending, then sequence |
//! | ranked inverted index | sequence, document, occurrences | sequence, then occurrences descending, then corpus |
//! | TF-IDF | document, term, weight | corpus, then term (with a limit: weight descending) |
//! | co-occurrence | first, second, occurrences | occurrences descending, then pair |
//! | collocations | first, second, occurrences, scores | a score descending, then pair |
//!
//! A sequence is of `n` terms that follow each other in one document; what the analyzer removed is skipped over.
//! Terms compare by their bytes, sequences and pairs term by term.
//!
//! # Modules
//!
//! `word_count`, `inverted_index`, `term_vector`, `sequences`, `ranked`, `tfidf` and `pairs` have a task each, with its
//! cost. Sequences are made by `windows`, put into buckets by `sites` and `partition`, packed by `keys`; `sequence_network` makes
//! them items of a network of their own. `ranking` puts rows by count, `select` chooses the strategy.

mod inverted_index;
mod keys;
mod labels;
mod pairs;
mod partition;
mod ranked;
mod ranking;
pub mod score;
mod select;
mod sequence_network;
mod sequences;
mod sites;
mod term_vector;
mod tfidf;
mod windows;
mod word_count;

use std::borrow::Cow;

use rayon::prelude::*;
use tadoc_core::answer::Answer;
use tadoc_core::task::{LONGEST_SEQUENCE, WIDEST_WINDOW};
use tadoc_core::{Answered, Backend, Network, Question, Strategy, Task, View};

use self::inverted_index::InvertedIndex;
use self::keys::{Key, Wide, bits_for};
use self::labels::{Packing, TermNames};
use self::pairs::{Collocations, Pairs};
use self::partition::Record;
use self::ranked::RankedIndex;
use self::sequences::SequenceCounts;
use self::term_vector::TermVectors;
use self::tfidf::TfIdf;
use self::windows::Windows;
use self::word_count::{SortedCounts, WordCounts, count_items};
use crate::error::{Error, Result};
use crate::traverse::{Tables, occurrences};

pub use self::pairs::Measure;
pub use self::tfidf::TfIdfOptions;

/// Answers on the processor, on all threads of the rayon pool that it is called in.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuBackend;

impl Backend for CpuBackend {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn answer<'v>(&self, view: &'v View, question: &Question) -> tadoc_core::Result<Answered<'v>> {
        answer(view, question).map_err(|error| match error {
            Error::Archive(error) => error,
            error => tadoc_core::Error::Work { what: error.to_string() },
        })
    }
}

/// Answers a question about a view.
pub fn answer<'v>(view: &'v View, question: &Question) -> Result<Answered<'v>> {
    let network = view.network();
    let Question { task, least, top, memory, .. } = *question;
    let n = task.terms_of_a_key();
    if !(1..=LONGEST_SEQUENCE).contains(&n) {
        return Err(Error::BadLength { what: "a sequence", given: n, least: 1, most: LONGEST_SEQUENCE });
    }
    let whole = "weights visit every symbol once, tables no fewer";
    let chosen = |reason: &str| (Strategy::TopDown, reason.to_string());
    let mut estimate = |network: &Network| {
        let estimate = select::per_document(network, memory / 2);
        (estimate.cheaper(), estimate.reason())
    };
    let (strategy, reason) = match (question.strategy, task) {
        (Some(strategy), _) => (strategy, String::new()),
        (None, Task::InvertedIndex | Task::TermVector) => estimate(network),
        (None, Task::SequenceCountPerDocument { .. }) => {
            chosen("sequences are in few rules, and in these once")
        }
        (None, Task::RankedInvertedIndex { .. }) => {
            chosen("a sequence has few places, and the documents of a rule are known")
        }
        (None, _) => chosen(whole),
    };
    let tables = |network: &Network| {
        (strategy == Strategy::BottomUp).then(|| Tables::new(network, memory / 2))
    };
    let answer: Box<dyn Answer + 'v> = match task {
        Task::WordCount => {
            Box::new(WordCounts::new(&count_items(network, strategy, memory), least, top))
        }
        Task::Sort => {
            Box::new(SortedCounts::new(&count_items(network, strategy, memory), least, top))
        }
        Task::InvertedIndex => {
            let tables = tables(network);
            Box::new(InvertedIndex::new(network, TermNames, tables.as_ref(), least, top, false))
        }
        Task::TermVector => Box::new(TermVectors {
            network: Cow::Borrowed(network),
            names: TermNames,
            tables: tables(network),
            totals: (least > 1).then(|| occurrences(network, ..).items),
            least,
            top: top.unwrap_or(usize::MAX),
            sequences: false,
        }),
        Task::SequenceCount { .. }
        | Task::SequenceCountPerDocument { .. }
        | Task::RankedInvertedIndex { .. } => {
            let packing = Packing { n, bits: bits_for(network.grammar().token_count()) };
            let question = &Question { strategy: Some(strategy), ..*question };
            match packing.n as u32 * packing.bits {
                ..=64 => sequences::<u64>(network, packing, question)?,
                ..=128 => sequences::<u128>(network, packing, question)?,
                _ => sequences::<Wide>(network, packing, question)?,
            }
        }
    };
    Ok(Answered { answer, strategy, reason })
}

/// The tasks over sequences, with keys that are wide enough.
fn sequences<'v, K: Key + Record<Key = K>>(
    network: &'v Network,
    packing: Packing,
    question: &Question,
) -> Result<Box<dyn Answer + 'v>> {
    let Question { task, least, top, memory, strategy } = *question;
    let bottom_up = strategy == Some(Strategy::BottomUp);
    if !bottom_up {
        match task {
            Task::RankedInvertedIndex { .. } => {
                return Ok(Box::new(RankedIndex::<K>::new(network, packing, least, top, memory)?));
            }
            Task::SequenceCountPerDocument { .. } => {}
            _ => {
                let windows = Windows::<K>::new(network, packing.n);
                let occurrences = occurrences(network, ..);
                let counts =
                    SequenceCounts::new(windows, packing, &occurrences, least, top, memory, false);
                return Ok(Box::new(counts.map_err(temporary)?));
            }
        }
    }
    let (made, names) = sequence_network::make::<K>(network, packing, memory)?;
    let tables = bottom_up.then(|| Tables::new(&made, memory / 2));
    Ok(match task {
        Task::RankedInvertedIndex { .. } => {
            Box::new(InvertedIndex::new(&made, names, tables.as_ref(), least, top, true))
        }
        Task::SequenceCountPerDocument { .. } => Box::new(TermVectors {
            totals: (least > 1).then(|| occurrences(&made, ..).items),
            network: Cow::Owned(made),
            names,
            tables,
            least,
            top: top.unwrap_or(usize::MAX),
            sequences: true,
        }),
        _ => {
            let counts = count_items(&made, Strategy::BottomUp, memory);
            Box::new(SequenceCounts::of_items(&counts, names, least, top))
        }
    })
}

fn temporary(source: std::io::Error) -> Error {
    Error::Io { path: "a temporary file".into(), source }
}

/// TF-IDF of every term in every document: terms ascending, or with `top` those that weigh most.
/// Terms that occur fewer than `least` times in all are left out before anything is weighed.
pub fn tfidf<'v>(
    view: &'v View,
    options: TfIdfOptions,
    question: &DocumentQuestion,
) -> Answered<'v> {
    let network = view.network();
    let (strategy, reason) = match question.strategy {
        Some(strategy) => (strategy, String::new()),
        None => {
            let estimate = select::per_document(network, question.memory / 2);
            (estimate.cheaper(), estimate.reason())
        }
    };
    let tables = (strategy == Strategy::BottomUp).then(|| Tables::new(network, question.memory / 2));
    let totals = occurrences(network, ..).items;
    let answer = TfIdf::new(network, tables, options, &totals, question.least, question.top);
    Answered { answer: Box::new(answer), strategy, reason }
}
