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

mod keys;
mod labels;
mod pairs;
mod partition;
mod ranking;
pub mod score;
mod select;
mod sequences;
mod sites;
mod term_vector;
mod tfidf;
mod windows;

use rayon::prelude::*;
use tadoc_core::answer::Answer;
use tadoc_core::task::WIDEST_WINDOW;
use tadoc_core::{Answered, Backend, Limits, Network, Strategy, Task, View};

use self::pairs::{Collocations, Pairs};
use self::sequences::SequenceCounts;
use self::tfidf::TfIdf;
use crate::error::{Error, Result};
use crate::traverse::{Occurrences, Tables, occurrences};

pub use tadoc_core::answer::columns;

pub use self::pairs::Measure;
pub use self::tfidf::TfIdfOptions;

pub use tadoc_tasks::CpuBackend;

/// Runs a task on a view, on the processor.
pub fn answer(view: &View, task: Task, limits: &Limits) -> Result<Answered> {
    Ok(CpuBackend::default().answer(view, task, limits)?)
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
fn choose(network: &Network, limits: &Limits) -> (Strategy, String) {
    if let Some(strategy) = limits.strategy {
        return (strategy, String::new());
    }
    let estimate = select::per_document(network, limits.memory / 2);
    (estimate.cheaper(), estimate.reason())
}

fn temporary(source: std::io::Error) -> Error {
    Error::Io { path: "a temporary file".into(), source }
}

/// TF-IDF of every term in every document: terms ascending, or with a limit those that weigh most. Terms below
/// the least count are left out before anything is weighed.
pub fn tfidf(view: &View, options: TfIdfOptions, limits: &Limits) -> Result<Answered> {
    check_root(view)?;
    let network = view.network();
    let (strategy, reason) = choose(network, limits);
    let tables = (strategy == Strategy::BottomUp).then(|| Tables::new(network, limits.memory / 2));
    let totals = occurrences(network, ..).items;
    let answer = TfIdf::new(network, tables, options, &totals, limits.least, limits.top);
    Ok(Answered { answer: Box::new(answer), strategy, reason })
}

/// Pairs of terms that stand at most `window` terms apart in one document, and how often: unordered (the lesser term is the first),
/// or in the order of the text.
pub fn cooccurrence(
    view: &View,
    window: usize,
    ordered: bool,
    limits: &Limits,
) -> Result<Answered> {
    check_length("a window", window, 1, WIDEST_WINDOW)?;
    check_root(view)?;
    let counts = count_pairs(view, window, ordered, limits, &occurrences(view.network(), ..))?;
    Ok(by_weights(Box::new(counts)))
}

/// Pairs of terms that stand at most `window` terms apart (1: next to each other) in the order of the text, with
/// scores; in the order of one of them. NLTK counts both ends: its `window_size` is one more. Pairs below the least
/// count are left out, and scores are not changed by that.
pub fn collocations(
    view: &View,
    window: usize,
    measure: Measure,
    limits: &Limits,
) -> Result<Answered> {
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
    SequenceCounts::new(pairs, packing, occurrences, least, top, memory).map_err(temporary)
}

/// Pairs are counted in one way only.
fn by_weights(answer: Box<dyn Answer>) -> Answered {
    let reason = "pairs are counted by weights only".to_string();
    Answered { answer, strategy: Strategy::TopDown, reason }
}
