//! Records in blocks, grouped by the highest bits of their keys, and pieces of them that fit into memory.
//!
//! An operation that makes sequences groups them by *bucket*, a range of keys, and appends them as one block: where each bucket ends,
//! the keys without the bits that all of a bucket have, and the values. An operation that needs all records of some buckets then
//! reads a stretch of every block. Buckets are as large as keys make them; *pieces*, which operations work on, are runs of
//! buckets that fit into memory together, or ranges of keys of a bucket that does not fit by itself.
//!
//! Cost: a record is written twice, and read once; those of a bucket that must be cut, once more for each of its pieces.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use tadoc_core::parallel::Idle;

use super::keys::{Key, is_masked};
use super::sort::Record;
use crate::check::are_ends;
use crate::work::{Block, BlockBuilder, Blocks};

/// Buckets are made for about so many records each, or fewer.
const RECORDS_PER_BUCKET: u64 = 1 << 15;
/// There are at most two to the so many buckets.
pub(super) const MOST_BUCKET_BITS: u32 = 12;
/// Bits by which a bucket that is too large is cut.
const CUT_BITS: u32 = 11;

/// How keys of so many bits are put into buckets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Bits that are left below those that choose the bucket.
    pub(super) low_bits: u32,
    bucket_bits: u32,
}

impl Layout {
    /// For about `records` records with keys of `key_bits` bits, of which at most `most_low_bits` are kept; about `at_once` records
    /// fit into memory.
    pub(super) fn new(key_bits: u32, most_low_bits: u32, records: u64, at_once: u64) -> Self {
        let wanted = records / RECORDS_PER_BUCKET.min(at_once.max(1));
        // Where buckets end is no more than what is in them.
        let most = MOST_BUCKET_BITS.min(at_once.max(1).ilog2());
        let bucket_bits = (u64::BITS - wanted.leading_zeros()).min(most);
        let bucket_bits = bucket_bits.min(key_bits).max(key_bits.saturating_sub(most_low_bits));
        assert!(bucket_bits <= MOST_BUCKET_BITS, "{key_bits} bits do not fit {most_low_bits}");
        Self { low_bits: key_bits - bucket_bits, bucket_bits }
    }

    /// How many buckets there are.
    pub(super) fn buckets(self) -> u32 {
        1 << self.bucket_bits
    }

    /// The bucket of a key.
    #[inline]
    pub(super) fn bucket<K: Key>(self, key: K) -> u32 {
        if self.bucket_bits == 0 {
            // There may be no bits above the lowest ones, and none can be shifted there.
            return 0;
        }
        key.digit(self.low_bits, self.bucket_bits)
    }

    /// A key without the bits of its bucket.
    #[inline]
    pub(super) fn low<K: Key, H: Key>(self, key: K) -> H {
        key.to::<H>().and(H::mask(self.low_bits))
    }

    /// The least key of a bucket.
    #[inline]
    pub(super) fn least<K: Key>(self, bucket: u32) -> K {
        K::shifted(bucket, self.low_bits)
    }

    /// Whether a key above the least of a bucket is of that bucket or one of those behind it, of so many in all.
    pub(super) fn is_within<H: Key>(self, key: H, buckets: u32) -> bool {
        let bits = (H::BITS - self.low_bits).min(MOST_BUCKET_BITS);
        // Where there are no bits above the lowest ones, none can be shifted there.
        let bucket = if bits == 0 { 0 } else { key.digit(self.low_bits, bits) };
        is_masked(key, self.low_bits + bits) && bucket < buckets
    }

    /// How many buckets can be told from each other in a number of so many bits, beside what is below them.
    fn most_together(self, bits: u32) -> u32 {
        1 << (bits - self.low_bits).min(MOST_BUCKET_BITS)
    }
}

/// Records of one operation, which are grouped when all are there.
#[derive(Debug)]
pub(super) struct Grouping<H, V> {
    layout: Layout,
    sizes: Vec<u32>,
    buckets: Vec<u16>,
    lows: Vec<H>,
    values: Vec<V>,
}

impl<H: Key, V: Pod> Grouping<H, V> {
    /// Bytes that a record takes while it is grouped and made part of a block.
    pub(super) const BYTES: u64 = 2 + 3 * (size_of::<H>() + size_of::<V>()) as u64;

    /// For at most about so many records.
    fn new(layout: Layout, most: u64) -> Self {
        let most = most as usize;
        Self {
            layout,
            sizes: vec![0; layout.buckets() as usize],
            buckets: Vec::with_capacity(most),
            lows: Vec::with_capacity(most),
            values: Vec::with_capacity(most),
        }
    }

    #[inline]
    pub(super) fn push<K: Key>(&mut self, key: K, value: V) {
        let bucket = self.layout.bucket(key);
        self.sizes[bucket as usize] += 1;
        self.buckets.push(bucket as u16);
        self.lows.push(self.layout.low(key));
        self.values.push(value);
    }

    /// Appends the records to a block, and forgets them.
    fn put(&mut self, block: &mut BlockBuilder<'_>) {
        let mut sum = 0;
        for place in &mut self.sizes {
            sum += std::mem::replace(place, sum);
        }
        let starts = &self.sizes;
        let ends = starts[1..].iter().copied().chain([sum]);
        block.put(&ends.collect::<Vec<_>>());
        self.put_row(&self.lows, block);
        if size_of::<V>() > 0 {
            self.put_row(&self.values, block);
        }
        self.sizes.fill(0);
        self.buckets.clear();
        self.lows.clear();
        self.values.clear();
    }

    /// Appends a row with what is of each bucket together, while sizes are starts.
    fn put_row<T: Pod>(&self, row: &[T], block: &mut BlockBuilder<'_>) {
        let mut places = self.sizes.clone();
        block.put_with(row.len(), |into: &mut [T]| {
            for (&bucket, &value) in self.buckets.iter().zip(row) {
                let place = &mut places[bucket as usize];
                into[*place as usize] = value;
                *place += 1;
            }
        });
    }
}

/// The groupings of a phase, which are used again from operation to operation.
pub(super) struct Groupings<H, V> {
    layout: Layout,
    most: u64,
    idle: Idle<Grouping<H, V>>,
}

impl<H: Key, V: Pod + Send> Groupings<H, V> {
    /// Each for at most about so many records.
    pub(super) fn new(layout: Layout, most: u64) -> Self {
        Self { layout, most, idle: Idle::default() }
    }

    /// Makes the block of what `fill` puts in.
    pub(super) fn make(
        &self,
        block: &mut BlockBuilder<'_>,
        fill: impl FnOnce(&mut Grouping<H, V>),
    ) {
        let new = || Grouping::new(self.layout, self.most);
        self.idle.with(new, |grouping| {
            fill(grouping);
            grouping.put(block);
        });
    }
}

/// Whether a block has grouped records; `is_record` gets a whole key and its value. Nothing if the block lacks a section.
pub(super) fn are_grouped<K: Key, H: Key, V: Pod + Default>(
    block: Block<'_>,
    layout: Layout,
    is_record: impl Fn(K, V) -> bool,
) -> Option<bool> {
    let (ends, keys) = (block.section::<u32>(0)?, block.section::<H>(1)?);
    let values = if size_of::<V>() == 0 { None } else { Some(block.section::<V>(2)?) };
    let is_cut = ends.len() == layout.buckets() as usize
        && are_ends(ends.iter().map(|&end| end.into()), keys.len())
        && values.is_none_or(|values| values.len() == keys.len());
    let mut start = 0;
    Some(
        is_cut
            && (0..).zip(ends).all(|(bucket, &end)| {
                let own = start as usize..end as usize;
                start = end;
                let least: K = layout.least(bucket);
                own.into_iter().all(|place| {
                    let value = values.map_or_else(V::default, |values| values[place]);
                    is_masked(keys[place], layout.low_bits)
                        && is_record(least.plus(keys[place].to()), value)
                })
            }),
    )
}

/// Grouped records of some blocks.
#[derive(Debug, Clone)]
pub(super) struct Records<H, V> {
    blocks: Blocks,
    range: Range<usize>,
    kind: PhantomData<(H, V)>,
}

impl<H: Key, V: Pod + Default> Records<H, V> {
    pub(super) fn new(blocks: Blocks, range: Range<usize>) -> Self {
        Self { blocks, range, kind: PhantomData }
    }

    /// The keys and values of a bucket, block by block; there are no values if they have no bytes.
    fn stretches(&self, bucket: u32) -> impl Iterator<Item = (&[H], &[V])> {
        let bucket = bucket as usize;
        self.range.clone().map(move |block| {
            let ends = self.blocks.section::<u32>(block, 0);
            let start = if bucket == 0 { 0 } else { ends[bucket - 1] };
            let own = start as usize..ends[bucket] as usize;
            let values: &[V] = match size_of::<V>() {
                0 => &[],
                _ => &self.blocks.section(block, 2)[own.clone()],
            };
            (&self.blocks.section::<H>(block, 1)[own], values)
        })
    }

    /// Calls `each` with the records of a bucket that belong to a piece, in the order in which they were made.
    #[inline]
    pub(super) fn for_each(
        &self,
        bucket: u32,
        piece: &Piece<H>,
        mut each: impl FnMut(Record<H, V>),
    ) {
        for (keys, values) in self.stretches(bucket) {
            let value_of = |place: usize| values.get(place).copied().unwrap_or_default();
            let records = keys.iter().enumerate().map(|(place, &key)| (key, value_of(place)));
            match piece.keys {
                None => records.for_each(&mut each),
                Some([first, last]) => {
                    records.filter(|&(key, _)| first <= key && key <= last).for_each(&mut each);
                }
            }
        }
    }

    /// The records of a bucket that belong to a piece.
    pub(super) fn gather(&self, bucket: u32, piece: &Piece<H>, into: &mut Vec<Record<H, V>>) {
        into.clear();
        self.for_each(bucket, piece, |record| into.push(record));
    }
}

/// What an operation works on at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece<H> {
    /// Buckets that follow each other.
    pub(super) buckets: Range<u32>,
    /// The first and the last key (without the bits of the bucket) that belong to it; all if there are none. With them, there is one bucket.
    pub(super) keys: Option<[H; 2]>,
}

impl<H: Key> Piece<H> {
    /// Whether all its keys are the same: then it may be larger than memory.
    pub(super) fn is_one_key(&self) -> bool {
        self.keys.is_some_and(|[first, last]| first == last)
    }
}

/// Records that can be cut into pieces.
pub(super) trait Cuttable<H> {
    /// Adds the records of each bucket to its size.
    fn add_sizes(&self, sizes: &mut [u64]);

    /// Calls `each` with the keys of a bucket.
    fn for_each_key(&self, bucket: u32, each: &mut dyn FnMut(H));
}

impl<H: Key, V: Pod + Default> Cuttable<H> for Records<H, V> {
    fn add_sizes(&self, sizes: &mut [u64]) {
        for block in self.range.clone() {
            let mut start = 0;
            for (size, &end) in sizes.iter_mut().zip(self.blocks.section::<u32>(block, 0)) {
                *size += u64::from(end - start);
                start = end;
            }
        }
    }

    fn for_each_key(&self, bucket: u32, each: &mut dyn FnMut(H)) {
        for (keys, _) in self.stretches(bucket) {
            keys.iter().for_each(|&key| each(key));
        }
    }
}

/// Cuts records, those of all kinds together, into pieces in the order of keys: runs of buckets of at
/// most `at_once` records together, and buckets of more. Of at most `most` records: beyond that buckets
/// are cut, and every piece of one goes over all of it. A piece of more than that has one key.
pub(super) fn pieces<H: Key>(
    layout: Layout,
    kinds: &[&dyn Cuttable<H>],
    [at_once, most]: [u64; 2],
) -> Vec<Piece<H>> {
    let mut sizes = vec![0; layout.buckets() as usize];
    kinds.iter().for_each(|records| records.add_sizes(&mut sizes));
    let keys_of = |bucket: u32, each: &mut dyn FnMut(H)| {
        kinds.iter().for_each(|records| records.for_each_key(bucket, each));
    };
    let mut pieces = Vec::new();
    let most_together = layout.most_together(H::BITS);
    let (mut first, mut sum) = (0, 0);
    for (bucket, &size) in (0..).zip(&sizes) {
        if bucket > first && (sum + size > at_once || bucket - first == most_together) {
            pieces.push(Piece { buckets: first..bucket, keys: None });
            (first, sum) = (bucket, 0);
        }
        if size > most {
            let all = Cut { first: H::default(), bits: layout.low_bits };
            let scan = |each: &mut dyn FnMut(H)| keys_of(bucket, each);
            let mut cuts = Vec::new();
            all.cut(&scan, most, &mut cuts);
            let of_bucket = |keys| Piece { buckets: bucket..bucket + 1, keys: Some(keys) };
            pieces.extend(cuts.into_iter().map(of_bucket));
            (first, sum) = (bucket + 1, 0);
        } else {
            sum += size;
        }
    }
    if first < layout.buckets() {
        pieces.push(Piece { buckets: first..layout.buckets(), keys: None });
    }
    pieces
}

/// Calls what it is given with some keys.
type Scan<'a, H> = dyn Fn(&mut dyn FnMut(H)) + 'a;

/// Keys that have all but the lowest so many bits in common.
#[derive(Debug, Clone, Copy)]
struct Cut<H> {
    first: H,
    bits: u32,
}

impl<H: Key> Cut<H> {
    /// Cuts the keys that `scan` goes over, if they are of this range, into ranges of at most `at_once` keys, or of one key.
    fn cut(self, scan: &Scan<'_, H>, at_once: u64, into: &mut Vec<[H; 2]>) {
        if self.bits == 0 {
            into.push([self.first; 2]);
            return;
        }
        let last = self.first.plus(H::mask(self.bits));
        let width = self.bits.min(CUT_BITS);
        let shift = self.bits - width;
        let mut sizes = vec![0_u64; 1 << width];
        scan(&mut |key| {
            if self.first <= key && key <= last {
                sizes[key.digit(shift, width) as usize] += 1;
            }
        });
        let first_of = |digit: u32| self.first.plus(H::shifted(digit, shift));
        let last_of = |digit: u32| first_of(digit).plus(H::mask(shift));
        let (mut start, mut sum) = (0, 0);
        for (digit, &size) in (0..).zip(&sizes) {
            if digit > start && sum + size > at_once {
                into.push([first_of(start), last_of(digit - 1)]);
                (start, sum) = (digit, 0);
            }
            if size > at_once {
                Self { first: first_of(digit), bits: shift }.cut(scan, at_once, into);
                (start, sum) = (digit + 1, 0);
            } else {
                sum += size;
            }
        }
        if start < 1 << width {
            into.push([first_of(start), last_of((1 << width) - 1)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::work::Work;

    /// Keys of 70 bits, of which 64 are kept.
    fn keys() -> impl Strategy<Value = Vec<u128>> {
        let one = prop_oneof![
            (0_u128..1 << 70),
            (0_u128..40),
            Just(5 << 60),
            (0_u128..1000).prop_map(|low| (3 << 66) + low)
        ];
        prop::collection::vec(one, 0..600)
    }

    proptest! {
        #[test]
        fn pieces_in_order_are_all_keys_in_order(keys in keys(), at_once in 1_u64..100) {
            let layout = Layout::new(70, 64, keys.len() as u64, at_once);
            prop_assert!(layout.low_bits <= 64);
            let mut work = Work::volatile(0);
            let groupings = Groupings::<u64, u32>::new(layout, 50);
            let chunks: Vec<&[u128]> = keys.chunks(97).collect();
            let blocks = work.append("keys", chunks.len(), |_, _| Some(true), |operation, block| {
                groupings.make(block, |grouping| {
                    for (place, &key) in (0..).zip(chunks[operation]) {
                        grouping.push(key, 97 * operation as u32 + place);
                    }
                });
                Ok(())
            }).unwrap();
            let records = Records::<u64, u32>::new(blocks, 0..chunks.len());
            let mut found: Vec<u128> = Vec::new();
            for piece in pieces(layout, &[&records], [at_once.div_ceil(2), at_once]) {
                let mut own = Vec::new();
                for bucket in piece.buckets.clone() {
                    records.for_each(bucket, &piece, |(low, place)| {
                        let key = layout.least::<u128>(bucket).plus(low.to());
                        assert_eq!(key, keys[place as usize]);
                        own.push(key);
                    });
                }
                prop_assert!(own.len() as u64 <= at_once || piece.is_one_key());
                own.sort_unstable();
                prop_assert!(!piece.is_one_key() || own.first() == own.last());
                found.extend(own);
            }
            let mut expected = keys;
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
