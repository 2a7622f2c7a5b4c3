//! The tasks, each a chain of phases: those over words are here, and `sequences` has the others.

use tadoc_core::answer::Answer;
use tadoc_core::{Answered, Limits, Network, Strategy, Task, View};

use crate::answer::{DocumentsOfKeys, KeysOfDocuments, RankedCounts, SortedCounts, TermNames};
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
use crate::work::Work;
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
/// If the view has no documents but the task asks for them, or something is wrong with the pool.
pub fn answer_with<'v>(
    work: &mut Work<'_>,
    view: &'v View,
    pruned: &Pruned,
    task: Task,
    limits: &Limits,
) -> Result<Answered<'v>> {
    answer_in(work, view, pruned, task, limits, Sizes::default())
}

/// The same, with documents shared out by sizes.
fn answer_in<'v>(
    work: &mut Work<'_>,
    view: &'v View,
    pruned: &Pruned,
    task: Task,
    limits: &Limits,
    sizes: Sizes,
) -> Result<Answered<'v>> {
    let network = view.network();
    let for_want_of = |reason: &str| match limits.strategy {
        Some(strategy) => (strategy, String::new()),
        None => (Strategy::TopDown, reason.to_string()),
    };
    let (strategy, reason) = match task {
        Task::WordCount | Task::Sort => {
            let (strategy, reason) =
                for_want_of("weights visit every symbol once, tables no fewer");
            let answer = count(work, network, pruned, task, strategy, limits)?;
            return Ok(Answered { answer, strategy, reason });
        }
        _ if !network.has_root() => return Err(Error::CountsOnly),
        // A term may occur as often as there are items.
        Task::InvertedIndex | Task::TermVector if network.length() <= u32::MAX.into() => {
            return of_documents::<u32>(work, network, pruned, task, limits, sizes);
        }
        Task::InvertedIndex | Task::TermVector => {
            return of_documents::<u64>(work, network, pruned, task, limits, sizes);
        }
        Task::SequenceCount { .. } => {
            for_want_of("weights visit every symbol once, tables no fewer")
        }
        Task::SequenceCountPerDocument { .. } => {
            for_want_of("a sequence is in few rules, so tables save little")
        }
        Task::RankedInvertedIndex { .. } => {
            for_want_of("a sequence has few places, and the documents of a rule are known")
        }
    };
    let answer = sequences::answer(work, network, pruned, task, strategy, limits)?;
    Ok(Answered { answer, strategy, reason })
}

/// Word count and sort.
fn count<'v>(
    work: &mut Work<'_>,
    network: &'v Network,
    pruned: &Pruned,
    task: Task,
    strategy: Strategy,
    limits: &Limits,
) -> Result<Box<dyn Answer + 'v>> {
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
    let ranked = rank(work, "words by count", stretches, sweep, limits.least, limits.top)?;
    Ok(Box::new(RankedCounts::<u32, _>::new(ranked, TermNames)))
}

/// Inverted index and term vector.
fn of_documents<'v, K: Key>(
    work: &mut Work<'_>,
    network: &'v Network,
    pruned: &Pruned,
    task: Task,
    limits: &Limits,
    sizes: Sizes,
) -> Result<Answered<'v>> {
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
    let plan = Plan::new(work, "bounds of documents", network, &terms, sizes)?;
    let walkers = |work: &Work<'_>| Walkers::new(work, network, pruned, &plan, &terms);
    let answer: Box<dyn Answer + 'v> = if task == Task::TermVector {
        Box::new(term_vectors(work, network, pruned, walkers, limits)?)
    } else {
        Box::new(inverted_index(work, network, pruned, walkers, limits)?)
    };
    Ok(Answered { answer, strategy, reason })
}

fn inverted_index<'v, 'w, K: Key>(
    work: &mut Work<'_>,
    network: &'v Network,
    pruned: &Pruned,
    walkers: impl FnOnce(&Work<'_>) -> Result<Walkers<'w, TermsOf<'w, K>>>,
    limits: &Limits,
) -> Result<DocumentsOfKeys<'v, K, TermNames>> {
    // A term is in no more documents than it occurs, so this says how large a bucket can be; and which terms are rare.
    let weights = Weights::new(work, network, pruned)?;
    let documents = network.documents().len() as u64;
    let sizes = weights.items().iter().map(|&weight| weight.min(documents));
    let most = (work.memory() / MEMORY_AN_ENTRY)
        .clamp(*ENTRIES_OF_A_BUCKET.start(), *ENTRIES_OF_A_BUCKET.end());
    let firsts = even_buckets(sizes, most);
    let walkers = walkers(work)?;
    let entries = Transposition::new(work, "terms of documents", &walkers, firsts, false)?;
    // What they take of memory is for the buckets now.
    drop(walkers);
    let top = limits.top.unwrap_or(usize::MAX);
    let blocks = work.append("documents of terms", entries.buckets(), |bucket, block| {
        let mut postings = entries.postings(bucket);
        postings.keep(|key: K| weights.items()[key.number() as usize] >= limits.least, top);
        DocumentsOfKeys::<K, TermNames>::put(&postings, block);
        Ok(())
    })?;
    Ok(DocumentsOfKeys::new(blocks, TermNames, network.documents()))
}

fn term_vectors<'v, 'w, K: Key>(
    work: &mut Work<'_>,
    network: &'v Network,
    pruned: &Pruned,
    walkers: impl FnOnce(&Work<'_>) -> Result<Walkers<'w, TermsOf<'w, K>>>,
    limits: &Limits,
) -> Result<KeysOfDocuments<'v, K, TermNames>> {
    let Limits { least, top, .. } = *limits;
    let weights = (least > 1).then(|| Weights::new(work, network, pruned)).transpose()?;
    let counts = weights.as_ref().map(Weights::items);
    let is_kept = |key: K| counts.is_none_or(|counts| counts[key.number() as usize] >= least);
    let phases = Phases { walk: "term vectors", add_up: "term vectors of large documents" };
    let walkers = walkers(work)?;
    let made = vectors(work, phases, &walkers, is_kept, top.unwrap_or(usize::MAX))?;
    Ok(KeysOfDocuments::new(made, TermNames, network.documents()))
}

#[cfg(test)]
mod tests;
