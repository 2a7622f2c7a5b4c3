//! Signatures: for each symbol 64 bits that say which words its text may have, and the same for
//! each few places of the root.
//!
//! Each word sets two bits, and a rule has the bits of its symbols. What lacks a bit of a word does
//! not have the word and is not looked at; of rules of a few words about one in fifty is looked at
//! for nothing. Cost: one pass over the symbols of rules and root, 8 bytes a symbol and 2 a place.
//! So they are made when questions have looked at as many symbols as that, and there is memory to
//! spare.

use std::ops::Range;

use tadoc_core::Share;
use tadoc_core::packed::prefetch;

use super::segment::Slices;
use super::tokens::TokenStore;
use crate::error::Result;

/// Places of the root that have a signature in common.
const PLACES: usize = 4;

/// Where tokens have more words than so many, no signature is compared with all of them.
const MOST_WORDS: usize = 8;

/// The part of the memory left that signatures may take.
const PART_OF_MEMORY: u64 = 8;

/// What memory is taken for, in errors.
const WHAT: &str = "the signatures of rules";

/// The signatures of a segment.
#[derive(Debug)]
pub(super) struct Signatures {
    of_symbols: Vec<u64>,
    of_places: Vec<u64>,
    _share: Share,
}

/// The bits of some words, any of which is looked for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    first: u64,
    others: Vec<u64>,
}

impl Signatures {
    /// Those of a segment; `None` if there is no memory to spare for them.
    pub(super) fn of(
        slices: &Slices<'_>,
        tokens: &TokenStore,
        share: &Share,
    ) -> Result<Option<Self>> {
        let count = slices.symbol_count() + slices.root_length().div_ceil(PLACES);
        let bytes = (size_of::<u64>() * count) as u64;
        if bytes > share.budget().left() / PART_OF_MEMORY {
            return Ok(None);
        }
        let share = share.budget().take(bytes, WHAT)?;
        let mut of_symbols = vec![0; slices.symbol_count()];
        for (token, bits) in (0..tokens.word_token_count()).zip(&mut of_symbols) {
            *bits = bits_of(tokens.word_number(token));
        }
        let mut end = slices.bodies_length();
        for rule in (0..slices.rule_count()).rev() {
            let start = slices.body(rule).start;
            let symbols = (start..end).map(|at| slices.body_symbol(at));
            let bits = symbols.fold(0, |bits, symbol| bits | of_symbols[symbol as usize]);
            of_symbols[(slices.token_count() + rule) as usize] = bits;
            end = start;
        }
        let mut of_places = vec![0; slices.root_length().div_ceil(PLACES)];
        for place in 0..slices.root_length() {
            of_places[place / PLACES] |= of_symbols[slices.root(place) as usize];
        }
        Ok(Some(Self { of_symbols, of_places, _share: share }))
    }

    /// Bytes of memory held.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.of_symbols[..]) + size_of_val(&self.of_places[..])
    }

    /// Whether the text of a symbol may have any of some words.
    #[inline]
    pub(super) fn may_have(&self, symbol: u32, wanted: &Wanted) -> bool {
        wanted.are_in(self.of_symbols[symbol as usize])
    }

    /// Adds the places of a range whose texts may have any of some words, and their symbols, in
    /// order.
    pub(super) fn places(
        &self,
        slices: &Slices<'_>,
        places: Range<usize>,
        wanted: &Wanted,
        found: &mut Vec<(usize, u32)>,
    ) {
        let first = found.len();
        let groups = places.start / PLACES..places.end.div_ceil(PLACES);
        for (group, &bits) in groups.clone().zip(&self.of_places[groups]) {
            if wanted.are_in(bits) {
                let start = (group * PLACES).max(places.start);
                for place in start..((group + 1) * PLACES).min(places.end) {
                    let symbol = slices.root(place);
                    prefetch(&self.of_symbols, symbol as usize);
                    found.push((place, symbol));
                }
            }
        }
        let mut kept = first;
        for index in first..found.len() {
            let (place, symbol) = found[index];
            found[kept] = (place, symbol);
            kept += usize::from(self.may_have(symbol, wanted));
        }
        found.truncate(kept);
    }
}

impl Wanted {
    /// The words of some tokens.
    pub(super) fn new(tokens: &TokenStore, wanted: &[Range<u32>]) -> Self {
        let mut words = wanted.iter().map(|of| bits_of(tokens.word_number(of.start)));
        match wanted.len() {
            1..=MOST_WORDS => {
                Self { first: words.next().expect("there is one"), others: words.collect() }
            }
            // Nothing is asked of what has no bits.
            _ => Self::default(),
        }
    }

    #[inline]
    fn are_in(&self, signature: u64) -> bool {
        signature & self.first == self.first
            || self.others.iter().any(|bits| signature & bits == *bits)
    }
}

/// The bits of a word. The highest bits of a product with a large odd number are spread evenly.
#[inline]
fn bits_of(word: u32) -> u64 {
    let spread = word.wrapping_mul(0x9E37_79B1) >> (u32::BITS - 12);
    1 << (spread >> 6) | 1 << (spread & 63)
}
