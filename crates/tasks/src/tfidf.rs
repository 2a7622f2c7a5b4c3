//! TF-IDF: the weights of the terms of every document, by scikit-learn's definition ([`score`](crate::score)).
//!
//! Three phases behind the walk over documents: its terms with counts by term, the document frequency
//! of every term, and weights, which are written as they are shown.
//!
//! Cost: one walk over all documents, then a pass over what it found for each of the other two phases.
//! Size: a term and a count an entry, and a term and 8 bytes for each that is shown; 4 bytes a term.

use std::sync::atomic::{AtomicU32, Ordering};

use tadoc_core::{Array, TfIdfOptions, parallel};

use crate::Result;
use crate::answer::Vectors;
use crate::check::are_ends;
use crate::entry::{Count, Key};
use crate::score::{divisor, inverse_document_frequency, term_frequency};
use crate::vectors::{CELLS, ENDS, KEYS, Order, PhaseNames, vectors};
use crate::walk::{Emit, Walkers};
use crate::work::{Block, Work};

/// The terms of all documents with their counts, by term, of terms that `keep` says.
pub fn counts<E: Emit>(
    work: &mut Work<'_>,
    walkers: &Walkers<'_, E>,
    keep: impl Fn(E::Key) -> bool + Sync,
) -> Result<Vec<Vectors>> {
    let phases = PhaseNames { walk: "terms of documents", add_up: "terms of large documents" };
    vectors(work, phases, walkers, keep, Order::Key)
}

/// The weights of all documents, in the order of documents, by term; or the `top` that weigh most, by
/// weight descending, then term. `counted` are their terms with counts.
pub fn weights<K: Key>(
    work: &mut Work<'_>,
    counted: &[Vectors],
    terms: usize,
    documents: usize,
    options: TfIdfOptions,
    top: Option<usize>,
) -> Result<Vec<Vectors>> {
    let factors = match options.use_idf {
        false => vec![1.0; terms],
        true => {
            let frequencies = document_frequencies::<K>(work, counted, terms, documents)?;
            let factor = |term: usize| {
                let with_term = frequencies[term].into();
                inverse_document_frequency(documents as u64, with_term, options.smooth_idf)
            };
            parallel::map(terms, &factor)
        }
    };
    let are_weights = |operation: usize, block: Block<'_>| {
        let (ends, keys) = (block.section::<u64>(ENDS)?, block.section::<K>(KEYS)?);
        let of_documents = counted[operation].section::<u64>(ENDS);
        Some(
            ends.len() == of_documents.len()
                && are_ends(ends.iter().copied(), keys.len())
                && block.section::<f64>(CELLS)?.len() == keys.len()
                && keys.iter().all(|key| (key.number() as usize) < terms),
        )
    };
    let blocks = work.append("weights", counted.len(), are_weights, |operation, block| {
        let counted = &counted[operation];
        let keys = counted.section::<K>(KEYS);
        let counts = counted.section::<K::Count>(CELLS);
        let (mut ends, mut shown, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let mut row: Vec<(K, f64)> = Vec::new();
        let mut start = 0;
        for &end in counted.section::<u64>(ENDS) {
            let own = start..end as usize;
            start = own.end;
            row.clear();
            row.extend(keys[own.clone()].iter().zip(&counts[own]).map(|(&key, count)| {
                let frequency = term_frequency(count.get(), options.sublinear_tf);
                (key, frequency * factors[key.number() as usize])
            }));
            let norm = divisor(options.norm, row.iter().map(|&(_, weight)| weight));
            row.iter_mut().for_each(|(_, weight)| *weight /= norm);
            if let Some(top) = top {
                // Stable, so that terms of one weight stay in their order.
                row.sort_by(|one, other| other.1.total_cmp(&one.1));
                row.truncate(top);
            }
            shown.extend(row.iter().map(|&(key, _)| key));
            weights.extend(row.iter().map(|&(_, weight)| weight));
            ends.push(shown.len() as u64);
        }
        block.put(&ends);
        block.put(&shown);
        block.put(&weights);
        Ok(())
    })?;
    let firsts = counted.iter().map(|counted| counted.first);
    let vectors = firsts.enumerate();
    Ok(vectors.map(|(block, first)| Vectors { blocks: blocks.clone(), block, first }).collect())
}

/// In how many documents every term is.
fn document_frequencies<K: Key>(
    work: &mut Work<'_>,
    counted: &[Vectors],
    terms: usize,
    documents: usize,
) -> Result<Array<u32>> {
    let entries: u64 = counted.iter().map(Vectors::rows).sum();
    // Of documents there are no more than 32 bits can say.
    let are_of_entries = |_, own: &[u32]| {
        own.iter().all(|&frequency| frequency as usize <= documents)
            && own.iter().map(|&frequency| u64::from(frequency)).sum::<u64>() == entries
    };
    // Any entry may be of any term, so it is one operation, done by all threads.
    work.fill("document frequencies", &[0, terms], are_of_entries, |_, own| {
        let frequencies: Vec<AtomicU32> = own.iter().map(|_| AtomicU32::new(0)).collect();
        parallel::each(counted.len(), &|vectors| {
            for key in counted[vectors].section::<K>(KEYS) {
                frequencies[key.number() as usize].fetch_add(1, Ordering::Relaxed);
            }
        });
        for (own, frequency) in own.iter_mut().zip(frequencies) {
            *own = frequency.into_inner();
        }
    })
}
