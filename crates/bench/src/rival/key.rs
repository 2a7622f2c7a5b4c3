//! Sequences of terms as integers that order like them, and a table of such integers.

use super::vocabulary::Vocabulary;

/// The numbers of some terms, side by side in an integer, the first one highest. No key has all bits set.
pub trait Key: Copy + Ord + Send + Sync + 'static {
    /// No terms.
    const NONE: Self;
    /// What is no key.
    const EMPTY: Self;

    /// Moves all terms up by so many bits, and adds one below. What was above `mask` is dropped.
    fn push(self, bits: u32, term: u32, mask: Self) -> Self;

    /// The lowest `bits` bits set.
    fn mask(bits: u32) -> Self;

    /// The number that begins at this bit; bits above it are still there.
    fn at_bit(self, bit: u32) -> u32;

    /// Spreads keys over 64 bits, the upper ones best.
    fn hash(self) -> u64;
}

impl Key for u64 {
    const NONE: Self = 0;
    const EMPTY: Self = u64::MAX;

    #[inline(always)]
    fn push(self, bits: u32, term: u32, mask: Self) -> Self {
        (self << bits | u64::from(term)) & mask
    }

    fn mask(bits: u32) -> Self {
        u64::MAX >> (64 - bits)
    }

    #[inline(always)]
    fn at_bit(self, bit: u32) -> u32 {
        (self >> bit) as u32
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        // Folding in the upper half lets the first terms of a sequence reach the upper bits too.
        (self ^ self >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Key for u128 {
    const NONE: Self = 0;
    const EMPTY: Self = u128::MAX;

    #[inline(always)]
    fn push(self, bits: u32, term: u32, mask: Self) -> Self {
        (self << bits | u128::from(term)) & mask
    }

    fn mask(bits: u32) -> Self {
        u128::MAX >> (128 - bits)
    }

    #[inline(always)]
    fn at_bit(self, bit: u32) -> u32 {
        (self >> bit) as u32
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        ((self >> 64) as u64)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
            .rotate_left(32)
            .wrapping_add(self as u64)
            .hash()
    }
}

/// How keys are made of terms.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Terms in a sequence.
    pub n: usize,
    /// Bits of a term.
    pub bits: u32,
}

impl Shape {
    /// For sequences of `n` of so many terms. The greatest number of a term is never all ones. Without terms there is
    /// still a bit, since masks of none cannot be made by shifting.
    pub fn new(n: usize, terms: usize) -> Self {
        Self { n, bits: (usize::BITS - terms.leading_zeros()).max(1) }
    }

    /// Bits of a key.
    pub fn key_bits(self) -> u32 {
        self.n as u32 * self.bits
    }

    /// A term of a key.
    #[inline(always)]
    pub fn term<K: Key>(self, key: K, index: usize) -> u32 {
        let bit = (self.n - 1 - index) as u32 * self.bits;
        key.at_bit(bit) & (u32::MAX >> (32 - self.bits))
    }

    /// Appends the terms of a key, with one space between them.
    pub fn print<K: Key>(self, key: K, terms: &Vocabulary, out: &mut Vec<u8>) {
        for index in 0..self.n {
            if index > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(terms.term(self.term(key, index)));
        }
    }
}

/// Keys with a number each, by open addressing. It begins at the size that the keys before it needed, so that
/// it stays in cache where there are few.
pub struct Table<K> {
    keys: Vec<K>,
    values: Vec<u32>,
    filled: usize,
}

/// Slots of a table at least.
const LEAST_SLOTS: usize = 1 << 8;
/// Slots a key at least: nearly all look-ups then end where they begin.
const ROOM: usize = 3;

impl<K: Key> Table<K> {
    /// Without keys.
    pub fn new() -> Self {
        let mut table = Self { keys: Vec::new(), values: Vec::new(), filled: 0 };
        table.clear();
        table
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        let slots = (self.filled * ROOM).next_power_of_two().max(LEAST_SLOTS);
        self.filled = 0;
        self.resize(slots);
    }

    /// The number of a key, 0 if it is new.
    #[inline(always)]
    pub fn value(&mut self, key: K) -> &mut u32 {
        if self.filled * ROOM > self.keys.len() {
            self.grow();
        }
        let mask = self.keys.len() - 1;
        let mut slot = self.home(key);
        // Whether a key is new cannot be guessed; so old and new ones go one way, without a branch between.
        loop {
            let found = self.keys[slot];
            if (found == key) | (found == K::EMPTY) {
                self.filled += usize::from(found == K::EMPTY);
                self.keys[slot] = key;
                return &mut self.values[slot];
            }
            slot = (slot + 1) & mask;
        }
    }

    /// All keys with their numbers, in no order.
    pub fn entries(&self) -> impl Iterator<Item = (K, u32)> {
        let all = self.keys.iter().zip(&self.values);
        all.filter(|(key, _)| **key != K::EMPTY).map(|(&key, &value)| (key, value))
    }

    #[inline(always)]
    fn home(&self, key: K) -> usize {
        (key.hash() >> (64 - self.keys.len().trailing_zeros())) as usize
    }

    fn resize(&mut self, slots: usize) {
        self.keys.clear();
        self.keys.resize(slots, K::EMPTY);
        self.values.clear();
        self.values.resize(slots, 0);
    }

    #[cold]
    fn grow(&mut self) {
        let old: Vec<(K, u32)> = self.entries().collect();
        self.resize(self.keys.len() * 4);
        let mask = self.keys.len() - 1;
        for (key, value) in old {
            let mut slot = self.home(key);
            while self.keys[slot] != K::EMPTY {
                slot = (slot + 1) & mask;
            }
            self.keys[slot] = key;
            self.values[slot] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_counts_whatever_it_counted_before() {
        let mut table = Table::<u64>::new();
        for distinct in [10_000_u64, 3, 500] {
            table.clear();
            for index in 0..3 * distinct {
                *table.value((index % distinct) << 40) += 1;
            }
            let mut entries: Vec<_> = table.entries().collect();
            entries.sort_unstable();
            assert_eq!(entries, (0..distinct).map(|key| (key << 40, 3)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn terms_come_back_from_keys() {
        for (n, terms) in [(3, 1 << 20), (3, (1 << 21) - 1), (5, 3_000_000), (2, 1)] {
            let shape = Shape::new(n, terms);
            let last = terms as u32 - 1;
            let mask = u128::mask(shape.key_bits());
            let mut key = u128::NONE;
            for term in (0..n as u32).rev() {
                key = key.push(shape.bits, last - term.min(last), mask);
            }
            assert_eq!(shape.term(key, n - 1), last);
            assert_eq!(shape.term(key, 0), last - (n as u32 - 1).min(last));
        }
    }
}
