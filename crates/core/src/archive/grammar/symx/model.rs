//! What encoder and decoder learn of a stream of symbols, and how a symbol becomes decisions.

use super::recency::GROUPS;
use crate::archive::grammar::symbol_class::RECENT;
use crate::archive::mixing::{BitCoder, Estimate, Mixer, Pace};
use crate::usize_of;

/// Symbols remembered under a context.
const GUESSES: usize = 4;
/// Contexts under which symbols are remembered.
const MEMORIES: usize = 3;
/// No token or symbol: the text ends here, or a body or stream does.
pub(super) const NOTHING: u32 = u32::MAX;
/// The group of [`NOTHING`].
pub(super) const NO_GROUP: u8 = GROUPS as u8;
/// Estimates of every decision.
const INPUTS: usize = 5;
/// Ways to describe a symbol: by one of the last, or by its group. What came before may also be an
/// introduction or a guess.
const WAYS: u32 = (RECENT + GROUPS) as u32;
const INTRODUCTION: u8 = WAYS as u8;
const GUESS: u8 = WAYS as u8 + 1;
/// Bits of a way, of a bit length, and raw bits that are predicted.
const HIGH_BITS: u32 = 3;
const LOW_BITS: u32 = 5;
const LENGTH_BITS: u32 = 5;
const PREDICTED_BITS: u32 = 2;

/// Decisions come in rows: those that depend on the same context and lie side by side in memory.
const ROW: usize = 32;
/// Places of decisions in the first row of a symbol; a tree of five bits fills the others.
mod place {
    pub(super) const INTRODUCTION: usize = 0;
    pub(super) const GUESS: usize = 1;
    pub(super) const ANY_GUESS: usize = 13;
    pub(super) const HIGH: usize = 24;
    pub(super) const TREE: usize = 0;
}
/// Candidates that share a place at [`place::ANY_GUESS`].
const COUNTS_A_PLACE: usize = 4;
/// Estimates of the sign and the first raw bits, for each way and bit length.
const RAW: usize = 4;

/// How fast this model learns.
const PACE: Pace = Pace { slowest: 127, rate: 10 };
/// No introduction is more certain, in units of 2^-12: every symbol costs at least 0.0056 bits.
const LEAST: i32 = 16;

/// What the decisions of a row are about.
#[derive(Clone, Copy)]
enum Stage {
    First,
    Low { high: u32 },
    Length { way: u32 },
}

/// How many kinds of stages there are; each place of each has weights of its own.
const STAGES: usize = 3;

impl Stage {
    fn kind(self) -> usize {
        match self {
            Self::First => 0,
            Self::Low { .. } => 1,
            Self::Length { .. } => 2,
        }
    }

    /// A number for each stage.
    fn number(self) -> u64 {
        let detail = match self {
            Self::First => 0,
            Self::Low { high } => high,
            Self::Length { way } => way,
        };
        u64::from(detail) << 2 | self.kind() as u64
    }
}

/// Estimates of decisions that lie side by side in memory.
#[derive(Clone, Copy)]
#[repr(align(128))]
struct Estimates([Estimate; ROW]);

/// A row of decisions: its estimates in each of the tables, and its weights.
struct Row<'m> {
    estimates: [&'m mut Estimates; INPUTS],
    mixer: &'m mut Mixer<INPUTS>,
    weights: usize,
}

impl Row<'_> {
    /// Codes the decision at a place.
    #[inline(always)]
    fn decide(&mut self, coder: &mut impl BitCoder, bit: bool, place: usize, least: i32) -> bool {
        let place = place % ROW;
        let estimates = self.estimates.each_mut().map(|row| &mut row.0[place]);
        self.mixer.code(coder, bit, self.weights + place, estimates, least)
    }

    /// Codes a number of up to five bits, the highest first, in a tree that starts at a place.
    #[inline(always)]
    fn tree(&mut self, coder: &mut impl BitCoder, value: u32, count: u32, start: usize) -> u32 {
        let mut path = 1_u32;
        for index in (0..count).rev() {
            let bit = value >> index & 1 == 1;
            path = path << 1 | u32::from(self.decide(coder, bit, start + path as usize, 1));
        }
        path ^ 1 << count
    }
}

/// What follows a symbol.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The next two tokens, as far as they are known.
    pub(super) tokens: [u32; 2],
    /// The symbol behind the next symbol.
    pub(super) second_symbol: u32,
    /// The groups of the next two symbols.
    pub(super) groups: [u8; 2],
}

/// How a symbol is referred to that is neither introduced nor guessed.
#[derive(Clone, Copy, Default)]
pub(super) struct Description {
    /// Which of the last symbols, or [`RECENT`] and a group.
    pub(super) way: u32,
    pub(super) length: u32,
    pub(super) backwards: bool,
    /// The bits below the highest one.
    pub(super) raw: u32,
}

/// The other half of coding: what the symbol is to an encoder, and what groups hold.
pub(super) trait Items {
    /// How to describe the symbol, given the last ones; a decoder says anything.
    fn describe(&mut self, recent: &[u32; RECENT]) -> Description;

    /// The ordinal of the item that is `since`-th from the end of its group, which is at the end of
    /// it from now on, or away from it if it does not come again.
    fn by_frequency(&mut self, group: usize, since: u32) -> Option<u32>;
}

fn mix(left: u64, right: u64) -> u64 {
    (left ^ hash(right)).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(29)
}

fn hash(value: u64) -> u64 {
    value.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// All that is learnt.
#[derive(Clone)]
pub(super) struct Model {
    /// Symbols that stood in a context, by their ordinals plus one, the latest first; 0 is none.
    memories: [Vec<[u32; GUESSES]>; MEMORIES],
    memory_bits: u32,
    tables: [Vec<Estimates>; INPUTS],
    raw: Vec<Estimate>,
    mixer: Mixer<INPUTS>,
    /// What the last two symbols were: their ways, or introductions, or guesses.
    before: [u8; 2],
    recent: [u32; RECENT],
}

impl Model {
    /// Bits of the number of a row of memories, and of one of each of the tables.
    fn sizes(symbols: u64) -> (u32, [u32; INPUTS]) {
        let bits = (u64::BITS - symbols.leading_zeros()).clamp(12, 20);
        (bits - 2, [bits.min(14), bits, bits.min(18), bits, bits].map(|bits| bits - ROW.ilog2()))
    }

    /// Bytes that a model for streams of at most so many symbols takes.
    pub(super) fn bytes(symbols: u64) -> u64 {
        let (memory, sizes) = Self::sizes(symbols);
        let memories = (MEMORIES * size_of::<[u32; GUESSES]>()) << memory;
        let tables: usize = sizes.iter().map(|bits| size_of::<Estimates>() << bits).sum();
        (memories + tables + (1 << 17)) as u64
    }

    pub(super) fn new(symbols: u64) -> Self {
        let (memory_bits, sizes) = Self::sizes(symbols);
        Self {
            memories: std::array::from_fn(|_| vec![[0; GUESSES]; 1 << memory_bits]),
            memory_bits,
            tables: sizes.map(|bits| vec![Estimates([Estimate::EVEN; ROW]); 1 << bits]),
            raw: vec![Estimate::EVEN; (WAYS as usize) << LENGTH_BITS << RAW.ilog2()],
            mixer: Mixer::new(STAGES * ROW, PACE),
            before: [INTRODUCTION; 2],
            recent: [0; RECENT],
        }
    }

    /// What was learnt, for a stream that starts.
    pub(super) fn for_stream(&self) -> Self {
        Self { before: [INTRODUCTION; 2], recent: [0; RECENT], ..self.clone() }
    }

    /// The row of a stage in this context.
    #[inline(always)]
    fn row(&mut self, stage: Stage, context: &Context) -> Row<'_> {
        let number = stage.number();
        let pair = |[high, low]: [u8; 2]| u64::from(high) << 8 | u64::from(low);
        let mut contexts = [
            number,
            mix(number, pair(self.before) | 1 << 40),
            mix(number, u64::from(context.groups[0]) | 2 << 40),
            mix(number, pair(context.groups) | 3 << 40),
            mix(number, u64::from(context.second_symbol) | 4 << 40),
        ]
        .into_iter();
        let estimates = self.tables.each_mut().map(|table| {
            let context = contexts.next().expect("one for each table");
            let bits = table.len().ilog2();
            &mut table[usize_of(hash(context) >> (u64::BITS - bits))]
        });
        Row { estimates, mixer: &mut self.mixer, weights: stage.kind() * ROW }
    }

    /// Codes a symbol: gives its ordinal, or `None` where it cannot be. `next` items were
    /// introduced.
    #[inline(always)]
    pub(super) fn symbol(
        &mut self,
        coder: &mut impl BitCoder,
        wanted: u32,
        next: u32,
        context: &Context,
        items: &mut impl Items,
    ) -> Option<u32> {
        let [token, second_token] = context.tokens.map(u64::from);
        let contexts = [
            mix(token, second_token + 1),
            mix(context.second_symbol.into(), 1 << 42),
            mix(token, 1 << 43),
        ];
        let recent = self.recent;
        let rows =
            contexts.map(|context| usize_of(hash(context) >> (u64::BITS - self.memory_bits)));
        let remembered = std::array::from_fn(|memory| self.memories[memory][rows[memory]]);
        let mut row = self.row(Stage::First, context);
        let introduced = row.decide(coder, wanted == next, place::INTRODUCTION, LEAST);
        let (ordinal, way) = if introduced {
            (next, INTRODUCTION)
        } else if let Some(ordinal) = guess(coder, wanted, &remembered, &mut row) {
            (ordinal, GUESS)
        } else {
            let description = items.describe(&recent);
            let high = row.tree(coder, description.way >> LOW_BITS, HIGH_BITS, place::HIGH);
            self.described(coder, description, high, context, items)?
        };
        if ordinal > next || (ordinal == next && !introduced) {
            return None;
        }
        let entry = ordinal.checked_add(1)?;
        for (memory, row) in self.memories.iter_mut().zip(rows) {
            let row = &mut memory[row];
            let place = row.iter().position(|&other| other == entry).unwrap_or(GUESSES - 1);
            row[..=place].rotate_right(1);
            row[0] = entry;
        }
        self.before = [way, self.before[0]];
        self.recent = [ordinal, self.recent[0], self.recent[1], self.recent[2]];
        Some(ordinal)
    }

    /// Codes a reference by its way, of which the high bits are coded, its bit length and raw bits;
    /// gives the ordinal and the way.
    #[inline(always)]
    fn described(
        &mut self,
        coder: &mut impl BitCoder,
        Description { way, length, backwards, raw }: Description,
        high: u32,
        context: &Context,
        items: &mut impl Items,
    ) -> Option<(u32, u8)> {
        let low = way & ((1 << LOW_BITS) - 1);
        let mut row = self.row(Stage::Low { high }, context);
        let low = row.tree(coder, low, LOW_BITS, place::TREE);
        let way = high << LOW_BITS | low;
        if way >= WAYS {
            return None;
        }
        let mut row = self.row(Stage::Length { way }, context);
        let length = row.tree(coder, length, LENGTH_BITS, place::TREE);
        let estimates = ((way << LENGTH_BITS | length) as usize) * RAW;
        let ordinal = if let Some(group) = way.checked_sub(RECENT as u32) {
            let since = 1 << length | self.raw(coder, raw, length, estimates);
            items.by_frequency(group as usize, since)?
        } else {
            let backwards = self.mixer.code_alone(coder, backwards, &mut self.raw[estimates]);
            let distance = match length {
                0 => 0,
                _ => 1 << (length - 1) | self.raw(coder, raw, length - 1, estimates),
            };
            let from = self.recent[way as usize];
            if backwards { from.checked_sub(distance)? } else { from.checked_add(distance)? }
        };
        Some((ordinal, way as u8))
    }

    /// Codes raw bits, of which only the highest are worth predicting.
    #[inline(always)]
    fn raw(&mut self, coder: &mut impl BitCoder, value: u32, count: u32, estimates: usize) -> u32 {
        let predicted = count.min(PREDICTED_BITS);
        let mut path = 1;
        for index in (count - predicted..count).rev() {
            let estimate = &mut self.raw[estimates + path as usize];
            let bit = self.mixer.code_alone(coder, value >> index & 1 == 1, estimate);
            path = path << 1 | u32::from(bit);
        }
        let high = path ^ 1 << predicted;
        let rest = count - predicted;
        high << rest | coder.bits(value & ((1 << rest) - 1), rest)
    }
}

/// Says whether it is one of the symbols that stood here before, and which.
#[inline(always)]
fn guess(
    coder: &mut impl BitCoder,
    wanted: u32,
    remembered: &[[u32; GUESSES]; MEMORIES],
    row: &mut Row<'_>,
) -> Option<u32> {
    let mut candidates = [(0_u32, 0_usize); MEMORIES * GUESSES];
    let mut count = 0;
    for (memory, entries) in remembered.iter().enumerate() {
        for (place, &entry) in entries.iter().enumerate().take_while(|(_, entry)| **entry != 0) {
            if candidates[..count].iter().all(|&(other, _)| other != entry) {
                candidates[count] = (entry, place::GUESS + memory * GUESSES + place);
                count += 1;
            }
        }
    }
    let (&(last, _), others) = candidates[..count].split_last()?;
    let entry = wanted.wrapping_add(1);
    let known = candidates[..count].iter().any(|&(candidate, _)| candidate == entry);
    let place = place::ANY_GUESS + (count - 1) / COUNTS_A_PLACE;
    if !row.decide(coder, known, place, 1) {
        return None;
    }
    for &(candidate, place) in others {
        if row.decide(coder, candidate == entry, place, 1) {
            return Some(candidate - 1);
        }
    }
    Some(last - 1)
}
