//! Records put into buckets by the highest bits of their keys, and sorted bucket by bucket: what counting
//! distinct keys by the million is made of.
//!
//! A hash table of so many keys misses the cache at every step. Here a record is appended to one of some
//! hundred buckets, and a bucket is then small enough to be sorted in cache, by its digits. Buckets are
//! ranges of keys, so that sorted buckets in order are all keys in order.
//!
//! Cost: a record is written once into its bucket, and then once for every 8 to 11 bits that the buckets
//! leave. Memory: what the records take, and half a piece for each bucket of each thread.

use std::ops::Range;

use tadoc_core::parallel::{for_each, split};

use super::keys::{Key, Wide};

/// Buckets are made for about so many records each.
const RECORDS_PER_BUCKET: u64 = 1 << 14;
/// There are at most two to the so many buckets.
const MOST_BUCKET_BITS: u32 = 10;
/// Records of a bucket that wait to be put into it together.
const WAITING: usize = 8;
/// Records of a piece of a bucket.
const PIECE: usize = 64 * WAITING;
/// Records of a block.
const BLOCK: usize = 64 * PIECE;
/// Rows up to this length are sorted by comparing.
const SMALL: usize = 192;
/// Rows above this length are cut by their highest digit first, and the pieces sorted side by side.
const LARGE: usize = 1 << 17;

/// Something with a key.
pub(super) trait Record: Copy + Default + Send + Sync {
    type Key: Key;

    fn key(&self) -> Self::Key;
}

impl Record for u64 {
    type Key = Self;

    #[inline]
    fn key(&self) -> Self {
        *self
    }
}

impl Record for u128 {
    type Key = Self;

    #[inline]
    fn key(&self) -> Self {
        *self
    }
}

impl Record for Wide {
    type Key = Self;

    #[inline]
    fn key(&self) -> Self {
        *self
    }
}

impl<K: Key, T: Copy + Default + Send + Sync> Record for (K, T) {
    type Key = K;

    #[inline]
    fn key(&self) -> K {
        self.0
    }
}

/// How keys of so many bits are put into buckets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Bits that are left below those that choose the bucket.
    pub(super) low_bits: u32,
    bucket_bits: u32,
}

impl Layout {
    /// For about `records` records with keys of `key_bits` bits.
    pub(super) fn new(key_bits: u32, records: u64) -> Self {
        let wanted = u64::BITS - (records / RECORDS_PER_BUCKET).leading_zeros();
        let bucket_bits = wanted.min(MOST_BUCKET_BITS).min(key_bits);
        Self { low_bits: key_bits - bucket_bits, bucket_bits }
    }

    /// How many buckets there are.
    pub(super) fn buckets(self) -> usize {
        1 << self.bucket_bits
    }

    /// The bucket of a key.
    #[inline]
    pub(super) fn bucket<K: Key>(self, key: K) -> usize {
        if self.bucket_bits == 0 {
            // There may be no bits above the lowest ones, and none can be shifted there.
            return 0;
        }
        key.digit(self.low_bits, self.bucket_bits) as usize
    }
}

/// Buckets that one thread fills.
///
/// A record waits in a short row of its bucket until that is full: the rows of all buckets fit into cache, the
/// buckets do not. Full rows go to pieces of blocks that all buckets share, so that nothing is ever moved to grow.
#[derive(Debug)]
pub(super) struct Buckets<R> {
    waiting: Vec<R>,
    waiting_counts: Vec<u8>,
    blocks: Vec<Vec<R>>,
    /// The pieces of each bucket: blocks, and places in them.
    pieces: Vec<Vec<(u32, u32)>>,
    /// How many records of its last piece each bucket has.
    filled: Vec<u32>,
}

impl<R: Record> Buckets<R> {
    pub(super) fn new(layout: Layout) -> Self {
        let buckets = layout.buckets();
        Self {
            waiting: vec![R::default(); buckets * WAITING],
            waiting_counts: vec![0; buckets],
            blocks: Vec::new(),
            pieces: vec![Vec::new(); buckets],
            // As if there were a piece before, and full.
            filled: vec![PIECE as u32; buckets],
        }
    }

    /// Adds a record to the bucket of its key.
    #[inline]
    pub(super) fn push(&mut self, bucket: usize, record: R) {
        let count = self.waiting_counts[bucket] as usize;
        self.waiting[bucket * WAITING + count] = record;
        self.waiting_counts[bucket] = count as u8 + 1;
        if count + 1 == WAITING {
            self.flush(bucket);
        }
    }

    /// Puts the row of a bucket, full or not, into a piece.
    fn flush(&mut self, bucket: usize) {
        if self.filled[bucket] as usize == PIECE {
            // The last block has room for more pieces, or there is a new one.
            if self.blocks.last().is_none_or(|block| block.len() == BLOCK) {
                self.blocks.push(Vec::with_capacity(BLOCK));
            }
            let number = self.blocks.len() - 1;
            let block = &mut self.blocks[number];
            self.pieces[bucket].push((number as u32, block.len() as u32));
            block.resize(block.len() + PIECE, R::default());
            self.filled[bucket] = 0;
        }
        let (block, start) = *self.pieces[bucket].last().expect("there is a piece with room");
        let place = (start + self.filled[bucket]) as usize;
        let row = &self.waiting[bucket * WAITING..(bucket + 1) * WAITING];
        self.blocks[block as usize][place..place + WAITING].copy_from_slice(row);
        self.filled[bucket] += u32::from(self.waiting_counts[bucket]);
        self.waiting_counts[bucket] = 0;
    }

    /// Puts what waits into the buckets; nothing may be pushed after that.
    pub(super) fn finish(mut self) -> Self {
        for bucket in 0..self.pieces.len() {
            if self.waiting_counts[bucket] > 0 {
                self.flush(bucket);
            }
        }
        self.waiting = Vec::new();
        self
    }

    /// The records of a bucket, in the order in which they were pushed, piece by piece.
    fn pieces(&self, bucket: usize) -> impl Iterator<Item = &[R]> {
        let pieces = &self.pieces[bucket];
        pieces.iter().enumerate().map(move |(number, &(block, start))| {
            let last = number + 1 == pieces.len();
            let length = if last { self.filled[bucket] as usize } else { PIECE };
            &self.blocks[block as usize][start as usize..start as usize + length]
        })
    }
}

/// Cuts the buckets into ranges whose records fit into `memory` bytes, each worked on by itself. `sizes` has the
/// records of every bucket. A bucket that does not fit by itself is a range of its own: it cannot be less.
pub(super) fn passes(sizes: &[u64], record_bytes: u64, memory: u64) -> Vec<Range<usize>> {
    let mut passes = Vec::new();
    let (mut first, mut sum) = (0, 0);
    for (bucket, &size) in sizes.iter().enumerate() {
        let bytes = size.saturating_mul(record_bytes);
        if bucket > first && sum + bytes > memory {
            passes.push(first..bucket);
            (first, sum) = (bucket, 0);
        }
        sum += bytes;
    }
    passes.push(first..sizes.len());
    passes
}

/// Gathers and sorts buckets, one after the other, in memory that it keeps.
#[derive(Debug)]
pub(super) struct Sorter<R> {
    records: Vec<R>,
    scratch: Vec<R>,
}

impl<R> Default for Sorter<R> {
    fn default() -> Self {
        Self { records: Vec::new(), scratch: Vec::new() }
    }
}

impl<R: Record> Sorter<R> {
    /// The records of one bucket out of many fillings, in the order of the fillings, sorted by the lowest `bits` bits of
    /// their keys; the others are the same in a bucket. Records of equal keys stay in order.
    pub(super) fn sorted(&mut self, fillings: &[Buckets<R>], bucket: usize, bits: u32) -> &[R] {
        self.records.clear();
        for filling in fillings {
            filling.pieces(bucket).for_each(|piece| self.records.extend_from_slice(piece));
        }
        let length = self.records.len();
        if self.scratch.len() < length {
            self.scratch.resize(length, R::default());
        }
        sort(&mut self.records, &mut self.scratch[..length], bits);
        &self.records
    }
}

/// Sorts records by the lowest `bits` bits of their keys, stably; the higher bits are all the same.
pub(super) fn sort<R: Record>(records: &mut [R], scratch: &mut [R], bits: u32) {
    if records.len() <= SMALL {
        records.sort_by_key(R::key);
    } else if records.len() > LARGE && bits > 8 {
        sort_pieces(records, scratch, bits);
    } else {
        sort_digits(records, scratch, bits);
    }
}

/// By the highest eight bits into pieces, which are sorted side by side.
fn sort_pieces<R: Record>(records: &mut [R], scratch: &mut [R], bits: u32) {
    let shift = bits - 8;
    let mut places = [0_usize; 256];
    records.iter().for_each(|record| places[record.key().digit(shift, 8) as usize] += 1);
    let sizes = places;
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for record in &*records {
        let place = &mut places[record.key().digit(shift, 8) as usize];
        scratch[*place] = *record;
        *place += 1;
    }
    records.copy_from_slice(scratch);
    let pieces = split(records, sizes.iter().copied());
    let rooms = split(scratch, sizes.iter().copied());
    let pieces = pieces.into_iter().zip(rooms).collect();
    for_each(pieces, &|_, (piece, room)| sort(piece, room, shift));
}

/// Digit by digit, the lowest first; all digits are counted in one pass before. A digit that is the same
/// everywhere is passed over.
fn sort_digits<R: Record>(records: &mut [R], scratch: &mut [R], bits: u32) {
    let width = if records.len() < 1 << 12 { 8 } else { 11 };
    let digits = bits.div_ceil(width) as usize;
    let values = 1_usize << width;
    let mut places = vec![0_u32; digits * values];
    for record in &*records {
        let key = record.key();
        for (digit, places) in places.chunks_exact_mut(values).enumerate() {
            places[key.digit(digit as u32 * width, width) as usize] += 1;
        }
    }
    let (mut from, mut to) = (records, scratch);
    let mut swapped = false;
    for (digit, places) in places.chunks_exact_mut(values).enumerate() {
        // Bits above those to sort by are the same in all keys.
        let shift = digit as u32 * width;
        let first = from[0].key().digit(shift, width);
        if places[first as usize] as usize == from.len() {
            continue;
        }
        let mut sum = 0;
        for place in &mut *places {
            sum += std::mem::replace(place, sum);
        }
        for record in &*from {
            let place = &mut places[record.key().digit(shift, width) as usize];
            to[*place as usize] = *record;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
    }
    if swapped {
        // `from` is the scratch now, and holds the result.
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    fn numbers(count: u64, bits: u32) -> Vec<u64> {
        let mix = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        (0..count).map(|number| mix(mix(number)) >> (64 - bits)).collect()
    }

    #[test]
    fn rows_of_all_lengths_are_sorted() {
        for (count, bits) in [(0, 20), (1, 20), (100, 20), (3000, 60), (40_000, 17), (300_000, 50)]
        {
            let mut records: Vec<(u64, u32)> = numbers(count, bits).into_iter().zip(0..).collect();
            let mut expected = records.clone();
            expected.sort();
            let mut scratch = vec![Default::default(); records.len()];
            sort(&mut records, &mut scratch, bits);
            assert!(records == expected, "{count} of {bits} bits");
        }
    }

    #[test]
    fn passes_fit_where_they_can() {
        assert_eq!(passes(&[1, 2, 3, 9, 1], 10, 60), [0..3, 3..4, 4..5]);
        assert_eq!(passes(&[1, 2], 10, 60).first(), Some(&(0..2)));
        assert_eq!(passes(&[], 10, 60).first(), Some(&(0..0)));
    }

    #[test]
    fn buckets_in_order_are_all_keys_in_order() {
        let all = numbers(100_000, 40);
        let layout = Layout::new(40, all.len() as u64);
        assert!(layout.buckets() > 1);
        let fillings: Vec<Buckets<u64>> = all
            .chunks(30_000)
            .map(|chunk| {
                let mut buckets = Buckets::new(layout);
                chunk.iter().for_each(|&key| buckets.push(layout.bucket(key), key));
                buckets.finish()
            })
            .collect();
        let sorted: Vec<u64> = (0..layout.buckets())
            .flat_map(|bucket| {
                Sorter::default().sorted(&fillings, bucket, layout.low_bits).to_vec()
            })
            .collect();
        let mut expected = all;
        expected.sort_unstable();
        assert!(sorted == expected);
    }
}
