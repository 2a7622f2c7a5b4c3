//! What rows show for the items that answers have.

use tadoc_core::answer::{Labels, Value};
use tadoc_core::task::LONGEST_SEQUENCE;

use super::keys::Key;

/// What the items of a network are.
pub(super) trait Names: Send + Sync {
    /// Calls `each` with what a row shows for an item.
    fn show(&self, labels: Labels<'_>, item: u32, each: &mut dyn FnMut(Value<'_>));
}

/// Items that are terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermNames;

impl Names for TermNames {
    #[inline]
    fn show(&self, labels: Labels<'_>, item: u32, each: &mut dyn FnMut(Value<'_>)) {
        each(Value::Text(labels.terms.get(item)));
    }
}

/// How sequences are packed into keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// Terms of a sequence.
    pub(super) n: usize,
    /// Bits of a term.
    pub(super) bits: u32,
}

impl Packing {
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

/// Items that are sequences: the keys of all, ascending.
#[derive(Debug)]
pub(super) struct SequenceNames<K> {
    pub(super) packing: Packing,
    pub(super) keys: Vec<K>,
}

impl<K: Key> Names for SequenceNames<K> {
    #[inline]
    fn show(&self, labels: Labels<'_>, item: u32, each: &mut dyn FnMut(Value<'_>)) {
        self.packing.show(labels, self.keys[item as usize], each);
    }
}
