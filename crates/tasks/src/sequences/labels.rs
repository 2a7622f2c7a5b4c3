//! What rows show for packed sequences.

use tadoc_core::answer::Labels;
use tadoc_core::task::Task;

use super::keys::{Key, is_masked};

/// How sequences are packed into keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// Terms of a sequence.
    pub(super) n: usize,
    /// Bits of a term.
    pub(super) bits: u32,
    /// How many terms there are.
    pub(super) items: u32,
}

impl Packing {
    /// Bits of a key.
    pub(super) fn key_bits(self) -> u32 {
        self.n as u32 * self.bits
    }

    /// Whether a key is a sequence of terms.
    #[inline]
    pub(super) fn is_sequence(self, key: impl Key) -> bool {
        is_masked(key, self.key_bits()) && self.terms(key).all(|term| term < self.items)
    }

    /// The terms of a sequence, the last one first.
    #[inline]
    pub(super) fn terms(self, key: impl Key) -> impl Iterator<Item = u32> {
        (0..self.n as u32).map(move |place| key.digit(place * self.bits, self.bits))
    }

    /// Calls `each` with the texts of a sequence.
    #[inline]
    pub(super) fn show(self, labels: Labels<'_>, key: impl Key, each: impl FnOnce(&[&[u8]])) {
        let mut terms: [&[u8]; Task::LONGEST_SEQUENCE] = [&[]; Task::LONGEST_SEQUENCE];
        for (text, term) in terms[..self.n].iter_mut().rev().zip(self.terms(key)) {
            *text = labels.terms.get(term);
        }
        each(&terms[..self.n]);
    }
}
