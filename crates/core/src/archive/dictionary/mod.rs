//! The tokens of a segment: the section `DICT` of docs/format.md.
//!
//! Words in byte order, then separators in byte order. A word is there once and says in which *forms* it
//! is a token: as it is, with one space before it, or both. Entries are front-coded in blocks of about
//! 256 KiB, compressed with Zstandard; an index of short keys finds the block of a word.
//!
//! Opened, it stays as it is on disk, plus one byte a word. A look-up in either direction unpacks one
//! block; [`Dictionary::tokens`] unpacks everything, on all threads.

mod block;
mod encode;

use crate::usize_of;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use self::block::{BlockInfo, Entries, WHAT};
use super::integers;
use super::wire::Reader;
use crate::budget::{Budget, Counted, Share};
use crate::error::{Error, Result};
use crate::parallel::split;
use crate::spill::SpillVec;

pub(super) use encode::encode_at;
pub use encode::{Entry, encode};

/// The forms in which a word is a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Forms {
    /// The word alone.
    Bare = 1,
    /// One space and the word.
    Spaced = 2,
    /// Both; the bare token has the lower number.
    Both = 3,
}

impl Forms {
    fn from_number(number: u64) -> Result<Self> {
        match number {
            1 => Ok(Self::Bare),
            2 => Ok(Self::Spaced),
            3 => Ok(Self::Both),
            _ => Err(Error::malformed(format!("section DICT: {number} is no form of a word"))),
        }
    }

    /// How many tokens these are.
    pub fn count(self) -> u32 {
        if self == Self::Both { 2 } else { 1 }
    }
}

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenForm {
    /// The word of this number.
    Bare(u32),
    /// One space and the word of this number.
    Spaced(u32),
    /// The separator of this number.
    Separator(u32),
}

/// Words whose first token is kept for look-ups: one of so many.
const SAMPLE: usize = 64;
/// Samples whose words' tokens a thread lists at a time.
const SAMPLES_AT_ONCE: usize = 256;

/// All tokens together have at most so many bytes, and so many more for each byte of the blocks: shared
/// beginnings cost next to nothing there, but memory when unpacked.
const TOKEN_BYTES: u64 = 1 << 32;
const TOKEN_BYTES_PER_BYTE: u64 = 1024;

/// Blocks that a thread unpacks at a time.
const UNPACKED_AT_ONCE: usize = 8;

/// Bytes of unpacked tokens that are counted at a time.
const COUNTED_AT_ONCE: usize = 1 << 16;

/// The dictionary of a segment, as it is on disk.
#[derive(Debug, Clone)]
pub struct Dictionary {
    word_count: u32,
    separator_count: u32,
    token_count: u32,
    forms: Vec<Forms>,
    /// The first token of every [`SAMPLE`]th word.
    sampled_tokens: Vec<u32>,
    blocks: Vec<BlockInfo>,
    /// Compressed blocks, one after the other.
    data: SpillVec<u8>,
    /// What all this takes of a budget, of which what is unpacked takes more.
    share: Share,
}

impl Dictionary {
    /// Reads the section without unpacking its blocks. O(words). What it takes, and all that is unpacked later, is of
    /// `budget`.
    pub fn open(section: &[u8], budget: &Budget) -> Result<Self> {
        let read_forms = |reader: &mut Reader<'_>, word_count: u32| {
            let forms = integers::read_as(reader, budget, WHAT, Forms::from_number)?;
            let (forms, _) = forms.into_parts();
            if forms.len() != word_count as usize {
                let found = forms.len();
                return Err(reader.malformed(format!("forms of {found} words, not {word_count}")));
            }
            Ok(forms)
        };
        Self::open_with(section, budget, read_forms)
    }

    /// The words of a section, unpacked on all threads, without their forms; `limit` as for
    /// [`Dictionary::tokens`].
    pub(super) fn words_alone(section: &[u8], budget: &Budget, limit: u64) -> Result<Tokens> {
        let pass_over_forms = |reader: &mut Reader<'_>, _| {
            integers::pass_over(reader)?;
            Ok(Vec::new())
        };
        Self::open_with(section, budget, pass_over_forms)?.words(limit)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "words and separators together are checked to be 32 bits"
    )]
    fn open_with(
        section: &[u8],
        budget: &Budget,
        read_forms: impl Fn(&mut Reader<'_>, u32) -> Result<Vec<Forms>>,
    ) -> Result<Self> {
        let mut reader = Reader::new(section, "section DICT");
        let word_count = reader.bounded_u32(u32::MAX, "words")?;
        let separator_count = reader.bounded_u32(u32::MAX, "separators")?;
        let forms = read_forms(&mut reader, word_count)?;
        // The form of each word, every 64th token, and the blocks as they are.
        let share = budget.take(2 * forms.len() as u64 + section.len() as u64, WHAT)?;
        let mut sampled_tokens = Vec::with_capacity(forms.len() / SAMPLE + 1);
        let mut tokens = 0_u64;
        for (word, form) in forms.iter().enumerate() {
            if word % SAMPLE == 0 {
                sampled_tokens.push(tokens as u32);
            }
            tokens += u64::from(form.count());
        }
        tokens += u64::from(separator_count);
        if tokens > u64::from(u32::MAX) {
            return Err(reader.malformed("more tokens than 32 bits can number"));
        }
        let blocks = block::read_index(&mut reader, word_count, separator_count, &share)?;
        let mut data = share.spill().row();
        data.extend_from_slice(reader.rest());
        Ok(Self {
            word_count,
            separator_count,
            token_count: tokens as u32,
            forms,
            sampled_tokens,
            blocks,
            data,
            share,
        })
    }

    /// What may be taken for all that is unpacked of it.
    pub fn budget(&self) -> &Budget {
        self.share.budget()
    }

    /// How many distinct words there are.
    pub fn word_count(&self) -> u32 {
        self.word_count
    }

    /// How many tokens there are: words in their forms, and separators.
    pub fn token_count(&self) -> u32 {
        self.token_count
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.forms.capacity() + 4 * self.sampled_tokens.capacity() + self.data.len()
    }

    /// In which forms each word is a token.
    pub fn forms(&self) -> impl Iterator<Item = Forms> + '_ {
        self.forms.iter().copied()
    }

    /// The tokens of a word: bare and spaced. O(1).
    pub fn tokens_of_word(&self, word: u32) -> (Option<u32>, Option<u32>) {
        let word = word as usize;
        let from = word / SAMPLE * SAMPLE;
        let skipped: u32 = self.forms[from..word].iter().map(|forms| forms.count()).sum();
        let token = self.sampled_tokens[word / SAMPLE] + skipped;
        match self.forms[word] {
            Forms::Bare => (Some(token), None),
            Forms::Spaced => (None, Some(token)),
            Forms::Both => (Some(token), Some(token + 1)),
        }
    }

    /// What a token is made of. O(log words).
    ///
    /// # Panics
    /// If there is no such token.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a word has a token, and these have 32 bits"
    )]
    pub fn form_of_token(&self, token: u32) -> TokenForm {
        assert!(token < self.token_count, "token {token} of {}", self.token_count);
        let words = self.token_count - self.separator_count;
        if let Some(separator) = token.checked_sub(words) {
            return TokenForm::Separator(separator);
        }
        let sample = self.sampled_tokens.partition_point(|&first| first <= token) - 1;
        let mut next = self.sampled_tokens[sample];
        let mut word = sample * SAMPLE;
        while next + self.forms[word].count() <= token {
            next += self.forms[word].count();
            word += 1;
        }
        let second = token > next;
        if second || self.forms[word] == Forms::Spaced {
            TokenForm::Spaced(word as u32)
        } else {
            TokenForm::Bare(word as u32)
        }
    }

    /// The bytes of a word. Unpacks one block.
    pub fn word(&self, word: u32) -> Result<Vec<u8>> {
        assert!(word < self.word_count, "word {word} of {}", self.word_count);
        self.entry(word)
    }

    /// The bytes of a token. Unpacks one block.
    pub fn token(&self, token: u32) -> Result<Vec<u8>> {
        match self.form_of_token(token) {
            TokenForm::Bare(word) => self.entry(word),
            TokenForm::Spaced(word) => Ok([&b" "[..], &self.entry(word)?].concat()),
            TokenForm::Separator(separator) => self.entry(self.word_count + separator),
        }
    }

    /// An entry: a word, or behind the words a separator.
    fn entry(&self, entry: u32) -> Result<Vec<u8>> {
        let index = self.blocks.partition_point(|block| block.first_entry <= entry) - 1;
        let block = self.unpack(index)?;
        let mut entries = block.entries();
        for _ in self.blocks[index].first_entry..entry {
            entries.advance()?;
        }
        Ok(entries.advance()?.to_vec())
    }

    /// The number of a word, if it is one. Unpacks one block.
    pub fn find_word(&self, word: &[u8]) -> Result<Option<u32>> {
        let Some(index) = self.block_of_word(word) else { return Ok(None) };
        let block = self.unpack(index)?;
        let mut entries = block.entries();
        for entry in 0..self.blocks[index].entries {
            match entries.advance()?.cmp(word) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => {
                    return Ok(Some(self.blocks[index].first_entry + entry));
                }
                std::cmp::Ordering::Greater => break,
            }
        }
        Ok(None)
    }

    fn unpack(&self, block: usize) -> Result<Entries> {
        self.blocks[block].unpack(&self.data, self.share.budget())
    }

    /// How many tokens have a word; those of separators are behind them.
    pub fn word_token_count(&self) -> u32 {
        self.token_count - self.separator_count
    }

    /// How many blocks there are; tokens go up from one to the next.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The first token of a block.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn first_token_of_block(&self, block: usize) -> u32 {
        let entry = self.blocks[block].first_entry;
        match entry.checked_sub(self.word_count) {
            Some(separator) => self.word_token_count() + separator,
            None => {
                let (bare, spaced) = self.tokens_of_word(entry);
                bare.or(spaced).expect("a word has a form")
            }
        }
    }

    /// The block in which a word is if it is one, or `None` if it is before all.
    pub fn block_of_word(&self, word: &[u8]) -> Option<usize> {
        let of_words = self.blocks.partition_point(|block| block.first_entry < self.word_count);
        self.blocks[..of_words].partition_point(|block| &block.key[..] <= word).checked_sub(1)
    }

    /// The tokens of a block, unpacked. Fails if they are longer than `limit` bytes together.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn tokens_of_block(&self, block: usize, limit: u64) -> Result<Tokens> {
        let limit = limit.min(self.most_token_bytes());
        let block = &self.blocks[block];
        if block.unpacked as u64
            > limit.saturating_mul(2).saturating_add(11 * u64::from(block.entries))
        {
            return Err(too_long(limit));
        }
        let share = self.share.budget().share();
        let total = AtomicU64::new(0);
        let (mut tokens, _) = self.unpack_block(block, &total, limit, &share, &push_token)?;
        tokens.held = Counted::new((), share);
        Ok(tokens)
    }

    /// All tokens together have at most so many bytes.
    fn most_token_bytes(&self) -> u64 {
        TOKEN_BYTES + TOKEN_BYTES_PER_BYTE * self.data.len() as u64
    }

    /// All tokens, unpacked on all threads. Fails if they are longer than `limit` bytes together, which
    /// no dictionary of a text of that length can be.
    pub fn tokens(&self, limit: u64) -> Result<Tokens> {
        self.unpack_all(&self.blocks, self.token_count, limit, push_token)
    }

    /// All words, unpacked on all threads; `limit` as for [`Dictionary::tokens`].
    pub fn words(&self, limit: u64) -> Result<Tokens> {
        let of_words = self.blocks.partition_point(|block| block.first_entry < self.word_count);
        let blocks = &self.blocks[..of_words];
        self.unpack_all(blocks, self.word_count, limit, |words, bytes, _| words.push(&[bytes]))
    }

    /// For each token what `of_word` gives for its word, or `none` for a separator. O(tokens), on all
    /// threads.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a word has a token, and these have 32 bits"
    )]
    pub fn words_of_tokens(&self, of_word: impl Fn(u32) -> u32 + Sync, none: u32) -> SpillVec<u32> {
        let mut row = self.share.spill().filled(0, self.token_count as usize);
        let (of_words, of_separators) = row.split_at_mut(self.word_token_count() as usize);
        of_separators.fill(none);
        let firsts = self.sampled_tokens.iter().step_by(SAMPLES_AT_ONCE);
        let ends = firsts.clone().skip(1).copied().chain([self.word_token_count()]);
        let rows = split(of_words, firsts.zip(ends).map(|(first, end)| (end - first) as usize));
        let forms = self.forms.par_chunks(SAMPLE * SAMPLES_AT_ONCE);
        rows.into_par_iter().zip(forms).enumerate().for_each(|(number, (mut row, forms))| {
            let first = (number * SAMPLE * SAMPLES_AT_ONCE) as u32;
            for (word, forms) in (first..).zip(forms) {
                let (tokens, rest) = row.split_at_mut(forms.count() as usize);
                tokens.fill(of_word(word));
                row = rest;
            }
        });
        row
    }

    /// Unpacks blocks on all threads; `push` adds what becomes of an entry.
    fn unpack_all(
        &self,
        blocks: &[BlockInfo],
        count: u32,
        limit: u64,
        push: impl Fn(&mut Tokens, &[u8], Forms) + Sync,
    ) -> Result<Tokens> {
        let (total, limit) = (AtomicU64::new(0), limit.min(self.most_token_bytes()));
        // A byte of a token takes at most two of a block, and an entry ends with eleven at the most.
        let entries = u64::from(self.word_count) + u64::from(self.separator_count);
        let most_unpacked = limit.saturating_mul(2).saturating_add(11 * entries);
        let unpacked = blocks.iter().map(|block| block.unpacked as u64).sum::<u64>();
        if unpacked > most_unpacked {
            return Err(too_long(limit));
        }
        let budget = self.share.budget();
        if let [only] = blocks {
            let share = budget.share();
            let (tokens, _) = self.unpack_block(only, &total, limit, &share, &push)?;
            return Ok(Tokens { held: Counted::new((), share), ..tokens });
        }
        let share = budget.take(size_of::<u64>() as u64 * u64::from(count), WHAT)?;
        let spill = budget.spill();
        // Front-coded entries are most often more than half as long as they are unpacked.
        let mut bytes = spill.with_room(usize_of(limit.min(2 * unpacked).min(budget.left())));
        let mut ends = spill.with_capacity(count as usize);
        let mut last = Vec::new();
        let mut room = 0;
        // Blocks are unpacked into memory and then put together, some for each thread at a time.
        for blocks in blocks.chunks(UNPACKED_AT_ONCE * rayon::current_num_threads()) {
            let of_parts = budget.share();
            let parts: Vec<(Tokens, Vec<u8>)> = blocks
                .par_iter()
                .map(|block| self.unpack_block(block, &total, limit, &of_parts, &push))
                .collect::<Result<_>>()?;
            for (block, (_, last_of_part)) in blocks.iter().zip(&parts) {
                let is_first = block.first_entry == 0 || block.first_entry == self.word_count;
                if block.key <= last && !is_first {
                    return Err(Error::malformed("section DICT: blocks are not in order"));
                }
                last.clone_from(last_of_part);
            }
            let rows: Vec<&[u8]> = parts.iter().map(|(part, _)| &part.bytes[..]).collect();
            let end = bytes.len() + rows.iter().map(|row| row.len()).sum::<usize>();
            if end > room {
                let more = (end - room).max(room / 4);
                share.grow(more as u64, WHAT)?;
                room += more;
                bytes.reserve_exact(room - bytes.len());
            }
            let starts = bytes.extend_from_slices(&rows);
            for ((part, _), start) in parts.iter().zip(starts) {
                ends.extend(part.ends.iter().map(|end| start as u64 + end));
            }
        }
        Ok(Tokens { bytes, ends, held: Counted::new((), share) })
    }

    /// All entries, unpacked on all threads, as [`encode`] takes them. `limit` as for
    /// [`Dictionary::tokens`].
    pub fn entries(&self, limit: u64) -> Result<UnpackedEntries> {
        let tokens = self.tokens(limit)?;
        let mut words = Vec::with_capacity(self.word_count as usize);
        let mut token = 0;
        for &forms in &self.forms {
            words.push((token, forms));
            token += forms.count();
        }
        Ok(UnpackedEntries { tokens, words, first_separator: token })
    }

    /// What `push` makes of the entries of a block, and its last entry; the length is added to `total`.
    fn unpack_block(
        &self,
        block: &BlockInfo,
        total: &AtomicU64,
        limit: u64,
        share: &Share,
        push: &impl Fn(&mut Tokens, &[u8], Forms),
    ) -> Result<(Tokens, Vec<u8>)> {
        let unpacked = block.unpack(&self.data, share.budget())?;
        let mut entries = unpacked.entries();
        let mut tokens = Tokens::default();
        let mut last = Vec::new();
        let (mut counted, mut added) = (0, 0);
        tokens.ends.reserve_exact(block.entries as usize);
        for entry in block.first_entry..block.first_entry + block.entries {
            let bytes = entries.advance()?;
            if entry == block.first_entry && !bytes.starts_with(&block.key) {
                return Err(Error::malformed("section DICT: a block has the key of another one"));
            }
            let forms = self.forms.get(entry as usize).copied().unwrap_or(Forms::Bare);
            // As many forms as there are, the space of one, and where each ends.
            let most = forms.count() as usize * (bytes.len() + 1 + size_of::<u64>());
            if most > counted {
                // Room is made as it is counted, and not by doubling what is there.
                let more = most.max(COUNTED_AT_ONCE).max(tokens.bytes.len() / 4);
                share.grow(more as u64, WHAT)?;
                tokens.bytes.reserve_exact(counted + more);
                counted += more;
            }
            counted -= most;
            push(&mut tokens, bytes, forms);
            let is_last = entry + 1 == block.first_entry + block.entries;
            // What all threads add to is asked for now and then.
            if is_last || tokens.bytes.len() - added >= COUNTED_AT_ONCE {
                let more = (tokens.bytes.len() - added) as u64;
                if total.fetch_add(more, Ordering::Relaxed) + more > limit {
                    return Err(too_long(limit));
                }
                added = tokens.bytes.len();
            }
            if is_last {
                last = bytes.to_vec();
            }
        }
        entries.finish()?;
        Ok((tokens, last))
    }
}

/// Adds the tokens of an entry.
fn push_token(tokens: &mut Tokens, bytes: &[u8], forms: Forms) {
    if forms != Forms::Spaced {
        tokens.push(&[bytes]);
    }
    if forms != Forms::Bare {
        tokens.push(&[b" ", bytes]);
    }
}

fn too_long(limit: u64) -> Error {
    Error::malformed(format!(
        "section DICT: its tokens have more than {limit} bytes, all that they can have"
    ))
}

/// The bytes of all tokens, unpacked.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tokens {
    bytes: SpillVec<u8>,
    ends: SpillVec<u64>,
    held: Counted<()>,
}

impl Tokens {
    fn push(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.ends.push(self.bytes.len() as u64);
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a token.
    ///
    /// # Panics
    /// If there is no such token.
    #[inline]
    pub fn get(&self, token: u32) -> &[u8] {
        let token = token as usize;
        let start = if token == 0 { 0 } else { self.ends[token - 1] };
        &self.bytes[usize_of(start)..usize_of(self.ends[token])]
    }

    /// The bytes of all, one after the other.
    pub fn joined(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of all, one after the other, where each ends, and what they take of a budget.
    pub fn into_parts(self) -> (SpillVec<u8>, SpillVec<u64>, Counted<()>) {
        (self.bytes, self.ends, self.held)
    }

    /// The length of a token in bytes.
    #[inline]
    pub fn length(&self, token: u32) -> u64 {
        self.get(token).len() as u64
    }
}

/// The words and separators of a dictionary, unpacked.
#[derive(Debug)]
pub struct UnpackedEntries {
    tokens: Tokens,
    /// The first token of each word, and its forms.
    words: Vec<(u32, Forms)>,
    first_separator: u32,
}

impl UnpackedEntries {
    /// The words, in byte order.
    pub fn words(&self) -> Vec<Entry<'_>> {
        let entry = |&(token, forms): &(u32, Forms)| {
            let bytes = self.tokens.get(token);
            Entry { bytes: if forms == Forms::Spaced { &bytes[1..] } else { bytes }, forms }
        };
        self.words.iter().map(entry).collect()
    }

    /// The separators, in byte order.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a word has a token, and these have 32 bits"
    )]
    pub fn separators(&self) -> Vec<&[u8]> {
        (self.first_separator..self.tokens.len() as u32)
            .map(|token| self.tokens.get(token))
            .collect()
    }
}
