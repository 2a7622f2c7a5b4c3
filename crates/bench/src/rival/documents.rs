//! Inverted index and term vector: the distinct terms of each document.
//!
//! While lexing, a thread keeps each word of a document once (a stamp or a counter by the word's number tells
//! whether it is new), so what is sorted later is a fraction of the text. The index is then made by two
//! counting sorts: pairs of term and document go to buckets of neighbouring terms, and each bucket is sorted in cache.
//! A vector is sorted as integers of count and term.

use rayon::prelude::*;

use super::answer::{Labels, PART, Rows, end_row};
use super::lex::Sink;

/// How many pairs a bucket has, about: with 8 bytes each they fit the second-level cache.
const BUCKET: usize = if cfg!(test) { 1 << 5 } else { 1 << 15 };
/// More buckets than this would not fit the first-level cache with their open lines.
const MOST_BUCKETS: usize = 1 << 10;

/// Which documents a thread's lists belong to: number, and where the list ends. A document that several
/// threads lexed has several lists.
#[derive(Default)]
struct Lists(Vec<(u32, usize)>);

/// Keeps the distinct words of each document.
#[derive(Default)]
pub struct Distinct {
    /// For each word 1 + the last document that had it.
    seen: Vec<u32>,
    ids: Vec<u32>,
    lists: Lists,
}

impl Sink for Distinct {
    fn take(&mut self, document: u32, _part: u32, ids: &[u32], distinct: usize) {
        self.seen.resize(distinct, 0);
        for &id in ids {
            let seen = &mut self.seen[id as usize];
            if *seen != document + 1 {
                *seen = document + 1;
                self.ids.push(id);
            }
        }
        match self.lists.0.last_mut() {
            Some((last, end)) if *last == document => *end = self.ids.len(),
            _ => self.lists.0.push((document, self.ids.len())),
        }
    }
}

/// Keeps the distinct words of each document with their counts.
#[derive(Default)]
pub struct Bags {
    /// Counts in the document that is being lexed.
    counters: Vec<u32>,
    /// The words of all documents; those of the last one still have their counts in `counters`.
    rows: Vec<(u32, u32)>,
    lists: Lists,
}

impl Bags {
    fn close(&mut self) {
        let start = self.lists.0.last().map_or(0, |&(_, end)| end);
        for (id, count) in &mut self.rows[start..] {
            *count = std::mem::take(&mut self.counters[*id as usize]);
        }
    }
}

impl Sink for Bags {
    fn take(&mut self, document: u32, _part: u32, ids: &[u32], distinct: usize) {
        match self.lists.0.last() {
            Some(&(last, _)) if last == document => {}
            _ => {
                // `close` looks for what is behind the last list's end, so that end is written late.
                self.finish();
                self.lists.0.push((document, self.rows.len()));
            }
        }
        self.counters.resize(distinct, 0);
        for &id in ids {
            let counter = &mut self.counters[id as usize];
            if *counter == 0 {
                self.rows.push((id, 0));
            }
            *counter += 1;
        }
    }

    fn finish(&mut self) {
        self.close();
        let end = self.rows.len();
        if let Some(last) = self.lists.0.last_mut() {
            last.1 = end;
        }
    }
}

/// The lists of all threads in order of the documents; `ranks` has each document's place in that order.
fn in_order<'l, T>(
    threads: impl Iterator<Item = (&'l Lists, &'l [T])>,
    ranks: &[u32],
) -> Vec<(u32, &'l [T])> {
    let mut all = Vec::new();
    for (lists, rows) in threads {
        let mut start = 0;
        for &(document, end) in &lists.0 {
            all.push((ranks[document as usize], &rows[start..end]));
            start = end;
        }
    }
    all.sort_by_key(|&(document, _)| document);
    all
}

/// For each term its documents.
pub struct InvertedIndex {
    /// Where the list of each term ends.
    ends: Vec<usize>,
    documents: Vec<u32>,
}

impl InvertedIndex {
    /// Inverts what all threads kept. O(pairs).
    pub fn new(mut threads: Vec<Distinct>, maps: &[Vec<u32>], ranks: &[u32], terms: usize) -> Self {
        for (thread, map) in threads.iter_mut().zip(maps) {
            let chunks = thread.ids.par_chunks_mut(1 << 16);
            chunks.for_each(|ids| ids.iter_mut().for_each(|id| *id = map[*id as usize]));
        }
        let lists = threads.iter().map(|thread| (&thread.lists, &thread.ids[..]));
        let lists = in_order(lists, ranks);
        // A document that several threads lexed is put together first.
        let merged: Vec<(u32, Vec<u32>)> = lists
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() > 1)
            .map(|same| {
                let mut ids: Vec<u32> = same.iter().flat_map(|(_, ids)| *ids).copied().collect();
                ids.par_sort_unstable();
                ids.dedup();
                (same[0].0, ids)
            })
            .collect();
        let mut more = merged.iter();
        let lists: Vec<(u32, &[u32])> = lists
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| match same {
                [alone] => *alone,
                _ => more.next().map(|(document, ids)| (*document, &ids[..])).expect("as many"),
            })
            .collect();
        Self::invert(&lists, terms)
    }

    fn invert(lists: &[(u32, &[u32])], terms: usize) -> Self {
        let pairs: usize = lists.iter().map(|(_, ids)| ids.len()).sum();
        let wanted = (pairs / BUCKET).clamp(1, MOST_BUCKETS);
        let shift = terms.div_ceil(wanted).next_power_of_two().trailing_zeros();
        let buckets = terms.div_ceil(1 << shift).max(1);

        // Tasks of consecutive documents, each with a slice of every bucket: buckets stay in order of
        // documents whichever thread fills them.
        let tasks = tasks(lists, pairs.div_ceil(rayon::current_num_threads() * 4).max(BUCKET));
        let sizes: Vec<Vec<usize>> = tasks
            .par_iter()
            .map(|lists| {
                let mut sizes = vec![0; buckets];
                for &id in lists.iter().flat_map(|(_, ids)| *ids) {
                    sizes[(id >> shift) as usize] += 1;
                }
                sizes
            })
            .collect();
        let mut records = vec![0_u64; pairs];
        let mut slices: Vec<Vec<&mut [u64]>> = tasks.iter().map(|_| Vec::new()).collect();
        let mut rest = &mut records[..];
        for bucket in 0..buckets {
            for (slices, sizes) in slices.iter_mut().zip(&sizes) {
                slices.push(rest.split_off_mut(..sizes[bucket]).expect("sizes add up"));
            }
        }
        tasks.par_iter().zip(slices).for_each(|(lists, mut slices)| {
            let mut filled = vec![0; buckets];
            for &(document, ids) in *lists {
                for &id in ids {
                    let bucket = (id >> shift) as usize;
                    slices[bucket][filled[bucket]] = u64::from(id) << 32 | u64::from(document);
                    filled[bucket] += 1;
                }
            }
        });

        let mut ends = vec![0_usize; terms];
        let mut documents = vec![0_u32; pairs];
        let mut work = Vec::new();
        let (mut records, mut left) = (&records[..], &mut documents[..]);
        let mut start = 0;
        for (bucket, ends) in ends.chunks_mut(1 << shift).enumerate() {
            let size = sizes.iter().map(|sizes| sizes[bucket]).sum();
            let records = records.split_off(..size).expect("sizes add up");
            let documents = left.split_off_mut(..size).expect("sizes add up");
            work.push((bucket << shift, start, records, ends, documents));
            start += size;
        }
        work.into_par_iter().for_each(|(first, start, records, ends, documents)| {
            for record in records {
                ends[(record >> 32) as usize - first] += 1;
            }
            let mut place = start;
            for end in ends.iter_mut() {
                place += std::mem::replace(end, place);
            }
            // Filling a list moves its place from its start to its end.
            for &record in records {
                let place = &mut ends[(record >> 32) as usize - first];
                documents[*place - start] = record as u32;
                *place += 1;
            }
        });
        Self { ends, documents }
    }
}

/// Cuts lists into runs of about so many entries.
fn tasks<'a, 'l>(lists: &'a [(u32, &'l [u32])], size: usize) -> Vec<&'a [(u32, &'l [u32])]> {
    let mut tasks = Vec::new();
    let (mut start, mut entries) = (0, 0);
    for (index, (_, ids)) in lists.iter().enumerate() {
        entries += ids.len();
        if entries >= size || index + 1 == lists.len() {
            tasks.push(&lists[start..=index]);
            (start, entries) = (index + 1, 0);
        }
    }
    tasks
}

/// How many terms, or documents, are printed in one go: lists of them are longer than rows.
const PART_OF_LISTS: usize = PART / 16;

impl Rows for InvertedIndex {
    fn len(&self) -> u64 {
        self.documents.len() as u64
    }

    fn parts(&self) -> usize {
        self.ends.len().div_ceil(PART_OF_LISTS)
    }

    fn print(&self, part: usize, labels: &Labels, out: &mut Vec<u8>) {
        let first = part * PART_OF_LISTS;
        let mut start = if first == 0 { 0 } else { self.ends[first - 1] };
        let ends = self.ends[first..].iter().take(PART_OF_LISTS);
        for (term, &end) in (first as u32..).zip(ends) {
            for &document in &self.documents[start..end] {
                out.extend_from_slice(labels.terms.term(term));
                out.push(b'\t');
                out.extend_from_slice(&labels.names[document as usize]);
                out.push(b'\n');
            }
            start = end;
        }
    }
}

/// For some consecutive documents their terms with counts.
#[derive(Default)]
struct Vectors {
    /// Document, and where its rows end.
    ends: Vec<(u32, usize)>,
    /// The count with all bits turned over, and the term below it: ascending as the rows are.
    rows: Vec<u64>,
}

/// For each document its terms with counts.
pub struct TermVector {
    chunks: Vec<Vectors>,
}

impl TermVector {
    /// Sorts what all threads kept.
    pub fn new(mut threads: Vec<Bags>, maps: &[Vec<u32>], ranks: &[u32]) -> Self {
        for (thread, map) in threads.iter_mut().zip(maps) {
            let chunks = thread.rows.par_chunks_mut(1 << 16);
            chunks.for_each(|rows| rows.iter_mut().for_each(|row| row.0 = map[row.0 as usize]));
        }
        let lists = threads.iter().map(|thread| (&thread.lists, &thread.rows[..]));
        let lists = in_order(lists, ranks);
        let documents: Vec<_> = lists.chunk_by(|a, b| a.0 == b.0).collect();
        let chunks = documents
            .par_chunks(PART_OF_LISTS / 16)
            .map(|documents| {
                let mut vectors = Vectors::default();
                for same in documents {
                    vectors.add(same);
                }
                vectors
            })
            .collect();
        Self { chunks }
    }
}

impl Vectors {
    /// Adds a document of one or more lists.
    fn add(&mut self, lists: &[(u32, &[(u32, u32)])]) {
        let start = self.rows.len();
        if let [(_, rows)] = lists {
            let packed = |&(id, count): &(u32, u32)| u64::from(!count) << 32 | u64::from(id);
            self.rows.extend(rows.iter().map(packed));
            self.rows[start..].sort_unstable();
        } else {
            let mut rows: Vec<(u32, u32)> =
                lists.iter().flat_map(|(_, rows)| *rows).copied().collect();
            rows.par_sort_unstable();
            self.rows.extend(rows.chunk_by(|a, b| a.0 == b.0).map(|same| {
                let count: u32 = same.iter().map(|&(_, count)| count).sum();
                u64::from(!count) << 32 | u64::from(same[0].0)
            }));
            self.rows[start..].par_sort_unstable();
        }
        self.ends.push((lists[0].0, self.rows.len()));
    }
}

impl Rows for TermVector {
    fn len(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.rows.len() as u64).sum()
    }

    fn parts(&self) -> usize {
        self.chunks.len()
    }

    fn print(&self, part: usize, labels: &Labels, out: &mut Vec<u8>) {
        let mut start = 0;
        for &(document, end) in &self.chunks[part].ends {
            for &row in &self.chunks[part].rows[start..end] {
                out.extend_from_slice(&labels.names[document as usize]);
                out.push(b'\t');
                out.extend_from_slice(labels.terms.term(row as u32));
                end_row(out, u64::from(!((row >> 32) as u32)));
            }
            start = end;
        }
    }
}
