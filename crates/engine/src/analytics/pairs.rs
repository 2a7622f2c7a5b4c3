//! Pairs of terms that stand near each other: co-occurrence, and collocations with scores.
//!
//! A pair lies in one symbol of a body or crosses from one to another; pairs that cross are made once for every
//! body, from the first and last terms of rules, and counted as sequences are ([`super::sequences`]).
//!
//! Cost: up to the window's width a symbol. Memory: 16 bytes for each pair made, in passes where that is too much.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::answer::{Answer, Column, Labels, Position, Rows, Value};
use tadoc_core::{Network, Result};

use super::columns::PAIR_SCORES;
use super::keys::{Key, bits_for};
use super::labels::Packing;
use super::score::{PairCounts, log_dice, log_likelihood, pmi, t_score};
use super::sites::Crossings;
use crate::traverse::Borders;

/// The pairs of terms at a distance of at most `reach`.
pub(super) struct Pairs<'n> {
    network: &'n Network,
    borders: Borders<'n>,
    reach: usize,
    bits: u32,
    /// The lesser term comes first, whichever stands first in the text.
    unordered: bool,
}

impl<'n> Pairs<'n> {
    pub(super) fn new(network: &'n Network, reach: usize, unordered: bool) -> Self {
        let bits = bits_for(network.grammar().token_count());
        Self { network, borders: Borders::new(network, reach), reach, bits, unordered }
    }

    pub(super) fn packing(&self) -> Packing {
        Packing { n: 2, bits: self.bits }
    }

    fn cross(&self, before: &[u32], row: &[u32], mut each: impl FnMut(u64)) {
        let (bits, mask) = (self.bits, u64::mask(2 * self.bits));
        self.borders.visit(before, row, |passed, head| {
            for (ahead, &second) in head.iter().enumerate() {
                for &first in passed.iter().rev().take(self.reach - ahead) {
                    let swap = self.unordered && second < first;
                    let (first, second) = if swap { (second, first) } else { (first, second) };
                    each(u64::from(first).push(bits, second, mask));
                }
            }
        });
    }
}

impl Crossings for Pairs<'_> {
    type Key = u64;

    fn key_bits(&self) -> u32 {
        2 * self.bits
    }

    fn network(&self) -> &Network {
        self.network
    }

    /// An item is the second one of as many pairs as the window is wide; a rule may hold as many of them as
    /// there are pairs of places on both sides of a border.
    fn most(&self) -> u64 {
        let grammar = self.network.grammar();
        let reach = self.reach as u64;
        let rules =
            grammar.symbols().par_iter().filter(|&&symbol| grammar.rule_of(symbol).is_some());
        let rules = rules.count() as u64;
        grammar.symbols().len() as u64 * reach + rules * (reach * (reach - 1) / 2)
    }

    /// An item may stand near many occurrences of another one, on both sides if that makes no difference.
    fn most_of_an_item(&self) -> u64 {
        self.reach as u64 * if self.unordered { 2 } else { 1 }
    }

    fn of_rule(&self, rule: u32, each: impl FnMut(u64)) {
        self.cross(&[], self.network.grammar().body(rule), each);
    }

    fn of_root(&self, stretch: Range<u32>, mut each: impl FnMut(usize, u64)) {
        super::windows::for_each_document(self.network, stretch, |document, before, row| {
            self.cross(before, row, |key| each(document, key));
        });
    }
}

/// What collocations are put in order by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Measure {
    /// Pointwise mutual information.
    Pmi,
    /// The likelihood ratio.
    #[default]
    LogLikelihood,
    /// Student's t.
    TScore,
    /// The logarithm of Dice's coefficient.
    LogDice,
}

/// A pair with its counts.
#[derive(Debug, Clone, Copy)]
struct Scored {
    key: u64,
    count: u64,
    score: f64,
}

/// Pairs with scores: by one of them descending, then by pair.
pub(super) struct Collocations {
    packing: Packing,
    window: usize,
    /// How often each term occurs.
    totals: Vec<u64>,
    words: u64,
    rows: Vec<Scored>,
}

impl Collocations {
    /// Scores pairs that were counted within a window.
    pub(super) fn new(
        pairs: impl IndexedParallelIterator<Item = (u64, u64)>,
        packing: Packing,
        window: usize,
        totals: Vec<u64>,
        measure: Measure,
        top: Option<usize>,
    ) -> Self {
        let words = totals.iter().sum();
        let mut scored = Self { packing, window, totals, words, rows: Vec::new() };
        let rows = pairs.map(|(key, count)| {
            let counts = scored.counts(key, count);
            let score = match measure {
                Measure::Pmi => pmi(&counts),
                Measure::LogLikelihood => log_likelihood(&counts),
                Measure::TScore => t_score(&counts),
                Measure::LogDice => log_dice(&counts),
            };
            Scored { key, count, score }
        });
        let mut rows: Vec<Scored> = rows.collect();
        rows.par_sort_unstable_by(|one, other| {
            other.score.total_cmp(&one.score).then(one.key.cmp(&other.key))
        });
        rows.truncate(top.unwrap_or(usize::MAX));
        scored.rows = rows;
        scored
    }

    fn counts(&self, key: u64, count: u64) -> PairCounts {
        let bits = self.packing.bits;
        let total = |place: u32| self.totals[key.digit(place * bits, bits) as usize];
        PairCounts::within(self.window, count, total(1), total(0), self.words)
    }
}

struct CollocationRows<'a> {
    labels: Labels<'a>,
    collocations: &'a Collocations,
}

impl Rows for CollocationRows<'_> {
    fn columns(&self) -> &'static [Column] {
        PAIR_SCORES
    }

    fn len(&self) -> u64 {
        self.collocations.rows.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let packing = self.collocations.packing;
        for row in &self.collocations.rows[rows.start as usize..rows.end as usize] {
            let counts = self.collocations.counts(row.key, row.count);
            packing.show(self.labels, row.key, |terms| {
                let Value::Terms(&[first, second]) = terms else { return };
                each(&[
                    Value::Text(first),
                    Value::Text(second),
                    Value::Count(row.count),
                    Value::Real(pmi(&counts)),
                    Value::Real(log_likelihood(&counts)),
                    Value::Real(t_score(&counts)),
                    Value::Real(log_dice(&counts)),
                ]);
            });
        }
    }
}

impl Answer for Collocations {
    fn columns(&self) -> &'static [Column] {
        PAIR_SCORES
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let given = std::mem::replace(at, Position::new([1, 0, 0, 0])) != Position::default();
        let rows = CollocationRows { labels, collocations: self };
        Ok((!given).then(|| Box::new(rows) as Box<dyn Rows>))
    }
}
