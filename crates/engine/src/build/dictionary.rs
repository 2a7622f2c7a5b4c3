//! One dictionary out of those that each thread made: words in byte order, then separators.
//!
//! Cost: a sort of the distinct tokens of each thread, in buckets on all threads. Most comparisons are settled by the first
//! eight bytes. While it works, 40 bytes a token.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use tadoc_core::archive::dictionary::{Entry, Forms};
use tadoc_core::parallel::map;

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

/// Words are sorted in so many buckets, and separators in as many.
const BUCKETS: usize = 128;
/// Of the tokens about so many for each bucket are looked at to find where it ends.
const SAMPLED: usize = 32;
/// Tokens of an interner that a thread looks at before the next ones.
const AT_A_TIME: usize = 1 << 15;

/// A bucket in order.
#[derive(Default)]
struct Sorted<'i> {
    /// The words with their forms; for separators those say nothing.
    entries: Vec<Entry<'i>>,
    line_ends: Vec<bool>,
    /// Its candidates, each with its token's number in the bucket.
    numbers: Vec<(Candidate, u32)>,
}

impl<'i> MergedDictionary<'i> {
    /// Merges dictionaries; `used` says which tokens of which interner are wanted.
    pub fn new(interners: &'i [TokenList], used: impl Fn(usize, u32) -> bool + Sync) -> Self {
        let bounds = bounds(interners);
        let stretches: Vec<(usize, usize)> = (0..interners.len())
            .flat_map(|number| {
                (0..interners[number].len()).step_by(AT_A_TIME).map(move |start| (number, start))
            })
            .collect();
        let shares: Vec<Vec<Vec<Candidate>>> = map(stretches.len(), &|stretch| {
            let (number, start) = stretches[stretch];
            let interner = &interners[number];
            let mut shares = vec![Vec::new(); 2 * BUCKETS];
            let end = interner.len().min(start + AT_A_TIME);
            for token in (start as u32..end as u32).filter(|&token| used(number, token)) {
                let prefix = prefix(word(interner, token));
                let candidate = Candidate { prefix, interner: number as u32, token };
                let bucket = bounds.partition_point(|&bound| bound <= prefix);
                let is_separator = interner.kind(token) == TokenKind::Separator;
                shares[bucket + BUCKETS * usize::from(is_separator)].push(candidate);
            }
            shares
        });
        let buckets: Vec<Sorted<'i>> = map(2 * BUCKETS, &|bucket| {
            let candidates: Vec<Candidate> =
                shares.iter().flat_map(|shares| &shares[bucket]).copied().collect();
            sorted(interners, candidates)
        });
        drop(shares);

        let empty = |interner: &TokenList| -> Vec<AtomicU32> {
            (0..interner.len()).map(|_| AtomicU32::new(u32::MAX)).collect()
        };
        let numbers: Vec<Vec<AtomicU32>> = interners.par_iter().map(empty).collect();
        let mut firsts = Vec::with_capacity(buckets.len());
        let mut first = 0;
        for bucket in &buckets {
            firsts.push(first);
            first += bucket.line_ends.len() as u32;
        }
        buckets.par_iter().zip(firsts).for_each(|(bucket, first)| {
            for &(Candidate { interner, token, .. }, number) in &bucket.numbers {
                numbers[interner as usize][token as usize].store(first + number, Ordering::Relaxed);
            }
        });
        let plain =
            |numbers: Vec<AtomicU32>| numbers.into_iter().map(AtomicU32::into_inner).collect();
        let (words, separators) = buckets.split_at(BUCKETS);
        let separators = separators.iter().flat_map(|bucket| &bucket.entries);
        Self {
            words: words.iter().flat_map(|bucket| &bucket.entries).copied().collect(),
            separators: separators.map(|entry| entry.bytes).collect(),
            numbers: numbers.into_par_iter().map(plain).collect(),
            line_ends: buckets.iter().flat_map(|bucket| &bucket.line_ends).copied().collect(),
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

/// The first prefixes of all buckets but the first, which have about equally many tokens.
fn bounds(interners: &[TokenList]) -> Vec<u64> {
    let total: usize = interners.iter().map(TokenList::len).sum();
    let step = total / (BUCKETS * SAMPLED) + 1;
    let mut sample: Vec<u64> = interners
        .iter()
        .flat_map(|interner| {
            let tokens = (0..interner.len() as u32).step_by(step);
            tokens.map(|token| prefix(word(interner, token)))
        })
        .collect();
    sample.sort_unstable();
    let bound = |bucket: usize| sample.get(bucket * sample.len() / BUCKETS).copied();
    (1..BUCKETS).map(|bucket| bound(bucket).unwrap_or(0)).collect()
}

/// Sorts words or separators, and gives numbers to the tokens: equal ones of several interners have the same.
fn sorted<'i>(interners: &'i [TokenList], mut candidates: Vec<Candidate>) -> Sorted<'i> {
    let bytes =
        |candidate: &Candidate| word(&interners[candidate.interner as usize], candidate.token);
    let kind = |candidate: &Candidate| interners[candidate.interner as usize].kind(candidate.token);
    candidates.sort_unstable_by(|left, right| {
        left.prefix
            .cmp(&right.prefix)
            .then_with(|| bytes(left).cmp(bytes(right)))
            .then_with(|| kind(left).cmp(&kind(right)))
    });
    let mut sorted = Sorted { numbers: Vec::with_capacity(candidates.len()), ..Sorted::default() };
    let is_equal = |left: &Candidate, right: &Candidate| {
        left.prefix == right.prefix && bytes(left) == bytes(right)
    };
    for group in candidates.chunk_by(is_equal) {
        let entry = bytes(&group[0]);
        let is_separator = kind(&group[0]) == TokenKind::Separator;
        let spaced = group.partition_point(|candidate| kind(candidate) != TokenKind::SpacedWord);
        let (bare, spaced) = group.split_at(spaced);
        let forms = match (bare.is_empty(), spaced.is_empty()) {
            (false, true) => Forms::Bare,
            (true, false) => Forms::Spaced,
            _ => Forms::Both,
        };
        sorted.entries.push(Entry { bytes: entry, forms });
        for equal in [bare, spaced].into_iter().filter(|equal| !equal.is_empty()) {
            let number = sorted.line_ends.len() as u32;
            sorted.line_ends.push(is_separator && entry.contains(&b'\n'));
            sorted.numbers.extend(equal.iter().map(|&candidate| (candidate, number)));
        }
    }
    sorted
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
