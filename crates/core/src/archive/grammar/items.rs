//! The section `ITEM`: what the items of a grammar are, in the order of their introduction.
//!
//! Cost: one class, and for most a second one or raw bits, an item, in blocks that are independent of
//! each other. Rules are numbered by sums over blocks, so nothing but these sums is on one thread.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::decode::WHAT;
use super::{BLOCK, FREQUENCY_CLASSES, item_class, least_count};
use crate::archive::rans::{Decoder, DecodingTable, Model, most_values};
use crate::archive::wire::Reader;
use crate::budget::Share;
use crate::error::{Error, Result};
use crate::parallel::split;
use crate::spill::SpillVec;
use crate::usize_of;

/// Bytes of an item while a grammar is decoded: symbol and frequency class, a length, and its place
/// among those of its class, or a mark that it was seen.
const ITEM: u64 = 4 + 1 + 4 + 8 + 1;

/// The items of a grammar, in the order of their introduction.
#[derive(Debug)]
pub(super) struct Items {
    pub(super) token_count: u32,
    /// The symbol of each.
    pub(super) symbols: SpillVec<u32>,
    /// The frequency class of each; those of rules come behind those of tokens.
    pub(super) frequencies: SpillVec<u8>,
    /// The lengths of the rules that a block introduces, in order, from the start of the block.
    rule_lengths: SpillVec<u32>,
    /// Rules, and symbols of their bodies, before each block, and of all.
    before: Vec<(u32, u64)>,
}

impl Items {
    /// Decodes a section; what it takes is of `work`.
    pub(super) fn decode(section: &[u8], work: &Share) -> Result<Self> {
        let mut reader = Reader::new(section, "section ITEM");
        let token_count = reader.bounded_u32(u32::MAX, "tokens")?;
        let rule_count = reader.bounded_u32(u32::MAX, "rules")?;
        let count = u64::from(token_count) + u64::from(rule_count);
        if count > u64::from(u32::MAX) || count > most_values(section.len()) {
            return Err(
                reader.malformed(format!("{count} items cannot be in {} bytes", section.len()))
            );
        }
        work.grow(ITEM * count, WHAT)?;
        let count = usize_of(count);
        let classes = Model::read(&mut reader, item_class::COUNT)?.decoding_table();
        let steps = Model::read(&mut reader, item_class::STEPS)?.decoding_table();
        let lengths_of_blocks: Vec<u64> =
            (0..count.div_ceil(BLOCK)).map(|_| reader.varint()).collect::<Result<_>>()?;
        let streams = lengths_of_blocks.iter().map(|&length| reader.take(length));
        let streams: Vec<&[u8]> = streams.collect::<Result<_>>()?;
        reader.finish()?;

        let spill = work.spill();
        let mut symbols = spill.filled(0_u32, count);
        let mut frequencies = spill.filled(0_u8, count);
        let mut rule_lengths = spill.filled(0_u32, count);
        let models = Models { classes, steps, token_count };
        let of_pairs: Vec<Vec<(u32, u64)>> = symbols
            .par_chunks_mut(2 * BLOCK)
            .zip(frequencies.par_chunks_mut(2 * BLOCK))
            .zip(rule_lengths.par_chunks_mut(2 * BLOCK))
            .zip(streams.par_chunks(2))
            .map(|(((symbols, frequencies), lengths), streams)| {
                decode_pair(&models, streams, symbols, frequencies, lengths)
            })
            .collect::<Result<_>>()?;
        let mut before = Vec::with_capacity(lengths_of_blocks.len() + 1);
        let mut sums = (0_u32, 0_u64);
        for (rules, symbols) in of_pairs.into_iter().flatten() {
            before.push(sums);
            // No more rules than items; lengths have 32 bits.
            sums = (sums.0 + rules, sums.1.saturating_add(symbols));
        }
        before.push(sums);
        if sums.0 != rule_count {
            return Err(Error::malformed(format!(
                "section ITEM: {} rules are described, {rule_count} announced",
                sums.0
            )));
        }
        let mut items = Self { token_count, symbols, frequencies, rule_lengths, before };
        items.number()?;
        Ok(items)
    }

    /// How many rules there are, and symbols of their bodies.
    fn sums(&self) -> (u32, u64) {
        *self.before.last().expect("there is always one boundary")
    }

    pub(super) fn rule_count(&self) -> u32 {
        self.sums().0
    }

    /// Symbols of all bodies.
    pub(super) fn body_symbols(&self) -> u64 {
        self.sums().1
    }

    /// Gives rules their numbers, the last one first, and checks that every token is there once.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "items are checked to be 32 bits in number"
    )]
    fn number(&mut self) -> Result<()> {
        let end = self.symbols.len() as u32;
        let seen: Vec<AtomicBool> = (0..self.token_count).map(|_| AtomicBool::new(false)).collect();
        let of_blocks = self.symbols.par_chunks_mut(BLOCK).zip(&self.before);
        of_blocks.for_each(|(symbols, &(rules_before, _))| {
            let mut next_rule = end - rules_before;
            for symbol in symbols {
                if *symbol == RULE {
                    next_rule -= 1;
                    *symbol = next_rule;
                } else {
                    seen[*symbol as usize].store(true, Ordering::Relaxed);
                }
            }
        });
        // There are as many as tokens, so one that comes twice leaves another one out.
        let all =
            seen.par_chunks(BLOCK).all(|seen| seen.iter().all(|seen| seen.load(Ordering::Relaxed)));
        if all { Ok(()) } else { Err(self.token_that_comes_twice()) }
    }

    #[cold]
    fn token_that_comes_twice(&self) -> Error {
        let mut seen = vec![false; self.token_count as usize];
        let mut tokens = self.symbols.iter().filter(|&&symbol| symbol < self.token_count);
        let twice = tokens.find(|&&token| std::mem::replace(&mut seen[token as usize], true));
        let token = twice.copied().unwrap_or_default();
        Error::malformed(format!("section ITEM: token {token} is introduced twice"))
    }

    /// Where each rule starts behind the symbol `first`, and the end; `None` if that passes 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "the end is checked to be 32 bits")]
    pub(super) fn rule_starts(&self, first: u32) -> Option<SpillVec<u32>> {
        let (rules, symbols) = self.sums();
        let end = u64::from(first).checked_add(symbols)?;
        let last = u32::try_from(end).ok()?;
        let mut starts = self.symbols.spill().filled(0_u32, rules as usize + 1);
        starts[rules as usize] = last;
        // The rules of the last block are the first ones.
        let blocks = self.before.len() - 1;
        let counts = (0..blocks).rev().map(|block| self.rules_of(block));
        let rows = split(&mut starts[..rules as usize], counts);
        rows.into_par_iter().zip((0..blocks).into_par_iter().rev()).for_each(|(starts, block)| {
            let mut next = (end - self.before[block].1) as u32;
            let lengths = &self.rule_lengths[block * BLOCK..][..starts.len()];
            for (start, &length) in starts.iter_mut().rev().zip(lengths) {
                next -= length;
                *start = next;
            }
        });
        Some(starts)
    }

    fn rules_of(&self, block: usize) -> usize {
        (self.before[block + 1].0 - self.before[block].0) as usize
    }

    /// For each rule the least number of symbols that it is, as its frequency class says.
    pub(super) fn least_uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.rule_count() as usize];
        let blocks = self.before.len() - 1;
        let rows = split(&mut uses, (0..blocks).rev().map(|block| self.rules_of(block)));
        rows.into_par_iter().zip((0..blocks).into_par_iter().rev()).for_each(|(uses, block)| {
            let classes = self.frequencies.chunks(BLOCK).nth(block).unwrap_or_default();
            let of_rules = classes.iter().filter_map(|&class| {
                usize::from(class).checked_sub(FREQUENCY_CLASSES).map(least_count)
            });
            for (uses, least) in uses.iter_mut().rev().zip(of_rules) {
                *uses = least;
            }
        });
        uses
    }
}

/// Stands for a rule among decoded items until it gets its number.
const RULE: u32 = u32::MAX;

/// What all blocks are decoded with.
struct Models {
    classes: DecodingTable,
    steps: DecodingTable,
    token_count: u32,
}

/// Decodes a block, and the one behind it if there is one; gives for each how many rules it
/// introduces, whose lengths come first in their row, and the sum of these. Blocks take turns: while
/// one waits for its last word, the other goes on.
#[expect(clippy::cast_possible_truncation, reason = "blocks are small")]
fn decode_pair(
    models: &Models,
    streams: &[&[u8]],
    symbols: &mut [u32],
    frequencies: &mut [u8],
    lengths: &mut [u32],
) -> Result<Vec<(u32, u64)>> {
    let mut blocks: Vec<BlockDecoder<'_>> = streams
        .iter()
        .zip(symbols.chunks_mut(BLOCK))
        .zip(frequencies.chunks_mut(BLOCK).zip(lengths.chunks_mut(BLOCK)))
        .map(|((stream, symbols), (frequencies, lengths))| {
            let decoder = Decoder::new(stream)?;
            Ok(BlockDecoder { decoder, symbols, frequencies, lengths, previous: 0, rules: 0 })
        })
        .collect::<Result<_>>()?;
    let mut alone = 0;
    if let [first, second] = &mut blocks[..] {
        for place in 0..second.symbols.len() {
            first.step(models, place)?;
            second.step(models, place)?;
        }
        alone = second.symbols.len();
    }
    if let Some(first) = blocks.first_mut() {
        for place in alone..first.symbols.len() {
            first.step(models, place)?;
        }
    }
    let finish = |block: BlockDecoder<'_>| {
        let lengths = &block.lengths[..block.rules];
        let sum = lengths.iter().map(|&length| u64::from(length)).sum();
        block.decoder.finish()?;
        Ok((block.rules as u32, sum))
    };
    blocks.into_iter().map(finish).collect()
}

/// A block on its way.
struct BlockDecoder<'a> {
    decoder: Decoder<'a>,
    symbols: &'a mut [u32],
    frequencies: &'a mut [u8],
    lengths: &'a mut [u32],
    /// The last token, and how many rules there were.
    previous: i64,
    rules: usize,
}

impl BlockDecoder<'_> {
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "classes are few, and a token is checked against their number"
    )]
    fn step(&mut self, models: &Models, place: usize) -> Result<()> {
        let (class, length_bits) = item_class::parts(self.decoder.class(&models.classes));
        match length_bits {
            None => {
                let step = self.decoder.class(&models.steps);
                let magnitude = i64::from(self.decoder.below_top_bit((step / 2).min(32) as u32));
                self.previous += if step % 2 == 1 { -magnitude } else { magnitude };
                if self.previous < 0 || self.previous >= i64::from(models.token_count) {
                    return Err(no_token(self.previous, models.token_count));
                }
                self.symbols[place] = self.previous as u32;
                self.frequencies[place] = class as u8;
            }
            Some(bits) => {
                self.symbols[place] = RULE;
                self.frequencies[place] = (FREQUENCY_CLASSES + class) as u8;
                self.lengths[self.rules] = self.decoder.below_top_bit(bits).saturating_add(2);
                self.rules += 1;
            }
        }
        Ok(())
    }
}

#[cold]
fn no_token(token: i64, count: u32) -> Error {
    Error::malformed(format!("section ITEM: token {token} of {count}"))
}
