//! The Re-Pair builder: offline, on all threads, the smallest grammars.
//!
//! 1. Lines that come again and again become rules at once (`lines`).
//! 2. What is left is cut into chunks, which are paired at the same time (`pairing`).
//! 3. Rules of equal expansion become one (`join`), and what the chunks left is paired as a whole, in rounds on all
//!    threads (`rounds`).
//! 4. Rules that do not pay are written out, and the rest numbered ([`super::prune`], [`super::order`]).
//!
//! A text whose tokens do not fit into memory is given in parts: steps 1 to 3 make a `Part` of each, some
//! times smaller than its tokens, and `unite` makes one grammar of all parts by steps 3 and 4.
//!
//! The number of chunks depends on the length alone, so the grammar does not depend on the threads.
//!
//! Cost: O(tokens) expected, and up to about 30 bytes a token of memory. No step works on one thread for long.

mod join;
pub(super) mod lines;
mod often;
pub(super) mod pairing;
mod pairs;
mod parts;
mod queue;
mod rounds;
pub(super) mod sequence;

use rayon::prelude::*;
use tadoc_core::parallel::{map_chunks, map_concat};
use tadoc_core::{Grammar, TokenSequence};

use self::join::{Piece, join};
pub(crate) use self::parts::{Part, unite};
use self::sequence::BARRIER;
use super::builder::{CancelFlag, Cancelled, GrammarBuilder, share};
use super::order;
use super::prune::{Bodies, prune};

/// Cells of a chunk, about.
const CHUNK: usize = 1 << 22;
/// Fewer cells (symbols and barriers between documents) are not worth two chunks.
pub const WORTH_CUTTING: usize = 1 << 19;

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
    fn build(&self, tokens: TokenSequence, cancel: &CancelFlag) -> Result<Grammar, Cancelled> {
        let token_count = tokens.token_count;
        let document_count = tokens.document_count();
        let Chunks { cells, lines, bodies, is_whole } = self.pair_chunks(tokens, cancel)?;
        let (cells, bodies) = match is_whole {
            true => (cells, bodies),
            false => pair_whole(cells, bodies, token_count + lines as u32, cancel)?,
        };
        cancel.check()?;
        // Lines are rules like the others.
        compose(token_count, cells, lines, document_count, bodies, cancel)
    }
}

/// What was paired chunk by chunk.
struct Chunks {
    /// A barrier, the lines that became rules with a barrier behind each, and the documents likewise.
    cells: Vec<u32>,
    lines: usize,
    /// The rules behind the lines.
    bodies: Bodies,
    /// There was only one chunk.
    is_whole: bool,
}

impl RePair {
    /// Takes out lines, and pairs what is left in chunks.
    fn pair_chunks(
        &self,
        mut tokens: TokenSequence,
        cancel: &CancelFlag,
    ) -> Result<Chunks, Cancelled> {
        let token_count = tokens.token_count;
        let mut line_ends = self.line_ends.clone();
        line_ends.resize(token_count as usize, false);
        tokens.tokens.shrink_to_fit();
        let stage = cancel.stage(share::LINES);
        let lines = lines::take_out(tokens, &line_ends);
        drop(stage);
        cancel.check()?;
        let first_rule = token_count + lines.rules;
        let (cells, bodies, is_whole) = pair_chunks(lines.cells, first_rule, cancel)?;
        Ok(Chunks { cells, lines: lines.rules as usize, bodies, is_whole })
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
    let (root, all) = with_rules(&cells, rule_count, bodies);
    cancel.check()?;
    let (root, bodies) = match all.starts.is_sorted_by(|start, end| start < end) {
        true => prune(root, &all, token_count),
        false => {
            let (root, all) = without_empty(token_count, root, all);
            prune(&root, &all, token_count)
        }
    };
    drop(cells);

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

/// The documents of what [`compose`] takes, with a barrier behind each, and all rules that they reach, children first.
fn children_first(
    token_count: u32,
    cells: Vec<u32>,
    rule_count: usize,
    bodies: Bodies,
) -> (Vec<u32>, Bodies) {
    let (root, all) = with_rules(&cells, rule_count, bodies);
    let mut root = root.to_vec();
    drop(cells);
    let all = order::children_first(token_count, &mut root, all);
    (root, all)
}

/// The documents of what [`compose`] takes, with a barrier behind each, and all rules.
fn with_rules(cells: &[u32], rule_count: usize, bodies: Bodies) -> (&[u32], Bodies) {
    let mut rest = &cells[1..];
    if rule_count == 0 {
        return (rest, bodies);
    }
    let mut all = Bodies::new();
    for _ in 0..rule_count {
        let length = rest.iter().position(|&cell| cell == BARRIER).expect("a barrier each");
        all.symbols.extend_from_slice(&rest[..length]);
        all.close();
        rest = &rest[length + 1..];
    }
    (rest, Bodies::concat(&[all, bodies]))
}

/// Takes rules that stand for nothing out of the others. On one thread: only grammars that are built again have any.
fn without_empty(token_count: u32, root: &[u32], bodies: Bodies) -> (Vec<u32>, Bodies) {
    let mut root = root.to_vec();
    let bodies = order::children_first(token_count, &mut root, bodies);
    let mut is_empty = vec![false; bodies.len()];
    let of_symbol = |is_empty: &[bool], symbol: u32| {
        let rule = symbol.checked_sub(token_count).and_then(|rule| is_empty.get(rule as usize));
        rule == Some(&true)
    };
    for rule in 0..bodies.len() {
        is_empty[rule] = bodies.body(rule).iter().all(|&symbol| of_symbol(&is_empty, symbol));
    }
    root.retain(|&symbol| !of_symbol(&is_empty, symbol));
    let mut left = Bodies::new();
    for rule in 0..bodies.len() {
        let body = bodies.body(rule).iter().copied();
        left.symbols.extend(body.filter(|&symbol| !of_symbol(&is_empty, symbol)));
        left.close();
    }
    (root, left)
}

/// How many chunks so many cells are cut into: an even number, as most machines have an even number of cores, and a multiple of
/// sixteen where there are as many.
fn chunk_count(cells: usize) -> usize {
    let nearest = |step: usize| (cells + step * CHUNK / 2) / (step * CHUNK) * step;
    if nearest(2) < 16 { nearest(2).max(2) } else { nearest(16).max(16) }
}

/// Pairs `cells` in chunks; see [`pairing::pair_up`]. Says too whether it was only one.
fn pair_chunks(
    cells: Vec<u32>,
    first_rule: u32,
    cancel: &CancelFlag,
) -> Result<(Vec<u32>, Bodies, bool), Cancelled> {
    let paired = share::BUILD - share::LINES;
    if cells.len() < WORTH_CUTTING {
        let (cells, bodies) = pairing::pair_up(cells, first_rule, 1, false, cancel, paired)?;
        return Ok((cells, bodies, true));
    }
    let chunk_count = chunk_count(cells.len());
    let size = cells.len().div_ceil(chunk_count);
    let share_a_chunk = (paired - share::JOINED) / chunk_count as u64;
    let chunks: Vec<(Vec<u32>, Bodies)> = cells
        .par_chunks(size)
        .map(|chunk| {
            let chunk = [&[BARRIER], chunk, &[BARRIER]].concat();
            pairing::pair_up(chunk, first_rule, 1, false, cancel, share_a_chunk)
        })
        .collect::<Result<_, _>>()?;
    drop(cells);
    // Chunks were cut anywhere: the barriers put around them go again.
    let pieces: Vec<Piece<'_>> = chunks
        .iter()
        .map(|(cells, bodies)| Piece { cells: &cells[1..cells.len() - 1], bodies })
        .collect();
    let (cells, bodies) = join(&pieces, first_rule);
    Ok((cells, bodies, false))
}

/// Rules or cells that a thread looks at before the next ones.
const AT_A_TIME: usize = 1 << 16;

/// Pairs what chunks or parts have left, and the bodies of their rules, as a whole.
fn pair_whole(
    cells: Vec<u32>,
    bodies: Bodies,
    first_rule: u32,
    cancel: &CancelFlag,
) -> Result<(Vec<u32>, Bodies), Cancelled> {
    cancel.check()?;
    let mut stage = cancel.stage(share::JOINED);
    let first_new = first_rule + bodies.len() as u32;
    let text_end = cells.len();
    let rows = map_chunks(&bodies.starts[1..], AT_A_TIME, &|group, ends: &[u32]| {
        let mut row = Vec::new();
        for rule in (group * AT_A_TIME..).take(ends.len()) {
            row.extend_from_slice(bodies.body(rule));
            row.push(BARRIER);
        }
        row
    });
    drop(bodies);
    let mut parts: Vec<&[u32]> = cells.chunks(AT_A_TIME).collect();
    parts.extend(rows.iter().map(|row| &row[..]));
    let all = map_concat(&parts, |_, cell| cell);
    drop((cells, rows));
    let (sequence, new_bodies) = rounds::pair_rare(all, first_new, &mut stage, cancel)?;
    // The barriers are where they were.
    let (text, rules) = sequence.cells().split_at(text_end);
    let rows = map_chunks(text, AT_A_TIME, &|_, cells: &[u32]| {
        sequence::symbols(cells).collect::<Vec<u32>>()
    });
    let rows: Vec<&[u32]> = rows.iter().map(|row| &row[..]).collect();
    let text = map_concat(&rows, |_, cell| cell);
    let mut bodies = map_chunks(rules, AT_A_TIME, &|_, cells: &[u32]| {
        // A rule that goes on in the next group ends there.
        let mut bodies = Bodies::new();
        for cell in sequence::symbols(cells) {
            match cell {
                BARRIER => bodies.close(),
                symbol => bodies.symbols.push(symbol),
            }
        }
        bodies
    });
    bodies.push(new_bodies);
    Ok((text, Bodies::concat(&bodies)))
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
        let never = CancelFlag::default();
        let (left, bodies, is_whole) = pair_chunks(cells, 7, &never).unwrap();
        assert!(!is_whole);
        assert_eq!(left.iter().filter(|&&cell| cell == BARRIER).count(), barriers);
        let (left, _) = pair_whole(left, bodies, 7, &never).unwrap();
        assert_eq!(left.iter().filter(|&&cell| cell == BARRIER).count(), barriers);
    }
}
