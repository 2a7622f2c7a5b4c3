//! From the items of documents to the documents of items.
//!
//! Lists of documents are turned round by ranges of items, side by side: a range is found in every
//! document by two searches, its items are counted, and then each document is written where it belongs.
//!
//! Cost: two passes over all lists. Memory: 12 bytes an entry, on top of the lists.

use std::ops::Range;

use tadoc_core::parallel::map;

/// Ranges of items a thread.
const RANGES_PER_THREAD: usize = 2;

/// The items of some documents that follow each other, each ascending, with counts.
#[derive(Debug, Clone, Default)]
pub struct DocumentLists {
    /// The first document.
    pub first: usize,
    /// For each document, where its items end.
    pub ends: Vec<usize>,
    /// The items of all documents.
    pub items: Vec<u32>,
    /// The count of each; none at all where they are not wanted.
    pub counts: Vec<u64>,
}

impl DocumentLists {
    /// Lists that begin with a document.
    pub fn new(first: usize) -> Self {
        Self { first, ..Self::default() }
    }

    /// Ends the list of a document.
    pub fn close(&mut self) {
        self.ends.push(self.items.len());
    }

    /// Each document with the range of its entries.
    pub fn documents(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        (self.first..).zip(starts.zip(&self.ends).map(|(start, &end)| start..end))
    }
}

/// For each item the documents that have it, ascending, with its count in each.
#[derive(Debug, Clone, Default)]
pub struct Postings {
    /// Items of a part.
    size: usize,
    parts: Vec<PostingsPart>,
}

/// The documents of a range of items.
#[derive(Debug, Clone, Default)]
struct PostingsPart {
    /// Where the documents of each item end.
    ends: Vec<usize>,
    documents: Vec<u32>,
    counts: Vec<u64>,
}

impl Postings {
    /// Turns lists round; they are in the order of documents, and all items are below `item_count`.
    pub fn new(lists: &[DocumentLists], item_count: u32) -> Self {
        let ranges = rayon::current_num_threads() * RANGES_PER_THREAD;
        let size = (item_count as usize).div_ceil(ranges).max(1);
        let parts = map((item_count as usize).div_ceil(size), &|part| {
            let first = part * size;
            PostingsPart::new(lists, first as u32..(first + size).min(item_count as usize) as u32)
        });
        Self { size, parts }
    }

    /// The documents of an item, and its count in each if there were counts.
    #[inline]
    pub fn get(&self, item: u32) -> (&[u32], &[u64]) {
        let part = &self.parts[item as usize / self.size];
        let range = part.range(item as usize % self.size);
        (&part.documents[range.clone()], part.counts.get(range).unwrap_or(&[]))
    }

    /// How many entries all items have together.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.documents.len()).sum()
    }

    /// Whether no item is in any document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PostingsPart {
    fn new(lists: &[DocumentLists], range: Range<u32>) -> Self {
        let in_range = |list: &DocumentLists, entries: Range<usize>| {
            let items = &list.items[entries.clone()];
            let low = items.partition_point(|&item| item < range.start);
            let high = low + items[low..].partition_point(|&item| item < range.end);
            entries.start + low..entries.start + high
        };
        let mut ends = vec![0_usize; range.len()];
        let mut found = Vec::new();
        for list in lists {
            for (document, entries) in list.documents() {
                let entries = in_range(list, entries);
                for &item in &list.items[entries.clone()] {
                    ends[(item - range.start) as usize] += 1;
                }
                if !entries.is_empty() {
                    found.push((list, document as u32, entries));
                }
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        // Starts now, which become ends as they are written past.
        let counted = lists.iter().any(|list| !list.counts.is_empty());
        let (mut documents, mut counts) =
            (vec![0_u32; sum], vec![0_u64; if counted { sum } else { 0 }]);
        for (list, document, entries) in found {
            for entry in entries {
                let place = &mut ends[(list.items[entry] - range.start) as usize];
                documents[*place] = document;
                if let Some(count) = counts.get_mut(*place) {
                    *count = list.counts[entry];
                }
                *place += 1;
            }
        }
        Self { ends, documents, counts }
    }

    fn range(&self, item: usize) -> Range<usize> {
        let start = if item == 0 { 0 } else { self.ends[item - 1] };
        start..self.ends[item]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_items() {
        let mut first = DocumentLists::new(0);
        first.items = vec![1, 4, 0, 1];
        first.counts = vec![5, 6, 7, 8];
        first.ends = vec![2, 2, 4];
        let mut second = DocumentLists::new(3);
        second.items = vec![4];
        second.counts = vec![9];
        second.ends = vec![1];
        let postings = Postings::new(&[first, second], 6);
        assert_eq!(postings.get(0), (&[2][..], &[7][..]));
        assert_eq!(postings.get(1), (&[0, 2][..], &[5, 8][..]));
        assert_eq!(postings.get(3), (&[][..], &[][..]));
        assert_eq!(postings.get(4), (&[0, 3][..], &[6, 9][..]));
        assert_eq!(postings.get(5), (&[][..], &[][..]));
        assert_eq!(postings.len(), 5);
        assert!(Postings::new(&[], 0).is_empty());
    }
}
