//! Word count and sort: dense counters by the thread's numbers, summed over the threads.

use rayon::prelude::*;

use super::answer::{Labels, PART, Rows, end_row};
use super::lex::Sink;

/// Counts words. (32 bits a thread: texts of this benchmark are shorter than 2^32 words.)
#[derive(Default)]
pub struct Counts(pub Vec<u32>);

impl Sink for Counts {
    fn take(&mut self, _document: u32, _part: u32, ids: &[u32], distinct: usize) {
        self.0.resize(distinct, 0);
        for &id in ids {
            self.0[id as usize] += 1;
        }
    }
}

/// The counts of all threads by term; `maps` has the terms of each thread's words.
pub fn sum<'c>(
    terms: usize,
    threads: impl IntoIterator<Item = &'c [u32]>,
    maps: &[Vec<u32>],
) -> Vec<u64> {
    let mut counts = vec![0; terms];
    for (thread, map) in threads.into_iter().zip(maps) {
        for (&count, &term) in thread.iter().zip(map) {
            counts[term as usize] += u64::from(count);
        }
    }
    counts
}

/// Terms with their counts, in some order.
pub struct TermCounts {
    rows: Vec<(u32, u64)>,
}

impl TermCounts {
    /// By term ascending.
    pub fn by_term(counts: Vec<u64>) -> Self {
        Self { rows: (0..).zip(counts).collect() }
    }

    /// By count descending, then term ascending.
    pub fn by_count(counts: Vec<u64>) -> Self {
        // Nearly all counts are small, so rows are put by counting; the others are few and sorted.
        const SMALL: usize = 1024;
        let mut places = [0; SMALL + 1];
        for &count in &counts {
            places[SMALL - (count as usize).min(SMALL)] += 1;
        }
        let large = places[0];
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        let mut rows = vec![(0, 0); counts.len()];
        for (term, &count) in (0..).zip(&counts) {
            let place = &mut places[SMALL - (count as usize).min(SMALL)];
            rows[*place] = (term, count);
            *place += 1;
        }
        rows[..large].par_sort_unstable_by_key(|&(term, count)| (std::cmp::Reverse(count), term));
        Self { rows }
    }
}

impl Rows for TermCounts {
    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn parts(&self) -> usize {
        self.rows.len().div_ceil(PART)
    }

    fn print(&self, part: usize, labels: &Labels, out: &mut Vec<u8>) {
        for &(term, count) in self.rows.chunks(PART).nth(part).unwrap_or_default() {
            out.extend_from_slice(labels.terms.term(term));
            end_row(out, count);
        }
    }
}
