//! Documents with their items and counts: term vectors, and sequences counted per document.
//!
//! Documents are worked on in groups while the answer is being given, so that never more than a few groups
//! are in memory.

use std::cmp::Reverse;
use std::io;
use std::ops::Range;

use tadoc_core::Network;
use tadoc_core::answer::{Answer, Column, Entries, Labels, Rows, Value};

use super::columns::{SEQUENCE_DOCUMENTS, TERM_VECTORS};
use super::labels::Names;
use crate::traverse::{DocumentLists, Tables, map_documents_in};

/// Counts below this are put in order by counting.
const CLASSES: usize = 64;
/// Symbols of documents that are worked on at a time.
pub(super) const SYMBOLS_AT_ONCE: u64 = 1 << 23;

/// Documents, each with its items: by count descending, then item ascending.
pub(super) struct TermVectors<'n, N> {
    pub(super) network: std::borrow::Cow<'n, Network>,
    pub(super) names: N,
    pub(super) tables: Option<Tables>,
    /// Occurrences of every item in all documents, if some are left out for being rare.
    pub(super) totals: Option<Vec<u64>>,
    pub(super) least: u64,
    pub(super) top: usize,
    /// Items are sequences, which come first in a row.
    pub(super) sequences: bool,
}

impl<N: Names> TermVectors<'_, N> {
    /// The vectors of a range of documents, group by group.
    fn vectors(&self, documents: Range<usize>) -> Vec<DocumentLists> {
        map_documents_in(&self.network, self.tables.as_ref(), documents, |walker, documents| {
            let mut lists = DocumentLists::new(documents.start);
            let mut kept: (Vec<u32>, Vec<u64>);
            for document in documents {
                let found = walker.document(document);
                let (items, counts) = match &self.totals {
                    None => (found.items, found.counts),
                    Some(totals) => {
                        let often = |&(item, _): &(u32, u64)| totals[item as usize] >= self.least;
                        kept = found.iter().filter(often).unzip();
                        (&kept.0[..], &kept.1[..])
                    }
                };
                order(items, counts, self.top, &mut lists);
                lists.close();
            }
            lists
        })
    }

    /// Calls `each` with the vectors of all documents, some at a time.
    fn for_each_group(
        &self,
        mut each: impl FnMut(&[DocumentLists]) -> io::Result<()>,
    ) -> io::Result<()> {
        for documents in document_ranges(&self.network) {
            each(&self.vectors(documents))?;
        }
        Ok(())
    }
}

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

/// Appends items with counts by count descending; they come in ascending order, which equal counts keep.
fn order(items: &[u32], counts: &[u64], top: usize, into: &mut DocumentLists) {
    let start = into.items.len();
    into.items.resize(start + items.len(), 0);
    into.counts.resize(start + items.len(), 0);
    let (own_items, own_counts) = (&mut into.items[start..], &mut into.counts[start..]);
    let class = |count: u64| CLASSES - 1 - count.min(CLASSES as u64 - 1) as usize;
    let mut places = [0_usize; CLASSES];
    counts.iter().for_each(|&count| places[class(count)] += 1);
    let high = places[0];
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for (&item, &count) in items.iter().zip(counts) {
        let place = &mut places[class(count)];
        own_items[*place] = item;
        own_counts[*place] = count;
        *place += 1;
    }
    if high > 1 {
        let rows = own_items[..high].iter().copied().zip(own_counts[..high].iter().copied());
        let mut rows: Vec<(u32, u64)> = rows.collect();
        rows.sort_by_key(|&(_, count)| Reverse(count));
        for (place, (item, count)) in rows.into_iter().enumerate() {
            (own_items[place], own_counts[place]) = (item, count);
        }
    }
    let kept = start + items.len().min(top);
    into.items.truncate(kept);
    into.counts.truncate(kept);
}

/// Vectors of some documents as rows.
struct VectorRows<'a, N> {
    labels: Labels<'a>,
    names: &'a N,
    network: &'a Network,
    lists: &'a [DocumentLists],
    /// Where the rows of each group end.
    ends: Vec<u64>,
    sequences: bool,
}

impl<'a, N: Names> VectorRows<'a, N> {
    fn new(
        vectors: &'a TermVectors<'_, N>,
        lists: &'a [DocumentLists],
        labels: Labels<'a>,
    ) -> Self {
        let mut end = 0;
        let ends = lists.iter().map(|list| {
            end += list.items.len() as u64;
            end
        });
        let ends = ends.collect();
        let (names, network) = (&vectors.names, &*vectors.network);
        Self { labels, names, network, lists, ends, sequences: vectors.sequences }
    }

    /// Calls `each` with the place of a document, an item and its count, for every row of a range.
    fn entries(&self, rows: Range<u64>, mut each: impl FnMut(usize, u32, u64)) {
        for_each_entry(self.lists, &self.ends, rows, |document, list, entry| {
            each(document, list.items[entry], list.counts[entry]);
        });
    }
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

impl<N: Names> Rows for VectorRows<'_, N> {
    fn columns(&self) -> &'static [Column] {
        if self.sequences { SEQUENCE_DOCUMENTS } else { TERM_VECTORS }
    }

    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let documents = self.network.documents();
        for_each_entry(self.lists, &self.ends, rows, |document, list, entry| {
            self.names.ask_ahead(self.labels, &list.items, entry);
            let document = self.labels.documents[documents[document] as usize];
            let (document, count) = (Value::Text(document), Value::Count(list.counts[entry]));
            self.names.show(self.labels, list.items[entry], &mut |name| {
                if self.sequences {
                    each(&[name, document, count]);
                } else {
                    each(&[document, name, count]);
                }
            });
        });
    }
}

impl<N: Names> Answer for TermVectors<'_, N> {
    fn columns(&self) -> &'static [Column] {
        if self.sequences { SEQUENCE_DOCUMENTS } else { TERM_VECTORS }
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        self.for_each_group(|lists| each(&VectorRows::new(self, lists, labels)))
    }

    fn with_entries(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Entries) -> io::Result<()>,
    ) -> Option<io::Result<()>> {
        if self.sequences {
            return None;
        }
        let lists = self.vectors(0..self.network.documents().len());
        let rows = VectorRows::new(self, &lists, labels);
        let columns = TermColumns::new(labels.terms.len(), &lists);
        Some(each(&VectorEntries { rows, columns }))
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

struct VectorEntries<'a, N> {
    rows: VectorRows<'a, N>,
    columns: TermColumns,
}

impl<N: Names> Rows for VectorEntries<'_, N> {
    fn columns(&self) -> &'static [Column] {
        self.rows.columns()
    }

    fn len(&self) -> u64 {
        self.rows.len()
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        self.rows.visit(rows, each);
    }
}

impl<N: Names> Entries for VectorEntries<'_, N> {
    fn shape(&self) -> (u64, u64) {
        (self.rows.network.documents().len() as u64, self.columns.count)
    }

    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>)) {
        self.rows.entries(rows, |document, item, count| {
            each(document as u64, self.columns.get(item), Value::Count(count));
        });
    }
}
