//! Lists of documents as rows and as entries of a matrix.

use std::ops::Range;

use tadoc_core::Network;

use crate::traverse::DocumentLists;

/// Symbols of documents that are worked on at a time.
pub(super) const SYMBOLS_AT_ONCE: u64 = 1 << 23;

/// Ranges of documents that have about [`SYMBOLS_AT_ONCE`] symbols each.
pub(super) fn document_ranges(network: &Network) -> Vec<Range<usize>> {
    let starts = network.grammar().document_starts();
    let mut ranges = Vec::new();
    let mut first = 0;
    while first + 1 < starts.len() {
        let limit = u64::from(starts[first]) + SYMBOLS_AT_ONCE;
        let fitting = starts[first + 1..].partition_point(|&end| u64::from(end) <= limit);
        let last = first + fitting.max(1);
        ranges.push(first..last);
        first = last;
    }
    ranges
}

/// Calls `each` with the place of a document, its list and the place of an entry in it, for every row of
/// a range; `ends` says where the rows of each list end.
pub(super) fn for_each_entry(
    lists: &[DocumentLists],
    ends: &[u64],
    rows: Range<u64>,
    mut each: impl FnMut(usize, &DocumentLists, usize),
) {
    let mut group = ends.partition_point(|&end| end <= rows.start);
    let mut at = rows.start;
    while at < rows.end {
        let list = &lists[group];
        let before = ends[group] - list.items.len() as u64;
        let until = ends[group].min(rows.end);
        let (mut entry, last) = ((at - before) as usize, (until - before) as usize);
        let mut document = list.ends.partition_point(|&end| end <= entry);
        while entry < last {
            while list.ends[document] <= entry {
                document += 1;
            }
            let end = list.ends[document].min(last);
            (entry..end).for_each(|entry| each(list.first + document, list, entry));
            entry = end;
        }
        at = until;
        group += 1;
    }
}

/// Numbers of terms as columns of a matrix: those that occur in it, in order.
pub(super) struct TermColumns {
    numbers: Vec<u32>,
    pub(super) count: u64,
}

impl TermColumns {
    pub(super) fn new(terms: u32, lists: &[DocumentLists]) -> Self {
        let mut numbers = vec![0_u32; terms as usize];
        for &item in lists.iter().flat_map(|list| &list.items) {
            numbers[item as usize] = 1;
        }
        let mut count = 0;
        for number in &mut numbers {
            count += std::mem::replace(number, count);
        }
        Self { numbers, count: count.into() }
    }

    pub(super) fn get(&self, term: u32) -> u64 {
        self.numbers[term as usize].into()
    }
}
