//! The tokens of a segment, unpacked block by block when they are first needed, or all at once.
//!
//! Cost: a block of the dictionary (256 KiB or so) is decompressed once, and then held with four bytes a token; a token is
//! a few look-ups, or two if all were unpacked. The archive's own blocks stay in memory beside them.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use rayon::prelude::*;
use tadoc_core::archive::dictionary::TokenForm;
use tadoc_core::archive::{Dictionary, Tokens};
use tadoc_core::packed::prefetch;

use crate::error::Result;

/// Tokens that share an entry of the table that leads to blocks: a power of two.
const SHARED: u32 = 8;

/// Tokens of at most so many bytes are copied as if they had so many, which takes no loop.
const SHORT: usize = 16;

/// Tokens that come on demand.
#[derive(Debug)]
pub(crate) struct TokenStore {
    dictionary: Dictionary,
    /// No more bytes than the text of the segment has.
    limit: u64,
    blocks: Vec<OnceLock<Unpacked>>,
    /// The first token of each block, and the end behind the last.
    first_tokens: Vec<u32>,
    /// For each token whose lowest bits are 0, its block.
    block_of: Vec<u32>,
    /// All tokens, if they were all asked for.
    all: OnceLock<Unpacked>,
    /// Each word's first token and its number, by the word: for when many are looked up.
    table: OnceLock<HashTable<(u32, u32)>>,
}

/// Tokens one after the other.
#[derive(Debug)]
struct Unpacked {
    /// Behind the last token there are [`SHORT`] bytes more.
    bytes: Box<[u8]>,
    ends: Box<[u32]>,
}

impl Unpacked {
    fn new(tokens: Tokens) -> Result<Self> {
        let (mut bytes, ends) = tokens.into_parts();
        let too_long =
            |_| tadoc_core::Error::malformed("the words of a segment have more than 4 GiB");
        let ends = ends.into_iter().map(|end| u32::try_from(end).map_err(too_long));
        let ends = ends.collect::<Result<_, _>>()?;
        bytes.extend_from_slice(&[0; SHORT]);
        Ok(Self { bytes: bytes.into(), ends })
    }

    fn memory(&self) -> usize {
        self.bytes.len() + 4 * self.ends.len()
    }

    #[inline]
    fn range(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start as usize..self.ends[index] as usize
    }

    #[inline]
    fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.range(index)]
    }

    #[inline]
    fn append(&self, index: usize, into: &mut Vec<u8>) {
        let range = self.range(index);
        if range.len() <= SHORT {
            let length = into.len() + range.len();
            into.extend_from_slice(&self.bytes[range.start..range.start + SHORT]);
            into.truncate(length);
        } else {
            into.extend_from_slice(&self.bytes[range]);
        }
    }
}

impl TokenStore {
    pub(crate) fn new(dictionary: Dictionary, limit: u64) -> Self {
        let count = dictionary.block_count();
        let mut first_tokens: Vec<u32> =
            (0..count).map(|block| dictionary.first_token_of_block(block)).collect();
        first_tokens.push(dictionary.token_count());
        let entries = (dictionary.token_count() >> SHARED) + 1;
        let mut block_of = Vec::with_capacity(entries as usize);
        let mut block = 0;
        for entry in 0..entries {
            while block + 1 < count && first_tokens[block + 1] <= entry << SHARED {
                block += 1;
            }
            block_of.push(block as u32);
        }
        let blocks = (0..count).map(|_| OnceLock::new()).collect();
        let (all, table) = (OnceLock::new(), OnceLock::new());
        Self { dictionary, limit, blocks, first_tokens, block_of, all, table }
    }

    /// Bytes held on the heap.
    pub(crate) fn memory(&self) -> usize {
        let unpacked = self.blocks.iter().filter_map(OnceLock::get).chain(self.all.get());
        self.dictionary.memory()
            + unpacked.map(Unpacked::memory).sum::<usize>()
            + 4 * (self.block_of.len() + self.first_tokens.len())
            + self.table.get().map_or(0, HashTable::allocation_size)
    }

    /// Tokens below this have a word.
    pub(crate) fn word_token_count(&self) -> u32 {
        self.dictionary.word_token_count()
    }

    pub(crate) fn word_count(&self) -> u32 {
        self.dictionary.word_count()
    }

    fn block(&self, number: usize) -> Result<&Unpacked> {
        if let Some(block) = self.blocks[number].get() {
            return Ok(block);
        }
        let block = Unpacked::new(self.dictionary.tokens_of_block(number, self.limit)?)?;
        Ok(self.blocks[number].get_or_init(|| block))
    }

    /// Unpacks all tokens, on all threads.
    pub(crate) fn load(&self) -> Result<()> {
        if self.all.get().is_none() {
            let all = Unpacked::new(self.dictionary.tokens(self.limit)?)?;
            self.all.get_or_init(|| all);
        }
        Ok(())
    }

    /// The bytes of all tokens, one after the other, and where each ends. Unpacks them, if that was not done before.
    #[cfg(feature = "gpu")]
    pub(crate) fn all(&self) -> Result<(&[u8], &[u32])> {
        self.load()?;
        let all = self.all.get().expect("just loaded");
        Ok((&all.bytes[..all.bytes.len() - SHORT], &all.ends))
    }

    /// Where a token is unpacked, and its number there.
    #[inline]
    fn place(&self, token: u32) -> Result<(&Unpacked, usize)> {
        if let Some(all) = self.all.get() {
            return Ok((all, token as usize));
        }
        let mut block = self.block_of[(token >> SHARED) as usize] as usize;
        while self.first_tokens[block + 1] <= token {
            block += 1;
        }
        Ok((self.block(block)?, (token - self.first_tokens[block]) as usize))
    }

    /// The bytes of a token.
    ///
    /// # Panics
    /// If there is no such token.
    #[inline]
    pub(crate) fn get(&self, token: u32) -> Result<&[u8]> {
        let (unpacked, index) = self.place(token)?;
        Ok(unpacked.get(index))
    }

    /// Asks for the memory that says where a token is, if all are unpacked.
    #[inline]
    pub(crate) fn prefetch(&self, token: u32) {
        if let Some(all) = self.all.get() {
            prefetch(&all.ends, token as usize);
        }
    }

    /// Asks for the memory of the bytes of a token, if all are unpacked.
    #[inline]
    pub(crate) fn prefetch_bytes(&self, token: u32) {
        if let Some(all) = self.all.get() {
            prefetch(&all.bytes, all.range(token as usize).start);
        }
    }

    /// Appends the bytes of a token.
    ///
    /// # Panics
    /// If there is no such token.
    #[inline]
    pub(crate) fn append(&self, token: u32, into: &mut Vec<u8>) -> Result<()> {
        let (unpacked, index) = self.place(token)?;
        unpacked.append(index, into);
        Ok(())
    }

    /// The word of a token that has one: without the space before it.
    #[inline]
    pub(crate) fn word(&self, token: u32) -> Result<&[u8]> {
        let bytes = self.get(token)?;
        Ok(&bytes[leading_space(bytes)..])
    }

    /// Unpacks all tokens and puts all words into a table, so that each is found in O(1).
    pub(crate) fn load_table(&self) -> Result<()> {
        if self.table.get().is_some() {
            return Ok(());
        }
        self.load()?;
        let words = self.map_words(|word, tokens| Some((hash(word), tokens.start)))?;
        let mut table = HashTable::with_capacity(words.len());
        for ((hash_of_word, token), number) in words.into_iter().zip(0..) {
            table.insert_unique(hash_of_word, (token, number), |&(token, _)| {
                hash(self.word(token).expect("unpacked before"))
            });
        }
        self.table.get_or_init(|| table);
        Ok(())
    }

    /// The tokens of a word, if it is one. Unpacks one block, if there is no table.
    pub(crate) fn find(&self, word: &[u8]) -> Result<Option<Range<u32>>> {
        let first = match self.table.get() {
            Some(table) => self.look_up(table, word).map(|(token, _)| token),
            None => self.search(word)?,
        };
        let Some(first) = first else { return Ok(None) };
        let both = first + 1 < self.word_token_count() && self.word(first + 1)? == word;
        Ok(Some(first..first + 1 + u32::from(both)))
    }

    /// The number of a word, if it is one.
    pub(crate) fn find_number(&self, word: &[u8]) -> Result<Option<u32>> {
        Ok(match self.table.get() {
            Some(table) => self.look_up(table, word).map(|(_, number)| number),
            None => self.search(word)?.map(|token| self.word_number(token)),
        })
    }

    fn look_up(&self, table: &HashTable<(u32, u32)>, word: &[u8]) -> Option<(u32, u32)> {
        let is_it = |&(token, _): &(u32, u32)| self.word(token).is_ok_and(|other| other == word);
        table.find(hash(word), is_it).copied()
    }

    /// The first token of a word, by a search in its block.
    fn search(&self, word: &[u8]) -> Result<Option<u32>> {
        let Some(block) = self.dictionary.block_of_word(word) else { return Ok(None) };
        let (mut low, mut high) = (self.first_tokens[block], self.first_tokens[block + 1]);
        let end = high;
        while low < high {
            let middle = low.midpoint(high);
            if self.word(middle)? < word { low = middle + 1 } else { high = middle }
        }
        Ok((low < end && self.word(low)? == word).then_some(low))
    }

    /// The number of the word of a token that has one.
    pub(crate) fn word_number(&self, token: u32) -> u32 {
        match self.dictionary.form_of_token(token) {
            TokenForm::Bare(word) | TokenForm::Spaced(word) => word,
            TokenForm::Separator(_) => unreachable!("separators are not asked for their word"),
        }
    }

    /// Calls `each` with every word and its tokens, in byte order, on all threads; gives what it gave, in order.
    pub(crate) fn map_words<T: Send>(
        &self,
        each: impl Fn(&[u8], Range<u32>) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        let words = self.word_token_count();
        let of_words =
            self.first_tokens[..self.blocks.len()].partition_point(|&first| first < words);
        let lists: Vec<Vec<T>> = (0..of_words)
            .into_par_iter()
            .map(|block| {
                let mut list = Vec::new();
                // A block is of words or of separators.
                let (mut token, end) = (self.first_tokens[block], self.first_tokens[block + 1]);
                while token < end {
                    let bytes = self.get(token)?;
                    let word = &bytes[leading_space(bytes)..];
                    let both = leading_space(bytes) == 0
                        && token + 1 < end
                        && self.get(token + 1)?.strip_prefix(b" ") == Some(word);
                    let next = token + 1 + u32::from(both);
                    list.extend(each(word, token..next));
                    token = next;
                }
                Ok(list)
            })
            .collect::<Result<_>>()?;
        Ok(lists.into_iter().flatten().collect())
    }
}

fn hash(word: &[u8]) -> u64 {
    FixedState::default().hash_one(word)
}

/// How many bytes of a token that has a word are before the word: no word starts with a space.
#[inline]
pub(crate) fn leading_space(token: &[u8]) -> usize {
    usize::from(token.first() == Some(&b' '))
}
