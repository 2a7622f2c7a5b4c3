//! How pairs are packed into keys, and what rows show for them.

use tadoc_core::answer::{Labels, Value};
use tadoc_core::task::LONGEST_SEQUENCE;

use super::keys::Key;

/// How sequences are packed into keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// Terms of a sequence.
    pub(super) n: usize,
    /// Bits of a term.
    pub(super) bits: u32,
}

impl Packing {
    /// The terms of a sequence, the last one first.
    #[inline]
    pub(super) fn terms(self, key: impl Key) -> impl Iterator<Item = u32> {
        (0..self.n as u32).map(move |place| key.digit(place * self.bits, self.bits))
    }

    /// Calls `each` with the texts of a sequence.
    #[inline]
    pub(super) fn show(self, labels: Labels<'_>, key: impl Key, each: impl FnOnce(Value<'_>)) {
        let mut terms: [&[u8]; LONGEST_SEQUENCE] = [&[]; LONGEST_SEQUENCE];
        for (text, term) in terms[..self.n].iter_mut().rev().zip(self.terms(key)) {
            *text = labels.terms.get(term);
        }
        each(Value::Terms(&terms[..self.n]));
    }
}
