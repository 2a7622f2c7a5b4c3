//! From a grammar to bytes.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::symbol_class::{self, MOST_NEARBY_BITS, RECENT};
use super::{BLOCK, Encoded, EncodedSymbols, FREQUENCY_CLASSES, frequency_class, item_class, symx};
use crate::archive::integers::{self, bit_length};
use crate::archive::rans::{Encoder, Model};
use crate::archive::types::Level;
use crate::archive::wire::put_varint;
use crate::grammar::Grammar;
use crate::parallel::{map_concat, tally};
use crate::{CancelFlag, Cancelled};

/// One of so many blocks is looked at to estimate what classes cost.
const SAMPLE: usize = 8;

/// What the coder must know of an item.
#[derive(Clone, Copy)]
pub(super) struct Item {
    /// How many items were introduced before it.
    pub(super) ordinal: u32,
    /// How many items of its frequency class were introduced before it.
    pub(super) rank: u32,
    /// Its frequency class; those of rules come behind those of tokens.
    pub(super) frequency: u8,
}

/// How one symbol is coded: its class, and the raw bits behind it.
#[derive(Clone, Copy)]
struct Step {
    class: u16,
    bits: u8,
    value: u32,
}

/// What was introduced before a block.
#[derive(Clone)]
struct BlockStart {
    items: u32,
    by_frequency: Box<[u32; 2 * FREQUENCY_CLASSES]>,
}

/// Encodes a grammar, on all threads.
///
/// # Panics
/// If a token or rule is never used, or rules are not numbered in the order in which their last uses
/// stand (Kahn's order); every grammar of the builders is.
pub(crate) fn encode(
    grammar: &Grammar,
    level: Level,
    cancel: &CancelFlag,
) -> Result<Encoded, Cancelled> {
    let (items, introduced, starts) = introduce(grammar);
    let fast = || -> Result<Vec<u8>, Cancelled> {
        let blocks: Vec<(&BlockStart, &[u32])> =
            starts.iter().zip(grammar.symbols().rchunks(BLOCK)).collect();
        // What classes cost, from a sample: at first as if all cost the same, then as the sample has
        // them.
        let mut costs = vec![8.0_f32; symbol_class::COUNT];
        for _ in 0..2 {
            cancel.check()?;
            let sample = blocks.iter().step_by(SAMPLE).copied().collect::<Vec<_>>();
            costs = class_costs(&count_classes(&sample, &items, &costs));
        }
        Ok(encode_symbols(&blocks, &items, introduced.len() as u32, &costs))
    };
    let fast_symbols = {
        let _stage = (level == Level::Fast).then(|| cancel.stage(level.encoding_work()));
        fast()?
    };
    let fast_bytes = fast_symbols.len() as u64;
    let symbols = match level {
        Level::Fast => EncodedSymbols::Fast(fast_symbols),
        // What fast ones take was found on the way: it costs little, and people want to know.
        Level::Dense => EncodedSymbols::Dense(symx::encode(grammar, &items, &introduced, cancel)?),
    };
    let mut root = Vec::new();
    let documents = grammar.document_starts();
    integers::write(&mut root, documents.windows(2).map(|pair| u64::from(pair[1] - pair[0])));
    let items = encode_items(grammar, &items, &introduced);
    Ok(Encoded { items, symbols, root, fast_symbols: fast_bytes })
}

/// The section `SYMB`.
fn encode_symbols(
    blocks: &[(&BlockStart, &[u32])],
    items: &[Item],
    item_count: u32,
    costs: &[f32],
) -> Vec<u8> {
    // Looking items up is what costs: it is done once, and what was chosen is kept until it is coded.
    let chosen: Vec<Vec<Step>> = blocks
        .par_iter()
        .map(|(start, block)| {
            let mut steps = Vec::with_capacity(block.len());
            code_block(start, block, items, costs, |step| steps.push(step));
            steps
        })
        .collect();
    let counts = counted(chosen.par_iter(), symbol_class::COUNT, |counts, steps| {
        steps.iter().for_each(|step| counts[step.class as usize] += 1);
    });
    let model = Model::from_counts(&counts);
    let streams: Vec<Vec<u8>> = chosen
        .into_par_iter()
        .map_init(Encoder::default, |encoder, steps| {
            for step in steps {
                encoder.class(&model, step.class.into());
                encoder.bits(step.value, step.bits.into());
            }
            let mut stream = Vec::new();
            encoder.write(&mut stream);
            stream
        })
        .collect();
    let mut section = Vec::new();
    put_varint(&mut section, blocks.iter().map(|(_, block)| block.len() as u64).sum());
    model.write(&mut section);
    let ends = blocks.iter().skip(1).map(|(start, _)| start.items).chain([item_count]);
    for (((start, _), end), stream) in blocks.iter().zip(ends).zip(&streams) {
        put_varint(&mut section, u64::from(end - start.items));
        put_varint(&mut section, stream.len() as u64);
    }
    for stream in streams {
        section.extend_from_slice(&stream);
    }
    section
}

/// What is known of an item while blocks are read: how often it is used, and where it stands for the last time, which is where
/// it is introduced. In the end that is its ordinal.
#[derive(Default)]
struct State {
    uses: u32,
    last: AtomicU32,
}

/// All items, the symbols in the order of their introduction, and what was introduced before each block.
fn introduce(grammar: &Grammar) -> (Vec<Item>, Vec<u32>, Vec<BlockStart>) {
    let token_count = grammar.token_count();
    let symbols = grammar.symbols();
    let count = token_count as usize + grammar.rule_count() as usize;
    let mut states: Vec<State> = (0..count).map(|_| State::default()).collect();
    tally(&mut states, 0, &[symbols], 1, |state, place| {
        state.uses += 1;
        *state.last.get_mut() = place;
    });
    let states = states;
    // Each block, and the place of its first symbol. The first of all is 1.
    let blocks: Vec<(&[u32], u32)> = symbols
        .rchunks(BLOCK)
        .scan(symbols.len() as u32 + 1, |place, block| {
            *place -= block.len() as u32;
            Some((block, *place))
        })
        .collect();
    let frequency = |symbol: u32| {
        let rules = if symbol < token_count { 0 } else { FREQUENCY_CLASSES };
        (rules + frequency_class(states[symbol as usize].uses)) as u8
    };
    // What each block introduces, and how much of that has which frequency.
    let own: Vec<(Vec<u32>, Box<[u32; 2 * FREQUENCY_CLASSES]>)> = blocks
        .par_iter()
        .map(|&(block, first)| {
            let mut by_frequency = Box::new([0_u32; 2 * FREQUENCY_CLASSES]);
            let is_last = |&(symbol, place): &(u32, u32)| {
                states[symbol as usize].last.load(Ordering::Relaxed) == place
            };
            let places = block.iter().copied().zip(first..first + block.len() as u32).rev();
            let own: Vec<u32> = places.filter(is_last).map(|(symbol, _)| symbol).collect();
            own.iter().for_each(|&symbol| by_frequency[usize::from(frequency(symbol))] += 1);
            (own, by_frequency)
        })
        .collect();
    let mut starts: Vec<BlockStart> = Vec::with_capacity(blocks.len());
    let mut next = BlockStart { items: 0, by_frequency: Box::new([0_u32; 2 * FREQUENCY_CLASSES]) };
    for (own, by_frequency) in &own {
        starts.push(next.clone());
        next.items += own.len() as u32;
        let sums = next.by_frequency.iter_mut().zip(by_frequency.iter());
        sums.for_each(|(sum, count)| *sum += count);
    }
    assert_eq!(next.items as usize, count, "every token and rule is used");
    let ranks: Vec<AtomicU32> = (0..count).into_par_iter().map(|_| AtomicU32::new(0)).collect();
    own.par_iter().zip(&starts).for_each(|((own, _), start)| {
        let mut by_frequency = start.by_frequency.clone();
        let rules: u32 = by_frequency[FREQUENCY_CLASSES..].iter().sum();
        let mut next_rule = count as u32 - rules;
        for (&symbol, ordinal) in own.iter().zip(start.items..) {
            if symbol >= token_count {
                next_rule -= 1;
                assert_eq!(symbol, next_rule, "rules are numbered by their last uses");
            }
            states[symbol as usize].last.store(ordinal, Ordering::Relaxed);
            let rank = &mut by_frequency[usize::from(frequency(symbol))];
            ranks[symbol as usize].store(*rank, Ordering::Relaxed);
            *rank += 1;
        }
    });
    let items = (0..count as u32).into_par_iter().map(|symbol| Item {
        ordinal: states[symbol as usize].last.load(Ordering::Relaxed),
        rank: ranks[symbol as usize].load(Ordering::Relaxed),
        frequency: frequency(symbol),
    });
    let own: Vec<&[u32]> = own.iter().map(|(own, _)| &own[..]).collect();
    (items.collect(), map_concat(&own, |_, symbol| symbol), starts)
}

/// Calls `emit` with the cheapest coding of every symbol of a block.
#[inline(always)]
fn code_block(
    start: &BlockStart,
    block: &[u32],
    items: &[Item],
    costs: &[f32],
    mut emit: impl FnMut(Step),
) {
    let mut next = start.items;
    let mut by_frequency = start.by_frequency.clone();
    let mut recent = [0_u32; RECENT];
    for &symbol in block.iter().rev() {
        let item = items[symbol as usize];
        if item.ordinal == next {
            emit(Step { class: symbol_class::INTRODUCTION as u16, bits: 0, value: 0 });
            next += 1;
            by_frequency[item.frequency as usize] += 1;
        } else {
            let since = by_frequency[item.frequency as usize] - item.rank;
            let bits = since.ilog2();
            let mut class = symbol_class::by_frequency(item.frequency.into(), bits);
            let mut value = (since ^ 1 << bits, bits);
            let mut cost = costs[class] + bits as f32;
            for (index, &other) in recent.iter().enumerate() {
                let distance = item.ordinal.abs_diff(other);
                let length = bit_length(distance.into());
                if length <= MOST_NEARBY_BITS {
                    let other_class = symbol_class::nearby(index, length, item.ordinal < other);
                    let raw = length.saturating_sub(1);
                    let other_cost = costs[other_class] + raw as f32;
                    if other_cost < cost {
                        class = other_class;
                        value = (distance & ((1 << raw) - 1), raw);
                        cost = other_cost;
                    }
                }
            }
            emit(Step { class: class as u16, bits: value.1 as u8, value: value.0 });
        }
        recent = [item.ordinal, recent[0], recent[1], recent[2]];
    }
}

fn count_classes(blocks: &[(&BlockStart, &[u32])], items: &[Item], costs: &[f32]) -> Vec<u64> {
    counted(blocks.par_iter(), symbol_class::COUNT, |counts, (start, block)| {
        code_block(start, block, items, costs, |step| counts[step.class as usize] += 1);
    })
}

/// The sums of so many counts, to which `count` adds what each block has.
fn counted<B: ParallelIterator>(
    blocks: B,
    classes: usize,
    count: impl Fn(&mut [u64], B::Item) + Sync,
) -> Vec<u64> {
    let zero = || vec![0_u64; classes];
    let counts = blocks.fold(zero, |mut counts, block| {
        count(&mut counts, block);
        counts
    });
    counts.reduce(zero, |mut sum, counts| {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        sum
    })
}

/// Bits for each class; a class that was not seen may still be, at a price.
fn class_costs(counts: &[u64]) -> Vec<f32> {
    let total: u64 = counts.iter().sum();
    counts.iter().map(|&count| ((total + 1) as f32 / (count as f32 + 0.3)).log2()).collect()
}

fn encode_items(grammar: &Grammar, items: &[Item], introduced: &[u32]) -> Vec<u8> {
    let token_count = grammar.token_count();
    // A token's class, or a rule's class and its length less two.
    let class = |symbol: u32| -> (usize, u32) {
        let frequency = usize::from(items[symbol as usize].frequency);
        match grammar.rule_of(symbol) {
            None => (frequency, 0),
            Some(rule) => {
                let length = grammar.body(rule).len() as u32 - 2;
                let bits = bit_length(length.into());
                (item_class::rule(frequency - FREQUENCY_CLASSES, bits), length)
            }
        }
    };
    let step_class =
        |step: i64| (2 * bit_length(step.unsigned_abs()) + u32::from(step < 0)) as usize;
    let step_counts = |counts: &mut [u64], block: &[u32]| {
        steps(block, token_count, |symbol, step| {
            counts[class(symbol).0] += 1;
            if symbol < token_count {
                counts[item_class::COUNT + step_class(step)] += 1;
            }
        });
    };
    let all = item_class::COUNT + item_class::STEPS;
    let counts = counted(introduced.par_chunks(BLOCK), all, step_counts);
    let (class_counts, step_counts) = counts.split_at(item_class::COUNT);
    let (classes, step_classes) =
        (Model::from_counts(class_counts), Model::from_counts(step_counts));
    let streams: Vec<Vec<u8>> = introduced
        .par_chunks(BLOCK)
        .map_init(Encoder::default, |encoder, block| {
            steps(block, token_count, |symbol, step| {
                let (class, length) = class(symbol);
                encoder.class(&classes, class);
                if symbol < token_count {
                    encoder.class(&step_classes, step_class(step));
                    let magnitude = step.unsigned_abs();
                    encoder.below_top_bit(magnitude as u32, bit_length(magnitude));
                } else {
                    encoder.below_top_bit(length, bit_length(length.into()));
                }
            });
            let mut stream = Vec::new();
            encoder.write(&mut stream);
            stream
        })
        .collect();
    let mut bytes = Vec::new();
    put_varint(&mut bytes, token_count.into());
    put_varint(&mut bytes, grammar.rule_count().into());
    classes.write(&mut bytes);
    step_classes.write(&mut bytes);
    for stream in &streams {
        put_varint(&mut bytes, stream.len() as u64);
    }
    for stream in streams {
        bytes.extend_from_slice(&stream);
    }
    bytes
}

/// Calls `visit` with each item of a block, and how far a token is behind the one before it.
#[inline(always)]
fn steps(block: &[u32], token_count: u32, mut visit: impl FnMut(u32, i64)) {
    let mut previous = 0_i64;
    for &symbol in block {
        let step = if symbol < token_count { i64::from(symbol) - previous } else { 0 };
        previous += step;
        visit(symbol, step);
    }
}
