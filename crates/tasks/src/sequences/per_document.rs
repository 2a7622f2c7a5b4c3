//! Documents with their sequences and counts.
//!
//! Documents are walked for their rules; the sequences that these give, times how often, and those of the document's own symbols are sorted and added
//! up. A document that is too large for that is cut into stretches, whose sequences are grouped by key; then it is counted piece by
//! piece as a whole corpus is.
//!
//! Cost: the rules that each document uses, and sorting the sequences that they give. In the pool: a key for each row of the answer and 16
//! bytes for each different count of a document; for large documents a key and 8 bytes more for each sequence of their rules.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use tadoc_core::Packing;
use tadoc_core::answer::columns::SEQUENCE_DOCUMENTS;
use tadoc_core::answer::{Answer, Column, Labels, Position, Rows};
use tadoc_core::parallel::Idle;

use super::Budget;
use super::buckets::{Grouping, Groupings, Layout, Piece, Records, are_grouped, pieces};
use super::counts::{Counter, bytes_to_count};
use super::frequent::Frequent;
use super::keys::Key;
use super::ranking::{Counted, Ranking};
use super::rule_documents::RulesOf;
use super::runs::{Place, RankedPosition, RunRows, Shape, are_ranked, put_ranked};
use super::sort::{Record, Sorter};
use super::source::Sequences;
use crate::Result;
use crate::check::are_ends;
use crate::entry::{Entry, Key as _};
use crate::plan::{Plan, Sizes};
use crate::walk::Walkers;
use crate::work::{Block, Blocks, Work};

/// Sections of a block of documents: each document with the end of its runs; keys; and each count of a document with the end of its
/// keys.
const DOCUMENTS: usize = 0;
const KEYS: usize = 1;
const RUNS: usize = 2;
/// The section of a ranked block that says of which document it is.
const LARGE_DOCUMENT: usize = 3;

/// Documents, each with its sequences: by count descending, then sequence ascending.
pub(super) struct SequenceVectors<K, H> {
    /// The number of every document in the corpus, by place.
    numbers: Arc<[u32]>,
    packing: Packing,
    layout: Layout,
    /// The rows of documents that are not cut, and the grouped sequences of stretches.
    documents: Blocks,
    /// What is in each block of `documents`.
    order: Vec<Contents>,
    /// The rows of documents that are cut.
    ranked: Blocks,
    /// The document of each block of `ranked`, by place.
    ranked_of: Vec<u32>,
    top: u64,
    kind: PhantomData<(K, H)>,
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Contents {
    /// Documents.
    Documents,
    /// A stretch of a document, by place.
    Stretch(u32),
}

/// A document that was cut.
struct Large<H> {
    document: u32,
    sequences: Records<H, u64>,
}

impl<K: Key, H: Key> SequenceVectors<K, H> {
    pub(super) fn new(
        work: &mut Work<'_>,
        source: &Sequences<'_, K, H>,
        packing: Packing,
        least: u64,
        top: Option<usize>,
    ) -> Result<Self> {
        let network = source.network();
        let frequent = match least {
            ..=1 => None,
            _ => Some(Frequent::new(work, source, packing, least)?),
        };
        let is_kept = |key: K| frequent.as_ref().is_none_or(|frequent| frequent.has(key));
        let top = top.unwrap_or(usize::MAX);
        let budget = Budget::new(work);
        let bytes = Grouping::<H, u64>::BYTES.max(bytes_to_count::<K>());
        let most = budget.records(bytes, source.most());
        let of_a_piece = budget.of_a_piece(bytes_to_count::<H>(), source.most() / 2);
        let layout = Layout::new(packing.key_bits(), H::BITS, source.most() / 2, of_a_piece[0]);
        let rules = RulesOf::<u64>::of_sequences(work, source)?;
        let sizes = Sizes { keys: most.min(u32::MAX.into()) as u32, ..Sizes::default() };
        let plan = Plan::new(work, "sequences that documents can have", network, &rules, sizes)?;
        let walkers = Walkers::new(work, network, &plan, &rules)?;
        let operations = plan.operations();
        let are_rows = |operation: usize, block: Block<'_>| {
            if operations[operation].is_cut() {
                let is_record = |key: K, _: u64| key.is_sequence(packing);
                return are_grouped::<K, H, u64>(block, layout, is_record);
            }
            let ends = block.section::<[u32; 2]>(DOCUMENTS)?;
            let (keys, runs) = (block.section::<K>(KEYS)?, block.section::<[u64; 2]>(RUNS)?);
            Some(
                ends.iter()
                    .map(|&[document, _]| document)
                    .eq(operations[operation].documents.clone())
                    && are_ends(ends.iter().map(|&[_, end]| end.into()), runs.len())
                    && are_ends(runs.iter().map(|&[_, end]| end), keys.len())
                    && keys.iter().all(|&key| key.is_sequence(packing)),
            )
        };
        let groupings = Groupings::<H, u64>::new(layout, most);
        let sorters = Idle::default();
        let phase = "sequences of documents";
        let documents = work.append(phase, operations.len(), are_rows, |operation, block| {
            if operations[operation].is_cut() {
                groupings.make(block, |grouping| {
                    walkers.walk(operation, |stretch, found| {
                        source.of_root(stretch.root.clone(), |_, key| grouping.push(key, 1));
                        for entry in found.iter() {
                            let count = entry.count();
                            source.of_rule(entry.key().number(), |key| grouping.push(key, count));
                        }
                    });
                });
                return Ok(());
            }
            let (mut ends, mut keys, mut runs) = (Vec::new(), Vec::new(), Vec::new());
            let sort = |sorter: &mut Sorter<K, u64>| {
                walkers.walk(operation, |stretch, found| {
                    let records = &mut sorter.records;
                    records.clear();
                    source.of_root(stretch.root.clone(), |_, key| records.push((key, 1)));
                    for entry in found.iter() {
                        let count = entry.count();
                        source.of_rule(entry.key().number(), |key| records.push((key, count)));
                    }
                    let ranking = rank(sorter.sort(packing.key_bits()), is_kept, top);
                    let before = keys.len() as u64;
                    keys.extend_from_slice(&ranking.keys);
                    runs.extend(ranking.runs.iter().map(|&[count, end]| [count, before + end]));
                    ends.push([stretch.document, runs.len() as u32]);
                })
            };
            sorters.with(Sorter::default, sort);
            block.put(&ends);
            block.put(&keys);
            block.put(&runs);
            Ok(())
        })?;
        let order: Vec<Contents> = operations
            .iter()
            .map(|operation| match operation.is_cut() {
                false => Contents::Documents,
                true => Contents::Stretch(operation.documents.start),
            })
            .collect();
        let large: Vec<Large<H>> = stretches(&order)
            .map(|(document, blocks)| Large {
                document,
                sequences: Records::new(documents.clone(), blocks),
            })
            .collect();
        let pieces: Vec<(&Large<H>, Piece<H>)> = large
            .iter()
            .flat_map(|large| {
                let own = pieces(layout, &[&large.sequences], of_a_piece);
                own.into_iter().map(move |piece| (large, piece))
            })
            .collect();
        let none = Records::new(documents.clone(), 0..0);
        let are_of_large = |operation: usize, block: Block<'_>| {
            let (large, piece) = &pieces[operation];
            Some(
                block.section::<u32>(LARGE_DOCUMENT)? == [large.document]
                    && are_ranked::<K, H>(block, packing, layout, &piece.buckets)?,
            )
        };
        let counters = Idle::default();
        let phase = "sequences of large documents";
        let ranked = work.append(phase, pieces.len(), are_of_large, |operation, block| {
            let (large, piece) = &pieces[operation];
            let least: K = layout.least(piece.buckets.start);
            let mut counted = Counted::default();
            counters.with(Counter::default, |counter| {
                counter.count(layout, piece, &none, &large.sequences, |key, count| {
                    if is_kept(least.plus(key.to())) {
                        counted.push(key, count);
                    }
                });
            });
            let Ranking { keys, runs } = counted.rank(top);
            put_ranked(block, piece.buckets.start, &keys, &runs);
            block.put(&[large.document]);
            Ok(())
        })?;
        let (top, kind) = (top as u64, PhantomData);
        let numbers = network.documents().clone();
        let ranked_of = pieces.iter().map(|(large, _)| large.document).collect();
        Ok(Self { numbers, packing, layout, documents, order, ranked, ranked_of, top, kind })
    }
}

impl<K: Key, H: Key> SequenceVectors<K, H> {
    /// Appends the rows of a block of documents behind the first `given`, as far as there is room; whether that was for all.
    fn push_block<'a>(
        &'a self,
        rows: &mut RunRows<'a, K, H>,
        block: usize,
        name: impl Fn(u32) -> &'a [u8],
        given: &mut u64,
    ) -> bool {
        let runs = self.documents.section::<[u64; 2]>(block, RUNS);
        let documents = self.documents.section::<[u32; 2]>(block, DOCUMENTS);
        let first = runs.partition_point(|&[_, end]| end <= *given);
        let mut document = documents.partition_point(|&[_, end]| end as usize <= first);
        for (run, &[count, end]) in runs.iter().enumerate().skip(first) {
            while documents[document][1] as usize <= run {
                document += 1;
            }
            let keys = *given as usize..end as usize;
            let (length, place) = (keys.len(), Place::Whole(&self.documents, block, KEYS));
            let taken = rows.push(name(documents[document][0]), count, place, keys);
            *given += taken as u64;
            if taken < length {
                return false;
            }
        }
        true
    }
}

/// Documents that were cut, with the blocks of each.
fn stretches(order: &[Contents]) -> impl Iterator<Item = (u32, Range<usize>)> {
    let mut start = 0;
    order.chunk_by(|one, other| one == other && *one != Contents::Documents).filter_map(
        move |own| {
            let blocks = start..start + own.len();
            start = blocks.end;
            match own[0] {
                Contents::Documents => None,
                Contents::Stretch(document) => Some((document, blocks)),
            }
        },
    )
}

/// Counts the sequences of sorted records, and ranks those that are kept.
fn rank<K: Key>(records: &[Record<K, u64>], is_kept: impl Fn(K) -> bool, top: usize) -> Ranking<K> {
    let mut counted = Counted::default();
    for same in records.chunk_by(|one, other| one.0 == other.0) {
        if is_kept(same[0].0) {
            counted
                .push(same[0].0, same.iter().map(|record| record.1).fold(0, u64::saturating_add));
        }
    }
    counted.rank(top)
}

impl<K: Key, H: Key> Answer for SequenceVectors<K, H> {
    fn columns(&self) -> &'static [Column] {
        SEQUENCE_DOCUMENTS
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let name = |place: u32| labels.documents.get(self.numbers[place as usize]);
        let [first, mut state @ ..] = at.state();
        let mut rows = RunRows::<K, H>::new(self.packing, self.layout, labels, Shape::Documents);
        let mut next = first as usize;
        while let Some(contents) = self.order.get(next) {
            let is_whole = match *contents {
                Contents::Documents => self.push_block(&mut rows, next, name, &mut state[0]),
                // The first stretch stands for all.
                Contents::Stretch(_) if next > 0 && self.order[next - 1] == *contents => true,
                Contents::Stretch(document) => {
                    let start = self.ranked_of.partition_point(|&other| other < document);
                    let end = self.ranked_of.partition_point(|&other| other <= document);
                    let [below, block, within] = state;
                    let mut behind = RankedPosition { below, block, within };
                    let name = name(document);
                    let is_whole =
                        rows.push_ranked(name, &self.ranked, start..end, self.top, &mut behind);
                    state = [behind.below, behind.block, behind.within];
                    is_whole
                }
            };
            if !is_whole {
                break;
            }
            (next, state) = (next + 1, [0; 3]);
        }
        *at = Position::new([next as u64, state[0], state[1], state[2]]);
        Ok((!rows.is_empty()).then(|| Box::new(rows) as Box<dyn Rows>))
    }
}
