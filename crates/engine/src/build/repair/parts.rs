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
    /// The last document goes on in the next part, if that is united with this one.
    goes_on: bool,
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
        Ok(Part { token_count, cells, bodies, goes_on: false })
    }
}

impl Part {
    /// The last document goes on in the next part.
    pub(crate) fn leave_open(&mut self) {
        self.goes_on = true;
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
    // The barrier before the first document of a part is that behind the last one of the part before, and
    // there is none between where a document goes on.
    let pieces: Vec<Piece<'_>> = parts
        .iter()
        .enumerate()
        .map(|(number, part)| {
            let start = usize::from(number > 0);
            let open = usize::from(part.goes_on && number + 1 < parts.len());
            Piece { cells: &part.cells[start..part.cells.len() - open], bodies: &part.bodies }
        })
        .collect();
    let (cells, bodies) = join(&pieces, token_count);
    drop(parts);
    let document_count = cells.iter().filter(|&&cell| cell == BARRIER).count() - 1;
    let (cells, bodies) = pair_whole(cells, bodies, token_count, cancel)?;
    cancel.check()?;
    compose(token_count, cells, 0, document_count, bodies, cancel)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of a part by the numbers of the whole, and the same with the numbers of the part.
    fn sequence(documents: &[Vec<u32>], own: &[u32]) -> TokenSequence {
        let mut sequence = TokenSequence {
            token_count: own.len() as u32,
            document_starts: vec![0],
            ..TokenSequence::default()
        };
        for document in documents {
            let number = |token: &u32| own.iter().position(|own| own == token).unwrap() as u32;
            sequence.tokens.extend(document.iter().map(number));
            sequence.document_starts.push(sequence.tokens.len() as u32);
        }
        sequence
    }

    #[test]
    fn parts_of_other_numbers_become_one_grammar() {
        let never = CancelFlag::default();
        let phrase = [2, 0, 3, 1, 2, 4];
        let line = [3, 0, 5];
        let open = [&phrase[..], &phrase, &line, &line].concat();
        let whole = [
            vec![[&line[..], &line, &line, &line, &phrase].concat(), vec![], open.clone()],
            vec![vec![4], [&phrase[..], &[1, 1], &phrase].concat()],
            vec![vec![], vec![0, 1]],
        ];
        // The numbers that the tokens of each part have in the whole; 5 ends lines.
        let numbers = [vec![5, 0, 4, 3, 2, 1], vec![4, 3, 2, 1, 0], vec![0, 1]];
        let parts = whole.iter().zip(&numbers).enumerate().map(|(number, (documents, own))| {
            let line_ends = own.iter().map(|&token| token == 5).collect();
            let part = RePair::new(line_ends).part(sequence(documents, own), &never);
            let mut part = part.unwrap();
            // The last document of the first part goes on as the first of the second; that of the last part
            // goes on in another segment.
            if number != 1 {
                part.leave_open();
            }
            part
        });
        let grammar = unite(parts.collect(), &numbers, 6, &never).unwrap();
        let expected = [
            whole[0][0].clone(),
            vec![],
            [open, vec![4]].concat(),
            whole[1][1].clone(),
            vec![],
            vec![0, 1],
        ];
        assert_eq!(grammar.document_count(), expected.len());
        for (number, document) in expected.iter().enumerate() {
            let expanded: Vec<u32> = grammar.expand(grammar.document(number)).collect();
            assert_eq!(&expanded, document, "document {number}");
        }
        // The phrase is one rule, though it comes once in some parts and with other numbers.
        let is_phrase =
            |&rule: &u32| grammar.expand(grammar.body(rule)).collect::<Vec<u32>>() == phrase;
        assert_eq!((0..grammar.rule_count()).filter(is_phrase).count(), 1);
        let mut uses = vec![0; grammar.rule_count() as usize];
        for rule in grammar.symbols().iter().filter_map(|&symbol| grammar.rule_of(symbol)) {
            uses[rule as usize] += 1;
        }
        assert!(uses.iter().all(|&uses| uses >= 2), "{uses:?}");
    }
}
