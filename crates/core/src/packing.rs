//! Sequences of terms packed into integers, on every backend.
//!
//! The first term is in the highest bits, so integers compare as the sequences do. How wide the
//! integers are, and where their bits lie, is the business of whoever keeps them.

use crate::answer::Labels;
use crate::task::Task;

/// How sequences of one length are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// Terms of a sequence.
    pub n: usize,
    /// Bits of a term, at least one.
    pub bits: u32,
    /// How many terms there are.
    pub items: u32,
}

impl Packing {
    /// The packing with the fewest bits, for sequences of `n` of so many terms.
    ///
    /// # Panics
    /// If sequences are longer than [`Task::LONGEST_SEQUENCE`].
    pub fn new(n: usize, items: u32) -> Self {
        assert!(n <= Task::LONGEST_SEQUENCE, "no task has sequences of {n} terms");
        let bits = (u32::BITS - items.saturating_sub(1).leading_zeros()).max(1);
        Self { n, bits, items }
    }

    /// Bits of a packed sequence.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a sequence is at most `Task::LONGEST_SEQUENCE` long"
    )]
    pub fn key_bits(self) -> u32 {
        self.n as u32 * self.bits
    }

    /// Packs terms. Those that do not fit 128 bits are lost, the first ones first.
    #[inline]
    pub fn pack(self, terms: &[u32]) -> u128 {
        terms.iter().fold(0, |packed, &term| packed << self.bits | u128::from(term))
    }

    /// The terms of a packed sequence, the last one first. `digit` gives the `bits` bits above a
    /// number of lower ones.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a sequence is at most `Task::LONGEST_SEQUENCE` long"
    )]
    pub fn terms(self, digit: impl Fn(u32, u32) -> u32) -> impl Iterator<Item = u32> {
        (0..self.n as u32).map(move |place| digit(place * self.bits, self.bits))
    }

    /// Calls `each` with the texts of terms, of which the last one comes first.
    #[inline]
    pub fn show(
        self,
        labels: Labels<'_>,
        terms: impl Iterator<Item = u32>,
        each: impl FnOnce(&[&[u8]]),
    ) {
        let mut texts: [&[u8]; Task::LONGEST_SEQUENCE] = [&[]; Task::LONGEST_SEQUENCE];
        for (text, term) in texts[..self.n].iter_mut().rev().zip(terms) {
            *text = labels.terms.get(term);
        }
        each(&texts[..self.n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_back_and_bits_are_enough() {
        let bits = [0, 1, 2, 3, 4, 5, u32::MAX].map(|items| Packing::new(1, items).bits);
        assert_eq!(bits, [1, 1, 1, 2, 2, 3, 32]);
        let packing = Packing::new(4, 1 << 30);
        assert_eq!(packing.key_bits(), 120);
        let terms = [(1 << 30) - 1, 0, 7, 1 << 29];
        let packed = packing.pack(&terms);
        let digit = |shift, bits| (packed >> shift & ((1_u128 << bits) - 1)) as u32;
        assert!(packing.terms(digit).eq(terms.into_iter().rev()));
        assert!(packed < packing.pack(&[(1 << 30) - 1, 0, 8, 0]));
    }
}
