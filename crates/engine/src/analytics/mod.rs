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
use tadoc_core::{Answered, Backend, Limits, Network, Strategy, Task, View};

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
use crate::traverse::{Occurrences, Tables, occurrences};

pub use tadoc_core::answer::columns;

pub use self::pairs::Measure;
pub use self::tfidf::TfIdfOptions;

/// Answers on the processor, on all threads of the rayon pool that it is called in.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuBackend;

impl Backend for CpuBackend {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn answer<'v>(
        &self,
        view: &'v View,
        task: Task,
        limits: &Limits,
    ) -> tadoc_core::Result<Answered<'v>> {
        answer(view, task, limits).map_err(|error| match error {
            Error::Archive(error) => error,
            error => tadoc_core::Error::backend(error),
        })
    }
}

/// Runs a task on a view.
pub fn answer<'v>(view: &'v View, task: Task, limits: &Limits) -> Result<Answered<'v>> {
    let network = view.network();
    let Limits { least, top, memory, .. } = *limits;
    check(view, task)?;
    let n = task.terms_of_a_key();
    let (strategy, reason) = choose(network, task, limits);
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
            let limits = &Limits { strategy: Some(strategy), ..*limits };
            match packing.n as u32 * packing.bits {
                ..=64 => sequences::<u64>(network, packing, task, limits)?,
                65..=128 => sequences::<u128>(network, packing, task, limits)?,
                _ => sequences::<Wide>(network, packing, task, limits)?,
            }
        }
    };
    Ok(Answered { answer, strategy, reason })
}

/// Whether a task can be asked of a view at all.
pub(crate) fn check(view: &View, task: Task) -> Result<()> {
    check_length("a sequence", task.terms_of_a_key(), 1, LONGEST_SEQUENCE)?;
    match task {
        Task::WordCount | Task::Sort => Ok(()),
        _ => check_root(view),
    }
}

fn check_length(what: &'static str, given: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&given) {
        return Ok(());
    }
    Err(Error::BadLength { what, given, least, most })
}

/// Most answers need to know where terms occur.
fn check_root(view: &View) -> Result<()> {
    if view.network().has_root() { Ok(()) } else { Err(Error::CountsOnly) }
}

/// The strategy that is asked for, or else the cheaper one, and why.
fn choose(network: &Network, task: Task, limits: &Limits) -> (Strategy, String) {
    if let Some(strategy) = limits.strategy {
        return (strategy, String::new());
    }
    let reason = match task {
        Task::InvertedIndex | Task::TermVector => {
            let estimate = select::per_document(network, limits.memory / 2);
            return (estimate.cheaper(), estimate.reason());
        }
        Task::WordCount | Task::Sort | Task::SequenceCount { .. } => {
            "weights visit every symbol once, tables no fewer"
        }
        Task::SequenceCountPerDocument { .. } => {
            "a sequence is in few rules, so tables save little"
        }
        Task::RankedInvertedIndex { .. } => {
            "a sequence has few places, and the documents of a rule are known"
        }
    };
    (Strategy::TopDown, reason.to_string())
}

/// The tasks over sequences, with keys that are wide enough.
fn sequences<'v, K: Key + Record<Key = K>>(
    network: &'v Network,
    packing: Packing,
    task: Task,
    limits: &Limits,
) -> Result<Box<dyn Answer + 'v>> {
    let Limits { least, top, memory, strategy } = *limits;
    let bottom_up = strategy == Some(Strategy::BottomUp);
    if !bottom_up {
        match task {
            Task::RankedInvertedIndex { .. } if ranked::fits(network.length()) => {
                return Ok(Box::new(RankedIndex::<K>::new(network, packing, least, top, memory)?));
            }
            Task::SequenceCount { .. } => {
                let windows = Windows::<K>::new(network, packing.n);
                let occurrences = occurrences(network, ..);
                let counts =
                    SequenceCounts::new(windows, packing, &occurrences, least, top, memory, false);
                return Ok(Box::new(counts.map_err(temporary)?));
            }
            _ => {}
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

/// TF-IDF of every term in every document: terms ascending, or with a limit those that weigh most. Terms below
/// the least count are left out before anything is weighed.
pub fn tfidf<'v>(view: &'v View, options: TfIdfOptions, limits: &Limits) -> Result<Answered<'v>> {
    check_root(view)?;
    let network = view.network();
    let (strategy, reason) = choose(network, Task::TermVector, limits);
    let tables = (strategy == Strategy::BottomUp).then(|| Tables::new(network, limits.memory / 2));
    let totals = occurrences(network, ..).items;
    let answer = TfIdf::new(network, tables, options, &totals, limits.least, limits.top);
    Ok(Answered { answer: Box::new(answer), strategy, reason })
}

/// Pairs of terms that stand at most `window` terms apart in one document, and how often: unordered (the lesser term is the first),
/// or in the order of the text.
pub fn cooccurrence<'v>(
    view: &'v View,
    window: usize,
    ordered: bool,
    limits: &Limits,
) -> Result<Answered<'v>> {
    check_length("a window", window, 1, WIDEST_WINDOW)?;
    check_root(view)?;
    let counts = count_pairs(view, window, ordered, limits, &occurrences(view.network(), ..))?;
    Ok(by_weights(Box::new(counts)))
}

/// Pairs of terms that stand at most `window` terms apart (1: next to each other) in the order of the text, with
/// scores; in the order of one of them. NLTK counts both ends: its `window_size` is one more. Pairs below the least
/// count are left out, and scores are not changed by that.
pub fn collocations<'v>(
    view: &'v View,
    window: usize,
    measure: Measure,
    limits: &Limits,
) -> Result<Answered<'v>> {
    check_length("a window", window, 1, WIDEST_WINDOW)?;
    check_root(view)?;
    let occurrences = occurrences(view.network(), ..);
    // The most frequent pairs are not those of the highest scores, so all are counted.
    let unlimited = Limits { top: None, ..*limits };
    let counted = count_pairs(view, window, true, &unlimited, &occurrences)?;
    let rows = counted.rows().map_err(temporary)?;
    let collocations = Collocations::new(
        rows.into_par_iter(),
        counted.packing(),
        window + 1,
        occurrences.items,
        measure,
        limits.top,
    );
    Ok(by_weights(Box::new(collocations)))
}

fn count_pairs(
    view: &View,
    reach: usize,
    ordered: bool,
    limits: &Limits,
    occurrences: &Occurrences,
) -> Result<SequenceCounts<u64>> {
    let Limits { least, top, memory, .. } = *limits;
    let pairs = Pairs::new(view.network(), reach, !ordered);
    let packing = pairs.packing();
    SequenceCounts::new(pairs, packing, occurrences, least, top, memory, true).map_err(temporary)
}

/// Pairs are counted in one way only.
fn by_weights<'v>(answer: Box<dyn Answer + 'v>) -> Answered<'v> {
    let reason = "pairs are counted by weights only".to_string();
    Answered { answer, strategy: Strategy::TopDown, reason }
}
