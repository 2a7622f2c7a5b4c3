//! Items with the documents that they occur in: the inverted index, with counts and ranks for sequences.

use std::cmp::Reverse;
use std::io;
use std::ops::Range;

use tadoc_core::Network;
use tadoc_core::answer::{Answer, Column, Labels, Rows, Value};
use tadoc_core::parallel::map;

use super::columns::{SEQUENCE_DOCUMENTS, TERM_DOCUMENTS};
use super::labels::Names;
use crate::traverse::{DocumentLists, Postings, Tables, map_documents};

/// Items that become one part of the answer.
const ITEMS_AT_ONCE: usize = 1 << 16;
/// Items that one thread takes of these.
const ITEMS_OF_A_CHUNK: u32 = 1 << 12;

/// Items, ascending, each with its documents.
pub(super) struct InvertedIndex<N> {
    names: N,
    postings: Postings,
    /// Numbers of the documents in the corpus.
    documents: Vec<u32>,
    item_count: u32,
    least: u64,
    top: usize,
    /// Documents by count, and counts shown.
    ranked: bool,
}

/// The items of all documents, group by group, with or without their counts.
fn lists(network: &Network, tables: Option<&Tables>, counted: bool) -> Vec<DocumentLists> {
    map_documents(network, tables, |walker, documents| {
        let mut lists = DocumentLists::new(documents.start);
        for document in documents {
            if counted {
                let found = walker.document(document);
                lists.items.extend_from_slice(found.items);
                lists.counts.extend_from_slice(found.counts);
            } else {
                lists.items.extend_from_slice(walker.distinct(document));
            }
            lists.close();
        }
        lists
    })
}

impl<N: Names> InvertedIndex<N> {
    pub(super) fn new(
        network: &Network,
        names: N,
        tables: Option<&Tables>,
        least: u64,
        top: Option<usize>,
        ranked: bool,
    ) -> Self {
        let item_count = network.grammar().token_count();
        let lists = lists(network, tables, ranked || least > 1);
        let postings = Postings::new(&lists, item_count);
        let documents = network.documents().to_vec();
        let top = top.unwrap_or(usize::MAX);
        Self { names, postings, documents, item_count, least, top, ranked }
    }

    /// The documents of an item (places), with counts, in the order of the answer.
    fn documents_of(&self, item: u32, into: &mut Vec<(u32, u64)>) {
        into.clear();
        let (documents, counts) = self.postings.get(item);
        if self.least > 1 && counts.iter().sum::<u64>() < self.least {
            return;
        }
        // Where counts are not shown there may be none.
        let counts = counts.iter().copied().chain(std::iter::repeat(0));
        into.extend(documents.iter().copied().zip(counts));
        if self.ranked {
            rank(into);
        }
        into.truncate(self.top);
    }
}

/// Puts documents by count descending; they come in ascending order, which equal counts keep.
pub(super) fn rank<C: Copy + Ord>(documents: &mut [(u32, C)]) {
    if !documents.is_sorted_by(|one, other| one.1 >= other.1) {
        documents.sort_by_key(|&(_, count)| Reverse(count));
    }
}

/// The rows of a range of items.
struct IndexRows<'a, N> {
    labels: Labels<'a>,
    index: &'a InvertedIndex<N>,
    first: u32,
    /// Where the rows of each item end.
    ends: Vec<u64>,
}

impl<N: Names> Rows for IndexRows<'_, N> {
    fn columns(&self) -> &'static [Column] {
        self.index.columns()
    }

    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let (labels, index) = (self.labels, self.index);
        let mut place = self.ends.partition_point(|&end| end <= rows.start);
        let mut at = rows.start;
        let mut documents = Vec::new();
        while at < rows.end {
            let start = if place == 0 { 0 } else { self.ends[place - 1] };
            let end = self.ends[place].min(rows.end);
            if at < end {
                let item = self.first + place as u32;
                index.documents_of(item, &mut documents);
                let shown = &documents[(at - start) as usize..(end - start) as usize];
                index.names.show(labels, item, &mut |name| {
                    for &(document, count) in shown {
                        let number = index.documents[document as usize];
                        let document = Value::Text(labels.documents[number as usize]);
                        if index.ranked {
                            each(&[name, document, Value::Count(count)]);
                        } else {
                            each(&[name, document]);
                        }
                    }
                });
            }
            at = end;
            place += 1;
        }
    }
}

impl<N: Names> Answer for InvertedIndex<N> {
    fn columns(&self) -> &'static [Column] {
        if self.ranked { SEQUENCE_DOCUMENTS } else { TERM_DOCUMENTS }
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        for first in (0..self.item_count).step_by(ITEMS_AT_ONCE) {
            let last = self.item_count.min(first.saturating_add(ITEMS_AT_ONCE as u32));
            let chunks = (last - first).div_ceil(ITEMS_OF_A_CHUNK) as usize;
            let lengths = map(chunks, &|chunk| {
                let first = first + chunk as u32 * ITEMS_OF_A_CHUNK;
                let items = first..last.min(first.saturating_add(ITEMS_OF_A_CHUNK));
                let length = |item: u32| {
                    let (documents, counts) = self.postings.get(item);
                    let enough = self.least <= 1 || counts.iter().sum::<u64>() >= self.least;
                    if enough { documents.len().min(self.top) as u64 } else { 0 }
                };
                items.map(length).collect::<Vec<u64>>()
            });
            let mut ends = lengths.concat();
            let mut sum = 0;
            for end in &mut ends {
                sum += *end;
                *end = sum;
            }
            each(&IndexRows { labels, index: self, first, ends })?;
        }
        Ok(())
    }
}
