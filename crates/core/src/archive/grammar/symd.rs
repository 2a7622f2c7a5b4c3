//! The section `SYMD`: the symbols of a grammar, coded adaptively, in archives of version 1. Only read.
//!
//! The order of coding, the items and the two ways to refer to them are those of `SYMB`; what is new is that
//! a symbol is guessed before it is described. Text is coded from its end, so what *follows* a symbol is
//! known: its next two tokens, its next token, and the symbol after the next one. Under each of these, the
//! symbols that stood there before are remembered, the latest first, and one decision after the other says
//! whether it is one of them again. Only if it is none is it described by its class, each bit of which is
//! predicted from what follows, too.
//!
//! Cost: 0.6 to 2.2 µs a symbol on one thread, and 460 MB of
//! tables at the most, 300 of them memories.

use super::FREQUENCY_CLASSES;
use super::decode::{Layout, WHAT};
use super::items::Items;
use super::symbol_class::RECENT;
use crate::CancelFlag;
use crate::archive::Level;
use crate::archive::mixing::{BitCoder, BitDecoder, Estimate, Mixer, Pace};
use crate::archive::wire::Reader;
use crate::budget::Share;
use crate::error::{Error, Result};
use crate::spill::{Spill, SpillVec};
use crate::usize_of;

/// Symbols remembered under a context.
const GUESSES: usize = 6;
/// Contexts under which symbols are remembered.
const MEMORIES: usize = 3;
/// No token or symbol: the text ends here, or a rule's body does.
const NOTHING: u32 = u32::MAX;
/// Estimates of every decision.
const INPUTS: usize = 5;
/// Groups of classes: one for each of the last items, one for each frequency class; introductions and
/// guesses have none, but count as what came before.
const GROUPS: usize = RECENT + 2 * FREQUENCY_CLASSES;
const AFTER_INTRODUCTION: usize = GROUPS;
const AFTER_GUESS: usize = GROUPS + 1;
/// Bits of a group, of a bit length, and raw bits that are predicted.
const HIGH_GROUP_BITS: u32 = 3;
const LOW_GROUP_BITS: u32 = 5;
const LENGTH_BITS: u32 = 5;
const PREDICTED_BITS: u32 = 2;

/// How fast this model learns.
const PACE: Pace = Pace { slowest: 255, rate: 6 };

/// Decisions come in rows: those that depend on the same context and lie side by side in memory.
const ROW: usize = 32;
/// Places of decisions in their rows: whether a symbol is introduced and the guesses; a tree of five bits;
/// the sign and the first raw bits.
mod place {
    pub(super) const INTRODUCTION: usize = 0;
    pub(super) const GUESS: usize = 1;
    pub(super) const TREE: usize = 0;
    pub(super) const SIGN: usize = 0;
    pub(super) const RAW: usize = 4;
}

/// What the decisions of a row are about.
#[derive(Clone, Copy)]
enum Stage {
    Guess,
    HighGroup,
    LowGroup { high: u32 },
    Length { group: u32 },
    Raw { group: u32, length: u32 },
}

/// How many kinds of stages there are; each place of each has weights of its own.
const STAGES: usize = 5;

impl Stage {
    fn kind(self) -> usize {
        match self {
            Self::Guess => 0,
            Self::HighGroup => 1,
            Self::LowGroup { .. } => 2,
            Self::Length { .. } => 3,
            Self::Raw { .. } => 4,
        }
    }

    /// A number for each stage.
    fn number(self) -> u64 {
        let detail = match self {
            Self::Guess | Self::HighGroup => 0,
            Self::LowGroup { high } => high,
            Self::Length { group } => group,
            Self::Raw { group, length } => group << 8 | length,
        };
        u64::from(detail) << 3 | self.kind() as u64
    }
}

/// A row of decisions: where it starts in each of the tables, and its weights.
#[derive(Clone, Copy)]
struct Row {
    starts: [usize; INPUTS],
    weights: usize,
}

/// What follows a symbol.
#[derive(Clone, Copy)]
struct Context {
    /// The next token, the one behind it, and the symbol behind the next symbol.
    token: u32,
    second_token: u32,
    second_symbol: u32,
}

fn mix(left: u64, right: u64) -> u64 {
    (left ^ hash(right)).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(29)
}

fn hash(value: u64) -> u64 {
    value.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Symbols that stood in a context, by their ordinals plus one; 0 is none.
struct Memory {
    bits: u32,
    rows: Vec<[u32; GUESSES]>,
}

impl Memory {
    fn row(&self, context: u64) -> usize {
        usize_of(hash(context) >> (u64::BITS - self.bits))
    }

    /// Puts an item first.
    fn remember(&mut self, row: usize, entry: u32) {
        let row = &mut self.rows[row];
        let place = row.iter().position(|&other| other == entry).unwrap_or(GUESSES - 1);
        row[..=place].rotate_right(1);
        row[0] = entry;
    }
}

/// All that is learnt.
struct Model {
    memories: [Memory; MEMORIES],
    tables: [Vec<Estimate>; INPUTS],
    mixer: Mixer<INPUTS>,
    /// What the last two symbols were: their groups, or introductions, or guesses.
    before: [usize; 2],
    recent: [u32; RECENT],
}

impl Model {
    /// Bits of the number of a place in the tables, and in each of them.
    fn sizes(symbols: u64) -> (u32, [u32; INPUTS]) {
        let bits = (u64::BITS - symbols.leading_zeros()).clamp(12, 24);
        // Contexts of the first three inputs are few.
        (bits, [bits.min(18), bits.min(20), bits.min(22), bits, bits])
    }

    /// Bytes that a model for so many symbols takes.
    fn bytes(symbols: u64) -> u64 {
        let (bits, sizes) = Self::sizes(symbols);
        let memories = (MEMORIES * size_of::<[u32; GUESSES]>()) << (bits - 2);
        let tables: usize = sizes.iter().map(|bits| size_of::<Estimate>() << bits).sum();
        (memories + tables) as u64
    }

    fn new(symbols: u64) -> Self {
        let (bits, sizes) = Self::sizes(symbols);
        let memory = || Memory { bits: bits - 2, rows: vec![[0; GUESSES]; 1 << (bits - 2)] };
        Self {
            memories: [memory(), memory(), memory()],
            tables: sizes.map(|bits| vec![Estimate::EVEN; 1 << bits]),
            mixer: Mixer::new(STAGES * ROW, PACE),
            before: [AFTER_INTRODUCTION; 2],
            recent: [0; RECENT],
        }
    }

    /// The row of a stage in this context.
    fn row(&self, stage: Stage, context: &Context) -> Row {
        let number = stage.number();
        let [before, second] = self.before.map(|group| group as u64);
        let contexts = [
            number,
            mix(number, before + 1),
            mix(number, (before + 1) << 8 | (second + 1) << 24),
            mix(number, u64::from(context.token) | 1 << 40),
            mix(number, u64::from(context.second_symbol) | 1 << 41),
        ];
        let starts = std::array::from_fn(|input| {
            let rows = self.tables[input].len() / ROW;
            usize_of(hash(contexts[input]) >> (u64::BITS - rows.ilog2())) * ROW
        });
        Row { starts, weights: stage.kind() * ROW }
    }

    /// Takes the decision at a place of a row.
    #[inline]
    fn decide(&mut self, decoder: &mut BitDecoder<'_>, row: &Row, place: usize) -> bool {
        let mut starts = row.starts.into_iter();
        let mut start = || starts.next().expect("one for each table");
        let estimates = self.tables.each_mut().map(|table| &mut table[start() + place]);
        self.mixer.code(decoder, false, row.weights + place, estimates, 1)
    }

    /// Takes a number of up to five bits, the highest first, in a tree that starts at a place of a row.
    fn tree(&mut self, decoder: &mut BitDecoder<'_>, count: u32, row: &Row, start: usize) -> u32 {
        let mut path = 1_u32;
        for _ in 0..count {
            path = path << 1 | u32::from(self.decide(decoder, row, start + path as usize));
        }
        path ^ 1 << count
    }

    /// Takes a symbol: gives its ordinal, or `None` where it cannot be. `next` items were introduced.
    fn symbol(
        &mut self,
        decoder: &mut BitDecoder<'_>,
        next: u32,
        context: &Context,
        items: &Introduced,
    ) -> Option<u32> {
        let row = self.row(Stage::Guess, context);
        let introduced = self.decide(decoder, &row, place::INTRODUCTION);
        let rows = [
            mix(context.token.into(), u64::from(context.second_token) + 1),
            mix(context.second_symbol.into(), 1 << 42),
            mix(context.token.into(), 1 << 43),
        ];
        let rows: [usize; MEMORIES] =
            std::array::from_fn(|index| self.memories[index].row(rows[index]));
        let (ordinal, group) = if introduced {
            (next, AFTER_INTRODUCTION)
        } else if let Some(ordinal) = self.guess(decoder, &rows, &row) {
            (ordinal, AFTER_GUESS)
        } else {
            self.described(decoder, context, items)?
        };
        if ordinal > next || (ordinal == next && !introduced) {
            return None;
        }
        let entry = ordinal.checked_add(1)?;
        for (memory, row) in self.memories.iter_mut().zip(rows) {
            memory.remember(row, entry);
        }
        self.before = [group, self.before[0]];
        self.recent = [ordinal, self.recent[0], self.recent[1], self.recent[2]];
        Some(ordinal)
    }

    /// Goes through what stood here before.
    fn guess(
        &mut self,
        decoder: &mut BitDecoder<'_>,
        rows: &[usize; MEMORIES],
        decisions: &Row,
    ) -> Option<u32> {
        let mut rejected = [0_u32; MEMORIES * GUESSES];
        let mut count = 0;
        for (memory, &row) in rows.iter().enumerate() {
            let row = self.memories[memory].rows[row];
            for (place, &entry) in row.iter().enumerate().take_while(|(_, entry)| **entry != 0) {
                if rejected[..count].contains(&entry) {
                    continue;
                }
                let place = place::GUESS + memory * GUESSES + place;
                if self.decide(decoder, decisions, place) {
                    return Some(entry - 1);
                }
                rejected[count] = entry;
                count += 1;
            }
        }
        None
    }

    /// Takes a reference by its class and raw bits; gives the ordinal and the group.
    fn described(
        &mut self,
        decoder: &mut BitDecoder<'_>,
        context: &Context,
        items: &Introduced,
    ) -> Option<(u32, usize)> {
        let row = self.row(Stage::HighGroup, context);
        let high = self.tree(decoder, HIGH_GROUP_BITS, &row, place::TREE);
        let row = self.row(Stage::LowGroup { high }, context);
        let low = self.tree(decoder, LOW_GROUP_BITS, &row, place::TREE);
        let group = high << LOW_GROUP_BITS | low;
        if group as usize >= GROUPS {
            return None;
        }
        let row = self.row(Stage::Length { group }, context);
        let length = self.tree(decoder, LENGTH_BITS, &row, place::TREE);
        let row = self.row(Stage::Raw { group, length }, context);
        let group = group as usize;
        if let Some(frequency) = group.checked_sub(RECENT) {
            let since = 1 << length | self.raw(decoder, length, &row);
            return items.by_frequency(frequency, since).map(|ordinal| (ordinal, group));
        }
        let backwards = self.decide(decoder, &row, place::SIGN);
        let distance = match length {
            0 => 0,
            _ => 1 << (length - 1) | self.raw(decoder, length - 1, &row),
        };
        let from = self.recent[group];
        let ordinal =
            if backwards { from.checked_sub(distance) } else { from.checked_add(distance) };
        ordinal.map(|ordinal| (ordinal, group))
    }

    /// Takes raw bits, of which only the highest are predicted.
    fn raw(&mut self, decoder: &mut BitDecoder<'_>, count: u32, row: &Row) -> u32 {
        let predicted = count.min(PREDICTED_BITS);
        let rest = count - predicted;
        let high = self.tree(decoder, predicted, row, place::RAW);
        high << rest | decoder.bits(0, rest)
    }
}

/// The first tokens of symbols, as far as they are known, and what follows a position.
struct Following<'l> {
    layout: &'l Layout,
    token_count: u32,
    /// First and second token of each rule that was coded; tokens are their own first.
    first: SpillVec<u32>,
    second: SpillVec<u32>,
    /// The rule or document that is being coded ends here.
    end: usize,
    start: usize,
    rule: u32,
    document: usize,
}

impl<'l> Following<'l> {
    /// Bytes that it takes.
    fn bytes(layout: &Layout) -> u64 {
        2 * size_of::<u32>() as u64 * layout.rule_starts.len() as u64
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the layout has checked that rules are 32 bits in number"
    )]
    fn new(layout: &'l Layout, spill: &Spill) -> Self {
        let rules = layout.rule_starts.len() as u32 - 1;
        Self {
            layout,
            token_count: layout.token_count,
            first: spill.filled(NOTHING, rules as usize),
            second: spill.filled(NOTHING, rules as usize),
            end: usize::MAX,
            start: usize::MAX,
            rule: rules,
            document: layout.document_starts.len() - 1,
        }
    }

    fn first(&self, symbol: u32) -> u32 {
        match symbol.checked_sub(self.token_count) {
            None => symbol,
            Some(rule) => self.first[rule as usize],
        }
    }

    /// What follows `position`; `symbol_at` gives the symbols behind it.
    fn context(&mut self, symbol_at: impl Fn(usize) -> u32, position: usize) -> Context {
        while position < self.start || self.end == usize::MAX {
            self.previous_body();
        }
        let at = |position| if position < self.end { symbol_at(position) } else { NOTHING };
        let (symbol, second_symbol) = (at(position + 1), at(position + 2));
        if symbol == NOTHING {
            return Context { token: NOTHING, second_token: NOTHING, second_symbol };
        }
        let second_token = match symbol.checked_sub(self.token_count) {
            Some(rule) => self.second[rule as usize],
            None if second_symbol == NOTHING => NOTHING,
            None => self.first(second_symbol),
        };
        Context { token: self.first(symbol), second_token, second_symbol }
    }

    /// Goes to the body before the one that is being coded: rules from the last, then documents.
    fn previous_body(&mut self) {
        if self.rule > 0 {
            self.rule -= 1;
            let rule = self.rule as usize;
            self.start = self.layout.rule_starts[rule] as usize;
            self.end = self.layout.rule_starts[rule + 1] as usize;
        } else {
            self.document -= 1;
            self.start = self.layout.document_starts[self.document] as usize;
            self.end = self.layout.document_starts[self.document + 1] as usize;
        }
    }

    /// `position` was coded; if a rule is complete, its first tokens are known.
    fn coded(&mut self, symbol_at: impl Fn(usize) -> u32, position: usize) {
        let root_end = self.layout.rule_starts[0] as usize;
        if position == self.start && position >= root_end {
            let rule = self.rule as usize;
            let head = symbol_at(position);
            self.first[rule] = self.first(head);
            self.second[rule] = match head.checked_sub(self.token_count) {
                Some(child) => self.second[child as usize],
                None => self.first(symbol_at(position + 1)),
            };
        }
    }
}

/// Symbols between two looks at whether the work is cancelled: some milliseconds.
const LOOK_UP_EVERY: usize = 1 << 12;

/// Items to a decoder: those of each frequency class that were introduced so far.
struct Introduced {
    ordinals: SpillVec<u32>,
    /// Where those of each class start, and how many of them were introduced.
    starts: [u32; 2 * FREQUENCY_CLASSES + 1],
    counts: [u32; 2 * FREQUENCY_CLASSES],
}

impl Introduced {
    /// None of all items.
    fn new(items: &Items) -> Self {
        let mut starts = [0; 2 * FREQUENCY_CLASSES + 1];
        items.frequencies.iter().for_each(|&frequency| starts[frequency as usize + 1] += 1);
        for class in 1..starts.len() {
            starts[class] += starts[class - 1];
        }
        let ordinals = items.symbols.spill().filled(0, items.symbols.len());
        Self { ordinals, starts, counts: [0; 2 * FREQUENCY_CLASSES] }
    }

    fn push(&mut self, frequency: u8, ordinal: u32) {
        let count = &mut self.counts[frequency as usize];
        self.ordinals[(self.starts[frequency as usize] + *count) as usize] = ordinal;
        *count += 1;
    }

    /// The ordinal of the item that many of its frequency class before the last introduced one.
    fn by_frequency(&self, frequency: usize, since: u32) -> Option<u32> {
        let place = self.counts[frequency].checked_sub(since)?;
        // 0 would be the one behind the last.
        (since > 0).then(|| self.ordinals[(self.starts[frequency] + place) as usize])
    }
}

/// Symbols in a byte at the most: each is at least one decision, and none costs less than
/// log2(65536 / 65512) bits, 15,000 of which are a byte.
const MOST_PER_BYTE: u64 = 1 << 14;
/// Symbols in a byte that room is made for in advance.
const USUAL_PER_BYTE: usize = 64;

/// Symbols that are counted at a time.
const COUNTED_AT_ONCE: usize = 1 << 16;

/// Decodes the symbols of a grammar of this layout. Takes what they need of the first share, and what decoding them needs
/// of the second one.
pub(super) fn decode(
    section: &[u8],
    items: &Items,
    layout: &Layout,
    [share, work]: [&Share; 2],
    cancel: &CancelFlag,
) -> Result<SpillVec<u32>> {
    let mut reader = Reader::new(section, "section SYMD");
    let count = reader.varint()?;
    let expected = layout.symbol_count();
    if count != expected {
        return Err(reader.malformed(format!("{count} symbols, where the rules have {expected}")));
    }
    if count > section.len() as u64 * MOST_PER_BYTE {
        return Err(
            reader.malformed(format!("{count} symbols cannot be in {} bytes", section.len()))
        );
    }
    let malformed = || Error::malformed("section SYMD: a symbol refers to nothing");
    // From the last to the first. Grows with what is really there, which so many bytes seldom pass.
    work.grow(Model::bytes(count) + Following::bytes(layout), WHAT)?;
    // Items that were introduced, by frequency.
    work.grow(size_of::<u32>() as u64 * items.symbols.len() as u64, WHAT)?;
    let count = usize_of(count);
    let usual = count.min(USUAL_PER_BYTE * section.len());
    share.grow((size_of::<u32>() * usual) as u64, WHAT)?;
    let mut symbols: SpillVec<u32> = share.spill().with_capacity(usual);
    let mut counted = usual;
    let mut following = Following::new(layout, share.spill());
    let mut model = Model::new(count as u64);
    let mut decoder = BitDecoder::new(reader.rest());
    let mut introduced = Introduced::new(items);
    let mut next = 0_u32;
    let mut stage = cancel.stage(Level::Dense.decoding_work());
    for position in (0..count).rev() {
        if position % LOOK_UP_EVERY == 0 {
            cancel.check()?;
            stage.reach((count - position) as u64, count as u64);
        }
        let context = following.context(|other| symbols[count - 1 - other], position);
        let ordinal =
            model.symbol(&mut decoder, next, &context, &introduced).ok_or_else(malformed)?;
        let symbol = *items.symbols.get(ordinal as usize).ok_or_else(malformed)?;
        if ordinal == next {
            introduced.push(items.frequencies[ordinal as usize], ordinal);
            next += 1;
        }
        // A rule uses only rules behind it, whose first tokens are known by now.
        if position >= layout.rule_starts[0] as usize
            && symbol >= layout.token_count
            && symbol - layout.token_count <= following.rule
        {
            return Err(Error::malformed(
                "section SYMD: a rule uses one that is not described yet",
            ));
        }
        if decoder.is_exhausted() {
            return Err(Error::malformed("section SYMD: it ends early"));
        }
        if symbols.len() == counted {
            let more = COUNTED_AT_ONCE.max(counted / 2);
            share.grow((size_of::<u32>() * more) as u64, WHAT)?;
            symbols.reserve_exact(more);
            counted += more;
        }
        symbols.push(symbol);
        following.coded(|other| symbols[count - 1 - other], position);
    }
    if next as usize != items.symbols.len() {
        return Err(Error::malformed(format!(
            "section SYMD: {next} of {} items occur",
            items.symbols.len()
        )));
    }
    decoder.finish()?;
    symbols.reverse();
    Ok(symbols)
}
