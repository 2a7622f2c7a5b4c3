//! The tasks, each a chain of phases; those over sequences are in `sequences`.

use tadoc_core::answer::Answer;
use tadoc_core::task::LONGEST_SEQUENCE;
use tadoc_core::{Answered, Limits, Network, Strategy, Task, View};

use crate::answer::{DocumentsOfKeys, KeysOfDocuments, RankedCounts, SortedCounts};
use crate::entry::Key;
use crate::plan::{Plan, Sizes};
use crate::pruned::Pruned;
use crate::rank::rank;
use crate::select;
use crate::sequences;
use crate::terms::TermsOf;
use crate::transpose::{Transposition, even_buckets};
use crate::vectors::{Phases, vectors};
use crate::walk::Walkers;
use crate::weights::Weights;
use crate::work::{Block, Work};
use crate::{Error, Result};

/// Terms that are gone over at a time.
const TERMS_AT_ONCE: usize = 1 << 16;
/// Bytes of memory that the work may take, for every entry of a bucket: there is one for each thread, and it is there twice.
const MEMORY_AN_ENTRY: u64 = 64;
/// Entries of a bucket: at least, and at most.
const ENTRIES_OF_A_BUCKET: std::ops::RangeInclusive<u64> = 1 << 16..=1 << 22;

/// Runs a task. `pruned` are the pruned rules of the view's network.
///
/// # Errors
/// As [`check`], and if the storage fails.
pub fn answer_with(
    work: &mut Work<'_>,
    view: &View,
    pruned: &Pruned,
    task: Task,
    limits: &Limits,
) -> Result<Answered> {
    answer_in(work, view, pruned, task, limits, Sizes::default())
}

/// Whether a task can be asked of a view at all.
///
/// # Errors
/// [`Error::BadLength`] for sequences that are too short or too long, and [`Error::CountsOnly`] if the view has no documents but the
/// task asks for them.
pub fn check(view: &View, task: Task) -> Result<()> {
    let given = task.terms_of_a_key();
    if !(1..=LONGEST_SEQUENCE).contains(&given) {
        let (what, least, most) = ("a sequence", 1, LONGEST_SEQUENCE);
        return Err(Error::BadLength { what, given, least, most });
    }
    match task {
        Task::WordCount | Task::Sort => Ok(()),
        _ if view.network().has_root() => Ok(()),
        _ => Err(Error::CountsOnly),
    }
}

/// The same as [`answer_with`], with documents shared out by sizes.
fn answer_in(
    work: &mut Work<'_>,
    view: &View,
    pruned: &Pruned,
    task: Task,
    limits: &Limits,
    sizes: Sizes,
) -> Result<Answered> {
    check(view, task)?;
    let network = view.network();
    match task {
        Task::WordCount | Task::Sort => {
            let reason = "weights visit every symbol once, tables no fewer";
            let (strategy, reason) = match limits.strategy {
                Some(strategy) => (strategy, String::new()),
                None => (Strategy::TopDown, reason.to_string()),
            };
            let answer = count(work, network, pruned, task, strategy, limits)?;
            Ok(Answered { answer, strategy, reason })
        }
        Task::SequenceCount { .. }
        | Task::SequenceCountPerDocument { .. }
        | Task::RankedInvertedIndex { .. } => {
            let (strategy, reason) = match limits.strategy {
                Some(strategy) => (strategy, String::new()),
                None => (Strategy::TopDown, sequences::reason(task).to_string()),
            };
            let answer = sequences::answer(work, network, pruned, task, strategy, limits)?;
            Ok(Answered { answer, strategy, reason })
        }
        // A term may occur as often as there are items.
        _ if network.length() <= u32::MAX.into() => {
            of_documents::<u32>(work, network, pruned, task, limits, sizes)
        }
        _ => of_documents::<u64>(work, network, pruned, task, limits, sizes),
    }
}

/// Word count and sort.
fn count(
    work: &mut Work<'_>,
    network: &Network,
    pruned: &Pruned,
    task: Task,
    strategy: Strategy,
    limits: &Limits,
) -> Result<Box<dyn Answer>> {
    let weights = match strategy {
        Strategy::TopDown => Weights::new(work, network, pruned)?,
        Strategy::BottomUp => {
            let terms = TermsOf::<u32>::new(work, network, pruned)?;
            let terms = terms.with_tables(work, network, pruned)?;
            Weights::by_tables(work, network, pruned, &terms)?
        }
    };
    if task == Task::Sort {
        return Ok(Box::new(SortedCounts::new(weights, limits.least, limits.top)));
    }
    let counts = weights.items();
    let stretches = counts.len().div_ceil(TERMS_AT_ONCE);
    let sweep = |stretch: usize, each: &mut dyn FnMut(u32, u64)| {
        let first = stretch * TERMS_AT_ONCE;
        let some = &counts[first..counts.len().min(first + TERMS_AT_ONCE)];
        (first as u32..).zip(some).for_each(|(term, &count)| each(term, count));
    };
    let is_term = |term: u32| (term as usize) < counts.len();
    let (least, top) = (limits.least, limits.top);
    let ranked = rank(work, "words by count", stretches, sweep, is_term, least, top)?;
    Ok(Box::new(RankedCounts::<u32>::new(ranked)))
}

/// Inverted index and term vector.
fn of_documents<K: Key>(
    work: &mut Work<'_>,
    network: &Network,
    pruned: &Pruned,
    task: Task,
    limits: &Limits,
    sizes: Sizes,
) -> Result<Answered> {
    let mut terms = TermsOf::<K>::new(work, network, pruned)?;
    let (strategy, reason) = match limits.strategy {
        Some(strategy) => (strategy, String::new()),
        None => {
            let estimate = select::per_document(work, network, pruned, terms.bounds())?;
            (estimate.cheaper(), estimate.reason())
        }
    };
    if strategy == Strategy::BottomUp {
        terms = terms.with_tables(work, network, pruned)?;
    }
    let top = limits.top.unwrap_or(usize::MAX);
    let least = limits.least;
    // Buckets are balanced by weights, and rare terms are known by them.
    let weights = match task {
        Task::TermVector if least <= 1 => None,
        _ => Some(Weights::new(work, network, pruned)?),
    };
    let is_kept = |key: K| {
        least <= 1
            || weights
                .as_ref()
                .is_none_or(|weights| weights.items()[key.number() as usize] >= least)
    };
    let plan = Plan::new(work, "bounds of documents", network, &terms, sizes)?;
    let walkers = Walkers::new(work, network, pruned, &plan, &terms)?;
    let answer: Box<dyn Answer> = match (task, &weights) {
        (Task::InvertedIndex, Some(weights)) => {
            let most = (work.memory() / MEMORY_AN_ENTRY)
                .clamp(*ENTRIES_OF_A_BUCKET.start(), *ENTRIES_OF_A_BUCKET.end());
            let documents = network.documents().len() as u64;
            let most_of_terms = weights.items().iter().map(|&weight| weight.min(documents));
            let firsts = even_buckets(most_of_terms, most);
            let entries = Transposition::new(work, "terms of documents", &walkers, firsts, false)?;
            let (terms, documents) = (network.grammar().token_count(), network.documents().len());
            let are_rows =
                |_, block: Block<'_>| DocumentsOfKeys::<K>::are_in(block, terms, documents);
            let phase = "documents of terms";
            let blocks = work.append(phase, entries.buckets(), are_rows, |bucket, block| {
                let mut postings = entries.postings(bucket);
                postings.keep(is_kept, top);
                DocumentsOfKeys::<K>::put(&postings, block);
                Ok(())
            })?;
            Box::new(DocumentsOfKeys::<K>::new(blocks, network.documents().clone()))
        }
        (Task::TermVector, _) => {
            let phases = Phases { walk: "term vectors", add_up: "term vectors of large documents" };
            let made = vectors(work, phases, &walkers, is_kept, top)?;
            Box::new(KeysOfDocuments::<K>::new(made, network.documents().clone()))
        }
        _ => return Err(Error::Unsupported { what: task.name().to_string() }),
    };
    Ok(Answered { answer, strategy, reason })
}

#[cfg(test)]
mod tests;
