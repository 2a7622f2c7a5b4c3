//! The dictionary of an edited segment: that of the stored one, with what is new put where it belongs and what is no longer used left out.
//!
//! Stored tokens are in order already, so only new ones are sorted, and found a place by halving. Cost: a hash table of the stored
//! tokens, a look-up for each token that a thread found in new text, and a pass over all.

use rayon::prelude::*;
use tadoc_core::archive::Tokens;
use tadoc_core::archive::dictionary::{Entry, Forms};

use crate::access::leading_space;
use crate::build::interner::Interner;
use crate::build::lexer::TokenKind;

/// What stands for a token that nothing uses.
pub(super) const UNUSED: u32 = u32::MAX;

/// A dictionary, and the way into it.
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

/// A token that is not stored; ordered as tokens are in a dictionary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct New<'t> {
    is_separator: bool,
    /// The word, or the separator.
    bytes: &'t [u8],
    is_spaced: bool,
}

impl<'t> New<'t> {
    fn of(bytes: &'t [u8], is_separator: bool) -> Self {
        let space = if is_separator { 0 } else { leading_space(bytes) };
        Self { is_separator, bytes: &bytes[space..], is_spaced: space > 0 }
    }
}

impl<'t> EditedDictionary<'t> {
    /// `used` says which stored tokens are; those below `word_tokens` have a word.
    pub(super) fn new(
        tokens: &'t Tokens,
        word_tokens: u32,
        used: &[bool],
        interners: &'t [Interner],
    ) -> Self {
        let known = table(tokens, word_tokens);
        let of = |interner: &'t Interner, token: u32| {
            New::of(interner.token(token), interner.kind(token) == TokenKind::Separator)
        };
        // For each interned token the stored one that it is.
        let found: Vec<Vec<Option<u32>>> = interners
            .par_iter()
            .map(|interner| {
                let tokens = (0..interner.len() as u32).into_par_iter().with_min_len(1 << 12);
                tokens.map(|token| known.find(interner.token(token))).collect()
            })
            .collect();
        drop(known);
        let mut new: Vec<New<'t>> = Vec::new();
        let mut is_used = used.to_vec();
        for (interner, found) in interners.iter().zip(&found) {
            for (token, found) in (0..).zip(found) {
                match found {
                    Some(stored) => is_used[*stored as usize] = true,
                    None => new.push(of(interner, token)),
                }
            }
        }
        new.par_sort_unstable();
        new.dedup();
        // Before which stored token each of them is.
        let places: Vec<u32> = new
            .par_iter()
            .map(|new| {
                let (mut low, mut high) = (0, tokens.len() as u32);
                while low < high {
                    let middle = low.midpoint(high);
                    let stored = New::of(tokens.get(middle), middle >= word_tokens);
                    if stored < *new { low = middle + 1 } else { high = middle }
                }
                low
            })
            .collect();
        let mut merged = Self {
            words: Vec::with_capacity(word_tokens as usize),
            separators: Vec::with_capacity(tokens.len() - word_tokens as usize),
            stored: vec![UNUSED; tokens.len()],
            interned: Vec::with_capacity(interners.len()),
            line_ends: Vec::with_capacity(tokens.len() + new.len()),
        };
        let mut numbers_of_new = Vec::with_capacity(new.len());
        let mut waiting = new.iter().zip(&places).peekable();
        for token in 0..=tokens.len() as u32 {
            while let Some((new, _)) = waiting.next_if(|(_, place)| **place == token) {
                numbers_of_new.push(merged.push(*new));
            }
            if is_used.get(token as usize) == Some(&true) {
                let stored = New::of(tokens.get(token), token >= word_tokens);
                merged.stored[token as usize] = merged.push(stored);
            }
        }
        merged.interned = interners
            .par_iter()
            .zip(found)
            .map(|(interner, found)| {
                let number = |(token, found): (usize, Option<u32>)| match found {
                    Some(stored) => merged.stored[stored as usize],
                    None => {
                        let place = new.binary_search(&of(interner, token as u32));
                        numbers_of_new[place.expect("it was put there")]
                    }
                };
                found.into_par_iter().enumerate().with_min_len(1 << 12).map(number).collect()
            })
            .collect();
        merged
    }

    /// Appends the next token; gives its number.
    fn push(&mut self, token: New<'t>) -> u32 {
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

    /// How many tokens there are.
    pub(super) fn token_count(&self) -> u32 {
        self.line_ends.len() as u32
    }
}

/// The stored tokens, to be found by their bytes.
fn table(tokens: &Tokens, word_tokens: u32) -> Interner {
    let mut interner = Interner::default();
    for token in 0..tokens.len() as u32 {
        let bytes = tokens.get(token);
        let kind = match leading_space(bytes) {
            _ if token >= word_tokens => TokenKind::Separator,
            0 => TokenKind::Word,
            _ => TokenKind::SpacedWord,
        };
        let number = interner.intern(bytes, 0, bytes.len(), kind);
        debug_assert_eq!(number, token, "tokens are distinct");
    }
    interner
}
