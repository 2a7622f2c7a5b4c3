//! A grammar built anew from one that exists, without expanding it to tokens.
//!
//! A grammar that was edited has stretches of plain tokens in its root, and rules that are used once or not at
//! all. Building it again makes it as good as new, in four steps:
//!
//! 1. Rules that the root does not reach are dropped.
//! 2. Old rules are found in the new text (`replay`). Without this step new text would share the shortest rules with
//!    the old one and nothing above them: a pair of old rules is no pair of what these say.
//! 3. What is left of the root and the bodies of the old rules, with the old rules as opaque tokens, are
//!    given to the builder, which finds what the new text repeats within itself, and what it repeats of the inside
//!    of a body or of old text that was not repeated before.
//! 4. The bodies become rules again, and the whole is pruned and numbered as any other grammar.
//!
//! Nothing is paired across the border of a document or a body. Equal input gives an equal grammar, on any number
//! of threads.
//!
//! Cost: O(symbols of the grammar) expected, whatever text it stands for, and the builder's memory for these: up
//! to about 30 bytes a symbol, and 20 to 40 a rule while old rules are looked for.

mod replay;

use rayon::prelude::*;
use tadoc_core::{Grammar, TokenSequence};

use self::replay::Replay;
use super::builder::{CancelFlag, Cancelled, GrammarBuilder, share};
use super::prune::Bodies;
use super::repair::pairing::pair_up;
use super::repair::sequence::BARRIER;
use super::repair::{compose, lines};
use super::sequitur::Sequitur;
use crate::Builder;

/// Builds `grammar` again. It expands to the same tokens as before, document by document; token numbers stay,
/// used or not. `line_ends` says which tokens (by number) end lines, as for
/// [`RePair::new`](super::repair::RePair::new).
pub fn build_again(
    grammar: &Grammar,
    line_ends: &[bool],
    builder: Builder,
    cancel: &CancelFlag,
) -> Result<Grammar, Cancelled> {
    let token_count = grammar.token_count();
    let document_count = grammar.document_count();
    let old = Old::new(grammar);
    cancel.check()?;
    let replay = Replay::new(token_count, &old.bodies, &old.uses);
    cancel.check()?;
    let first_new = token_count + old.bodies.len() as u32;
    let sequence = TokenSequence {
        token_count: first_new,
        tokens: old.root,
        document_starts: old.document_starts,
    };
    match builder {
        Builder::RePair => {
            let mut line_ends = line_ends.to_vec();
            line_ends.resize(first_new as usize, false);
            let lines = lines::take_out(sequence, &line_ends);
            let line_count = lines.rules as usize;
            let mut text = replay.run(&lines.cells, cancel)?;
            drop((lines.cells, replay));
            write_out_single_symbols(&mut text, first_new, line_count);
            let mut cells =
                Vec::with_capacity(1 + old.bodies.symbols.len() + old.bodies.len() + text.len());
            cells.push(BARRIER);
            push_bodies(&old.bodies, &mut cells);
            let rule_count = old.bodies.len() + line_count;
            drop(old.bodies);
            cells.extend_from_slice(&text[1..]);
            drop(text);
            let (cells, bodies) = pair_up(
                cells,
                token_count + rule_count as u32,
                rayon::current_num_threads(),
                true,
                cancel,
                share::BUILD,
            )?;
            compose(token_count, cells, rule_count, document_count, bodies, cancel)
        }
        Builder::Sequitur => {
            let rule_count = old.bodies.len();
            let text = replay.run(&cells_of(&sequence), cancel)?;
            drop((sequence, replay));
            let mut cells = vec![BARRIER];
            push_bodies(&old.bodies, &mut cells);
            drop(old.bodies);
            cells.extend_from_slice(&text[1..]);
            drop(text);
            let built = Sequitur.build(sequence_of(&cells, first_new), cancel)?;
            drop(cells);
            let parts = TokenSequence {
                token_count: first_new,
                tokens: built.root().to_vec(),
                document_starts: built.document_starts().to_vec(),
            };
            let base = built.rule_starts()[0];
            let bodies = Bodies {
                symbols: built.symbols()[base as usize..].to_vec(),
                starts: built.rule_starts().iter().map(|start| start - base).collect(),
            };
            drop(built);
            let cells = cells_of(&parts);
            compose(token_count, cells, rule_count, document_count, bodies, cancel)
        }
    }
}

/// What is there before, with the rules in the order children first.
struct Old {
    root: Vec<u32>,
    document_starts: Vec<u32>,
    /// The symbol `token_count + r` stands for rule `r`, which uses only rules below `r`; those that the
    /// root does not reach have an empty body.
    bodies: Bodies,
    /// How often each rule occurs in the text, as far as 32 bits can tell.
    uses: Vec<u32>,
}

impl Old {
    fn new(grammar: &Grammar) -> Self {
        let token_count = grammar.token_count();
        let rule_count = grammar.rule_count();
        // Parents come before children.
        let mut uses = vec![0_u32; rule_count as usize];
        for rule in grammar.root().iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
            uses[rule as usize] = uses[rule as usize].saturating_add(1);
        }
        for parent in 0..rule_count {
            let times = uses[parent as usize];
            if times > 0 {
                for child in
                    grammar.body(parent).iter().filter_map(|&symbol| grammar.rule_of(symbol))
                {
                    uses[child as usize] = uses[child as usize].saturating_add(times);
                }
            }
        }
        // Backwards they are children first.
        let turned = |symbol: u32| match grammar.rule_of(symbol) {
            None => symbol,
            Some(rule) => token_count + (rule_count - 1 - rule),
        };
        let mut bodies = Bodies::new();
        bodies.symbols.reserve_exact(grammar.symbols().len() - grammar.root().len());
        bodies.starts.reserve_exact(rule_count as usize);
        for rule in (0..rule_count).rev() {
            if uses[rule as usize] > 0 {
                bodies.symbols.extend(grammar.body(rule).iter().map(|&symbol| turned(symbol)));
            }
            bodies.close();
        }
        uses.reverse();
        let root = grammar.root().par_iter().map(|&symbol| turned(symbol)).collect();
        Self { root, document_starts: grammar.document_starts().to_vec(), bodies, uses }
    }
}

/// Puts the one symbol in the place of each line that is only one symbol now, in cells as
/// [`lines::take_out`] makes them; the symbol of the first line is `first_line`.
fn write_out_single_symbols(cells: &mut Vec<u32>, first_line: u32, line_count: usize) {
    let mut single: Vec<Option<u32>> = Vec::with_capacity(line_count);
    let mut bodies_end = 1;
    while single.len() < line_count {
        let body = &cells[bodies_end..];
        let length = body.iter().position(|&cell| cell == BARRIER).expect("a barrier each");
        single.push((length == 1).then_some(body[0]));
        bodies_end += length + 1;
    }
    let single_of = |symbol: u32| {
        let line = symbol.checked_sub(first_line)?;
        single.get(line as usize).copied().flatten()
    };
    // A line is tokens and old rules, and no other line.
    for cell in &mut cells[bodies_end..] {
        *cell = single_of(*cell).unwrap_or(*cell);
    }
    let mut lines = single.iter();
    let mut line = lines.next();
    let mut place = 0;
    cells.retain(|&cell| {
        place += 1;
        // The first cell is the barrier before the first line.
        if place == 1 || place > bodies_end {
            return true;
        }
        let keep = cell == BARRIER || line.is_some_and(|single| single.is_none());
        if cell == BARRIER {
            line = lines.next();
        }
        keep
    });
}

/// Appends bodies, with a barrier behind each.
fn push_bodies(bodies: &Bodies, cells: &mut Vec<u32>) {
    for rule in 0..bodies.len() {
        cells.extend_from_slice(bodies.body(rule));
        cells.push(BARRIER);
    }
}

/// A barrier, and the documents with a barrier behind each.
fn cells_of(sequence: &TokenSequence) -> Vec<u32> {
    let mut cells = Vec::with_capacity(sequence.tokens.len() + sequence.document_starts.len());
    cells.push(BARRIER);
    for bounds in sequence.document_starts.windows(2) {
        cells.extend_from_slice(&sequence.tokens[bounds[0] as usize..bounds[1] as usize]);
        cells.push(BARRIER);
    }
    cells
}

/// The other way round.
fn sequence_of(cells: &[u32], token_count: u32) -> TokenSequence {
    let mut sequence = TokenSequence { token_count, ..TokenSequence::default() };
    for &cell in cells {
        if cell == BARRIER {
            sequence.document_starts.push(sequence.tokens.len() as u32);
        } else {
            sequence.tokens.push(cell);
        }
    }
    sequence
}
