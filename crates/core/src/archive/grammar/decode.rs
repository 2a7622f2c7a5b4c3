//! From bytes to a grammar. Nothing in the bytes is believed: every number is checked before it is used,
//! and memory is taken only in proportion to the bytes that are there.

use std::sync::Arc;

use crate::usize_of;
use rayon::prelude::*;

use super::symbols::Blocks;
use super::{BLOCK, FREQUENCY_CLASSES, Symbols, item_class, least_count, symd, symx};
use crate::CancelFlag;
use crate::archive::integers;
use crate::archive::rans::{Decoder, DecodingTable, Model, most_values};
use crate::archive::wire::Reader;
use crate::budget::{Budget, Counted, Share};
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::spill::SpillVec;

/// The items of a grammar, in the order of their introduction.
#[derive(Debug)]
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
#[derive(Debug)]
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
            let [share, work] = shares;
            let blocks = Blocks::open(section, items, layout.symbol_count(), work)?;
            blocks.beginning(section, items, usize_of(wanted), share)
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

/// A grammar of level `fast` that is decoded in two steps: its rules, and then its root in chunks,
/// whose symbols are replaced on the way. So the root is never there as it is stored.
#[derive(Debug)]
pub struct CodedGrammar {
    items: Items,
    layout: Layout,
    blocks: Blocks,
    section: SpillVec<u8>,
    rules: Arc<Grammar>,
    budget: Budget,
    /// What the decoding takes, of which memory of the budget is.
    _work: Share,
}

impl CodedGrammar {
    /// Decodes all but the root. `symbols` is the section `SYMB`.
    pub(crate) fn open(
        items: &[u8],
        symbols: SpillVec<u8>,
        root: &[u8],
        budget: &Budget,
    ) -> Result<Self> {
        let (share, work) = (budget.share(), budget.share());
        let items = decode_items(items, &work)?;
        let layout = layout(&items, root, &work)?;
        let blocks = Blocks::open(&symbols, &items, layout.symbol_count(), &work)?;
        let root_length = layout.rule_starts[0];
        let bodies = blocks.end(&symbols, &items, root_length as usize, &share)?;
        share.grow(size_of::<u32>() as u64 * layout.rule_starts.len() as u64, WHAT)?;
        let starts = layout.rule_starts.iter().map(|start| start - root_length);
        let starts = share.spill().collect(starts);
        let rules =
            Grammar::new(items.token_count, bodies.into_array(), starts.into_array(), vec![0])?
                .holding(share);
        let (section, budget) = (symbols, budget.clone());
        let rules = Arc::new(rules);
        Ok(Self { items, layout, blocks, section, rules, budget, _work: work })
    }

    /// The rules: a grammar without documents.
    pub fn rules(&self) -> &Arc<Grammar> {
        &self.rules
    }

    /// Symbols of the root.
    pub fn root_length(&self) -> u32 {
        self.layout.rule_starts[0]
    }

    /// As [`Grammar::document_starts`].
    pub fn document_starts(&self) -> &[u32] {
        &self.layout.document_starts
    }

    /// What is decoded is counted there.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// For each rule the least number of symbols that it is, as the archive says: at least two thirds
    /// of the right one, and right up to 3. Not checked. O(items).
    pub fn least_uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.rules.rule_count() as usize];
        for (&symbol, &class) in self.items.symbols.iter().zip(&self.items.frequencies[..]) {
            if let Some(rule) = self.rules.rule_of(symbol) {
                uses[rule as usize] = least_count(usize::from(class) - FREQUENCY_CLASSES);
            }
        }
        uses
    }

    /// Decodes the root in chunks, on all threads; `other` gives the symbols that take the place of
    /// its own. `work` gets each chunk and where it starts, and `take` what that gave, in order.
    pub fn replace_root<R: Send, E: From<Error> + Send>(
        mut self,
        other: &(dyn Fn(u32) -> u32 + Sync),
        work: &(dyn Fn(usize, &[u32]) -> R + Sync),
        take: &mut dyn FnMut(R) -> Result<(), E>,
    ) -> Result<(), E> {
        self.blocks.replace(&mut self.items, other);
        let wanted = self.root_length() as usize;
        self.blocks.for_each_chunk(&self.section, &self.items, wanted, work, take)
    }
}
