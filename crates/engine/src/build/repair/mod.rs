//! The Re-Pair builder: offline, on all threads, the smallest grammars.
//!
//! 1. Lines that come again and again become rules at once (`lines`).
//! 2. What is left is cut into chunks, which are paired at the same time (`pairing`).
//! 3. Rules that two chunks both found are made one, and what the chunks left is paired once more as a whole.
//! 4. Rules that do not pay are written out, and the rest numbered ([`super::prune`], [`super::order`]).
//!
//! The number of chunks depends on the length alone, so the grammar does not depend on the threads.
//!
//! Cost: O(tokens) expected, and up to about 30 bytes a token of memory.

pub(super) mod lines;
mod often;
pub(super) mod pairing;
mod pairs;
mod queue;
pub(super) mod sequence;

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rayon::prelude::*;
use tadoc_core::parallel::map_concat;
use tadoc_core::{Grammar, TokenSequence};

use self::sequence::BARRIER;
use super::builder::{CancelFlag, Cancelled, GrammarBuilder, share};
use super::order;
use super::prune::{Bodies, prune};

/// Cells of a chunk, at the most.
const CHUNK: usize = 1 << 24;
/// Fewer cells (symbols and barriers between documents) are not worth two chunks.
pub const WORTH_CUTTING: usize = 1 << 19;
/// Symbols that a rule must save to stay.
const LEAST_GAIN: u64 = 1;

/// Re-Pair, as the module's page describes it.
#[derive(Debug, Clone, Default)]
pub struct RePair {
    line_ends: Vec<bool>,
}

impl RePair {
    /// A builder for sequences in which these tokens (by number) end lines. With none, repeated lines are
    /// found by pairing alone: the same grammar in size, at a fraction of the speed.
    pub fn new(line_ends: Vec<bool>) -> Self {
        Self { line_ends }
    }
}

impl GrammarBuilder for RePair {
    fn build(&self, mut tokens: TokenSequence, cancel: &CancelFlag) -> Result<Grammar, Cancelled> {
        let token_count = tokens.token_count;
        let document_count = tokens.document_count();
        let mut line_ends = self.line_ends.clone();
        line_ends.resize(token_count as usize, false);
        tokens.tokens.shrink_to_fit();
        let stage = cancel.stage(share::LINES);
        let lines = lines::take_out(tokens, &line_ends);
        drop(stage);
        cancel.check()?;
        let first_rule = token_count + lines.rules;
        let line_count = lines.rules as usize;
        let (cells, bodies) = pair_chunks(lines.cells, first_rule, cancel)?;
        cancel.check()?;

        // Lines are rules like the others.
        compose(token_count, cells, line_count, document_count, bodies, cancel)
    }
}

/// Puts together what was paired: `cells` are a barrier, the bodies of `rule_count` rules with a barrier behind
/// each, and the documents likewise; `bodies` are the rules whose symbols follow those of the former. Rules may use each other in
/// any order as long as none contains itself.
pub(super) fn compose(
    token_count: u32,
    cells: Vec<u32>,
    rule_count: usize,
    document_count: usize,
    bodies: Bodies,
    cancel: &CancelFlag,
) -> Result<Grammar, Cancelled> {
    let mut parts = cells.split(|&cell| cell == BARRIER).skip(1);
    let mut all = Bodies::new();
    for body in parts.by_ref().take(rule_count) {
        all.symbols.extend_from_slice(body);
        all.close();
    }
    let mut root = Vec::new();
    for document in parts.take(document_count) {
        root.extend_from_slice(document);
        root.push(BARRIER);
    }
    drop(cells);
    let before = all.symbols.len() as u32;
    all.symbols.extend_from_slice(&bodies.symbols);
    all.starts.extend(bodies.starts[1..].iter().map(|start| before + start));
    drop(bodies);
    let all = order::children_first(token_count, &mut root, all);
    cancel.check()?;
    let (root, bodies) = prune(&root, &all, token_count, LEAST_GAIN);
    drop(all);

    let mut document_starts = Vec::with_capacity(document_count + 1);
    document_starts.push(0);
    let mut symbols = Vec::with_capacity(root.len());
    for symbol in root {
        if symbol == BARRIER {
            document_starts.push(symbols.len() as u32);
        } else {
            symbols.push(symbol);
        }
    }
    Ok(order::into_grammar(
        token_count,
        &symbols,
        &document_starts,
        &bodies.symbols,
        &bodies.starts,
    ))
}

/// Pairs `cells` in chunks and then as a whole; see [`pairing::pair_up`].
fn pair_chunks(
    cells: Vec<u32>,
    first_rule: u32,
    cancel: &CancelFlag,
) -> Result<(Vec<u32>, Bodies), Cancelled> {
    let paired = share::BUILD - share::LINES;
    if cells.len() < WORTH_CUTTING {
        let cells = if cells.len() < 2 { vec![BARRIER; 2] } else { cells };
        return pairing::pair_up(cells, first_rule, 1, false, cancel, paired);
    }
    // An even number, for two cores are the least that a machine has.
    let chunk_count = cells.len().div_ceil(CHUNK).next_multiple_of(2);
    let chunks: Vec<Vec<u32>> = cells
        .chunks(cells.len().div_ceil(chunk_count))
        .map(|chunk| [&[BARRIER], chunk, &[BARRIER]].concat())
        .collect();
    drop(cells);
    let threads = rayon::current_num_threads();
    let threads_a_chunk = (threads / chunk_count).max(1);
    let share_a_chunk = (paired - share::JOINED) / chunk_count as u64;
    let paired: Vec<(Vec<u32>, Bodies)> = chunks
        .into_par_iter()
        .map(|chunk| {
            pairing::pair_up(chunk, first_rule, threads_a_chunk, false, cancel, share_a_chunk)
        })
        .collect::<Result<_, _>>()?;
    let (mut cells, bodies) = join(paired, first_rule);

    // What is left of the text, then the bodies of the rules: both are paired once more.
    cells.reserve_exact(bodies.symbols.len() + bodies.len() + 1);
    for rule in 0..bodies.len() {
        cells.extend_from_slice(bodies.body(rule));
        cells.push(BARRIER);
    }
    let rule_count = bodies.len();
    drop(bodies);
    let first_new = first_rule + rule_count as u32;
    let (cells, new_bodies) =
        pairing::pair_up(cells, first_new, threads, true, cancel, share::JOINED)?;
    Ok(split_bodies(cells, rule_count, new_bodies))
}

/// Takes the bodies of `rule_count` rules from behind the text again, and puts the new rules behind them.
fn split_bodies(mut cells: Vec<u32>, rule_count: usize, new_bodies: Bodies) -> (Vec<u32>, Bodies) {
    let mut text_end = cells.len() - 1;
    for _ in 0..rule_count {
        text_end =
            cells[..text_end].iter().rposition(|&cell| cell == BARRIER).expect("a barrier each");
    }
    let mut bodies = Bodies::new();
    for body in cells[text_end + 1..].split(|&cell| cell == BARRIER).take(rule_count) {
        bodies.symbols.extend_from_slice(body);
        bodies.close();
    }
    cells.truncate(text_end + 1);
    let before = bodies.symbols.len() as u32;
    bodies.symbols.extend_from_slice(&new_bodies.symbols);
    bodies.starts.extend(new_bodies.starts[1..].iter().map(|start| before + start));
    (cells, bodies)
}

/// One row of cells and one set of rules from those of the chunks; rules with equal bodies become one.
fn join(chunks: Vec<(Vec<u32>, Bodies)>, first_rule: u32) -> (Vec<u32>, Bodies) {
    let renumber = |symbol: u32, numbers: &[u32]| match symbol.checked_sub(first_rule) {
        Some(rule) if symbol != BARRIER => numbers[rule as usize],
        _ => symbol,
    };
    let mut joined = Bodies::new();
    let hasher = foldhash::fast::FixedState::default();
    let rules = chunks.iter().map(|(_, bodies)| bodies.len()).sum();
    let mut known: HashTable<u32> = HashTable::with_capacity(rules);
    let mut numbers_of_chunks: Vec<Vec<u32>> = Vec::with_capacity(chunks.len());
    for (_, bodies) in &chunks {
        let mut numbers: Vec<u32> = Vec::with_capacity(bodies.len());
        for rule in 0..bodies.len() {
            let start = joined.symbols.len();
            joined
                .symbols
                .extend(bodies.body(rule).iter().map(|&symbol| renumber(symbol, &numbers)));
            let body = &joined.symbols[start..];
            let hash = hasher.hash_one(body);
            let number = match known.find(hash, |&other| joined.body(other as usize) == body) {
                Some(&other) => {
                    joined.symbols.truncate(start);
                    other
                }
                None => {
                    joined.close();
                    let number = joined.len() as u32 - 1;
                    known.insert_unique(hash, number, |&other| {
                        hasher.hash_one(joined.body(other as usize))
                    });
                    number
                }
            };
            numbers.push(first_rule + number);
        }
        numbers_of_chunks.push(numbers);
    }
    // Chunks were cut anywhere: the barriers put around them go again.
    let inside: Vec<&[u32]> = chunks.iter().map(|(chunk, _)| &chunk[1..chunk.len() - 1]).collect();
    let cells = map_concat(&inside, |chunk, symbol| renumber(symbol, &numbers_of_chunks[chunk]));
    (cells, joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_leave_the_barriers_of_the_whole() {
        let cells: Vec<u32> = std::iter::once(BARRIER)
            .chain(
                (0..WORTH_CUTTING as u32)
                    .map(|place| if place % 1000 == 999 { BARRIER } else { place % 7 }),
            )
            .chain([BARRIER])
            .collect();
        let barriers = cells.iter().filter(|&&cell| cell == BARRIER).count();
        let (left, _) = pair_chunks(cells, 7, &CancelFlag::default()).unwrap();
        assert_eq!(left.iter().filter(|&&cell| cell == BARRIER).count(), barriers);
    }
}
