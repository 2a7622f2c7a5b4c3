//! Counting sequences or pairs: every one where it is met, times how often that place occurs.
//!
//! Phase `windows` makes those of root and rules and [groups](super::buckets) them; those of the root, which count once, are bare
//! keys, those of rules have the rule's weight. Phase `counts` takes a piece of the keys at a time, sorts it in the cache, adds up runs of
//! equal keys and puts them in the order of the answer. The answer reads its rows where that phase has put them.
//!
//! Cost: O(symbols) sequences, each written twice and then moved some five times in the cache. In the pool: a key for each sequence of the
//! root, a key and 8 bytes for each of a rule, and a key for each row of the answer.

use std::marker::PhantomData;

use tadoc_core::answer::{Answer, Column, Labels, Position, Rows};
use tadoc_core::parallel::Idle;
use tadoc_core::{Limits, Packing};

use super::buckets::{Grouping, Groupings, Layout, Piece, Records, are_grouped, pieces};
use super::keys::Key;
use super::ranking::{Counted, Ranking};
use super::runs::{RankedPosition, RunRows, Shape, are_ranked, put_ranked};
use super::sort::{Record, Sorter};
use super::source::{Crossings, Source, Stretch};
use super::{Budget, weights};
use crate::Result;
use crate::work::{Block, Blocks, Work};

/// Bytes that a sequence of a rule takes while it is sorted, counted, ranked and made part of a block.
pub(super) const fn bytes_to_count<H>() -> u64 {
    (3 * size_of::<Record<H, u64>>() + 2 * size_of::<H>()) as u64
}

/// All sequences with how often each is met, grouped by key.
pub(super) struct Occurrences<H> {
    /// About how many records there are.
    records: u64,
    pub(super) layout: Layout,
    pub(super) root: Records<H, ()>,
    pub(super) rules: Records<H, u64>,
}

impl<H: Key> Occurrences<H> {
    pub(super) fn new<'n, K: Key>(
        work: &mut Work<'_>,
        source: &Source<impl Crossings<'n, K>, K>,
        packing: Packing,
    ) -> Result<Self> {
        let budget = Budget::new(work);
        let weights = weights::of_rules(work, source.scope())?;
        let weights = &weights[..];
        // Records of rules are the larger ones.
        let most = budget.records(Grouping::<H, u64>::BYTES, source.most());
        let records = source.most() / 2;
        let at_once = budget.records(bytes_to_count::<H>(), records);
        let layout = Layout::new(packing.key_bits(), H::BITS, records, at_once);
        let stretches = source.stretches(most);
        let of_root = stretches.iter().filter(|one| matches!(one, Stretch::Root(_))).count();
        let longest = source.network().length();
        let are_windows = |operation: usize, block: Block<'_>| match stretches[operation] {
            Stretch::Root(_) => {
                are_grouped::<K, H, ()>(block, layout, |key, ()| key.is_sequence(packing))
            }
            Stretch::Rules(_) => are_grouped::<K, H, u64>(block, layout, |key, weight| {
                key.is_sequence(packing) && weight <= longest
            }),
        };
        let of_root_at_once = Groupings::<H, ()>::new(layout, most);
        let of_rules_at_once = Groupings::<H, u64>::new(layout, most);
        let windows =
            work.append("windows", stretches.len(), are_windows, |operation, block| {
                match stretches[operation].clone() {
                    Stretch::Root(stretch) => of_root_at_once.make(block, |grouping| {
                        source.of_root(stretch, |_, key| grouping.push(key, ()));
                    }),
                    Stretch::Rules(rules) => of_rules_at_once.make(block, |grouping| {
                        for rule in rules {
                            let weight = weights[rule as usize];
                            if weight > 0 {
                                source.of_rule(rule, |key| grouping.push(key, weight));
                            }
                        }
                    }),
                }
                Ok(())
            })?;
        let root = Records::new(windows.clone(), 0..of_root);
        let rules = Records::new(windows, of_root..stretches.len());
        Ok(Self { records, layout, root, rules })
    }

    /// Pieces that fit into memory where a row takes so many bytes more than it does to be counted.
    pub(super) fn pieces(&self, work: &Work<'_>, bytes_of_a_row: u64) -> Vec<Piece<H>> {
        let bytes = bytes_to_count::<H>() + bytes_of_a_row;
        let of_a_piece = Budget::new(work).of_a_piece(bytes, self.records);
        pieces(self.layout, &[&self.root, &self.rules], of_a_piece)
    }
}

/// Counts keys, piece after piece in the same memory.
#[derive(Debug)]
pub(super) struct Counter<H> {
    root: Sorter<H, ()>,
    rules: Sorter<H, u64>,
}

impl<H> Default for Counter<H> {
    fn default() -> Self {
        Self { root: Sorter::default(), rules: Sorter::default() }
    }
}

impl<H: Key> Counter<H> {
    /// Calls `each` with the keys of a piece, above the least of its first bucket and ascending, and with
    /// their counts.
    pub(super) fn count(
        &mut self,
        layout: Layout,
        piece: &Piece<H>,
        root: &Records<H, ()>,
        rules: &Records<H, u64>,
        mut each: impl FnMut(H, u64),
    ) {
        if piece.is_one_key() {
            let (mut sum, mut found) = (0, None);
            let bucket = piece.buckets.start;
            let mut add =
                |key: H, more: u64| (sum, found) = (u64::saturating_add(sum, more), Some(key));
            root.for_each(bucket, piece, |(key, ())| add(key, 1));
            rules.for_each(bucket, piece, |(key, weight)| add(key, weight));
            return found.into_iter().for_each(|key| each(key, sum));
        }
        for bucket in piece.buckets.clone() {
            root.gather(bucket, piece, &mut self.root.records);
            rules.gather(bucket, piece, &mut self.rules.records);
            let above: H = layout.least(bucket - piece.buckets.start);
            let bits = layout.low_bits;
            let (root, rules) = (self.root.sort(bits), self.rules.sort(bits));
            count_sorted(root, rules, |key, count| each(above.plus(key), count));
        }
    }
}

/// Calls `each` with every key and its count.
fn count_sorted<H: Key>(
    root: &[Record<H, ()>],
    rules: &[Record<H, u64>],
    mut each: impl FnMut(H, u64),
) {
    let (mut at_root, mut at_rule) = (0, 0);
    loop {
        let key = match (root.get(at_root), rules.get(at_rule)) {
            (Some(&(one, ())), Some(&(other, _))) => one.min(other),
            (Some(&(key, ())), None) | (None, Some(&(key, _))) => key,
            (None, None) => break,
        };
        let mut count = 0_u64;
        while root.get(at_root) == Some(&(key, ())) {
            count += 1;
            at_root += 1;
        }
        while let Some(&(_, weight)) = rules.get(at_rule).filter(|(other, _)| *other == key) {
            // Weights that were found in a pool are each below the words of the corpus, and need not be together.
            count = count.saturating_add(weight);
            at_rule += 1;
        }
        each(key, count);
    }
}

/// Sequences or pairs with their occurrences: by occurrences descending, then by key.
pub(super) struct SequenceCounts<K, H> {
    shape: Shape,
    packing: Packing,
    layout: Layout,
    ranked: Blocks,
    top: u64,
    /// The number of the document that all are of, if rows show it.
    document: Option<u32>,
    kind: PhantomData<(K, H)>,
}

impl<K: Key, H: Key> SequenceCounts<K, H> {
    pub(super) fn new<'n>(
        work: &mut Work<'_>,
        source: &Source<impl Crossings<'n, K>, K>,
        packing: Packing,
        shape: Shape,
        limits: &Limits,
    ) -> Result<Self> {
        let Limits { least, top, .. } = *limits;
        let occurrences = Occurrences::<H>::new(work, source, packing)?;
        let Occurrences { layout, root, rules, .. } = &occurrences;
        let pieces = occurrences.pieces(work, 0);
        let top = top.unwrap_or(usize::MAX);
        let are_rows = |operation: usize, block: Block<'_>| {
            are_ranked::<K, H>(block, packing, *layout, &pieces[operation].buckets)
        };
        let counters = Idle::default();
        let ranked = work.append("counts", pieces.len(), are_rows, |operation, block| {
            let piece = &pieces[operation];
            let mut counted = Counted::default();
            counters.with(Counter::default, |counter| {
                counter.count(*layout, piece, root, rules, |key, count| {
                    if count >= least {
                        counted.push(key, count);
                    }
                });
            });
            let Ranking { keys, runs } = counted.rank(top);
            put_ranked(block, piece.buckets.start, &keys, &runs);
            Ok(())
        })?;
        let (top, document, kind) = (top as u64, None, PhantomData);
        Ok(Self { shape, packing, layout: *layout, ranked, top, document, kind })
    }
}

impl<K, H> SequenceCounts<K, H> {
    /// The same with a document in every row.
    pub(super) fn with_document(self, number: u32) -> Self {
        Self { shape: Shape::Documents, document: Some(number), ..self }
    }
}

impl<K: Key, H: Key> Answer for SequenceCounts<K, H> {
    fn columns(&self) -> &'static [Column] {
        self.shape.columns()
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let [below, block, within, _] = at.state();
        let mut behind = RankedPosition { below, block, within };
        let document = self.document.map_or(&[][..], |number| labels.documents.get(number));
        let mut rows = RunRows::<K, H>::new(self.packing, self.layout, labels, self.shape);
        rows.push_ranked(document, &self.ranked, 0..self.ranked.len(), self.top, &mut behind);
        *at = Position::new([behind.below, behind.block, behind.within, 0]);
        Ok((!rows.is_empty()).then(|| Box::new(rows) as Box<dyn Rows>))
    }
}
