//! Sequence count and ranked inverted index.
//!
//! Each bucket is counted in cache: by sorting it where most sequences are new, and in a table where most come
//! again. (Of the processor time of the whole task, sorting takes a tenth less on prose and source code, the table
//! a tenth less on logs.) Sequences are then put by count, which is a counting sort. For the ranked index
//! a table is never slower, and on repetitive web pages a quarter faster; the documents of a bucket are put by the
//! rank of their sequence, once more a counting sort.

use std::cmp::Reverse;
use std::ops::Range;

use rayon::prelude::*;

use super::answer::{Labels, PART, Rows, end_row};
use super::key::{Key, Shape, Table};
use super::windows::{Slices, Windows};

/// Counts below this are put by counting, others by sorting.
const SMALL: usize = 256;

/// Sequences with their counts, by count descending, then sequence ascending.
pub struct SequenceCount<K> {
    shape: Shape,
    keys: Vec<K>,
    /// A count, and where the rows of it end.
    runs: Vec<(u64, usize)>,
}

/// The counted sequences of one bucket.
struct Counted<K> {
    /// Those of small count, each count by itself, in order.
    keys: Vec<K>,
    /// A count and its keys, ascending.
    classes: Vec<(usize, Range<usize>)>,
    large: Vec<(u32, K)>,
}

impl<K: Key> SequenceCount<K> {
    /// Counts all sequences.
    pub fn new(windows: &Windows<K>) -> Self {
        let counted: Vec<Counted<K>> = (0..windows.buckets())
            .into_par_iter()
            .map_init(Counter::new, |counter, bucket| {
                let mut parts = Vec::new();
                windows.visit(bucket, |slices| parts.push(counter.count(slices)));
                parts
            })
            .flatten_iter()
            .collect();

        let mut large: Vec<(u32, K)> = counted.iter().flat_map(|one| &one.large).copied().collect();
        large.par_sort_unstable_by_key(|&(count, key)| (Reverse(count), key));
        let mut runs = Vec::new();
        let mut end = 0;
        for same in large.chunk_by(|a, b| a.0 == b.0) {
            end += same.len();
            runs.push((u64::from(same[0].0), end));
        }
        let mut classes: Vec<Vec<&[K]>> = vec![Vec::new(); SMALL];
        for one in &counted {
            for (class, range) in &one.classes {
                classes[*class].push(&one.keys[range.clone()]);
            }
        }
        let total = large.len() + counted.iter().map(|one| one.keys.len()).sum::<usize>();
        let mut keys = vec![K::NONE; total];
        let (first, mut rest) = keys.split_at_mut(large.len());
        for (key, (_, large)) in first.iter_mut().zip(large) {
            *key = large;
        }
        let mut copies = Vec::new();
        for (class, slices) in classes.into_iter().enumerate().rev() {
            let start = end;
            for slice in slices {
                copies.push((rest.split_off_mut(..slice.len()).expect("lengths add up"), slice));
                end += slice.len();
            }
            if end > start {
                runs.push((class as u64, end));
            }
        }
        copies.into_par_iter().with_min_len(64).for_each(|(to, from)| to.copy_from_slice(from));
        Self { shape: windows.shape, keys, runs }
    }
}

/// A bucket is sorted where the one before it had more than one distinct sequence in so many.
const REPETITIVE: usize = 8;

/// Counts one bucket after the other.
struct Counter<K> {
    table: Table<K>,
    sorted: Vec<K>,
    entries: Vec<(K, u32)>,
    /// Whether the last bucket had few distinct sequences.
    repetitive: bool,
}

impl<K: Key> Counter<K> {
    fn new() -> Self {
        let (sorted, entries) = (Vec::new(), Vec::new());
        Self { table: Table::new(), sorted, entries, repetitive: false }
    }

    fn count(&mut self, slices: &Slices<K>) -> Counted<K> {
        self.entries.clear();
        let size: usize = slices.iter().map(|(keys, _)| keys.len()).sum();
        let all = slices.iter().flat_map(|(keys, _)| *keys);
        if self.repetitive {
            self.table.clear();
            for &key in all {
                *self.table.value(key) += 1;
            }
            self.entries.extend(self.table.entries());
            self.entries.sort_unstable_by_key(|&(key, _)| key);
        } else {
            self.sorted.clear();
            self.sorted.extend(all);
            self.sorted.sort_unstable();
            let counted = self.sorted.chunk_by(|a, b| a == b);
            self.entries.extend(counted.map(|same| (same[0], same.len() as u32)));
        }
        self.repetitive = self.entries.len() * REPETITIVE < size;
        Counted::new(&self.entries)
    }
}

impl<K: Key> Counted<K> {
    /// Puts entries, which are in order, by count.
    fn new(entries: &[(K, u32)]) -> Self {
        let mut sizes = [0; SMALL + 1];
        for &(_, count) in entries {
            sizes[(count as usize).min(SMALL)] += 1;
        }
        let mut ends = [0; SMALL];
        let mut total = 0;
        for (end, size) in ends.iter_mut().zip(sizes) {
            *end = total;
            total += size;
        }
        let mut keys = vec![K::NONE; total];
        let mut large = Vec::with_capacity(sizes[SMALL]);
        for &(key, count) in entries {
            if count as usize >= SMALL {
                large.push((count, key));
            } else {
                let end = &mut ends[count as usize];
                keys[*end] = key;
                *end += 1;
            }
        }
        let classes = ends.into_iter().zip(sizes).enumerate().filter(|(_, (_, size))| *size > 0);
        let classes = classes.map(|(class, (end, size))| (class, end - size..end)).collect();
        Self { keys, classes, large }
    }
}

impl<K: Key> Rows for SequenceCount<K> {
    fn len(&self) -> u64 {
        self.keys.len() as u64
    }

    fn parts(&self) -> usize {
        self.keys.len().div_ceil(PART)
    }

    fn print(&self, part: usize, labels: &Labels, out: &mut Vec<u8>) {
        let first = part * PART;
        let mut run = self.runs.partition_point(|&(_, end)| end <= first);
        for (row, &key) in (first..).zip(&self.keys[first..self.keys.len().min(first + PART)]) {
            if row == self.runs[run].1 {
                run += 1;
            }
            self.shape.print(key, &labels.terms, out);
            end_row(out, self.runs[run].0);
        }
    }
}

/// Sequences with the documents that have them, by sequence ascending; documents by count descending, then
/// in their order.
pub struct RankedIndex<K> {
    shape: Shape,
    chunks: Vec<Ranked<K>>,
}

/// The ranked sequences of one bucket.
struct Ranked<K> {
    /// A sequence, and where its rows end.
    keys: Vec<(K, usize)>,
    /// Document and count.
    rows: Vec<(u32, u32)>,
}

/// What is used again from bucket to bucket.
struct Scratch<K> {
    table: Table<K>,
    /// The number of each record's sequence, in order of first appearance.
    numbers: Vec<u32>,
    /// For each number how many records it has; later where their next document goes.
    places: Vec<u32>,
    /// Distinct sequences, sorted.
    keys: Vec<K>,
    /// Documents by sequence.
    documents: Vec<u32>,
}

impl<K: Key> RankedIndex<K> {
    /// Counts all sequences by document.
    pub fn new(windows: &Windows<K>) -> Self {
        let chunks = (0..windows.buckets())
            .into_par_iter()
            .map_init(Scratch::new, |scratch, bucket| {
                let mut parts = Vec::new();
                windows.visit(bucket, |slices| parts.push(scratch.rank(slices)));
                parts
            })
            .flatten_iter()
            .collect();
        Self { shape: windows.shape, chunks }
    }
}

impl<K: Key> Scratch<K> {
    fn new() -> Self {
        Self {
            table: Table::new(),
            numbers: Vec::new(),
            places: Vec::new(),
            keys: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn rank(&mut self, slices: &Slices<K>) -> Ranked<K> {
        let Self { table, numbers, places, keys, documents } = self;
        table.clear();
        numbers.clear();
        places.clear();
        for &key in slices.iter().flat_map(|(keys, _)| *keys) {
            let number = table.value(key);
            if *number == 0 {
                places.push(0);
                *number = places.len() as u32;
            }
            places[*number as usize - 1] += 1;
            numbers.push(*number - 1);
        }
        keys.clear();
        keys.extend(table.entries().map(|(key, _)| key));
        keys.sort_unstable();
        // Lists of documents follow each other as the sequences do.
        let mut ends = Vec::with_capacity(keys.len());
        let mut start = 0;
        for &key in &*keys {
            let place = &mut places[*table.value(key) as usize - 1];
            start += std::mem::replace(place, start);
            ends.push(start as usize);
        }
        documents.resize(documents.len().max(numbers.len()), 0);
        for (number, &document) in numbers.iter().zip(slices.iter().flat_map(|(_, of)| *of)) {
            let place = &mut places[*number as usize];
            documents[*place as usize] = document;
            *place += 1;
        }
        let mut ranked = Ranked {
            keys: Vec::with_capacity(keys.len()),
            rows: Vec::with_capacity(numbers.len()),
        };
        let mut start = 0;
        for (&key, end) in keys.iter().zip(ends) {
            ranked.add(key, &mut documents[start..end]);
            start = end;
        }
        ranked
    }
}

impl<K: Key> Ranked<K> {
    fn add(&mut self, key: K, documents: &mut [u32]) {
        let start = self.rows.len();
        if let [document] = documents {
            self.rows.push((*document, 1));
        } else {
            // Each thread's documents are in order, so that this merges more than it sorts.
            documents.sort();
            let counted = documents.chunk_by(|a, b| a == b);
            self.rows.extend(counted.map(|same| (same[0], same.len() as u32)));
            self.rows[start..].sort_by_key(|&(_, count)| Reverse(count));
        }
        self.keys.push((key, self.rows.len()));
    }
}

impl<K: Key> Rows for RankedIndex<K> {
    fn len(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.rows.len() as u64).sum()
    }

    fn parts(&self) -> usize {
        self.chunks.len()
    }

    fn print(&self, part: usize, labels: &Labels, out: &mut Vec<u8>) {
        let chunk = &self.chunks[part];
        let mut start = 0;
        let mut sequence = Vec::new();
        for &(key, end) in &chunk.keys {
            sequence.clear();
            self.shape.print(key, &labels.terms, &mut sequence);
            for &(document, count) in &chunk.rows[start..end] {
                out.extend_from_slice(&sequence);
                out.push(b'\t');
                out.extend_from_slice(&labels.names[document as usize]);
                end_row(out, u64::from(count));
            }
            start = end;
        }
    }
}
