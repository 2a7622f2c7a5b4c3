//! The dictionary of an edited segment: that of the stored one, with what is new put where it belongs and what is no longer used left out.
//!
//! Stored tokens are in order already; those that threads found in new text are sorted, and both are merged. Cost: that sort, and a pass
//! over all.

use std::cmp::Ordering;

use rayon::prelude::*;
use tadoc_core::archive::Tokens;
use tadoc_core::archive::dictionary::{Entry, Forms};

use crate::access::leading_space;
use crate::build::dictionary::prefix;
use crate::build::interner::Interner;
use crate::build::lexer::TokenKind;

/// What stands for a token that nothing uses.
pub(super) const UNUSED: u32 = u32::MAX;

pub(super) struct EditedDictionary<'t> {
    /// The words, in byte order.
    pub(super) words: Vec<Entry<'t>>,
    /// The separators, in byte order.
    pub(super) separators: Vec<&'t [u8]>,
    /// The number of each stored token, or [`UNUSED`].
    pub(super) stored: Vec<u32>,
    /// For each interner, the numbers of its tokens.
    pub(super) interned: Vec<Vec<u32>>,
    /// Tokens that end a line: separators with a line feed in them.
    pub(super) line_ends: Vec<bool>,
}

/// A token, to be ordered as tokens are in a dictionary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'t> {
    is_separator: bool,
    /// The first bytes, as a number that sorts as they do: most comparisons need no more.
    prefix: u64,
    /// The word, or the separator.
    bytes: &'t [u8],
    is_spaced: bool,
}

impl<'t> Key<'t> {
    fn of(bytes: &'t [u8], is_separator: bool) -> Self {
        let space = if is_separator { 0 } else { leading_space(bytes) };
        let bytes = &bytes[space..];
        Self { is_separator, prefix: prefix(bytes), bytes, is_spaced: space > 0 }
    }
}

/// A token that a thread found in new text.
#[derive(Clone, Copy)]
struct Found<'t> {
    key: Key<'t>,
    interner: u32,
    token: u32,
}

impl<'t> EditedDictionary<'t> {
    /// `used` says which stored tokens are; those below `word_tokens` have a word.
    #[expect(clippy::cast_possible_truncation, reason = "tokens are numbered in 32 bits")]
    pub(super) fn new(
        tokens: &'t Tokens,
        word_tokens: u32,
        used: &[bool],
        interners: &'t [Interner],
    ) -> Self {
        let mut found: Vec<Found<'t>> = Vec::new();
        for (number, interner) in (0..).zip(interners) {
            found.par_extend((0..interner.len() as u32).into_par_iter().map(|token| {
                let is_separator = interner.kind(token) == TokenKind::Separator;
                Found { key: Key::of(interner.token(token), is_separator), interner: number, token }
            }));
        }
        found.par_sort_unstable_by(|one, other| one.key.cmp(&other.key));
        let mut merged = Self {
            words: Vec::with_capacity(word_tokens as usize),
            separators: Vec::with_capacity(tokens.len() - word_tokens as usize),
            stored: vec![UNUSED; tokens.len()],
            interned: interners.iter().map(|interner| vec![UNUSED; interner.len()]).collect(),
            line_ends: Vec::with_capacity(tokens.len()),
        };
        let stored = |token: u32| Key::of(tokens.get(token), token >= word_tokens);
        let end = tokens.len() as u32;
        let mut next = 0;
        for equal in found.chunk_by(|one, other| one.key == other.key) {
            let key = equal[0].key;
            let mut order = Ordering::Greater;
            while next < end {
                order = stored(next).cmp(&key);
                if order != Ordering::Less {
                    break;
                }
                merged.push_stored(next, stored(next), used);
                next += 1;
            }
            let number = merged.push(key);
            if next < end && order == Ordering::Equal {
                merged.stored[next as usize] = number;
                next += 1;
            }
            for found in equal {
                merged.interned[found.interner as usize][found.token as usize] = number;
            }
        }
        for token in next..end {
            merged.push_stored(token, stored(token), used);
        }
        merged
    }

    /// Appends a stored token that is not in new text, if it is used.
    fn push_stored(&mut self, token: u32, key: Key<'t>, used: &[bool]) {
        if used[token as usize] {
            self.stored[token as usize] = self.push(key);
        }
    }

    /// Appends the next token; gives its number.
    #[expect(clippy::cast_possible_truncation, reason = "tokens are numbered in 32 bits")]
    fn push(&mut self, token: Key<'t>) -> u32 {
        let number = self.line_ends.len() as u32;
        if token.is_separator {
            self.separators.push(token.bytes);
            self.line_ends.push(memchr::memchr(b'\n', token.bytes).is_some());
            return number;
        }
        self.line_ends.push(false);
        match self.words.last_mut() {
            // The bare form is the first of both.
            Some(last)
                if token.is_spaced && last.forms == Forms::Bare && last.bytes == token.bytes =>
            {
                last.forms = Forms::Both;
            }
            _ => {
                let forms = if token.is_spaced { Forms::Spaced } else { Forms::Bare };
                self.words.push(Entry { bytes: token.bytes, forms });
            }
        }
        number
    }

    #[expect(clippy::cast_possible_truncation, reason = "tokens are numbered in 32 bits")]
    pub(super) fn token_count(&self) -> u32 {
        self.line_ends.len() as u32
    }
}
