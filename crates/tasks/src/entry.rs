//! What is counted, and how it is stored beside its count.
//!
//! Tables hold plain numbers without gaps, so a key says what it is stored as together with a count. A term is 4 bytes with a count of
//! 4, which is enough as long as the corpus has fewer than 2^32 words; beyond that the same term is a key of 8 bytes with
//! a count of 8.

use bytemuck::Pod;

/// A counter.
pub trait Count: Pod + Send + Sync + Ord + std::fmt::Debug {
    /// The most that it can hold.
    const MOST: u64;

    /// A counter that has counted so much.
    fn of(count: u64) -> Self;

    /// What it has counted.
    fn get(self) -> u64;
}

impl Count for u32 {
    const MOST: u64 = u32::MAX as u64;

    #[inline]
    fn of(count: u64) -> Self {
        count as u32
    }

    #[inline]
    fn get(self) -> u64 {
        self.into()
    }
}

impl Count for u64 {
    const MOST: u64 = u64::MAX;

    #[inline]
    fn of(count: u64) -> Self {
        count
    }

    #[inline]
    fn get(self) -> u64 {
        self
    }
}

/// What is counted: a term, a rule, a sequence.
pub trait Key: Pod + Send + Sync + Ord + std::fmt::Debug {
    /// How wide its counts are. A key may be used only where none of them is above [`Count::MOST`].
    type Count: Count;

    /// It, together with a count.
    type Entry: Entry<Key = Self>;

    /// The number of a rule as a key with counts as wide as these.
    type Rule: Key<Count = Self::Count>;

    /// A rule.
    fn rule(rule: u32) -> Self::Rule;

    /// A hash, of which the highest bits are the best.
    fn hash(self) -> u64;

    /// The number that it is, for keys that are numbers below 2^32.
    fn number(self) -> u32;

    /// The key that is a number.
    fn of_number(number: u32) -> Self;
}

/// A key with its count.
pub trait Entry: Pod + Send + Sync + std::fmt::Debug {
    /// What the key is.
    type Key: Key;

    /// A key that was met so often.
    fn new(key: Self::Key, count: u64) -> Self;

    /// The key.
    fn key(&self) -> Self::Key;

    /// Its count; only what was never written has none.
    fn count(&self) -> u64;

    /// Counts more. Counts that were found in a pool may be any numbers, so it wraps.
    fn add(&mut self, more: u64);
}

/// Spreads the bits of a number over the upper half (2^64 divided by the golden ratio).
pub const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Key for u32 {
    type Count = u32;
    type Entry = [u32; 2];
    type Rule = u32;

    #[inline]
    fn rule(rule: u32) -> u32 {
        rule
    }

    #[inline]
    fn hash(self) -> u64 {
        u64::from(self).wrapping_mul(SPREAD)
    }

    #[inline]
    fn number(self) -> u32 {
        self
    }

    #[inline]
    fn of_number(number: u32) -> Self {
        number
    }
}

impl Entry for [u32; 2] {
    type Key = u32;

    #[inline]
    fn new(key: u32, count: u64) -> Self {
        [key, count as u32]
    }

    #[inline]
    fn key(&self) -> u32 {
        self[0]
    }

    #[inline]
    fn count(&self) -> u64 {
        self[1].into()
    }

    #[inline]
    fn add(&mut self, more: u64) {
        self[1] = self[1].wrapping_add(more as u32);
    }
}

impl Key for u64 {
    type Count = u64;
    type Entry = [u64; 2];
    type Rule = u64;

    #[inline]
    fn rule(rule: u32) -> u64 {
        rule.into()
    }

    #[inline]
    fn hash(self) -> u64 {
        (self ^ self >> 32).wrapping_mul(SPREAD)
    }

    #[inline]
    fn number(self) -> u32 {
        self as u32
    }

    #[inline]
    fn of_number(number: u32) -> Self {
        number.into()
    }
}

impl Entry for [u64; 2] {
    type Key = u64;

    #[inline]
    fn new(key: u64, count: u64) -> Self {
        [key, count]
    }

    #[inline]
    fn key(&self) -> u64 {
        self[0]
    }

    #[inline]
    fn count(&self) -> u64 {
        self[1]
    }

    #[inline]
    fn add(&mut self, more: u64) {
        self[1] = self[1].wrapping_add(more);
    }
}
