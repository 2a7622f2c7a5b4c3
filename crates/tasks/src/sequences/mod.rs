//! The tasks over sequences of terms: how often they occur, in all, in each document, and in which documents; and those over
//! pairs of terms that stand near each other.
//!
//! A sequence is of `n` terms that follow each other in one document. It is made where it crosses a border between symbols, so a
//! grammar has about as many places of sequences as symbols, however often they occur. Everything that is kept for each place or for each
//! sequence is in blocks of the pool, partitioned by ranges of keys; memory holds a piece of it for each thread.
//!
//! # Modules
//!
//! `keys` packs sequences into integers, by [`Packing`]. `ends`, `windows`, `tables` and `source` make the sequences of root and
//! rules, in either direction, and `weights` says how often rules occur. `buckets` partitions records by their keys, `sort` sorts them, and
//! `ranking` puts rows by count. `counts`, `per_document` and `ranked` have a task each, with its cost.

mod buckets;
mod collocations;
mod counts;
mod ends;
mod frequent;
mod keys;
mod pairs;
mod per_document;
mod ranked;
mod ranking;
mod rule_documents;
mod runs;
mod sort;
mod source;
mod tables;
mod weights;
mod windows;

use tadoc_core::answer::Answer;
use tadoc_core::{Limits, Network, Packing, Strategy, Task};

use self::buckets::MOST_BUCKET_BITS;
use self::collocations::Collocations;
use self::counts::SequenceCounts;
use self::keys::{Key, TAG_BITS, Wide};
use self::pairs::Pairs;
use self::per_document::SequenceVectors;
use self::ranked::RankedIndex;
use self::runs::Shape;
use self::source::Source;
use self::windows::Windows;
use crate::plan::sole_document;
use crate::work::Work;
use crate::{Error, Result};

/// An operation takes this part of the memory that the work may take: there is one for each thread, and some is for others.
const PART_OF_MEMORY: u64 = 16;
/// Pieces that are so many times as large as an operation are cut, though each part of one then goes
/// over all of it.
const MOST_OF_A_PIECE: u64 = 4;

/// Operations of a phase, if they are not too small for that, or too large for memory.
const OPERATIONS: u64 = 64;
/// Records that an operation is too small for: beginning it would cost more than to go over them.
const FEW_RECORDS: u64 = 1 << 15;

/// What an operation may take of memory. It does not depend on the number of threads, so that work can be gone on with on more or
/// fewer.
#[derive(Debug, Clone, Copy)]
struct Budget {
    /// What is as fast as less.
    bytes: u64,
    most: u64,
}

impl Budget {
    fn new(work: &Work<'_>) -> Self {
        let part = work.memory() / PART_OF_MEMORY;
        let most = work.most_of_an_operation();
        Self { bytes: part.min(most), most: part.min(MOST_OF_A_PIECE * most) }
    }

    /// How many records of so many bytes an operation has, if there are `all`: as many as fit, but
    /// few enough for threads to end at about the same time.
    fn records(self, bytes: u64, all: u64) -> u64 {
        let even = (all / OPERATIONS).max(FEW_RECORDS);
        (self.bytes / bytes).min(even).max(1)
    }

    /// The same for a piece: if it can choose, and at most.
    fn of_a_piece(self, bytes: u64, all: u64) -> [u64; 2] {
        [self.records(bytes, all), (self.most / bytes).max(1)]
    }
}

/// Answers one of the tasks over sequences or pairs.
pub(crate) fn answer(
    work: &mut Work<'_>,
    network: &Network,
    task: Task,
    strategy: Strategy,
    limits: &Limits,
) -> Result<Box<dyn Answer>> {
    let n = task.terms_of_a_key();
    let items = network.grammar().token_count();
    let packing = Packing::new(n, items);
    let asked = Asked { packing, task, strategy, limits };
    match packing.key_bits() {
        // Two terms always fit.
        _ if matches!(task, Task::Cooccurrence { .. } | Task::Collocations { .. }) => {
            asked.answer_pairs(work, network)
        }
        ..=64 => asked.answer::<u64, u64>(work, network),
        65..=128 if fits::<u64>(packing) => asked.answer::<u128, u64>(work, network),
        65..=128 => asked.answer::<u128, u128>(work, network),
        _ => asked.answer::<Wide, Wide>(work, network),
    }
}

/// Whether a narrow key has room for all of a sequence but the bits that choose a bucket, and for
/// all but one of its terms with a tag.
fn fits<H: Key>(packing: Packing) -> bool {
    let without_one = packing.key_bits() - packing.bits;
    packing.key_bits() <= H::BITS + MOST_BUCKET_BITS && without_one + TAG_BITS <= H::BITS
}

/// What is asked.
struct Asked<'l> {
    packing: Packing,
    task: Task,
    strategy: Strategy,
    limits: &'l Limits,
}

impl Asked<'_> {
    /// With keys `K`, of which most is kept in an `H`.
    fn answer<K: Key, H: Key>(
        self,
        work: &mut Work<'_>,
        network: &Network,
    ) -> Result<Box<dyn Answer>> {
        let Self { packing, task, strategy, limits } = self;
        let Limits { least, top, .. } = *limits;
        let windows = Windows::<K, H>::new(work, network, packing)?;
        let source = Source::new(work, windows, packing, strategy)?;
        // In longer texts something could occur more often in a document than 32 bits can say.
        let is_short = network.length() <= u32::MAX.into();
        Ok(match task {
            Task::SequenceCountPerDocument { .. }
                if let Some(document) = sole_document(network) =>
            {
                let shape = Shape::Sequences;
                let counts = SequenceCounts::<K, H>::new(work, &source, packing, shape, limits)?;
                Box::new(counts.with_document(network.documents()[document as usize]))
            }
            Task::SequenceCountPerDocument { .. } => {
                Box::new(SequenceVectors::new(work, &source, packing, least, top)?)
            }
            Task::RankedInvertedIndex { .. } if is_short => {
                Box::new(RankedIndex::new::<u32>(work, &source, packing, least, top)?)
            }
            Task::RankedInvertedIndex { .. } => {
                Box::new(RankedIndex::new::<u64>(work, &source, packing, least, top)?)
            }
            _ => {
                let shape = Shape::Sequences;
                let counts = SequenceCounts::<K, H>::new(work, &source, packing, shape, limits)?;
                Box::new(counts)
            }
        })
    }

    /// Those over pairs.
    fn answer_pairs(self, work: &mut Work<'_>, network: &Network) -> Result<Box<dyn Answer>> {
        let Self { packing, task, strategy, limits } = self;
        let source = |work: &mut Work<'_>, window: usize, ordered: bool| {
            let pairs = Pairs::new(work, network, packing, window, ordered)?;
            Source::new(work, pairs, packing, strategy)
        };
        Ok(match task {
            Task::Collocations { window, measure } => {
                let source = source(work, window, true)?;
                let scored = Collocations::new(work, &source, packing, window, measure, limits)?;
                Box::new(scored)
            }
            Task::Cooccurrence { window, ordered } => {
                let (source, shape) = (source(work, window, ordered)?, Shape::Pairs);
                let counts =
                    SequenceCounts::<u64, u64>::new(work, &source, packing, shape, limits)?;
                Box::new(counts)
            }
            task => return Err(Error::Unsupported { what: task.name().to_string() }),
        })
    }
}
