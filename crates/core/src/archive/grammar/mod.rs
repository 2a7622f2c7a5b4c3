//! Grammars as bytes: the sections `ITEM`, `SYMB`, `SYMD` or `SYMX`, and `ROOT` of docs/format.md.
//!
//! The symbols are coded from the last one of the last rule back to the first one of the root, so a rule
//! is described before it is used. An *item* is a token or a rule; it is *introduced* where it stands for
//! the first time in this order, and rules are numbered so that they are introduced in descending order:
//! an introduction costs one class and no number. Every other symbol refers to an item introduced before,
//! by one of two measures, whichever is cheaper:
//!
//! - *by frequency*: the item's frequency class, and how many items of that class were introduced since;
//! - *nearby*: how far from one of the last four items it was introduced. Passages that come again in the
//!   same order with other words between them (records, tables, log lines) have small distances.
//!
//! Cost of decoding: one class and up to 31 raw bits a symbol, and one look-up or two, in blocks that
//! are independent of each other and decoded on all threads.

mod decode;
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is encoded is a grammar, of 32-bit symbols"
)]
mod encode;
mod items;
mod symbols;
mod symd;
#[expect(
    clippy::cast_possible_truncation,
    reason = "symbols, ordinals and places have 32 bits, groups and ways 8, blocks of entries 16"
)]
mod symx;

pub use decode::CodedGrammar;
pub(crate) use decode::{OpenedGrammar, decode, decode_root};
pub(crate) use encode::encode;
pub(crate) use symx::streams_side_by_side;

/// The sections of one grammar.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) items: Vec<u8>,
    pub(crate) symbols: EncodedSymbols,
    pub(crate) root: Vec<u8>,
    /// Bytes that the symbols take at the level `fast`.
    pub(crate) fast_symbols: u64,
}

impl EncodedSymbols {
    pub(crate) fn bytes(&self) -> u64 {
        let (Self::Fast(section) | Self::Dense(section)) = self;
        section.len() as u64
    }
}

/// The section of the symbols, of one level or the other.
#[derive(Debug)]
pub(crate) enum EncodedSymbols {
    Fast(Vec<u8>),
    Dense(Vec<u8>),
}

/// The same, to be decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Symbols<'s> {
    Fast(&'s [u8]),
    /// Those of a dense archive of version 1.
    Single(&'s [u8]),
    Streams(&'s [u8]),
}

/// Items or symbols of one block, and so of one task of a parallel decoder.
const BLOCK: usize = 1 << 15;

/// Frequency classes of one kind of item. Rules have theirs behind those of tokens.
const FREQUENCY_CLASSES: usize = 64;

/// The class of a number of occurrences: two classes for each power of two.
fn frequency_class(count: u32) -> usize {
    match count {
        0 | 1 => count as usize,
        _ => {
            let log = count.ilog2();
            (2 * log + (count >> (log - 1) & 1)) as usize
        }
    }
}

/// The least number of occurrences of a class.
fn least_count(class: usize) -> u32 {
    match class {
        0 | 1 => u32::from(class == 1),
        _ => u32::try_from((2 | class & 1) << (class / 2 - 1)).unwrap_or(u32::MAX),
    }
}

/// Classes of the stream of items: tokens by frequency class, rules by frequency class and length.
mod item_class {
    use super::FREQUENCY_CLASSES;
    /// Bit lengths of a rule's length less two.
    const LENGTHS: usize = 32;
    pub(super) const COUNT: usize = FREQUENCY_CLASSES + FREQUENCY_CLASSES * LENGTHS;
    /// Classes of the step from one token to the next: bit length and sign.
    pub(super) const STEPS: usize = 66;

    pub(super) fn rule(frequency: usize, length_bits: u32) -> usize {
        FREQUENCY_CLASSES + frequency * LENGTHS + length_bits as usize
    }

    /// Frequency class and bit length of the length of a rule, or the frequency class of a token.
    #[expect(clippy::cast_possible_truncation, reason = "remainders of small numbers")]
    pub(super) fn parts(class: usize) -> (usize, Option<u32>) {
        match class.checked_sub(FREQUENCY_CLASSES) {
            None => (class, None),
            Some(rule) => (rule / LENGTHS, Some((rule % LENGTHS) as u32)),
        }
    }
}

/// Classes of the stream of symbols.
mod symbol_class {
    use super::FREQUENCY_CLASSES;
    /// The next item is introduced.
    pub(super) const INTRODUCTION: usize = 0;
    /// How many of the last items can be referred to.
    pub(super) const RECENT: usize = 4;
    /// Bit length and sign of a distance, for each of the last items.
    const NEARBY: usize = 1;
    const PER_RECENT: usize = 64;
    /// Distances of more bits cannot be coded.
    pub(super) const MOST_NEARBY_BITS: u32 = 16;
    /// Frequency class, and bit length (less one) of the number of items since.
    pub(super) const BY_FREQUENCY: usize = 512;
    const DISTANCES: usize = 32;
    pub(super) const COUNT: usize = BY_FREQUENCY + 2 * FREQUENCY_CLASSES * DISTANCES;

    pub(super) fn nearby(recent: usize, bits: u32, backwards: bool) -> usize {
        NEARBY + recent * PER_RECENT + 2 * bits as usize + usize::from(backwards)
    }

    pub(super) fn by_frequency(frequency: usize, bits: u32) -> usize {
        BY_FREQUENCY + frequency * DISTANCES + bits as usize
    }

    /// Whether a class has a meaning; others are kept for later.
    pub(super) fn is_used(class: usize) -> bool {
        match class {
            INTRODUCTION => true,
            BY_FREQUENCY.. => class < COUNT,
            nearby => {
                let rest = nearby - NEARBY;
                rest / PER_RECENT < RECENT && rest % PER_RECENT / 2 <= MOST_NEARBY_BITS as usize
            }
        }
    }

    /// What a class means.
    #[derive(Debug, Clone, Copy)]
    pub(super) enum Meaning {
        Introduction,
        Nearby { recent: usize, bits: u32, backwards: bool },
        ByFrequency { frequency: usize, bits: u32 },
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "remainders of small numbers")]
    pub(super) fn meaning(class: usize) -> Meaning {
        if let Some(rest) = class.checked_sub(BY_FREQUENCY) {
            Meaning::ByFrequency { frequency: rest / DISTANCES, bits: (rest % DISTANCES) as u32 }
        } else if let Some(rest) = class.checked_sub(NEARBY) {
            Meaning::Nearby {
                recent: rest / PER_RECENT % RECENT,
                bits: (rest % PER_RECENT / 2) as u32,
                backwards: rest % 2 == 1,
            }
        } else {
            Meaning::Introduction
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_are_coded_have_a_meaning_and_no_others() {
        use symbol_class::{COUNT, MOST_NEARBY_BITS, RECENT, is_used, nearby};
        let used = (0..COUNT + 1).filter(|&class| is_used(class)).count();
        let nearby_classes = RECENT * 2 * (MOST_NEARBY_BITS as usize + 1);
        assert_eq!(used, 1 + nearby_classes + COUNT - symbol_class::BY_FREQUENCY);
        assert!(is_used(nearby(RECENT - 1, MOST_NEARBY_BITS, true)));
        assert!(!is_used(nearby(0, MOST_NEARBY_BITS + 1, false)) && !is_used(nearby(4, 0, false)));
    }

    #[test]
    fn frequency_classes_ascend_without_gaps() {
        let classes: Vec<usize> = (0..=16).map(frequency_class).collect();
        assert_eq!(classes, [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8]);
        assert_eq!(frequency_class(u32::MAX), FREQUENCY_CLASSES - 1);
    }
}
