//! What rows show for the items that answers have.

use std::iter::once;

use tadoc_core::answer::{Labels, Value};
use tadoc_core::task::LONGEST_SEQUENCE;

use super::keys::Key;

/// What the items of a network are.
pub(super) trait Names: Send + Sync {
    /// Calls `each` with what a row shows for an item.
    fn show(&self, labels: Labels<'_>, item: u32, each: &mut dyn FnMut(Value<'_>));

    /// Asks for the memory of items that are shown soon behind the one at `place`, if that is worth it.
    fn ask_ahead(&self, labels: Labels<'_>, items: &[u32], place: usize);
}

/// Items that are terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermNames;

impl Names for TermNames {
    #[inline]
    fn show(&self, labels: Labels<'_>, item: u32, each: &mut dyn FnMut(Value<'_>)) {
        each(Value::Text(labels.terms.get(item)));
    }

    #[inline]
    fn ask_ahead(&self, labels: Labels<'_>, items: &[u32], place: usize) {
        labels.terms.ask_ahead(items, place, once);
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

    /// Nothing: their keys are one look-up more, which would have to be asked for first.
    #[inline]
    fn ask_ahead(&self, _: Labels<'_>, _: &[u32], _: usize) {}
}
