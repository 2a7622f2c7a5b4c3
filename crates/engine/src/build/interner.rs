//! Numbers for the distinct tokens of a piece of text, in order of first appearance.
//!
//! One open-addressing table of 16-byte entries. A token of up to seven bytes is its own key, so the
//! commonest look-ups compare one integer and touch one cache line; a longer one is keyed by its hash
//! and compared with its bytes in the arena. Hashing is seeded at random, so that no text can be
//! written to make it slow; the numbers given do not depend on the seed.
//!
//! Cost: O(1) a token, O(bytes) where the token is longer than seven bytes. Memory: its distinct bytes,
//! 5 bytes a distinct token, and 16 bytes an entry at a load of at most 5/8.

use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;

use super::lexer::TokenKind;

/// The longest token that is its own key: seven bytes and, in the eighth, the length.
const LONGEST_SHORT: usize = 7;
/// Set in the keys of long tokens and in no other key.
const LONG: u64 = 1 << 63;
const EMPTY: Entry = Entry { key: 0, token: 0 };

#[derive(Clone, Copy)]
struct Entry {
    /// 0 in an empty entry; no token has it, since a short one has its length in it.
    key: u64,
    token: u32,
}

/// Distinct tokens and their numbers.
pub struct Interner {
    entries: Vec<Entry>,
    seed: u64,
    tokens: TokenList,
}

/// Tokens by number.
#[derive(Default)]
pub struct TokenList {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    kinds: Vec<TokenKind>,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            entries: vec![EMPTY; 1 << 12],
            seed: RandomState::new().hash_one(0_u8) | 1,
            tokens: TokenList::default(),
        }
    }
}

impl Deref for Interner {
    type Target = TokenList;

    fn deref(&self) -> &TokenList {
        &self.tokens
    }
}

impl Interner {
    /// The number of the token `text[start..end]`, a new one if it was never seen.
    #[inline]
    pub fn intern(&mut self, text: &[u8], start: usize, end: usize, kind: TokenKind) -> u32 {
        let length = end - start;
        let (key, long) = if length <= LONGEST_SHORT {
            (short_key(text, start, length), false)
        } else {
            (self.hash(&text[start..end]) | LONG, true)
        };
        let mask = self.entries.len() - 1;
        let mut slot = self.slot(key) & mask;
        loop {
            let entry = self.entries[slot];
            if entry.key == key && (!long || same(self.token(entry.token), &text[start..end])) {
                return entry.token;
            }
            if entry.key == 0 {
                return self.add(slot, key, &text[start..end], kind);
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn add(&mut self, slot: usize, key: u64, bytes: &[u8], kind: TokenKind) -> u32 {
        let token = self.tokens.len() as u32;
        self.entries[slot] = Entry { key, token };
        self.tokens.push(&[bytes], kind);
        if self.tokens.len() * 8 > self.entries.len() * 5 {
            self.grow();
        }
        token
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY; self.entries.len() * 2];
        let old = std::mem::replace(&mut self.entries, larger);
        let mask = self.entries.len() - 1;
        for entry in old.into_iter().filter(|entry| entry.key != 0) {
            let mut slot = self.slot(entry.key) & mask;
            while self.entries[slot].key != 0 {
                slot = (slot + 1) & mask;
            }
            self.entries[slot] = entry;
        }
    }

    #[inline(always)]
    fn slot(&self, key: u64) -> usize {
        fold(key ^ self.seed, 0x9E37_79B9_7F4A_7C15) as usize
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hash = self.seed ^ bytes.len() as u64;
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let word = u64::from_le_bytes(chunk.try_into().expect("chunks of eight"));
            hash = fold(hash ^ word, 0xD6E8_FEB8_6659_FD93);
        }
        // The last eight bytes, overlapping those before: no loop over the rest.
        let tail = u64::from_le_bytes(bytes[bytes.len() - 8..].try_into().expect("eight bytes"));
        fold(hash ^ tail, 0xA076_1D64_78BD_642F)
    }

    /// The tokens alone, without what finds them.
    pub fn into_tokens(self) -> TokenList {
        self.tokens
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.tokens.memory()
    }
}

impl TokenList {
    /// Adds a token that is made of these bytes.
    pub fn push(&mut self, parts: &[&[u8]], kind: TokenKind) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.ends.push(self.bytes.len() as u64);
        self.kinds.push(kind);
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a token.
    #[inline]
    pub fn token(&self, token: u32) -> &[u8] {
        let token = token as usize;
        let start = if token == 0 { 0 } else { self.ends[token - 1] };
        &self.bytes[start as usize..self.ends[token] as usize]
    }

    /// What a token is.
    pub fn kind(&self, token: u32) -> TokenKind {
        self.kinds[token as usize]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u64>() + self.kinds.capacity()
    }
}

/// The bytes of a token of up to seven bytes, and its length above them.
#[inline(always)]
fn short_key(text: &[u8], start: usize, length: usize) -> u64 {
    let bytes = match text.get(start..start + 8) {
        Some(eight) => {
            let word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
            word & !(u64::MAX << (8 * length))
        }
        None => {
            let mut eight = [0; 8];
            eight[..length].copy_from_slice(&text[start..start + length]);
            u64::from_le_bytes(eight)
        }
    };
    bytes | (length as u64) << 56
}

/// Whether two tokens of eight bytes or more are equal. Most are short: a call of `memcmp` is longer.
#[inline(always)]
fn same(left: &[u8], right: &[u8]) -> bool {
    let eight = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let [left_end, right_end] = [left, right].map(|token| eight(&token[token.len() - 8..]));
    left.len() == right.len()
        && left_end == right_end
        && left
            .chunks_exact(8)
            .zip(right.chunks_exact(8))
            .all(|(left, right)| eight(left) == eight(right))
}

/// The two halves of a product, folded: the mixing step of wyhash and its kin.
#[inline(always)]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product >> 64) as u64 ^ product as u64
}
