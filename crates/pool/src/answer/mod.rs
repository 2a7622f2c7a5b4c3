//! Answers that stay in the pool: rows are shown straight from the tables that the last phase made.

mod counts;
mod documents;
mod vectors;

pub use counts::{RankedCounts, SortedCounts};
pub use documents::DocumentsOfKeys;
pub use vectors::{KeysOfDocuments, Vectors};

use std::ops::Range;

use tadoc_core::answer::{Labels, Value};

use crate::entry::Key;

/// What keys are called.
pub trait Names<K>: Send + Sync {
    /// Whether keys are sequences, which have columns of their own.
    const SEQUENCES: bool;

    /// Calls `each` with the name of a key.
    fn show(&self, labels: Labels<'_>, key: K, each: impl FnOnce(Value<'_>));
}

/// Keys are terms.
#[derive(Debug, Clone, Copy, Default)]
pub struct TermNames;

impl<K: Key> Names<K> for TermNames {
    const SEQUENCES: bool = false;

    #[inline]
    fn show(&self, labels: Labels<'_>, key: K, each: impl FnOnce(Value<'_>)) {
        each(Value::Text(labels.terms.get(key.number())));
    }
}

/// Calls `each` with a place and those of its rows that are in a range, for every place that has some; `ends` says where the rows of each end.
fn for_each_run(ends: &[u64], rows: Range<u64>, mut each: impl FnMut(usize, Range<u64>)) {
    let mut place = ends.partition_point(|&end| end <= rows.start);
    let mut at = rows.start;
    while at < rows.end {
        let end = ends[place].min(rows.end);
        if at < end {
            each(place, at..end);
        }
        at = end;
        place += 1;
    }
}
