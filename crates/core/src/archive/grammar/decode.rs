//! From bytes to a grammar. Nothing in the bytes is believed: every number is checked before it is used,
//! and memory is taken only in proportion to the bytes that are there.

use crate::usize_of;
use rayon::prelude::*;

use super::symbol_class::{self, Meaning, RECENT};
use super::{BLOCK, FREQUENCY_CLASSES, Symbols, item_class, symd, symx};
use crate::CancelFlag;
use crate::archive::integers;
use crate::archive::rans::{Decoder, DecodingTable, Model, most_values};
use crate::archive::wire::Reader;
use crate::budget::{Budget, Counted, Share};
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::spill::SpillVec;

/// The items of a grammar, in the order of their introduction.
pub(super) struct Items {
    token_count: u32,
    /// The symbol of each.
    pub(super) symbols: SpillVec<u32>,
    /// The frequency class of each; those of rules come behind those of tokens.
    pub(super) frequencies: SpillVec<u8>,
    /// The length of each rule, the last rule first.
    rule_lengths: SpillVec<u32>,
}

/// Where rules and documents are among the symbols of a grammar.
pub(super) struct Layout {
    pub(super) token_count: u32,
    /// As [`Grammar::rule_starts`].
    pub(super) rule_starts: SpillVec<u32>,
    /// As [`Grammar::document_starts`].
    pub(super) document_starts: SpillVec<u32>,
}

impl Layout {
    pub(super) fn symbol_count(&self) -> u64 {
        u64::from(*self.rule_starts.last().expect("there is always one boundary"))
    }
}

/// Decodes the three sections of a grammar; the symbols of a fast one on all threads.
pub(crate) fn decode(
    items: &[u8],
    symbols: Symbols<'_>,
    root: &[u8],
    budget: &Budget,
    cancel: &CancelFlag,
) -> Result<Grammar> {
    let (share, work) = (budget.share(), budget.share());
    let items = decode_items(items, &work)?;
    let layout = layout(&items, root, &share)?;
    let all = layout.symbol_count();
    let symbols = decode_any(symbols, &items, &layout, all, [&share, &work], cancel)?;
    let Layout { token_count, rule_starts, document_starts } = layout;
    Ok(Grammar::new(
        token_count,
        symbols.into_array(),
        rule_starts.into_array(),
        document_starts.into_array(),
    )?
    .holding(share))
}

/// Decodes at least the first `wanted` symbols. Takes what they need of the first share, and what decoding them needs of
/// the second one.
fn decode_any(
    symbols: Symbols<'_>,
    items: &Items,
    layout: &Layout,
    wanted: u64,
    shares: [&Share; 2],
    cancel: &CancelFlag,
) -> Result<SpillVec<u32>> {
    match symbols {
        Symbols::Fast(section) => {
            decode_symbols(section, items, layout.symbol_count(), wanted, shares)
        }
        Symbols::Single(section) => symd::decode(section, items, layout, shares, cancel),
        Symbols::Streams(section) => symx::decode(section, items, layout, shares, cancel),
    }
}

/// Decodes the symbols of the root alone; those of a dense one can only be decoded with all others.
pub(crate) fn decode_root(
    items: &[u8],
    symbols: Symbols<'_>,
    root: &[u8],
    budget: &Budget,
) -> Result<Counted<SpillVec<u32>>> {
    let (share, work) = (budget.share(), budget.share());
    let items = decode_items(items, &work)?;
    let layout = layout(&items, root, &work)?;
    let root_length = layout.rule_starts[0];
    let wanted = root_length.into();
    let never = &CancelFlag::default();
    let mut symbols = decode_any(symbols, &items, &layout, wanted, [&share, &work], never)?;
    symbols.truncate(root_length as usize);
    Ok(Counted::new(symbols, share))
}

/// Where everything is, by the lengths of rules and documents.
#[expect(clippy::cast_possible_truncation, reason = "the total is checked to be 32 bits")]
fn layout(items: &Items, root: &[u8], share: &Share) -> Result<Layout> {
    let document_starts = document_starts(root, share)?;
    share.grow(size_of::<u32>() as u64 * (items.rule_lengths.len() as u64 + 1), WHAT)?;
    let root_length = u64::from(*document_starts.last().expect("there is always one boundary"));
    let mut total = root_length;
    let mut rule_starts = share.spill().with_capacity(items.rule_lengths.len() + 1);
    for &length in items.rule_lengths.iter().rev() {
        rule_starts.push(total as u32);
        total += u64::from(length);
        if total > u64::from(u32::MAX) {
            return Err(Error::malformed("the lengths of the rules pass 2^32"));
        }
    }
    rule_starts.push(total as u32);
    Ok(Layout { token_count: items.token_count, rule_starts, document_starts })
}

/// Where documents start in the root, and its end.
fn document_starts(section: &[u8], share: &Share) -> Result<SpillVec<u32>> {
    let mut reader = Reader::new(section, "section ROOT");
    let lengths = integers::read(&mut reader, share.budget(), WHAT)?;
    share.grow(size_of::<u32>() as u64 * (lengths.len() as u64 + 1), WHAT)?;
    let mut starts = share.spill().with_capacity(lengths.len() + 1);
    starts.push(0_u32);
    let mut end = 0_u64;
    for &length in lengths.iter() {
        end = end.saturating_add(length);
        starts.push(
            u32::try_from(end).map_err(|_| reader.malformed("the root passes 2^32 symbols"))?,
        );
    }
    reader.finish()?;
    Ok(starts)
}

/// What memory is taken for, in errors.
pub(super) const WHAT: &str = "the grammar";
/// Bytes of an item while a grammar is decoded: symbol and frequency class, a length, and its place
/// among those of its class, or a mark that it was seen.
const ITEM: u64 = 4 + 1 + 4 + 8 + 1;

fn decode_items(section: &[u8], work: &Share) -> Result<Items> {
    let mut reader = Reader::new(section, "section ITEM");
    let token_count = reader.bounded_u32(u32::MAX, "tokens")?;
    let rule_count = reader.bounded_u32(u32::MAX, "rules")?;
    let count = u64::from(token_count) + u64::from(rule_count);
    if count > u64::from(u32::MAX) || count > most_values(section.len()) {
        return Err(reader.malformed(format!("{count} items cannot be in {} bytes", section.len())));
    }
    work.grow(ITEM * count, WHAT)?;
    let count = usize_of(count);
    let classes = Model::read(&mut reader, item_class::COUNT)?.decoding_table();
    let steps = Model::read(&mut reader, item_class::STEPS)?.decoding_table();
    let lengths: Vec<u64> =
        (0..count.div_ceil(BLOCK)).map(|_| reader.varint()).collect::<Result<_>>()?;
    let streams: Vec<&[u8]> =
        lengths.into_iter().map(|length| reader.take(length)).collect::<Result<_>>()?;
    reader.finish()?;

    let spill = work.spill();
    let mut symbols = spill.filled(0_u32, count);
    let mut frequencies = spill.filled(0_u8, count);
    let mut rule_lengths = spill.filled(0_u32, count);
    symbols
        .par_chunks_mut(BLOCK)
        .zip(frequencies.par_chunks_mut(BLOCK))
        .zip(rule_lengths.par_chunks_mut(BLOCK))
        .zip(streams)
        .try_for_each(|(((symbols, frequencies), lengths), stream)| {
            let rows = (symbols, frequencies, lengths);
            decode_item_block(stream, &classes, &steps, token_count, rows)
        })?;
    // Tokens have a length of 0.
    let mut rules = 0;
    for item in 0..count {
        if rule_lengths[item] > 0 {
            rule_lengths[rules] = rule_lengths[item];
            rules += 1;
        }
    }
    rule_lengths.truncate(rules);
    if rules != rule_count as usize {
        return Err(Error::malformed(format!(
            "section ITEM: {rules} rules are described, {rule_count} announced"
        )));
    }
    number_rules(token_count, &mut symbols)?;
    Ok(Items { token_count, symbols, frequencies, rule_lengths })
}

/// Stands for a rule among decoded items until it gets its number.
const RULE: u32 = u32::MAX;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "classes are few, and a token is checked against their number"
)]
fn decode_item_block(
    stream: &[u8],
    classes: &DecodingTable,
    steps: &DecodingTable,
    token_count: u32,
    (symbols, frequencies, lengths): (&mut [u32], &mut [u8], &mut [u32]),
) -> Result<()> {
    let mut decoder = Decoder::new(stream)?;
    let mut previous = 0_i64;
    for ((symbol, frequency), length) in symbols.iter_mut().zip(frequencies).zip(lengths) {
        let (class, length_bits) = item_class::parts(decoder.class(classes));
        match length_bits {
            None => {
                let step = decoder.class(steps);
                let magnitude = i64::from(decoder.below_top_bit((step / 2).min(32) as u32));
                previous += if step % 2 == 1 { -magnitude } else { magnitude };
                if previous < 0 || previous >= i64::from(token_count) {
                    return Err(Error::malformed(format!(
                        "section ITEM: token {previous} of {token_count}"
                    )));
                }
                *symbol = previous as u32;
                *frequency = class as u8;
            }
            Some(bits) => {
                *symbol = RULE;
                *frequency = (FREQUENCY_CLASSES + class) as u8;
                *length = decoder.below_top_bit(bits).saturating_add(2);
            }
        }
    }
    decoder.finish()
}

/// Gives rules their numbers, the last one first, and checks that every token is there once.
#[expect(clippy::cast_possible_truncation, reason = "items are checked to be 32 bits in number")]
fn number_rules(token_count: u32, symbols: &mut [u32]) -> Result<()> {
    let mut seen = vec![false; token_count as usize];
    let mut next_rule = symbols.len() as u32;
    for symbol in symbols {
        if *symbol == RULE {
            next_rule -= 1;
            *symbol = next_rule;
        } else if std::mem::replace(&mut seen[*symbol as usize], true) {
            return Err(Error::malformed(format!(
                "section ITEM: token {symbol} is introduced twice"
            )));
        }
    }
    Ok(())
}

/// The items of each frequency class in the order of their introduction, and how many of each class come
/// before each block.
struct ByFrequency {
    /// Ordinal and symbol of each: both are wanted, and one look-up gives them.
    items: SpillVec<[u32; 2]>,
    starts: [u32; 2 * FREQUENCY_CLASSES + 1],
    before_block: Vec<[u32; 2 * FREQUENCY_CLASSES]>,
}

impl ByFrequency {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "items are checked to be 32 bits in number"
    )]
    fn new(items: &Items, block_starts: &[u32]) -> Self {
        let (symbols, frequencies) = (&items.symbols[..], &items.frequencies[..]);
        let mut starts = [0_u32; 2 * FREQUENCY_CLASSES + 1];
        for &frequency in frequencies {
            starts[frequency as usize + 1] += 1;
        }
        for class in 1..starts.len() {
            starts[class] += starts[class - 1];
        }
        let mut row = items.symbols.spill().filled([0; 2], frequencies.len());
        let items = &mut row[..];
        let mut counts = [0_u32; 2 * FREQUENCY_CLASSES];
        let mut before_block = Vec::with_capacity(block_starts.len());
        for (ordinal, (&frequency, &symbol)) in frequencies.iter().zip(symbols).enumerate() {
            while block_starts.get(before_block.len()) == Some(&(ordinal as u32)) {
                before_block.push(counts);
            }
            let count = &mut counts[frequency as usize];
            items[(starts[frequency as usize] + *count) as usize] = [ordinal as u32, symbol];
            *count += 1;
        }
        before_block.resize(block_starts.len(), counts);
        Self { items: row, starts, before_block }
    }
}

/// Decodes at least the first `wanted` symbols of `expected`: blocks that have none of them are passed over.
#[expect(clippy::cast_possible_truncation, reason = "no more are introduced than there are items")]
fn decode_symbols(
    section: &[u8],
    items: &Items,
    expected: u64,
    wanted: u64,
    [share, work]: [&Share; 2],
) -> Result<SpillVec<u32>> {
    let mut reader = Reader::new(section, "section SYMB");
    let count = reader.varint()?;
    if count != expected {
        return Err(reader.malformed(format!("{count} symbols, where the rules have {expected}")));
    }
    if count > most_values(section.len()) {
        return Err(
            reader.malformed(format!("{count} symbols cannot be in {} bytes", section.len()))
        );
    }
    // The symbols, and for each block its stream and the items before it.
    share.grow(size_of::<u32>() as u64 * count.min(wanted + BLOCK as u64), WHAT)?;
    work.grow(count.div_ceil(BLOCK as u64) * (2 * FREQUENCY_CLASSES as u64 * 4 + 64), WHAT)?;
    let model = Model::read(&mut reader, symbol_class::COUNT)?;
    if let Some(class) = model.classes().find(|&class| !symbol_class::is_used(class)) {
        return Err(reader.malformed(format!("class {class} has no meaning")));
    }
    let table = model.decoding_table();
    let mut introduced = 0_u64;
    let mut block_starts = Vec::new();
    let mut lengths = Vec::new();
    for _ in 0..usize_of(count).div_ceil(BLOCK) {
        block_starts.push(introduced as u32);
        introduced += reader.bounded(items.symbols.len() as u64 - introduced, "introductions")?;
        lengths.push(reader.varint()?);
    }
    if introduced != items.symbols.len() as u64 {
        return Err(
            reader.malformed(format!("{introduced} of {} items occur", items.symbols.len()))
        );
    }
    let streams: Vec<&[u8]> =
        lengths.into_iter().map(|length| reader.take(length)).collect::<Result<_>>()?;
    reader.finish()?;

    let by_frequency = ByFrequency::new(items, &block_starts);
    // Taken once, as they are read for every symbol.
    let rows = (&items.symbols[..], &items.frequencies[..], &by_frequency.items[..]);
    let block_ends = block_starts.iter().skip(1).copied().chain([introduced as u32]);
    let blocks: Vec<(u32, u32, &[u8])> = block_starts
        .iter()
        .zip(block_ends)
        .zip(streams)
        .map(|((&start, end), stream)| (start, end, stream))
        .collect();
    let start_block =
        |((start, end, stream), before): ((u32, u32, _), &[u32; 2 * FREQUENCY_CLASSES])| {
            Ok::<_, Error>(BlockDecoder {
                decoder: Decoder::new(stream)?,
                table: &table,
                symbols: rows.0,
                frequencies: rows.1,
                by_frequency: rows.2,
                starts: &by_frequency.starts,
                introduced: *before,
                next: start,
                end,
                recent: [0; RECENT],
            })
        };
    // The first block has the last symbols.
    let passed_over = usize_of(count - wanted) / BLOCK;
    let mut symbols = share.spill().filled(0_u32, usize_of(count) - passed_over * BLOCK);
    symbols
        .par_rchunks_mut(2 * BLOCK)
        .zip(blocks[passed_over..].par_chunks(2))
        .zip(by_frequency.before_block[passed_over..].par_chunks(2))
        .try_for_each(|((symbols, blocks), before)| {
            let mut decoders = blocks.iter().copied().zip(before).map(start_block);
            let first = decoders.next().expect("a chunk has one block or two")?;
            match decoders.next() {
                Some(second) => {
                    let (behind, last) = symbols.split_at_mut(symbols.len() - BLOCK);
                    decode_two([first, second?], [last, behind])
                }
                None => decode_one(first, symbols),
            }
        })?;
    Ok(symbols)
}

/// Decodes two blocks in turns: while one waits for memory or for its last word, the other goes on. The first
/// has at least as many symbols as the second.
fn decode_two(decoders: [BlockDecoder<'_>; 2], symbols: [&mut [u32]; 2]) -> Result<()> {
    let [mut first, mut second] = decoders;
    let [first_symbols, second_symbols] = symbols;
    let (alone, beside) = first_symbols.split_at_mut(first_symbols.len() - second_symbols.len());
    for (one, other) in beside.iter_mut().rev().zip(second_symbols.iter_mut().rev()) {
        *one = first.symbol()?;
        *other = second.symbol()?;
    }
    second.finish()?;
    decode_one(first, alone)
}

fn decode_one(mut decoder: BlockDecoder<'_>, symbols: &mut [u32]) -> Result<()> {
    for symbol in symbols.iter_mut().rev() {
        *symbol = decoder.symbol()?;
    }
    decoder.finish()
}

/// One block on its way.
struct BlockDecoder<'a> {
    decoder: Decoder<'a>,
    table: &'a DecodingTable,
    symbols: &'a [u32],
    frequencies: &'a [u8],
    /// As [`ByFrequency`].
    by_frequency: &'a [[u32; 2]],
    starts: &'a [u32; 2 * FREQUENCY_CLASSES + 1],
    /// How many items of each frequency class were introduced.
    introduced: [u32; 2 * FREQUENCY_CLASSES],
    /// The item that is introduced next, and the first one that this block does not introduce.
    next: u32,
    end: u32,
    recent: [u32; RECENT],
}

impl BlockDecoder<'_> {
    #[inline(always)]
    fn symbol(&mut self) -> Result<u32> {
        let [ordinal, symbol] = match symbol_class::meaning(self.decoder.class(self.table)) {
            Meaning::Introduction => {
                let ordinal = self.next;
                if ordinal >= self.end {
                    return Err(too_much());
                }
                self.introduced[self.frequencies[ordinal as usize] as usize] += 1;
                self.next += 1;
                [ordinal, self.symbols[ordinal as usize]]
            }
            Meaning::Nearby { recent, bits, backwards } => {
                let distance = self.decoder.below_top_bit(bits);
                let from = self.recent[recent];
                let ordinal = if backwards {
                    from.wrapping_sub(distance)
                } else {
                    from.wrapping_add(distance)
                };
                if ordinal >= self.next {
                    return Err(nothing());
                }
                [ordinal, self.symbols[ordinal as usize]]
            }
            Meaning::ByFrequency { frequency, bits } => {
                let since = 1 << bits | self.decoder.bits(bits);
                let count = self.introduced[frequency];
                if since > count {
                    return Err(nothing());
                }
                self.by_frequency[(self.starts[frequency] + count - since) as usize]
            }
        };
        self.recent = [ordinal, self.recent[0], self.recent[1], self.recent[2]];
        Ok(symbol)
    }

    fn finish(self) -> Result<()> {
        if self.next != self.end {
            return Err(Error::malformed("section SYMB: a block introduces too little"));
        }
        self.decoder.finish()
    }
}

#[cold]
fn nothing() -> Error {
    Error::malformed("section SYMB: a symbol refers to nothing")
}

#[cold]
fn too_much() -> Error {
    Error::malformed("section SYMB: a block introduces too much")
}
