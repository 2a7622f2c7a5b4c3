//! All sequences of a text as keys, put into buckets by their first term.
//!
//! A bucket is a range of neighbouring terms that begin about as many sequences as any other range, so it fits
//! in cache, and buckets in order are sequences in order. How many sequences a thread has for a bucket is known
//! from its counts of words, so they are written in one pass, to their place.

use rayon::prelude::*;

use super::key::{Key, Shape};
use super::lex::{Lexed, Sink};

/// About how many sequences a bucket has: with a table of its keys it fits in the second-level cache.
const BUCKET: usize = if cfg!(test) { 1 << 4 } else { 1 << 15 };
/// More buckets than this would cost more misses while filling them than they save later.
const MOST_BUCKETS: usize = 1 << 11;
/// A bucket so many times too large is split once more.
const TOO_LARGE: usize = 4;

/// Keeps all words of all documents, in order.
#[derive(Default)]
pub struct Streams {
    pub counts: Vec<u32>,
    ids: Vec<u32>,
    pieces: Vec<Piece>,
}

/// A document or a part of it.
#[derive(Clone, Copy)]
struct Piece {
    document: u32,
    part: u32,
    end: usize,
}

impl Sink for Streams {
    fn take(&mut self, document: u32, part: u32, ids: &[u32], distinct: usize) {
        self.counts.resize(distinct, 0);
        for &id in ids {
            self.counts[id as usize] += 1;
        }
        self.ids.extend_from_slice(ids);
        self.pieces.push(Piece { document, part, end: self.ids.len() });
    }
}

impl Streams {
    /// The pieces with their words.
    fn pieces(&self) -> impl Iterator<Item = (Piece, &[u32])> {
        let mut start = 0;
        self.pieces.iter().map(move |&piece| {
            let ids = &self.ids[start..piece.end];
            start = piece.end;
            (piece, ids)
        })
    }
}

/// The parts of documents that were cut, in order, so that sequences can go on in the next part.
struct Parts<'l> {
    parts: Vec<(Piece, usize, &'l [u32])>,
}

impl<'l> Parts<'l> {
    fn new(lexed: &'l [Lexed<Streams>]) -> Self {
        let all = lexed.iter().enumerate().flat_map(|(thread, lexed)| {
            lexed.sink.pieces().map(move |(piece, ids)| (piece, thread, ids))
        });
        let mut parts: Vec<_> = all.collect();
        parts.sort_unstable_by_key(|(piece, ..)| (piece.document, piece.part));
        let cut = |index: &usize| {
            let document =
                |index: usize| parts.get(index).map(|part: &(Piece, _, _)| part.0.document);
            let own = document(*index);
            own == document(index + 1) || (*index > 0 && own == document(index - 1))
        };
        Self { parts: (0..parts.len()).filter(cut).map(|index| parts[index]).collect() }
    }

    /// The first `most` words behind a piece, each with its thread.
    fn behind(&self, piece: Piece, most: usize) -> Vec<(usize, u32)> {
        let place = (piece.document, piece.part);
        let key = |part: &(Piece, usize, &[u32])| (part.0.document, part.0.part);
        let next = self.parts.partition_point(|part| key(part) <= place);
        self.parts[next..]
            .iter()
            .take_while(|part| part.0.document == piece.document)
            .flat_map(|&(_, thread, ids)| ids.iter().map(move |&id| (thread, id)))
            .take(most)
            .collect()
    }
}

/// Which buckets there are.
struct Plan {
    /// The bucket of each term.
    buckets_of: Vec<u32>,
    buckets: usize,
}

impl Plan {
    fn new(counts: &[u64]) -> Self {
        let words: u64 = counts.iter().sum();
        let size = words.div_ceil(MOST_BUCKETS as u64).max(BUCKET as u64);
        let (mut bucket, mut filled) = (0, 0);
        let buckets_of = counts
            .iter()
            .map(|&count| {
                if filled > 0 && filled + count > size {
                    bucket += 1;
                    filled = 0;
                }
                filled += count;
                bucket
            })
            .collect();
        Self { buckets_of, buckets: bucket as usize + 1 }
    }
}

/// What one thread wrote.
struct Region<K> {
    keys: Vec<K>,
    /// The document of each key, where the task wants it.
    documents: Vec<u32>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

/// All sequences, in buckets.
pub struct Windows<K> {
    pub shape: Shape,
    plan: Plan,
    regions: Vec<Region<K>>,
}

/// Sequences of a bucket, with their documents if these were asked for.
pub type Slices<'w, K> = Vec<(&'w [K], &'w [u32])>;

impl<K: Key> Windows<K> {
    /// Writes all sequences. `ranks` has each document's place in their order.
    pub fn new(
        lexed: Vec<Lexed<Streams>>,
        maps: &[Vec<u32>],
        ranks: &[u32],
        counts: &[u64],
        shape: Shape,
        with_documents: bool,
    ) -> Self {
        let plan = Plan::new(counts);
        // A word's term and its bucket, so that one look-up gives both.
        let maps: Vec<Vec<(u32, u32)>> = maps
            .par_iter()
            .map(|map| map.iter().map(|&term| (term, plan.buckets_of[term as usize])).collect())
            .collect();
        let parts = Parts::new(&lexed);
        let regions = (0..lexed.len())
            .into_par_iter()
            .map(|thread| {
                let mut region =
                    Region::new(&lexed[thread].sink, &maps[thread], &plan, with_documents);
                let write = match shape.n {
                    1 => Region::write::<1>,
                    2 => Region::write::<2>,
                    3 => Region::write::<3>,
                    4 => Region::write::<4>,
                    5 => Region::write::<5>,
                    n => unreachable!("sequences of {n} terms are refused before"),
                };
                for (piece, ids) in lexed[thread].sink.pieces() {
                    let behind = parts.behind(piece, shape.n - 1);
                    let behind = behind.into_iter().map(|(thread, id)| maps[thread][id as usize]);
                    let document = ranks[piece.document as usize];
                    write(&mut region, shape.bits, document, ids, &maps[thread], behind.collect());
                }
                region
            })
            .collect();
        Self { shape, plan, regions }
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        self.plan.buckets
    }

    /// Calls `each` with the sequences of a bucket, in one go or split by second terms, in their order.
    pub fn visit(&self, bucket: usize, mut each: impl FnMut(&Slices<K>)) {
        let slices: Slices<K> = self.regions.iter().map(|region| region.bucket(bucket)).collect();
        let size: usize = slices.iter().map(|(keys, _)| keys.len()).sum();
        if size <= BUCKET * TOO_LARGE || self.shape.n == 1 {
            return each(&slices);
        }
        // One term begins most of these. Their second terms are about as common as they are anywhere, so that
        // ranges of them are about equally large too.
        let shift = (self.plan.buckets * BUCKET / size).max(1).ilog2();
        let place = |key| {
            let first = self.shape.term(key, 0) as usize;
            let second = self.plan.buckets_of[self.shape.term(key, 1) as usize];
            (first, (second >> shift) as usize)
        };
        let firsts = slices.iter().flat_map(|(keys, _)| *keys).map(|&key| place(key).0);
        let (Some(least), Some(most)) = (firsts.clone().min(), firsts.max()) else { return };
        let width = (self.plan.buckets >> shift) + 1;
        let sub = |key: K| {
            let (first, second) = place(key);
            (first - least) * width + second
        };
        if (most - least) >= 64 {
            // Many terms: the range is wide since none of them is common.
            return each(&slices);
        }
        let mut ends = vec![0; (most - least + 1) * width];
        for &key in slices.iter().flat_map(|(keys, _)| *keys) {
            ends[sub(key)] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut keys = vec![K::NONE; size];
        let mut documents = vec![0; slices.iter().map(|(_, documents)| documents.len()).sum()];
        for (slice, of) in &slices {
            for (index, &key) in slice.iter().enumerate() {
                let end = &mut ends[sub(key)];
                keys[*end] = key;
                if let Some(&document) = of.get(index) {
                    documents[*end] = document;
                }
                *end += 1;
            }
        }
        let mut start = 0;
        for end in ends {
            if end > start {
                each(&vec![(&keys[start..end], documents.get(start..end).unwrap_or_default())]);
            }
            start = end;
        }
    }
}

impl<K: Key> Region<K> {
    /// With room for all sequences that begin with the thread's words.
    fn new(words: &Streams, map: &[(u32, u32)], plan: &Plan, with_documents: bool) -> Self {
        let mut starts = vec![0; plan.buckets];
        for (&count, &(_, bucket)) in words.counts.iter().zip(map) {
            starts[bucket as usize] += count as usize;
        }
        let mut total = 0;
        for start in &mut starts {
            total += std::mem::replace(start, total);
        }
        Self {
            keys: vec![K::NONE; total],
            documents: vec![0; if with_documents { total } else { 0 }],
            ends: starts.clone(),
            starts,
        }
    }

    /// Writes the sequences that begin in a piece; `behind` are the words that follow it.
    fn write<const N: usize>(
        &mut self,
        bits: u32,
        document: u32,
        ids: &[u32],
        map: &[(u32, u32)],
        behind: Vec<(u32, u32)>,
    ) {
        let mask = K::mask(bits * N as u32);
        let mut key = K::NONE;
        let mut buckets = [0; N];
        let with_documents = !self.documents.is_empty();
        let words = ids.iter().map(|&id| map[id as usize]).chain(behind);
        let mut before = N;
        // Not `for`, which would ask for every word which of the two lists it is in.
        words.for_each(|(term, bucket)| {
            key = key.push(bits, term, mask);
            buckets.copy_within(1.., 0);
            buckets[N - 1] = bucket as usize;
            if before > 1 {
                before -= 1;
                return;
            }
            let end = &mut self.ends[buckets[0]];
            self.keys[*end] = key;
            if with_documents {
                self.documents[*end] = document;
            }
            *end += 1;
        });
    }

    fn bucket(&self, bucket: usize) -> (&[K], &[u32]) {
        let range = self.starts[bucket]..self.ends[bucket];
        (&self.keys[range.clone()], self.documents.get(range).unwrap_or_default())
    }
}
