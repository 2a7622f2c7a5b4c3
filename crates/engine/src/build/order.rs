//! The order of rules: children first while they are worked on, and at the last, as a grammar has them,
//! parents first.
//!
//! O(symbols) time over flat arrays; besides the grammar itself as much again and 16 bytes a rule. Putting parents first is on all threads,
//! generation by generation: as many passes as the grammar has levels, each over the rules of one.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use tadoc_core::Grammar;
use tadoc_core::parallel::{map, map_chunks, map_concat, tally};

use super::prune::Bodies;

/// Marks a rule that has no number yet.
const UNNUMBERED: u32 = u32::MAX;

/// Symbols of the root that are read by a thread, before the next ones.
const SYMBOLS_AT_A_TIME: usize = 1 << 16;
/// Rules whose bodies are put in their place by a thread, before the next ones.
const RULES_AT_A_TIME: usize = 1 << 13;

/// Numbers rules so that parents come before children, drops those that the root does not reach, and
/// puts the grammar together.
///
/// The symbol `token_count + r` stands for rule `r`, whose body is
/// `body_symbols[body_starts[r]..body_starts[r + 1]]`; `body_starts` has one entry more than there
/// are rules. `document_starts` cuts the root, with its length as the last entry.
///
/// The root is read first, and a rule gets the next number when its last use has been read; then the
/// bodies are read in the order of their numbers (Kahn's order). It depends on the grammar's shape
/// alone and not on the numbers that the rules came with.
///
/// # Panics
/// If a rule contains itself, a symbol does not exist, or the boundaries are wrong.
pub fn into_grammar(
    token_count: u32,
    root: &[u32],
    document_starts: &[u32],
    body_symbols: &[u32],
    body_starts: &[u32],
) -> Grammar {
    let rule_count = body_starts.len().saturating_sub(1);
    let body = |rule: u32| {
        let rule = rule as usize;
        &body_symbols[body_starts[rule] as usize..body_starts[rule + 1] as usize]
    };

    let mut states: Vec<State> = (0..rule_count).map(|_| State::default()).collect();
    tally(&mut states, token_count, &[root, body_symbols], 0, |state, _| state.left += 1);

    // A rule that nothing uses takes its own uses of others with it.
    let mut unused: Vec<u32> =
        (0..rule_count as u32).filter(|&rule| states[rule as usize].left == 0).collect();
    let mut dropped = 0;
    while let Some(parent) = unused.pop() {
        dropped += 1;
        for_each_rule(token_count, body(parent), |rule| {
            let left = &mut states[rule as usize].left;
            *left -= 1;
            if *left == 0 {
                unused.push(rule);
            }
        });
    }

    // A generation is the rules whose last uses stand in the one before, in the order of these. None uses another one.
    let mut order: Vec<u32> = Vec::with_capacity(rule_count - dropped);
    let mut rows: Vec<Vec<Row>> = Vec::new();
    let mut read = 0_u32;
    let mut generation = {
        let pieces: Vec<&[u32]> = root.chunks(SYMBOLS_AT_A_TIME).collect();
        next_generation(token_count, &mut states, &pieces, &mut read)
    };
    while !generation.is_empty() {
        let first = order.len();
        let numbered = generation.par_iter().with_min_len(RULES_AT_A_TIME).enumerate();
        numbered.for_each(|(number, &rule)| {
            states[rule as usize].last.store((first + number) as u32, Ordering::Relaxed);
        });
        order.extend_from_slice(&generation);
        let bodies = map_chunks(&generation, RULES_AT_A_TIME, &|_, group: &[u32]| {
            let mut row = Row::default();
            for &rule in group {
                row.symbols.extend_from_slice(body(rule));
                row.lengths.push(body(rule).len() as u32);
            }
            row
        });
        let pieces: Vec<&[u32]> = bodies.iter().map(|row| &row.symbols[..]).collect();
        generation = next_generation(token_count, &mut states, &pieces, &mut read);
        rows.push(bodies);
    }
    assert!(order.len() + dropped == rule_count, "a rule contains itself");

    let renumbered = |_, symbol: u32| match symbol.checked_sub(token_count) {
        None => symbol,
        Some(rule) => token_count + states[rule as usize].last.load(Ordering::Relaxed),
    };
    let mut pieces: Vec<&[u32]> = root.chunks(SYMBOLS_AT_A_TIME).collect();
    pieces.extend(rows.iter().flatten().map(|row| &row.symbols[..]));
    let symbols = map_concat(&pieces, renumbered);
    let mut rule_starts = Vec::with_capacity(order.len() + 1);
    let mut start = root.len() as u32;
    rule_starts.push(start);
    for length in rows.iter().flatten().flat_map(|row| &row.lengths) {
        start += length;
        rule_starts.push(start);
    }
    Grammar::new(token_count, symbols, rule_starts, document_starts.to_vec())
        .unwrap_or_else(|error| panic!("a builder made a wrong grammar: {error}"))
}

/// Numbers rules so that children come before parents: rule `r` then uses only rules below `r`; those that
/// the root does not reach are dropped. The symbol `token_count + r` stands for rule `r`, in the root and in
/// the bodies; symbols beyond the rules stay.
///
/// # Panics
/// If a rule contains itself or a symbol does not exist.
pub fn children_first(token_count: u32, root: &mut [u32], bodies: Bodies) -> Bodies {
    let rule_count = bodies.len();
    let rule_of = |symbol: u32| {
        symbol.checked_sub(token_count).map(|rule| rule as usize).filter(|&rule| rule < rule_count)
    };
    let mut numbers = vec![UNNUMBERED; rule_count];
    let mut order: Vec<u32> = Vec::with_capacity(rule_count);
    // Rules that are being read, with what is left of their bodies.
    let mut open: Vec<(usize, &[u32])> = Vec::new();
    for rule in root.iter().filter_map(|&symbol| rule_of(symbol)) {
        if numbers[rule] == UNNUMBERED {
            open.push((rule, bodies.body(rule)));
        }
        while let Some((rule, rest)) = open.last_mut() {
            let unread = |symbol: u32| rule_of(symbol).filter(|&rule| numbers[rule] == UNNUMBERED);
            match rest.iter().position(|&symbol| unread(symbol).is_some()) {
                Some(place) => {
                    let child = unread(rest[place]).expect("it was just found");
                    *rest = &rest[place..];
                    open.push((child, bodies.body(child)));
                    assert!(open.len() <= rule_count, "a rule contains itself");
                }
                None => {
                    numbers[*rule] = order.len() as u32;
                    order.push(*rule as u32);
                    open.pop();
                }
            }
        }
    }
    let renumbered = |symbol: u32| match rule_of(symbol) {
        None => symbol,
        Some(rule) => token_count + numbers[rule],
    };
    let mut sorted = Bodies {
        symbols: Vec::with_capacity(bodies.symbols.len()),
        starts: Vec::with_capacity(order.len() + 1),
    };
    sorted.starts.push(0);
    for &rule in &order {
        sorted.symbols.extend(bodies.body(rule as usize).iter().map(|&symbol| renumbered(symbol)));
        sorted.close();
    }
    root.par_iter_mut().for_each(|symbol| *symbol = renumbered(*symbol));
    sorted
}

/// Bodies of some rules of a generation.
#[derive(Default)]
struct Row {
    symbols: Vec<u32>,
    lengths: Vec<u32>,
}

/// What is known of a rule while the symbols are read.
#[derive(Default)]
struct State {
    /// Uses that are left to read.
    left: u32,
    /// Where the last one stands that was read. In the end, the number of the rule.
    last: AtomicU32,
}

/// The rules whose last uses are in these pieces, in the order of those. `read` is how many symbols were read, before and behind.
fn next_generation(
    token_count: u32,
    states: &mut [State],
    pieces: &[&[u32]],
    read: &mut u32,
) -> Vec<u32> {
    tally(states, token_count, pieces, *read, |state, place| {
        state.left -= 1;
        *state.last.get_mut() = place;
    });
    let mut starts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        starts.push(*read);
        *read += piece.len() as u32;
    }
    let is_last = |place: u32, rule: u32| {
        let state = &states[rule as usize];
        state.left == 0 && state.last.load(Ordering::Relaxed) == place
    };
    let last: Vec<Vec<u32>> = map(pieces.len(), &|piece| {
        let rules = (starts[piece]..).zip(pieces[piece]);
        rules
            .filter_map(|(place, symbol)| Some((place, symbol.checked_sub(token_count)?)))
            .filter_map(|(place, rule)| is_last(place, rule).then_some(rule))
            .collect()
    });
    last.concat()
}

/// Calls `visit` with each rule among the symbols.
fn for_each_rule(token_count: u32, symbols: &[u32], visit: impl FnMut(u32)) {
    symbols.iter().filter_map(|symbol| symbol.checked_sub(token_count)).for_each(visit);
}
