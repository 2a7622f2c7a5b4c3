//! A grammar from parts that were paired one after the other.
//!
//! Cost: a part has 4 bytes a symbol and rule, while it waits; uniting takes what pairing takes for as many
//! tokens as the parts have symbols.

use rayon::prelude::*;
use tadoc_core::{Grammar, TokenSequence};

use super::join::{Piece, join};
use super::sequence::BARRIER;
use super::{Chunks, RePair, children_first, compose, pair_whole};
use crate::build::builder::{CancelFlag, Cancelled};
use crate::build::prune::Bodies;

/// What became of a part of a text.
pub(crate) struct Part {
    token_count: u32,
    /// A barrier, and the documents with a barrier behind each.
    cells: Vec<u32>,
    /// The symbol `token_count + r` stands for rule `r`; children first.
    bodies: Bodies,
}

impl RePair {
    /// Pairs a part of a text.
    pub(crate) fn part(
        &self,
        tokens: TokenSequence,
        cancel: &CancelFlag,
    ) -> Result<Part, Cancelled> {
        let token_count = tokens.token_count;
        let Chunks { cells, lines, bodies, .. } = self.pair_chunks(tokens, cancel)?;
        cancel.check()?;
        let (mut cells, bodies) = children_first(token_count, cells, lines, bodies);
        cells.insert(0, BARRIER);
        Ok(Part { token_count, cells, bodies })
    }
}

impl Part {
    /// The last document goes on in the next part.
    pub(crate) fn leave_open(&mut self) {
        if self.cells.len() > 1 {
            self.cells.pop();
        }
    }

    /// How many symbols there are to pair, with barriers.
    pub(crate) fn symbols(&self) -> u64 {
        (self.cells.len() + self.bodies.symbols.len() + self.bodies.len()) as u64
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> u64 {
        4 * self.symbols()
    }

    /// Gives tokens other numbers, of `token_count`.
    fn renumber(&mut self, numbers: &[u32], token_count: u32) {
        let own = self.token_count;
        let all = self.cells.par_iter_mut().chain(&mut self.bodies.symbols);
        all.filter(|symbol| **symbol != BARRIER).for_each(|symbol| {
            *symbol = match symbol.checked_sub(own) {
                None => numbers[*symbol as usize],
                Some(rule) => token_count + rule,
            };
        });
        self.token_count = token_count;
    }
}

/// The grammar of all parts. `numbers` are those that the tokens of each part have in it, of `token_count`.
pub(crate) fn unite(
    mut parts: Vec<Part>,
    numbers: &[Vec<u32>],
    token_count: u32,
    cancel: &CancelFlag,
) -> Result<Grammar, Cancelled> {
    for (part, numbers) in parts.iter_mut().zip(numbers) {
        part.renumber(numbers, token_count);
        cancel.check()?;
    }
    // The barrier before the first document of a part is that behind the last one of the part before.
    let after_the_first = |number: usize| usize::from(number > 0);
    let pieces: Vec<Piece<'_>> = parts
        .iter()
        .enumerate()
        .map(|(number, part)| Piece {
            cells: &part.cells[after_the_first(number)..],
            bodies: &part.bodies,
        })
        .collect();
    let (cells, bodies) = join(&pieces, token_count);
    drop(parts);
    let document_count = cells.iter().filter(|&&cell| cell == BARRIER).count() - 1;
    let (cells, bodies) = pair_whole(cells, bodies, token_count, cancel)?;
    cancel.check()?;
    compose(token_count, cells, 0, document_count, bodies, cancel)
}
