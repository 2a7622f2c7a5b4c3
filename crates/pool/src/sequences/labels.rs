//! What rows show for packed sequences.

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
    /// Bits of a key.
    pub(super) fn key_bits(self) -> u32 {
        self.n as u32 * self.bits
    }

    /// Calls `each` with the terms of a sequence.
    #[inline]
    pub(super) fn show(self, labels: Labels<'_>, key: impl Key, each: impl FnOnce(Value<'_>)) {
        let mut terms: [&[u8]; LONGEST_SEQUENCE] = [&[]; LONGEST_SEQUENCE];
        for (place, term) in terms[..self.n].iter_mut().rev().enumerate() {
            *term = labels.terms.get(key.digit(place as u32 * self.bits, self.bits));
        }
        each(Value::Terms(&terms[..self.n]));
    }
}
