//! The tasks, each a chain of phases; those over sequences are in `sequences`.

use tadoc_core::answer::Answer;
use tadoc_core::{Answered, Limits, Network, Strategy, Task, View};

use crate::answer::{Cell, DocumentsOfKeys, KeysOfDocuments, RankedCounts, SortedCounts};
use crate::entry::{Entry, Key};
use crate::plan::{Plan, Sizes, sole_document};
use crate::rank::rank;
use crate::select;
use crate::sequences;
use crate::terms::TermsOf;
use crate::tfidf;
use crate::transpose::{Postings, Transposition, even_buckets};
use crate::vectors::{Order, PhaseNames, one_vector, vectors};
use crate::walk::Walkers;
use crate::weights::Weights;
use crate::work::{Block, Work};
use crate::{Error, Result};

/// Terms that are gone over at a time.
const TERMS_AT_ONCE: usize = 1 << 16;
/// Bytes of memory that the work may take, for every entry of a bucket: there is one for each thread, and it is there twice.
const MEMORY_AN_ENTRY: u64 = 64;
/// Buckets, if they are not too small or too large for that: for threads to end at the same time.
const BUCKETS: u64 = 64;
/// Entries of a bucket: at least, and at most.
const ENTRIES_OF_A_BUCKET: std::ops::RangeInclusive<u64> = 1 << 16..=1 << 22;

/// Runs a task.
///
/// # Errors
/// As [`check`], and if the storage fails.
pub fn answer_with(
    work: &mut Work<'_>,
    view: &View,
    task: Task,
    limits: &Limits,
) -> Result<Answered> {
    let answered = answer_in(work, view, task, limits, Sizes::default())?;
    Ok(Answered { steps: work.steps().take(), ..answered })
}

/// Whether a task can be asked of a view at all.
///
/// # Errors
/// [`Error::BadLength`] for sequences and windows that are too short or too long, and [`Error::CountsOnly`] if the view has counts only and the
/// task needs more: all but word count and sort do, and of one document also the inverted index, term vector and TF-IDF.
pub fn check(view: &View, task: Task) -> Result<()> {
    let (what, given, most) = match task {
        Task::Cooccurrence { window, .. } | Task::Collocations { window, .. } => {
            ("a window", window, Task::WIDEST_WINDOW)
        }
        _ => ("a sequence", task.terms_of_a_key(), Task::LONGEST_SEQUENCE),
    };
    if !(1..=most).contains(&given) {
        return Err(Error::BadLength { what, given, least: 1, most });
    }
    match task {
        Task::WordCount | Task::Sort => Ok(()),
        _ if view.network().has_root() => Ok(()),
        Task::InvertedIndex | Task::TermVector | Task::TfIdf(_)
            if sole_document(view.network()).is_some() =>
        {
            Ok(())
        }
        _ => Err(Error::CountsOnly),
    }
}

/// The same as [`answer_with`], with documents shared out by sizes.
fn answer_in(
    work: &mut Work<'_>,
    view: &View,
    task: Task,
    limits: &Limits,
    sizes: Sizes,
) -> Result<Answered> {
    check(view, task)?;
    let network = view.network();
    let sole = sole_document(network);
    let over_all = || Ok((Strategy::TopDown, select::OVER_ALL.to_string()));
    let is_long = network.length() > u32::MAX.into();
    if matches!(task, Task::InvertedIndex | Task::TermVector | Task::TfIdf(_)) && sole.is_none() {
        return match is_long {
            false => of_documents::<u32>(work, network, task, limits, sizes),
            true => of_documents::<u64>(work, network, task, limits, sizes),
        };
    }
    let (strategy, reason) = select::choose(task, limits, over_all)?;
    let answer = match (task, sole) {
        (Task::WordCount | Task::Sort, _) => count(work, network, task, strategy, limits),
        (Task::InvertedIndex | Task::TermVector | Task::TfIdf(_), Some(document)) => {
            let weights = weights_by(work, network, strategy)?;
            // A term may occur as often as there are items.
            match is_long {
                false => of_sole_document::<u32>(work, network, &weights, document, task, limits),
                true => of_sole_document::<u64>(work, network, &weights, document, task, limits),
            }
        }
        _ => sequences::answer(work, network, task, strategy, limits),
    };
    Ok(Answered { answer: answer?, strategy, reason, steps: Vec::new() })
}

/// How often every term occurs.
fn weights_by(work: &mut Work<'_>, network: &Network, strategy: Strategy) -> Result<Weights> {
    match strategy {
        Strategy::TopDown => Weights::new(work, network),
        Strategy::BottomUp => {
            let terms = TermsOf::<u32>::new(work, network)?.with_tables(work)?;
            Weights::by_tables(work, network, &terms)
        }
    }
}

/// Word count and sort.
fn count(
    work: &mut Work<'_>,
    network: &Network,
    task: Task,
    strategy: Strategy,
    limits: &Limits,
) -> Result<Box<dyn Answer>> {
    let weights = weights_by(work, network, strategy)?;
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

/// Inverted index, term vector and TF-IDF of one document, which has all that there is.
fn of_sole_document<K: Key<Count: Cell>>(
    work: &mut Work<'_>,
    network: &Network,
    weights: &Weights,
    document: u32,
    task: Task,
    limits: &Limits,
) -> Result<Box<dyn Answer>> {
    let (counts, least) = (weights.items(), limits.least.max(1));
    let top = limits.top.unwrap_or(usize::MAX);
    let kept = |first: usize, counts: &[u64]| {
        let rows = (first as u32..).zip(counts).filter(move |row| *row.1 >= least);
        rows.map(|(term, &count)| (K::of_number(term), count)).collect::<Vec<_>>()
    };
    let numbers = network.documents().clone();
    let entries = || {
        let rows = kept(0, counts).into_iter();
        rows.map(|(key, count)| K::Entry::new(key, count)).collect::<Vec<_>>()
    };
    let vector = |work: &mut _, phase, order| {
        one_vector::<K>(work, phase, document, counts.len(), entries, order)
    };
    match task {
        Task::TermVector => {
            let made = vector(work, "term vectors", Order::Count(top))?;
            return Ok(Box::new(KeysOfDocuments::<K, K::Count>::new(vec![made], numbers)));
        }
        Task::TfIdf(options) => {
            let counted = [vector(work, "terms of documents", Order::Key)?];
            let (terms, documents) = (counts.len(), numbers.len());
            let made = tfidf::weights::<K>(work, &counted, terms, documents, options, limits.top)?;
            return Ok(Box::new(KeysOfDocuments::<K, f64>::new(made, numbers)));
        }
        _ => {}
    }
    let are_rows = |_, block: Block<'_>| {
        DocumentsOfKeys::<K>::are_in(block, counts.len() as u32, numbers.len())
    };
    let stretches = counts.len().div_ceil(TERMS_AT_ONCE);
    let blocks = work.append("documents of terms", stretches, are_rows, |stretch, block| {
        let first = stretch * TERMS_AT_ONCE;
        let some = &counts[first..counts.len().min(first + TERMS_AT_ONCE)];
        let keys: Vec<K> = match top {
            0 => Vec::new(),
            _ => kept(first, some).into_iter().map(|(key, _)| key).collect(),
        };
        let ends = (1..=keys.len() as u64).collect();
        let documents = vec![document; keys.len()];
        let postings = Postings { keys, ends, documents, counts: Vec::new() };
        DocumentsOfKeys::<K>::put(&postings, block);
        Ok(())
    })?;
    Ok(Box::new(DocumentsOfKeys::<K>::new(blocks, numbers)))
}

/// Inverted index, term vector and TF-IDF.
fn of_documents<K: Key<Count: Cell>>(
    work: &mut Work<'_>,
    network: &Network,
    task: Task,
    limits: &Limits,
    sizes: Sizes,
) -> Result<Answered> {
    let mut terms = TermsOf::<K>::new(work, network)?;
    let (strategy, reason) = select::choose(task, limits, || {
        let estimate = select::per_document(work, network, terms.bounds())?;
        Ok((estimate.cheaper(), estimate.reason()))
    })?;
    if strategy == Strategy::BottomUp {
        terms = terms.with_tables(work)?;
    }
    let top = limits.top.unwrap_or(usize::MAX);
    let least = limits.least;
    // Buckets are balanced by weights, and rare terms are known by them.
    let weights = match task {
        Task::TermVector | Task::TfIdf(_) if least <= 1 => None,
        _ => Some(Weights::new(work, network)?),
    };
    let is_kept = |key: K| {
        least <= 1
            || weights
                .as_ref()
                .is_none_or(|weights| weights.items()[key.number() as usize] >= least)
    };
    let plan = Plan::new(work, "bounds of documents", network, &terms, sizes)?;
    let walkers = Walkers::new(work, network, &plan, &terms)?;
    let answer: Box<dyn Answer> = match (task, &weights) {
        (Task::InvertedIndex, Some(weights)) => {
            let documents = network.documents().len() as u64;
            let most_of_terms = weights.items().iter().map(|&weight| weight.min(documents));
            let even = most_of_terms.clone().fold(0, u64::saturating_add) / BUCKETS;
            let most = (work.memory() / MEMORY_AN_ENTRY)
                .min(even)
                .clamp(*ENTRIES_OF_A_BUCKET.start(), *ENTRIES_OF_A_BUCKET.end());
            let firsts = even_buckets(most_of_terms, most);
            let walkers = walkers.distinct();
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
            let phases =
                PhaseNames { walk: "term vectors", add_up: "term vectors of large documents" };
            let made = vectors(work, phases, &walkers, is_kept, Order::Count(top))?;
            Box::new(KeysOfDocuments::<K, K::Count>::new(made, network.documents().clone()))
        }
        (Task::TfIdf(options), _) => {
            let (terms, top) = (network.grammar().token_count() as usize, limits.top);
            let documents = network.documents();
            let counted = tfidf::counts(work, &walkers, is_kept)?;
            let made = tfidf::weights::<K>(work, &counted, terms, documents.len(), options, top)?;
            Box::new(KeysOfDocuments::<K, f64>::new(made, documents.clone()))
        }
        _ => return Err(Error::Unsupported { what: task.name().to_string() }),
    };
    Ok(Answered { answer, strategy, reason, steps: Vec::new() })
}

#[cfg(test)]
mod tests;
