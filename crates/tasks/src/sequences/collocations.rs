//! Collocations: pairs with scores of how much more often they come than by chance.
//!
//! Pairs are counted as [`super::counts`] does, and each piece is put in the order of its scores. The
//! answer merges pieces while it is shown, and makes the scores of a row out of its counts.
//!
//! Cost: what counting pairs takes, and sorting the rows of a part. In the pool: 24 bytes a row.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::answer::columns::PAIR_SCORES;
use tadoc_core::answer::{Answer, Column, Labels, Position, Rows, Value};
use tadoc_core::parallel::{self, Idle};
use tadoc_core::{Limits, Measure, Packing};

use super::counts::{Counter, Occurrences};
use super::keys::Key;
use super::pairs::Pairs;
use super::source::Source;
use crate::Result;
use crate::score::{PairCounts, log_dice, log_likelihood, pmi, score, t_score};
use crate::weights::Weights;
use crate::work::{Block, Blocks, Work};

/// Rows of a part of the answer.
const ROWS_AT_ONCE: u64 = 1 << 18;

/// Sections of a block: each pair behind its rank, ascending; and the counts of the pairs.
const RANKED: usize = 0;
const COUNTS: usize = 1;

/// Bytes that a row takes while it is scored, ranked and made part of a block: a row is a rank, a pair and a
/// count.
const BYTES_OF_A_ROW: u64 = 4 * size_of::<[u64; 3]>() as u64;

/// Pairs with scores: by one of them descending, then by pair.
pub(super) struct Collocations {
    packing: Packing,
    scale: Scale,
    ranked: Blocks,
    top: u64,
}

/// What the counts of pairs are held against.
struct Scale {
    bits: u32,
    /// Places that the second term of a pair has, and one for the first.
    window: usize,
    /// How often each term occurs.
    weights: Weights,
    words: u64,
}

impl Scale {
    fn counts(&self, pair: u64, count: u64) -> PairCounts {
        let term = |place: u32| pair.digit(place * self.bits, self.bits) as usize;
        let terms = self.weights.items();
        PairCounts::within(self.window, count, terms[term(1)], terms[term(0)], self.words)
    }
}

/// A number that ascends as scores descend.
fn rank_of(score: f64) -> u64 {
    let bits = score.to_bits();
    // Negative numbers descend with their bits, and are below all others.
    let is_negative = bits >> 63 == 1;
    if is_negative { bits } else { !bits & (u64::MAX >> 1) }
}

impl Collocations {
    pub(super) fn new(
        work: &mut Work<'_>,
        source: &Source<Pairs<'_>, u64>,
        packing: Packing,
        window: usize,
        measure: Measure,
        limits: &Limits,
    ) -> Result<Self> {
        let Limits { least, top, .. } = *limits;
        let network = source.network();
        let weights = Weights::new(work, network)?;
        let words = network.length();
        let scale = Scale { bits: packing.bits, window: window + 1, weights, words };
        let occurrences = Occurrences::<u64>::new(work, source, packing)?;
        let Occurrences { layout, root, rules, .. } = &occurrences;
        let pieces = occurrences.pieces(work, BYTES_OF_A_ROW);
        let top = top.unwrap_or(usize::MAX);
        let are_rows = |_, block: Block<'_>| are_ranked(block, packing);
        let counters = Idle::default();
        let ranked = work.append("scores", pieces.len(), are_rows, |operation, block| {
            let piece = &pieces[operation];
            let above: u64 = layout.least(piece.buckets.start);
            let mut rows: Vec<[u64; 3]> = Vec::new();
            counters.with(Counter::default, |counter| {
                counter.count(*layout, piece, root, rules, |key, count| {
                    if count >= least {
                        let pair = above.plus(key);
                        let score = score(measure, &scale.counts(pair, count));
                        rows.push([rank_of(score), pair, count]);
                    }
                });
            });
            // Pairs ascend, and a stable sort leaves them so.
            rows.sort_by_key(|&[rank, ..]| rank);
            rows.truncate(top);
            let ranked: Vec<[u64; 2]> = rows.iter().map(|&[rank, pair, _]| [rank, pair]).collect();
            let counts: Vec<u64> = rows.iter().map(|&[_, _, count]| count).collect();
            block.put(&ranked);
            block.put(&counts);
            Ok(())
        })?;
        Ok(Self { packing, scale, ranked, top: top as u64 })
    }

    /// The rows behind so many, of which the last one has this [`number`]: as many as a part has.
    fn rows_behind(&self, given: u64, last: u128) -> Vec<[u64; 3]> {
        let blocks = self.ranked.len();
        let up_to = |block: usize, last: u128| {
            let ranked = self.ranked.section::<[u64; 2]>(block, RANKED);
            ranked.partition_point(|&[rank, pair]| number(rank, pair) <= last)
        };
        let start = |block| if given == 0 { 0 } else { up_to(block, last) };
        let starts: Vec<usize> = (0..blocks).map(start).collect();
        let left = self.top.saturating_sub(given).min(ROWS_AT_ONCE);
        let is_enough = |limit: u128| {
            let rows = (0..blocks).map(|block| up_to(block, limit) - starts[block]);
            rows.map(|rows| rows as u64).sum::<u64>() >= left
        };
        let (mut below, mut limit) = (if given == 0 { 0 } else { last }, u128::MAX);
        while below < limit {
            let middle = below + (limit - below) / 2;
            (below, limit) = if is_enough(middle) { (below, middle) } else { (middle + 1, limit) };
        }
        let of_blocks = parallel::map(blocks, &|block| {
            let own = starts[block]..up_to(block, limit);
            let ranked = &self.ranked.section::<[u64; 2]>(block, RANKED)[own.clone()];
            let counts = &self.ranked.section::<u64>(block, COUNTS)[own];
            let rows = ranked.iter().zip(counts);
            rows.map(|(&[rank, pair], &count)| [rank, pair, count]).collect::<Vec<_>>()
        });
        let mut rows = of_blocks.concat();
        // Those of each block are in order already, and pairs ascend from block to block: a stable sort
        // makes use of both.
        rows.par_sort_by_key(|&[rank, ..]| rank);
        rows.truncate(left as usize);
        rows
    }
}

/// A rank and a pair as one number, which is fast to compare and can be searched for by halving.
fn number(rank: u64, pair: u64) -> u128 {
    u128::from(rank) << 64 | u128::from(pair)
}

/// Whether a block has pairs by rank; nothing if it lacks a section.
fn are_ranked(block: Block<'_>, packing: Packing) -> Option<bool> {
    let ranked = block.section::<[u64; 2]>(RANKED)?;
    Some(
        block.section::<u64>(COUNTS)?.len() == ranked.len()
            && ranked.is_sorted_by(|one, other| one < other)
            && ranked.iter().all(|&[_, pair]| pair.is_sequence(packing)),
    )
}

/// Some rows.
struct CollocationRows<'a> {
    labels: Labels<'a>,
    collocations: &'a Collocations,
    /// The rank, pair and count of each.
    rows: Vec<[u64; 3]>,
}

impl Rows for CollocationRows<'_> {
    fn columns(&self) -> &'static [Column] {
        PAIR_SCORES
    }

    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let Collocations { packing, scale, .. } = self.collocations;
        for row in rows.start as usize..rows.end as usize {
            let terms = |[_, pair, _]: [u64; 3]| pair.terms(*packing);
            self.labels.terms.ask_ahead(&self.rows, row, terms);
            let [_, pair, count] = self.rows[row];
            let counts = scale.counts(pair, count);
            packing.show(self.labels, pair.terms(*packing), |terms| {
                let [first, second] = [terms[0], terms[1]].map(Value::Text);
                each(&[
                    first,
                    second,
                    Value::Count(count),
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
        let [given, rank, pair, _] = at.state();
        let rows = self.rows_behind(given, number(rank, pair));
        let Some(&[rank, pair, _]) = rows.last() else { return Ok(None) };
        *at = Position::new([given + rows.len() as u64, rank, pair, 0]);
        Ok(Some(Box::new(CollocationRows { labels, collocations: self, rows })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_ascend_as_scores_descend() {
        let scores = [f64::INFINITY, 1e300, 2.5, 1.0, 1e-300, 0.0, -0.0, -1e-9, -7.0, -1e300];
        let ranks = scores.map(rank_of);
        assert!(ranks.is_sorted_by(|one, other| one < other), "{ranks:?}");
        let by_rank = |one: &f64, other: &f64| rank_of(*one).cmp(&rank_of(*other));
        let mut sorted = scores;
        sorted.sort_by(|one, other| other.total_cmp(one));
        assert!(sorted.is_sorted_by(|one, other| by_rank(one, other).is_lt()));
    }
}
