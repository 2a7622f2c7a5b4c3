//! One sorted vocabulary of all threads' words, so that numbers of terms order like the terms.
//!
//! Words are sorted by their first sixteen bytes as integers, then runs of equal ones by the rest; equal words of
//! several threads become neighbours and one term. O(v log v) integer comparisons for v words.

use rayon::prelude::*;

use super::intern::{Interner, Word};

/// Distinct terms in byte order; a term's number is its place.
#[derive(Debug, Default)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// A word of a thread, while sorting.
#[derive(Clone, Copy)]
struct Item {
    prefix: u128,
    thread: u32,
    id: u32,
}

impl Vocabulary {
    /// Terms that are in byte order.
    pub fn from_sorted<'t>(terms: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut vocabulary = Self::default();
        for term in terms {
            vocabulary.bytes.extend_from_slice(term);
            vocabulary.ends.push(vocabulary.bytes.len());
        }
        vocabulary
    }

    /// Merges the words of all threads; also gives for each thread its words' numbers in the vocabulary.
    pub fn merge(interners: &[&Interner]) -> (Self, Vec<Vec<u32>>) {
        let mut items = Vec::with_capacity(interners.iter().map(|one| one.len()).sum());
        for (thread, interner) in interners.iter().enumerate() {
            let thread = thread as u32;
            items.par_extend((0..interner.len() as u32).into_par_iter().map(|id| Item {
                prefix: interner.word(id).prefix,
                thread,
                id,
            }));
        }
        let word = |item: &Item| interners[item.thread as usize].word(item.id);
        items.par_sort_unstable_by_key(|item| item.prefix);
        items
            .par_chunk_by_mut(|a, b| a.prefix == b.prefix)
            .filter(|run| run.len() > 1)
            .for_each(|run| run.sort_unstable_by(|a, b| word(a).compare_rest(word(b))));

        let mut maps: Vec<Vec<u32>> = interners.iter().map(|one| vec![0; one.len()]).collect();
        let mut firsts: Vec<Item> = Vec::with_capacity(items.len());
        let equal = |a: &Item, b: &Item| {
            let equal = |a: Word, b: Word| a.compare_rest(b).is_eq();
            a.prefix == b.prefix && equal(word(a), word(b))
        };
        for item in &items {
            if firsts.last().is_none_or(|last| !equal(last, item)) {
                firsts.push(*item);
            }
            maps[item.thread as usize][item.id as usize] = firsts.len() as u32 - 1;
        }

        let parts: Vec<(Vec<u8>, Vec<usize>)> = firsts
            .par_chunks(1 << 14)
            .map(|part| {
                let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(part.len()));
                for item in part {
                    word(item).write(&mut bytes);
                    ends.push(bytes.len());
                }
                (bytes, ends)
            })
            .collect();
        let mut vocabulary = Self::default();
        vocabulary.bytes.reserve_exact(parts.iter().map(|(bytes, _)| bytes.len()).sum());
        vocabulary.ends.reserve_exact(firsts.len());
        for (bytes, ends) in parts {
            let start = vocabulary.bytes.len();
            vocabulary.bytes.extend_from_slice(&bytes);
            vocabulary.ends.extend(ends.into_iter().map(|end| start + end));
        }
        (vocabulary, maps)
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a term.
    #[inline]
    pub fn term(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start..self.ends[id]]
    }

    /// All terms, ascending.
    pub fn terms(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len() as u32).map(|id| self.term(id))
    }
}
