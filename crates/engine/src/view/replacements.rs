//! What stands for each rule of a segment in a view.
//!
//! Separators and removed words go; a rule that is left with nothing goes too, one that is left with
//! a single symbol is replaced by it, and one that saves next to nothing is replaced by its body:
//! very many rules are two symbols that come twice, and a rule costs a miss of the cache wherever it
//! is met. The order of rules stays, so parents still come before children.
//!
//! Cost: a pass over the rules on all threads, children first: those that do not use each other at
//! the same time. 20 bytes a rule.

use rayon::prelude::*;
use tadoc_core::SpillVec;
use tadoc_core::grammar::Slices as GrammarSlices;

use super::segment::{RULES_AT_ONCE, Source};
use super::{NONE, ViewRows, add};
use crate::error::Result;

/// A rule of `length` symbols that is `uses` symbols stays if `(uses - 1) * (length - 1)`, which is
/// by how much the grammar would grow without it and one, is above this.
const LEAST_GAIN: u64 = 3;
/// What is longer is not written out, whatever it saves: chains of rules would be written out at
/// each of their links.
const LONGEST_WRITTEN_OUT: usize = 64;
/// Numbers of a slot.
const SLOT: usize = 4;
/// Rules whose slots are fetched together, so that waiting for one is waiting for all.
const FETCHED: usize = 16;

/// How many symbols stand for a rule, and these if they are fewer than [`SLOT`]; otherwise where
/// they are among the long ones.
type Slot = [u32; SLOT];

/// What stands for each rule in the view: nothing, one symbol (its own new one, or that of what is
/// left of it), or what is written out in its place.
pub(super) struct Replacements {
    slots: SpillVec<Slot>,
    long: SpillVec<u32>,
    kept: SpillVec<u32>,
}

/// The slots of the rules from a first one on.
#[derive(Clone, Copy)]
struct Slots<'s> {
    first: usize,
    slots: &'s [Slot],
    long: &'s [u32],
}

/// What stands for a rule, and for how many symbols of its body there is anything.
struct Short {
    slot: Slot,
    left: u64,
}

/// What stands for some rules: long replacements, and which rules stay.
#[derive(Default)]
struct Written {
    long: Vec<u32>,
    kept: Vec<u32>,
}

impl Replacements {
    /// `uses` has for each rule how many symbols it is; what is none is left out.
    pub(super) fn new(source: &Source<'_>, uses: &[u32]) -> Self {
        let spill = source.grammar.spill();
        let mut slots = spill.filled([0; SLOT], uses.len());
        let mut long: SpillVec<u32> = spill.row();
        let mut kept_of_runs = Vec::new();
        let levels = source.grammar.slices().levels(0..source.grammar.rule_count());
        let mut end = uses.len();
        for &start in levels.iter().rev() {
            let run = start as usize..end;
            end = run.start;
            let (own, behind) = slots[run.start..].split_at_mut(run.len());
            let behind = Slots { first: run.end, slots: behind, long: &long };
            let written = own.par_chunks_mut(RULES_AT_ONCE).enumerate().map(|(number, slots)| {
                let first = run.start + number * RULES_AT_ONCE;
                write_out(source, behind, uses, first, slots)
            });
            let written: Vec<Written> = written.collect();
            for (slots, written) in own.chunks_mut(RULES_AT_ONCE).zip(&written) {
                #[expect(clippy::cast_possible_truncation, reason = "as many as there are symbols")]
                let before = long.len() as u32;
                long.extend_from_slice(&written.long);
                let of_long = slots.iter_mut().filter(|slot| slot[0] as usize >= SLOT);
                of_long.for_each(|slot| slot[1] += before);
            }
            kept_of_runs.extend(written.into_iter().rev().map(|written| written.kept));
        }
        let mut kept = spill.row();
        kept_of_runs.iter().rev().for_each(|run| kept.extend_from_slice(run));
        drop(kept_of_runs);
        let mut this = Self { slots, long, kept };
        this.renumber(source);
        this
    }

    /// Puts the new numbers of rules in the place of the old ones.
    fn renumber(&mut self, source: &Source<'_>) {
        let term_count = source.term_count;
        let mut numbers = source.grammar.spill().filled(NONE, self.slots.len());
        for (number, &rule) in (term_count + source.rules_before..).zip(&self.kept[..]) {
            numbers[rule as usize] = number;
        }
        let numbers = &numbers[..];
        let renumber = |symbol: &mut u32| {
            if *symbol >= term_count {
                *symbol = numbers[(*symbol - term_count) as usize];
            }
        };
        self.long.par_iter_mut().with_min_len(RULES_AT_ONCE).for_each(renumber);
        self.slots.par_iter_mut().with_min_len(RULES_AT_ONCE).for_each(|slot| {
            let length = slot[0] as usize;
            if length < SLOT {
                slot[1..1 + length].iter_mut().for_each(renumber);
            }
        });
    }

    /// The rules that stay, ascending.
    pub(super) fn kept(&self) -> &[u32] {
        &self.kept
    }

    fn slots(&self) -> Slots<'_> {
        Slots { first: 0, slots: &self.slots, long: &self.long }
    }

    /// The symbols that stand for a rule.
    #[inline]
    pub(super) fn get(&self, rule: u32) -> &[u32] {
        self.slots().get(rule)
    }

    /// Appends the symbols that stand for those of a row.
    #[inline]
    pub(super) fn append(&self, source: &Source<'_>, row: &[u32], into: &mut Vec<u32>) {
        self.slots().append(source, row, into);
    }

    /// Appends new symbols, and what stands for rule `symbol - several` where one is not below
    /// `several`.
    #[inline]
    pub(super) fn write_out(&self, row: &[u32], several: u32, into: &mut Vec<u32>) {
        let slots = self.slots();
        for row in row.chunks(FETCHED) {
            let mut fetched = [[0_u32; SLOT]; FETCHED];
            for (slot, &symbol) in fetched.iter_mut().zip(row) {
                // Both are looked up, as which it is cannot be predicted.
                let rule = symbol.checked_sub(several);
                let of_rule =
                    slots.slots.get(rule.unwrap_or(0) as usize).copied().unwrap_or_default();
                let own = [1, symbol, 0, 0];
                *slot = std::hint::select_unpredictable(rule.is_some(), of_rule, own);
            }
            let mut written = [0_u32; (SLOT - 1) * (FETCHED + 1)];
            let mut length = 0;
            for slot in &fetched[..row.len()] {
                if (slot[0] as usize) < SLOT {
                    written[length..length + SLOT - 1].copy_from_slice(&slot[1..]);
                    length += slot[0] as usize;
                } else {
                    into.extend_from_slice(&written[..length]);
                    into.extend_from_slice(slots.symbols_of(slot));
                    length = 0;
                }
            }
            into.extend_from_slice(&written[..length]);
        }
    }

    /// Adds how often terms, and rules that stay, stand in the documents, out of how often the old
    /// symbols do.
    pub(super) fn count(
        &self,
        source: &Source<'_>,
        counts: &[u32],
        made: &mut ViewRows,
    ) -> Result<()> {
        let before = made.rule_counts.len();
        made.rule_counts.extend(std::iter::repeat_n(0, self.kept.len()));
        let (term_counts, rule_counts) =
            (&mut made.term_counts[..], &mut made.rule_counts[before..]);
        let (of_tokens, of_rules) = counts.split_at(source.terms.len());
        for (&term, &count) in source.terms.iter().zip(of_tokens).filter(|(term, _)| **term != NONE)
        {
            add(&mut term_counts[term as usize], count.into())?;
        }
        let first_rule = source.term_count + source.rules_before;
        let slots = self.slots();
        for (slot, &count) in slots.slots.iter().zip(of_rules).filter(|(_, count)| **count > 0) {
            for &symbol in slots.symbols_of(slot) {
                match symbol.checked_sub(first_rule) {
                    None => add(&mut term_counts[symbol as usize], count.into())?,
                    Some(rule) => add(&mut rule_counts[rule as usize], count.into())?,
                }
            }
        }
        Ok(())
    }
}

impl<'s> Slots<'s> {
    #[inline]
    fn get(self, rule: u32) -> &'s [u32] {
        self.symbols_of(&self.slots[rule as usize - self.first])
    }

    #[inline]
    fn symbols_of(self, slot: &'s Slot) -> &'s [u32] {
        let length = slot[0] as usize;
        if length < SLOT {
            &slot[1..1 + length]
        } else {
            &self.long[slot[1] as usize..slot[1] as usize + length]
        }
    }

    /// What stands for a body of two symbols, as most are, if that is fewer symbols than a slot has.
    #[inline]
    fn short(self, source: &Source<'_>, grammar: GrammarSlices<'_>, body: &[u32]) -> Option<Short> {
        let &[first, second] = body else { return None };
        let of = |symbol: u32| match grammar.rule_of(symbol) {
            None => {
                let term = source.terms[symbol as usize];
                [u32::from(term != NONE), term, 0, 0]
            }
            Some(rule) => self.slots[rule as usize - self.first],
        };
        let (first, second) = (of(first), of(second));
        let (one, other) = (first[0] as usize, second[0] as usize);
        if one + other >= SLOT {
            return None;
        }
        // The second behind the first, whose places beyond its own are overwritten.
        let mut symbols = [0; 2 * SLOT];
        symbols[1..SLOT].copy_from_slice(&first[1..]);
        symbols[1 + one..one + SLOT].copy_from_slice(&second[1..]);
        let slot = [first[0] + second[0], symbols[1], symbols[2], symbols[3]];
        Some(Short { slot, left: u64::from(one > 0) + u64::from(other > 0) })
    }

    /// Appends the symbols that stand for those of a row; gives of how many there are any.
    #[inline]
    fn append(self, source: &Source<'_>, row: &[u32], into: &mut Vec<u32>) -> u64 {
        let grammar = source.grammar.slices();
        let mut left = 0;
        for block in row.chunks(FETCHED) {
            let mut fetched = [[0_u32; SLOT]; FETCHED];
            for (slot, &symbol) in fetched.iter_mut().zip(block) {
                *slot = match grammar.rule_of(symbol) {
                    None => {
                        let term = source.terms[symbol as usize];
                        [u32::from(term != NONE), term, 0, 0]
                    }
                    Some(rule) => self.slots[rule as usize - self.first],
                };
            }
            for slot in &fetched[..block.len()] {
                left += u64::from(slot[0] > 0);
                match slot {
                    [0, ..] => {}
                    [1, symbol, ..] => into.push(*symbol),
                    slot => into.extend_from_slice(self.symbols_of(slot)),
                }
            }
        }
        left
    }
}

/// Fills the slots of the rules from `first` on, which use only rules `behind` them.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rules are numbered in 32 bits, and what is written out is shorter"
)]
fn write_out(
    source: &Source<'_>,
    behind: Slots<'_>,
    uses: &[u32],
    first: usize,
    slots: &mut [Slot],
) -> Written {
    let grammar = source.grammar.slices();
    let mut made = Written::default();
    let mut written: Vec<u32> = Vec::new();
    for (rule, slot) in (first..).zip(slots) {
        let Some(more_uses) = uses[rule].checked_sub(1) else { continue };
        let body = grammar.body(rule as u32);
        if let Some(short) = behind.short(source, grammar, body)
            && (short.left <= 1 || u64::from(more_uses) * (short.left - 1) <= LEAST_GAIN)
        {
            *slot = short.slot;
            continue;
        }
        written.clear();
        let length = behind.append(source, body, &mut written);
        let gain = u64::from(more_uses).saturating_mul(length.saturating_sub(1));
        if length > 1 && (gain > LEAST_GAIN || written.len() > LONGEST_WRITTEN_OUT) {
            made.kept.push(rule as u32);
            // Its old number, as the new one is not known yet.
            written.clear();
            written.push(source.term_count + rule as u32);
        }
        slot[0] = written.len() as u32;
        if written.len() < SLOT {
            slot[1..1 + written.len()].copy_from_slice(&written);
        } else {
            slot[1] = made.long.len() as u32;
            made.long.extend_from_slice(&written);
        }
    }
    made
}
