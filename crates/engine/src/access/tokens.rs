//! The tokens of a segment, unpacked block by block when they are first needed.
//!
//! Cost: a block of the dictionary (256 KiB or so) is decompressed once, and then held with four bytes a token; a token is
//! three look-ups. The archive's own blocks stay in memory beside them.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use rayon::prelude::*;
use tadoc_core::archive::Dictionary;
use tadoc_core::archive::dictionary::TokenForm;

use crate::error::Result;

/// Tokens that share an entry of the table that leads to blocks: a power of two.
const SHARED: u32 = 8;

/// Tokens that come on demand.
#[derive(Debug)]
pub(crate) struct TokenStore {
    dictionary: Dictionary,
    /// No more bytes than the text of the segment has.
    limit: u64,
    blocks: Vec<OnceLock<Block>>,
    /// The first token of each block, and the end behind the last.
    first_tokens: Vec<u32>,
    /// For each token whose lowest bits are 0, its block.
    block_of: Vec<u32>,
    /// The first token of each word, by the word: for when many are looked up.
    table: OnceLock<HashTable<u32>>,
}

/// The tokens of a block.
#[derive(Debug)]
struct Block {
    bytes: Box<[u8]>,
    ends: Box<[u32]>,
}

impl Block {
    #[inline]
    fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start as usize..self.ends[index] as usize]
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
        Self { dictionary, limit, blocks, first_tokens, block_of, table: OnceLock::new() }
    }

    /// Bytes held on the heap.
    pub(crate) fn memory(&self) -> usize {
        let unpacked = self.blocks.iter().filter_map(OnceLock::get);
        self.dictionary.memory()
            + unpacked.map(|block| block.bytes.len() + 4 * block.ends.len()).sum::<usize>()
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

    fn block(&self, number: usize) -> Result<&Block> {
        if let Some(block) = self.blocks[number].get() {
            return Ok(block);
        }
        let tokens = self.dictionary.tokens_of_block(number, self.limit)?;
        let (bytes, ends) = tokens.into_parts();
        let too_long = |_| tadoc_core::Error::malformed("a block of words has more than 4 GiB");
        let ends = ends.into_iter().map(|end| u32::try_from(end).map_err(too_long));
        let ends = ends.collect::<Result<_, _>>()?;
        Ok(self.blocks[number].get_or_init(|| Block { bytes: bytes.into(), ends }))
    }

    /// The bytes of a token.
    ///
    /// # Panics
    /// If there is no such token.
    #[inline]
    pub(crate) fn get(&self, token: u32) -> Result<&[u8]> {
        let mut block = self.block_of[(token >> SHARED) as usize] as usize;
        while self.first_tokens[block + 1] <= token {
            block += 1;
        }
        let unpacked = match self.blocks[block].get() {
            Some(unpacked) => unpacked,
            None => self.block(block)?,
        };
        Ok(unpacked.get((token - self.first_tokens[block]) as usize))
    }

    /// Unpacks all blocks, on all threads.
    pub(crate) fn load(&self) -> Result<()> {
        (0..self.blocks.len()).into_par_iter().try_for_each(|block| self.block(block).map(drop))
    }

    /// The word of a token that has one: without the space before it.
    #[inline]
    pub(crate) fn word(&self, token: u32) -> Result<&[u8]> {
        let bytes = self.get(token)?;
        Ok(&bytes[leading_space(bytes)..])
    }

    /// Unpacks all blocks and puts all words into a table, so that each is found in O(1).
    pub(crate) fn load_table(&self) -> Result<()> {
        if self.table.get().is_some() {
            return Ok(());
        }
        self.load()?;
        let words = self.map_words(|word, tokens| Some((hash(word), tokens.start)))?;
        let mut table = HashTable::with_capacity(words.len());
        for (hash_of_word, token) in words {
            table.insert_unique(hash_of_word, token, |&token| {
                hash(self.word(token).expect("unpacked before"))
            });
        }
        self.table.get_or_init(|| table);
        Ok(())
    }

    /// The tokens of a word, if it is one. Unpacks one block, if there is no table.
    pub(crate) fn find(&self, word: &[u8]) -> Result<Option<Range<u32>>> {
        if let Some(table) = self.table.get() {
            let is_it = |&token: &u32| self.word(token).is_ok_and(|other| other == word);
            let Some(&first) = table.find(hash(word), is_it) else { return Ok(None) };
            let both = first + 1 < self.word_token_count() && self.word(first + 1)? == word;
            return Ok(Some(first..first + 1 + u32::from(both)));
        }
        let Some(number) = self.dictionary.block_of_word(word) else { return Ok(None) };
        let block = self.block(number)?;
        let first = self.first_tokens[number];
        let word_of = |index: usize| {
            let bytes = block.get(index);
            &bytes[leading_space(bytes)..]
        };
        let (mut low, mut high) = (0, block.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            if word_of(middle) < word { low = middle + 1 } else { high = middle }
        }
        let forms = (low..block.ends.len()).take_while(|&index| word_of(index) == word).count();
        let start = first + low as u32;
        Ok((forms > 0).then(|| start..start + forms as u32))
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
        let of_words = self.first_tokens.partition_point(|&first| first < words);
        let lists: Vec<Vec<T>> = (0..of_words.min(self.blocks.len()))
            .into_par_iter()
            .map(|number| {
                let block = self.block(number)?;
                let first = self.first_tokens[number];
                let mut list = Vec::new();
                let mut index = 0;
                while index < block.ends.len() {
                    let bytes = block.get(index);
                    let word = &bytes[leading_space(bytes)..];
                    let both = leading_space(bytes) == 0
                        && index + 1 < block.ends.len()
                        && block.get(index + 1).strip_prefix(b" ") == Some(word);
                    let next = index + 1 + usize::from(both);
                    list.extend(each(word, first + index as u32..first + next as u32));
                    index = next;
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
