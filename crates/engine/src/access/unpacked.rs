//! Tokens as they are read when nothing has to be unpacked any more: their bytes one after the other, and which of them begin a word.
//!
//! Both lie on the heap or in shared memory. Cost: four bytes a token beside its bytes; for the numbers of words a bit and a half for each
//! token that has one. A token is two reads, the number of its word two more.

use std::ops::Range;

use tadoc_core::archive::Tokens;
use tadoc_core::packed::prefetch;
use tadoc_core::{Array, Counted};

use crate::error::{Error, Result};

/// Tokens of at most so many bytes are copied as if they had so many, which takes no loop.
const SHORT: usize = 16;

/// Tokens that share a count of the words before them.
const GROUP: usize = u64::BITS as usize;

/// Tokens that a thread goes through at a time.
const TOKENS_AT_ONCE: u32 = 1 << 14;

/// Tokens one after the other.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// Behind the last token there are [`SHORT`] bytes more.
    bytes: Array<u8>,
    ends: Array<u32>,
    _held: Counted<()>,
}

impl Unpacked {
    pub(super) fn new(tokens: Tokens) -> Result<Self> {
        let (mut bytes, ends, held) = tokens.into_parts();
        if ends.last().is_some_and(|&end| end > u32::MAX.into()) {
            return Err(Error::malformed("the words of a segment have more than 4 GiB"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the last end is the highest, and was checked"
        )]
        let ends = ends.spill().collect(ends.iter().map(|&end| end as u32));
        bytes.reserve_exact(SHORT);
        bytes.extend_from_slice(&[0; SHORT]);
        Ok(Self { bytes: bytes.into_array(), ends: ends.into_array(), _held: held })
    }

    /// So many tokens that were unpacked before: what [`Unpacked::parts`] gave.
    #[cfg_attr(not(feature = "pool"), allow(dead_code, reason = "only pools keep tokens"))]
    pub(super) fn from_parts(bytes: Array<u8>, ends: Array<u32>, tokens: u64) -> Result<Self> {
        let end = ends.last().map_or(0, |&end| end as usize);
        let whole = ends.len() as u64 == tokens && bytes.len() == end + SHORT && ends.is_sorted();
        match whole {
            true => Ok(Self { bytes, ends, _held: Counted::default() }),
            false => Err(Error::malformed("tokens that are cut wrongly")),
        }
    }

    /// The bytes, with [`SHORT`] more behind them, and where each token ends.
    #[cfg(feature = "pool")]
    pub(super) fn parts(&self) -> (&[u8], &[u32]) {
        (&self.bytes, &self.ends)
    }

    /// The bytes of all tokens, and where each ends.
    #[cfg(feature = "gpu")]
    pub(super) fn joined(&self) -> (&[u8], &[u32]) {
        (&self.bytes[..self.bytes.len() - SHORT], &self.ends)
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + 4 * self.ends.len()
    }

    #[inline]
    fn range(&self, index: usize) -> Range<usize> {
        let ends = &self.ends[..];
        let start = if index == 0 { 0 } else { ends[index - 1] };
        start as usize..ends[index] as usize
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.range(index)]
    }

    #[inline]
    pub(super) fn append(&self, index: usize, into: &mut Vec<u8>) {
        let (range, bytes) = (self.range(index), &self.bytes[..]);
        if range.len() <= SHORT {
            let length = into.len() + range.len();
            into.extend_from_slice(&bytes[range.start..range.start + SHORT]);
            into.truncate(length);
        } else {
            into.extend_from_slice(&bytes[range]);
        }
    }

    /// Asks for the memory that says where a token is.
    #[inline]
    pub(super) fn prefetch(&self, index: usize) {
        prefetch(&self.ends, index);
    }

    /// Asks for the memory of the bytes of a token.
    #[inline]
    pub(super) fn prefetch_bytes(&self, index: usize) {
        prefetch(&self.bytes, self.range(index).start);
    }
}

/// Which tokens that have a word are the first of it: what gives words their numbers.
#[derive(Debug)]
pub(crate) struct FirstTokens {
    /// A bit for each token.
    marks: Array<u64>,
    /// For each group of tokens, how many words begin before it.
    before: Array<u32>,
    tokens: u32,
    words: u32,
}

impl FirstTokens {
    /// Of so many tokens that have a word, those that begin one.
    #[cfg(feature = "pool")]
    pub(super) fn new(tokens: u32, firsts: &[u32]) -> Self {
        let mut marks = vec![0_u64; (tokens as usize).div_ceil(GROUP)];
        firsts.iter().for_each(|&first| marks[first as usize / GROUP] |= 1 << (first % u64::BITS));
        let before = marks.iter().scan(0, |words, marks| {
            let next = *words + marks.count_ones();
            Some(std::mem::replace(words, next))
        });
        let before: Vec<u32> = before.collect();
        #[expect(clippy::cast_possible_truncation, reason = "not more words than tokens")]
        Self { marks: marks.into(), before: before.into(), tokens, words: firsts.len() as u32 }
    }

    /// So many tokens and words that were marked before: what [`FirstTokens::parts`] gave.
    #[cfg_attr(not(feature = "pool"), allow(dead_code, reason = "only pools keep tokens"))]
    pub(super) fn from_parts(
        marks: Array<u64>,
        before: Array<u32>,
        tokens: u64,
        words: u64,
    ) -> Result<Self> {
        let mut count = 0_u64;
        let counted = marks.iter().zip(before.iter()).all(|(marks, &before)| {
            let holds = u64::from(before) == count;
            count += u64::from(marks.count_ones());
            holds
        });
        let groups = tokens.div_ceil(GROUP as u64);
        let last = marks.last().map_or(0, |marks| u64::from(u64::BITS - marks.leading_zeros()));
        let whole = counted
            && [marks.len() as u64, before.len() as u64] == [groups; 2]
            && count == words
            && tokens <= u32::MAX.into()
            // The first token begins a word, and none behind the last one does.
            && marks.first().is_none_or(|marks| marks & 1 == 1)
            && groups.saturating_sub(1) * GROUP as u64 + last <= tokens;
        if whole {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "`whole` has tokens in 32 bits, and not more words than tokens"
            )]
            Ok(Self { marks, before, tokens: tokens as u32, words: words as u32 })
        } else {
            Err(Error::malformed("tokens whose words are counted wrongly"))
        }
    }

    /// The marks, and how many there are before each group.
    #[cfg(feature = "pool")]
    pub(super) fn parts(&self) -> (&[u64], &[u32]) {
        (&self.marks, &self.before)
    }

    pub(super) fn memory(&self) -> usize {
        8 * self.marks.len() + 4 * self.before.len()
    }

    /// Tokens that have a word.
    pub(super) fn token_count(&self) -> u32 {
        self.tokens
    }

    pub(super) fn word_count(&self) -> u32 {
        self.words
    }

    /// The number of a token's word.
    pub(super) fn word_number(&self, token: u32) -> u32 {
        let group = token as usize / GROUP;
        // Those up to the token itself.
        let here = self.marks[group] << (u64::BITS - 1 - token % u64::BITS);
        self.before[group] + here.count_ones() - 1
    }

    /// All tokens, cut where a word begins.
    pub(super) fn cuts(&self) -> Vec<Range<u32>> {
        let marks = &self.marks[..];
        let is_first = |token: &u32| marks[*token as usize / GROUP] >> (token % u64::BITS) & 1 == 1;
        let begins = (0..self.tokens).step_by(TOKENS_AT_ONCE as usize);
        let mut cuts: Vec<u32> =
            begins.filter_map(|begin| (begin..self.tokens).find(is_first)).collect();
        cuts.push(self.tokens);
        cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

#[cfg(all(test, feature = "pool"))]
mod tests {
    use super::*;

    /// So many tokens, of which some begin a word and the one behind it may be of the same.
    fn firsts(tokens: u32) -> Vec<u32> {
        (0..tokens).filter(|token| token % 5 != 3 && token % 7 != 1).collect()
    }

    fn again(first: &FirstTokens, tokens: u64, words: u64) -> Result<FirstTokens> {
        let (marks, before) = first.parts();
        FirstTokens::from_parts(marks.to_vec().into(), before.to_vec().into(), tokens, words)
    }

    #[test]
    fn words_have_their_numbers() {
        for tokens in [0, 1, 2, 63, 64, 65, 128, 1000, 40_000] {
            let firsts = firsts(tokens);
            let made = FirstTokens::new(tokens, &firsts);
            let read = again(&made, tokens.into(), firsts.len() as u64).unwrap();
            for token in 0..tokens {
                let expected = firsts.partition_point(|&first| first <= token) as u32 - 1;
                assert_eq!(read.word_number(token), expected, "token {token} of {tokens}");
            }
            let cuts = read.cuts();
            assert!(cuts.iter().all(|cut| firsts.binary_search(&cut.start).is_ok()));
            assert!(cuts.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(cuts.last().map_or(0, |cut| cut.end), tokens);
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let firsts = firsts(1000);
        let (made, words) = (FirstTokens::new(1000, &firsts), firsts.len() as u64);
        for (tokens, words) in [(1000, words - 1), (1100, words), (900, words), (960, words)] {
            assert!(again(&made, tokens, words).is_err(), "{tokens} tokens");
        }
        // A word that begins before all tokens, or behind them.
        assert!(again(&FirstTokens::new(100, &[1, 2]), 100, 2).is_err());
        assert!(again(&FirstTokens::new(128, &[0, 120]), 100, 2).is_err());
        let ends = |ends: &[u32], bytes: usize, tokens: u64| {
            Unpacked::from_parts(vec![0; bytes].into(), ends.to_vec().into(), tokens)
        };
        assert!(ends(&[1, 1, 5], 5 + SHORT, 3).is_ok());
        assert!(ends(&[], SHORT, 0).is_ok());
        for (wrong, bytes, tokens) in
            [(&[1, 1, 5][..], 5 + SHORT, 2), (&[1, 1, 5], 5, 3), (&[1, 6, 5], 5 + SHORT, 3)]
        {
            assert!(ends(wrong, bytes, tokens).is_err(), "{wrong:?}");
        }
    }
}
