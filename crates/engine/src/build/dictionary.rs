//! One dictionary out of those that each thread made: words in byte order, then separators.
//!
//! Cost: a parallel sort of the distinct tokens, 16 bytes each, most of whose comparisons are settled by
//! the first eight bytes.

use rayon::prelude::*;
use tadoc_core::archive::dictionary::{Entry, Forms};

use super::interner::TokenList;
use super::lexer::TokenKind;

/// A token of one of the interners, to be sorted.
#[derive(Clone, Copy)]
struct Candidate {
    /// The first bytes of its word, or of the separator, as a number that sorts as they do.
    prefix: u64,
    interner: u32,
    token: u32,
}

/// The dictionary of a segment, and the way into it.
pub struct MergedDictionary<'i> {
    /// The words, in byte order.
    pub words: Vec<Entry<'i>>,
    /// The separators, in byte order.
    pub separators: Vec<&'i [u8]>,
    /// For each interner, its tokens' numbers in this dictionary. Tokens left out have none.
    pub numbers: Vec<Vec<u32>>,
    /// Tokens that end a line: separators with a line feed in them.
    pub line_ends: Vec<bool>,
}

impl<'i> MergedDictionary<'i> {
    /// Merges dictionaries; `used` says which tokens of which interner are wanted.
    pub fn new(interners: &'i [TokenList], used: impl Fn(usize, u32) -> bool + Sync) -> Self {
        let mut words = Vec::new();
        let mut separators = Vec::new();
        for (number, interner) in interners.iter().enumerate() {
            for token in (0..interner.len() as u32).filter(|&token| used(number, token)) {
                let candidate = Candidate {
                    prefix: prefix(word(interner, token)),
                    interner: number as u32,
                    token,
                };
                if interner.kind(token) == TokenKind::Separator {
                    separators.push(candidate);
                } else {
                    words.push(candidate);
                }
            }
        }
        let bytes =
            |candidate: &Candidate| word(&interners[candidate.interner as usize], candidate.token);
        let kind =
            |candidate: &Candidate| interners[candidate.interner as usize].kind(candidate.token);
        let order = |left: &Candidate, right: &Candidate| {
            left.prefix
                .cmp(&right.prefix)
                .then_with(|| bytes(left).cmp(bytes(right)))
                .then_with(|| kind(left).cmp(&kind(right)))
        };
        words.par_sort_unstable_by(order);
        separators.par_sort_unstable_by(order);

        let numbers = interners.iter().map(|interner| vec![u32::MAX; interner.len()]).collect();
        let mut merged =
            Self { words: Vec::new(), separators: Vec::new(), numbers, line_ends: Vec::new() };
        for group in
            words.chunk_by(|left, right| left.prefix == right.prefix && bytes(left) == bytes(right))
        {
            let spaced = group.partition_point(|candidate| kind(candidate) == TokenKind::Word);
            let (bare, spaced) = group.split_at(spaced);
            let forms = match (bare.is_empty(), spaced.is_empty()) {
                (false, true) => Forms::Bare,
                (true, false) => Forms::Spaced,
                _ => Forms::Both,
            };
            merged.words.push(Entry { bytes: bytes(&group[0]), forms });
            merged.add_token(bare, false);
            merged.add_token(spaced, false);
        }
        for group in separators
            .chunk_by(|left, right| left.prefix == right.prefix && bytes(left) == bytes(right))
        {
            merged.separators.push(bytes(&group[0]));
            merged.add_token(group, bytes(&group[0]).contains(&b'\n'));
        }
        merged
    }

    /// Gives equal tokens of several interners the next number; none, no number.
    fn add_token(&mut self, equal: &[Candidate], ends_line: bool) {
        if equal.is_empty() {
            return;
        }
        let number = self.line_ends.len() as u32;
        self.line_ends.push(ends_line);
        for candidate in equal {
            self.numbers[candidate.interner as usize][candidate.token as usize] = number;
        }
    }

    /// The tokens by their numbers in this dictionary.
    pub fn to_tokens(&self) -> TokenList {
        let mut tokens = TokenList::default();
        for Entry { bytes, forms } in &self.words {
            if *forms != Forms::Spaced {
                tokens.push(&[bytes], TokenKind::Word);
            }
            if *forms != Forms::Bare {
                tokens.push(&[b" ", bytes], TokenKind::SpacedWord);
            }
        }
        for separator in &self.separators {
            tokens.push(&[separator], TokenKind::Separator);
        }
        tokens
    }

    /// How many tokens there are.
    pub fn token_count(&self) -> u32 {
        self.line_ends.len() as u32
    }
}

/// The word of a token, or the separator that it is.
fn word(interner: &TokenList, token: u32) -> &[u8] {
    let bytes = interner.token(token);
    if interner.kind(token) == TokenKind::SpacedWord { &bytes[1..] } else { bytes }
}

/// The first eight bytes as a number that sorts as they do.
pub(crate) fn prefix(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    let length = bytes.len().min(8);
    eight[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(eight)
}
