//! The tokens of a segment, unpacked block by block when they are first needed, or all at once, or elsewhere before.
//!
//! Cost: a block of the dictionary (256 KiB or so) is decompressed once, and then held with four bytes a token; a token is
//! a few look-ups, or two if all were unpacked. The archive's own blocks stay in memory beside them. Tokens that were unpacked elsewhere, such as in
//! a mapped pool, take no memory.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use tadoc_core::archive::Dictionary;
use tadoc_core::archive::dictionary::TokenForm;
use tadoc_core::parallel;

use super::unpacked::{FirstTokens, Unpacked};
use crate::error::Result;

/// Tokens that share an entry of the table that leads to blocks: a power of two.
const SHARED: u32 = 8;

/// The tokens of a segment.
#[derive(Debug)]
pub(crate) struct TokenStore {
    source: Source,
    word_tokens: u32,
    words: u32,
    /// All tokens, if they were all asked for, or are unpacked elsewhere.
    all: OnceLock<Unpacked>,
    /// Each word's first token and its number, by the word: for when many are looked up.
    table: OnceLock<HashTable<(u32, u32)>>,
}

/// Where tokens come from.
#[derive(Debug)]
enum Source {
    /// They are unpacked on demand.
    Blocks(Blocks),
    /// They are all unpacked, in memory that is not ours to hold.
    Elsewhere(FirstTokens),
}

/// The blocks of a dictionary.
#[derive(Debug)]
struct Blocks {
    dictionary: Arc<Dictionary>,
    /// No more bytes than the text of the segment has.
    limit: u64,
    blocks: Vec<OnceLock<Unpacked>>,
    /// The first token of each block, and the end behind the last.
    first_tokens: Vec<u32>,
    /// For each token whose lowest bits are 0, its block.
    block_of: Vec<u32>,
}

impl Blocks {
    fn new(dictionary: Arc<Dictionary>, limit: u64) -> Self {
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
            #[expect(clippy::cast_possible_truncation, reason = "not more blocks than tokens")]
            block_of.push(block as u32);
        }
        let blocks = (0..count).map(|_| OnceLock::new()).collect();
        Self { dictionary, limit, blocks, first_tokens, block_of }
    }

    fn memory(&self) -> usize {
        let unpacked = self.blocks.iter().filter_map(OnceLock::get);
        self.dictionary.memory()
            + unpacked.map(Unpacked::memory).sum::<usize>()
            + 4 * (self.block_of.len() + self.first_tokens.len())
    }

    fn get(&self, number: usize) -> Result<&Unpacked> {
        if let Some(block) = self.blocks[number].get() {
            return Ok(block);
        }
        let block = Unpacked::new(self.dictionary.tokens_of_block(number, self.limit)?)?;
        Ok(self.blocks[number].get_or_init(|| block))
    }

    /// The block of a token, and its number there.
    fn place(&self, token: u32) -> Result<(&Unpacked, usize)> {
        let mut block = self.block_of[(token >> SHARED) as usize] as usize;
        while self.first_tokens[block + 1] <= token {
            block += 1;
        }
        Ok((self.get(block)?, (token - self.first_tokens[block]) as usize))
    }

    fn word_number(&self, token: u32) -> u32 {
        match self.dictionary.form_of_token(token) {
            TokenForm::Bare(word) | TokenForm::Spaced(word) => word,
            TokenForm::Separator(_) => unreachable!("separators are not asked for their word"),
        }
    }

    /// Tokens with words, cut where no word is cut in two.
    fn cuts(&self) -> Vec<Range<u32>> {
        let words = self.dictionary.word_token_count();
        // A block is of words or of separators.
        let of_words =
            self.first_tokens[..self.blocks.len()].partition_point(|&first| first < words);
        self.first_tokens[..=of_words].windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

impl TokenStore {
    /// Tokens that come on demand.
    pub(crate) fn new(dictionary: Arc<Dictionary>, limit: u64) -> Self {
        Self {
            word_tokens: dictionary.word_token_count(),
            words: dictionary.word_count(),
            source: Source::Blocks(Blocks::new(dictionary, limit)),
            all: OnceLock::new(),
            table: OnceLock::new(),
        }
    }

    /// Tokens that are all unpacked, and where each word has its first one.
    #[cfg_attr(not(feature = "pool"), allow(dead_code, reason = "only pools keep tokens"))]
    pub(crate) fn elsewhere(all: Unpacked, firsts: FirstTokens) -> Self {
        Self {
            word_tokens: firsts.token_count(),
            words: firsts.word_count(),
            source: Source::Elsewhere(firsts),
            all: OnceLock::from(all),
            table: OnceLock::new(),
        }
    }

    /// Bytes held on the heap, and elsewhere.
    pub(crate) fn memory(&self) -> (usize, usize) {
        let table = self.table.get().map_or(0, HashTable::allocation_size);
        let all = self.all.get().map_or(0, Unpacked::memory);
        match &self.source {
            Source::Blocks(blocks) => (blocks.memory() + all + table, 0),
            Source::Elsewhere(firsts) => (table, all + firsts.memory()),
        }
    }

    /// Tokens below this have a word.
    pub(crate) fn word_token_count(&self) -> u32 {
        self.word_tokens
    }

    pub(crate) fn word_count(&self) -> u32 {
        self.words
    }

    /// Unpacks all tokens, on all threads.
    pub(crate) fn load(&self) -> Result<()> {
        if let (Source::Blocks(blocks), None) = (&self.source, self.all.get()) {
            let all = Unpacked::new(blocks.dictionary.tokens(blocks.limit)?)?;
            self.all.get_or_init(|| all);
        }
        Ok(())
    }

    /// All tokens. Unpacks them, if that was not done before.
    #[cfg(any(feature = "gpu", feature = "pool"))]
    pub(crate) fn all(&self) -> Result<&Unpacked> {
        self.load()?;
        Ok(self.all.get().expect("just loaded"))
    }

    /// Where a token is unpacked, and its number there.
    #[inline]
    fn place(&self, token: u32) -> Result<(&Unpacked, usize)> {
        if let Some(all) = self.all.get() {
            return Ok((all, token as usize));
        }
        match &self.source {
            Source::Blocks(blocks) => blocks.place(token),
            Source::Elsewhere(_) => unreachable!("tokens elsewhere are all unpacked"),
        }
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
            all.prefetch(token as usize);
        }
    }

    /// Asks for the memory of the bytes of a token, if all are unpacked.
    #[inline]
    pub(crate) fn prefetch_bytes(&self, token: u32) {
        if let Some(all) = self.all.get() {
            all.prefetch_bytes(token as usize);
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

    /// Whether all words are in a table, or never will be.
    pub(crate) fn has_table(&self) -> bool {
        self.table.get().is_some() || matches!(self.source, Source::Elsewhere(_))
    }

    /// Unpacks all tokens and puts all words into a table, so that each is found in O(1). Of tokens that are elsewhere there is no
    /// table: they are there to take no memory.
    pub(crate) fn load_table(&self) -> Result<()> {
        if self.has_table() {
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

    /// The tokens of a word, if it is one. If there is no table, unpacks one block.
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

    /// The first token of a word, by a search in its block or among all.
    fn search(&self, word: &[u8]) -> Result<Option<u32>> {
        let range = match &self.source {
            Source::Blocks(Blocks { dictionary, first_tokens, .. }) => dictionary
                .block_of_word(word)
                .map(|block| first_tokens[block]..first_tokens[block + 1]),
            Source::Elsewhere(_) => Some(0..self.word_tokens),
        };
        let Some(Range { start: mut low, end }) = range else { return Ok(None) };
        let mut high = end;
        while low < high {
            let middle = low.midpoint(high);
            if self.word(middle)? < word { low = middle + 1 } else { high = middle }
        }
        Ok((low < end && self.word(low)? == word).then_some(low))
    }

    /// The number of the word of a token that has one.
    pub(crate) fn word_number(&self, token: u32) -> u32 {
        match &self.source {
            Source::Blocks(blocks) => blocks.word_number(token),
            Source::Elsewhere(firsts) => firsts.word_number(token),
        }
    }

    /// Calls `each` with every word and its tokens, in byte order, on all threads; gives what it gave, in order.
    pub(crate) fn map_words<T: Send>(
        &self,
        each: impl Fn(&[u8], Range<u32>) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        let cuts = match &self.source {
            Source::Blocks(blocks) => blocks.cuts(),
            Source::Elsewhere(firsts) => firsts.cuts(),
        };
        let lists = parallel::try_map(cuts.len(), &|cut| -> Result<Vec<T>> {
            let Range { start: mut token, end } = cuts[cut];
            let mut list = Vec::new();
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
        })?;
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
