//! Re-Pair on one sequence: the most frequent pair becomes a rule, again and again, until no pair occurs
//! twice (Larsson and Moffat, "Off-line dictionary-based compression", 2000).
//!
//! Where all occurrences of a pair go on alike, the rule takes in what follows and what comes before: those
//! pairs have the same count, so Re-Pair would pair them next, and a chain of rules with one use each would
//! be inlined in the end. Taking the whole passage at once saves the chain.
//!
//! Cost: O(length) expected; 4 bytes a cell for the sequence, 4 for the places of pairs that occur twice
//! and as much again for those that come up later, 16 a pair.

use super::pairs::{Pairs, Side};
use super::queue::Queue;
use super::sequence::{BARRIER, Sequence};
use crate::build::builder::{CancelFlag, Cancelled};
use crate::build::prune::Bodies;

/// Rules made between two looks at the flag that ends the work.
const RULES_PER_LOOK: u32 = 1 << 12;
/// Of the work, so many hundredths are done when the pairs are counted.
const COUNTED: u64 = 30;
/// So many hundredths of the cells are expected to go. Replacing one takes about the same time always.
const REPLACED: u64 = 80;

/// An occurrence of the passage that becomes a rule: its first symbol's place, and the place behind it.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

/// Replaces repetitions in `cells`: symbols below `first_rule` and barriers, with a barrier first and last.
/// Gives what is left, and the rules; rule `r` is the symbol `first_rule + r` and uses rules below itself.
/// Pairs are found on so many threads, and replaced on one. `rare` is for [`Pairs::of`]. It is a stage of the
/// work on a segment, of so many millionths.
pub(in crate::build) fn pair_up(
    cells: Vec<u32>,
    first_rule: u32,
    threads: usize,
    rare: bool,
    cancel: &CancelFlag,
    share: u64,
) -> Result<(Vec<u32>, Bodies), Cancelled> {
    let mut stage = cancel.stage(share);
    let mut sequence = Sequence::new(cells);
    let pairs = Pairs::of(&sequence, first_rule, threads, rare);
    let expected = sequence.cells().len() as u64 * REPLACED / 100;
    stage.reach(COUNTED, 100);
    let mut bodies = Bodies::new();
    replace_pairs(&mut sequence, pairs, first_rule, &mut bodies, cancel, |replaced| {
        stage.reach(COUNTED * expected + (100 - COUNTED) * replaced.min(expected), 100 * expected);
    })?;
    Ok((sequence.symbols().collect(), bodies))
}

/// Replaces these pairs and those that come up by that, the most frequent first. Rules come behind those that are in `bodies`, whose
/// first one is `first_rule`; `replaced` is told now and then how many cells are gone.
pub(super) fn replace_pairs(
    sequence: &mut Sequence,
    mut pairs: Pairs,
    first_rule: u32,
    bodies: &mut Bodies,
    cancel: &CancelFlag,
    mut tell: impl FnMut(u64),
) -> Result<(), Cancelled> {
    let mut queue = Queue::new();
    pairs.in_order_of_text(sequence.cells().len(), |count, pair| queue.push(count, pair));
    let mut replaced = 0_u64;
    let mut spans: Vec<Span> = Vec::new();
    let mut before: Vec<u32> = Vec::new();
    while let Some((waited, number)) = queue.pop() {
        let pair = pairs.pairs[number as usize];
        let range = pair.start as usize..(pair.start + pair.count) as usize;
        find_spans(sequence, (pair.first, pair.second), &pairs.places[range.clone()], &mut spans);
        let count = spans.len() as u32;
        if count < 2 {
            continue;
        }
        if count < waited {
            for (place, span) in pairs.places[range].iter_mut().zip(&spans) {
                *place = span.start;
            }
            pairs.pairs[number as usize].count = count;
            queue.push(count, number);
            continue;
        }
        let symbol = first_rule + bodies.len() as u32;
        if symbol.is_multiple_of(RULES_PER_LOOK) {
            cancel.check()?;
            tell(replaced);
        }
        before.clear();
        while let Some(symbol) = extend_left(sequence, &mut spans) {
            before.push(symbol);
        }
        bodies.symbols.extend(before.iter().rev());
        bodies.symbols.extend([pair.first, pair.second]);
        while let Some(symbol) = extend_right(sequence, &mut spans) {
            bodies.symbols.push(symbol);
        }
        bodies.close();
        replaced += spans.len() as u64 * (bodies.body(bodies.len() - 1).len() as u64 - 1);
        for span in &spans {
            sequence.replace(span.start, span.end, symbol);
        }
        // Two of the new symbol side by side are one pair: it is counted on the right.
        let left = spans.iter().filter_map(|span| {
            let place = sequence.previous(span.start);
            let neighbour = sequence.get(place);
            (neighbour != BARRIER && neighbour != symbol).then_some((neighbour, place))
        });
        pairs.add(symbol, Side::Left, left, |count, pair| queue.push(count, pair));
        let right = spans.iter().filter_map(|span| {
            let neighbour = sequence.get(sequence.next(span.start));
            (neighbour != BARRIER).then_some((neighbour, span.start))
        });
        pairs.add(symbol, Side::Right, right, |count, pair| queue.push(count, pair));
    }
    Ok(())
}

/// The occurrences of a pair among `places` that are still there and do not overlap.
fn find_spans(sequence: &Sequence, pair: (u32, u32), places: &[u32], spans: &mut Vec<Span>) {
    spans.clear();
    let mut free_from = 0;
    for &place in places {
        if place >= free_from && sequence.get(place) == pair.0 {
            let second = sequence.next(place);
            if sequence.get(second) == pair.1 {
                let end = sequence.next(second);
                spans.push(Span { start: place, end });
                free_from = end;
            }
        }
    }
}

/// If the same symbol follows all spans, and no span follows another one at once, takes it in.
fn extend_right(sequence: &Sequence, spans: &mut [Span]) -> Option<u32> {
    let wanted = sequence.get(spans[0].end);
    let free = |pair: &[Span]| pair[0].end < pair[1].start;
    if wanted == BARRIER
        || !spans.iter().all(|span| sequence.get(span.end) == wanted)
        || !spans.windows(2).all(free)
    {
        return None;
    }
    for span in spans {
        span.end = sequence.next(span.end);
    }
    Some(wanted)
}

/// The same to the left.
fn extend_left(sequence: &Sequence, spans: &mut [Span]) -> Option<u32> {
    let wanted = sequence.get(sequence.previous(spans[0].start));
    let free = |pair: &[Span]| pair[0].end < pair[1].start;
    if wanted == BARRIER
        || !spans.iter().all(|span| sequence.get(sequence.previous(span.start)) == wanted)
        || !spans.windows(2).all(free)
    {
        return None;
    }
    for span in spans {
        span.start = sequence.previous(span.start);
    }
    Some(wanted)
}
