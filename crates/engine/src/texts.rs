//! The texts of short rules, written out: text is then copied in runs of dozens of bytes and not token by token.
//!
//! For whoever writes out much of a segment: restoring and searching dense lines. Cost: O(symbols and
//! texts) to make, at most 16 bytes a symbol. (Random access, which is given its room, chooses by use:
//! `access::texts`.)

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

use std::ops::Range;

use tadoc_core::{Budget, usize_of};

/// Rules of a longer text are not written out.
const LONGEST_TEXT: u64 = 256;
/// Bytes of texts for each symbol of the rules, and for all.
const TEXT_PER_SYMBOL: usize = 16;
const MOST_TEXT: usize = 1 << 30;
/// The text of this rule is not written out.
const NOT_WRITTEN: u32 = u32::MAX;

/// The rules of a segment. Symbols below [`Rules::token_count`] are tokens, the others rules; rule `r`
/// is the symbol `token_count + r`, and uses only rules of higher numbers.
pub(crate) trait Rules {
    /// How many tokens there are.
    fn token_count(&self) -> u32;
    /// How many rules there are.
    fn rule_count(&self) -> u32;
    /// The places of a rule's symbols.
    fn body(&self, rule: u32) -> Range<u32>;
    /// The symbol at a place of a rule.
    fn symbol(&self, place: u32) -> u32;
    /// The bytes of a token.
    fn token(&self, token: u32) -> &[u8];
    /// The length of a symbol's text.
    fn bytes(&self, symbol: u32) -> u64;
}

/// The texts of short rules.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    /// Where the text of each rule starts and how long it is.
    places: Vec<(u32, u16)>,
}

impl Texts {
    /// Writes out texts, children first, until there is no more room: that, and a fourth of what is left
    /// of a budget.
    pub(crate) fn new(rules: &impl Rules, budget: &Budget) -> Self {
        let (tokens, count) = (rules.token_count(), rules.rule_count());
        let symbols: usize = (0..count).map(|rule| rules.body(rule).len()).sum();
        let room = (symbols * TEXT_PER_SYMBOL).min(MOST_TEXT).min((budget.left() / 4) as usize);
        let mut bytes: Vec<u8> = Vec::new();
        let mut places = vec![(NOT_WRITTEN, 0); count as usize];
        for rule in (0..count).rev() {
            let start = bytes.len();
            let length = rules.bytes(tokens + rule);
            if length > LONGEST_TEXT || start + usize_of(length) > room {
                continue;
            }
            let written = rules.body(rule).all(|place| {
                let symbol = rules.symbol(place);
                let Some(child) = symbol.checked_sub(tokens) else {
                    bytes.extend_from_slice(rules.token(symbol));
                    return true;
                };
                let (from, length) = places[child as usize];
                let is_written = from != NOT_WRITTEN;
                if is_written {
                    bytes.extend_from_within(from as usize..from as usize + usize::from(length));
                }
                is_written
            });
            // Longer than its rules say, a text may not fit.
            let length = u16::try_from(bytes.len() - start).ok().filter(|_| written);
            match u32::try_from(start).ok().zip(length) {
                Some(place) => places[rule as usize] = place,
                None => bytes.truncate(start),
            }
        }
        Self { bytes, places }
    }

    /// The text of a rule, if it is written out.
    #[inline]
    pub(crate) fn get(&self, rule: u32) -> Option<&[u8]> {
        let (start, length) = self.places[rule as usize];
        let start = start as usize;
        (start != NOT_WRITTEN as usize).then(|| &self.bytes[start..start + usize::from(length)])
    }

    /// How many bytes all texts have.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule of two tokens, and one of two such rules, that say they have one byte.
    struct TooShort(Vec<u8>);

    impl Rules for TooShort {
        fn token_count(&self) -> u32 {
            1
        }

        fn rule_count(&self) -> u32 {
            2
        }

        fn body(&self, rule: u32) -> Range<u32> {
            2 * rule..2 * rule + 2
        }

        fn symbol(&self, place: u32) -> u32 {
            [2, 2, 0, 0][place as usize]
        }

        fn token(&self, _: u32) -> &[u8] {
            &self.0
        }

        fn bytes(&self, _: u32) -> u64 {
            1
        }
    }

    #[test]
    fn texts_that_do_not_fit_their_numbers_are_not_written_out() {
        let long = Texts::new(&TooShort(vec![b'a'; 300 * 256]), &Budget::unlimited());
        assert_eq!((long.get(0), long.get(1), long.bytes()), (None, None, 0));
        let fits = Texts::new(&TooShort(vec![b'a'; 1 << 14]), &Budget::unlimited());
        assert_eq!((fits.get(0), fits.get(1)), (None, Some(&vec![b'a'; 1 << 15][..])));
    }
}
