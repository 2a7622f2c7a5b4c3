//! The texts that rows show for numbers: terms, of which rows show millions in any order, and names of documents.
//!
//! A text is two look-ups: where it ends, and its bytes. Of a large vocabulary neither is in a cache, so that rows would take what
//! memory takes to answer, twice a term. [`Texts::ask_ahead`] asks for both some rows before they are shown.

use crate::packed::prefetch;
use crate::usize_of;

/// How many keys before it is shown a text is asked for; its place is asked for as many keys earlier still. Enough to cover the time that memory takes,
/// and few enough that what was asked for is still there.
const AHEAD: usize = 12;

/// Texts that lie one after the other: the terms of a view, or the names of documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) ends: &'a [u64],
}

impl<'a> Texts<'a> {
    /// How many there are.
    #[expect(clippy::cast_possible_truncation, reason = "texts are numbered in 32 bits")]
    pub fn len(self) -> u32 {
        self.ends.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.ends.is_empty()
    }

    /// One of them.
    ///
    /// # Panics
    /// If there is no such number.
    #[inline]
    pub fn get(self, number: u32) -> &'a [u8] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[usize_of(start)..usize_of(self.ends[number])]
    }

    /// Asks for the memory of what keys need that are shown soon, when the one at `place` is shown; `terms` gives the terms of a key.
    #[inline]
    pub fn ask_ahead<K: Copy, I: Iterator<Item = u32>>(
        self,
        keys: &[K],
        place: usize,
        terms: impl Fn(K) -> I,
    ) {
        if let Some(&key) = keys.get(place + 2 * AHEAD) {
            terms(key).for_each(|term| prefetch(self.ends, term as usize));
        }
        if let Some(&key) = keys.get(place + AHEAD) {
            for term in terms(key) {
                let start = (term as usize).checked_sub(1).and_then(|before| self.ends.get(before));
                prefetch(self.bytes, start.map_or(0, |&start| usize_of(start)));
            }
        }
    }
}

/// The names of the documents of a corpus, in order: 8 bytes for each beside its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<u64>,
}

impl Names {
    /// The names, where they lie.
    pub fn texts(&self) -> Texts<'_> {
        Texts { bytes: &self.bytes, ends: &self.ends }
    }
}

impl<N: AsRef<[u8]>> Extend<N> for Names {
    fn extend<I: IntoIterator<Item = N>>(&mut self, names: I) {
        for name in names {
            self.bytes.extend_from_slice(name.as_ref());
            self.ends.push(self.bytes.len() as u64);
        }
    }
}

impl<N: AsRef<[u8]>> FromIterator<N> for Names {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        let mut all = Self::default();
        all.extend(names);
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::Terms;

    #[test]
    fn texts_are_those_of_the_terms_and_asking_changes_nothing() {
        let terms = Terms::new(b"abbc".to_vec(), vec![1, 3, 4]).unwrap();
        let texts = terms.texts();
        assert_eq!((texts.len(), texts.is_empty()), (3, false));
        let keys: Vec<u32> = (0..100).map(|key| key % 3).collect();
        for (place, &key) in keys.iter().enumerate() {
            // Numbers that no term has are nobody's memory.
            texts.ask_ahead(&keys, place, |key| [key, key + 100, u32::MAX].into_iter());
            assert_eq!(texts.get(key), terms.get(key));
        }
    }
}
