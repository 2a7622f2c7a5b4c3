//! Which sequences occur often enough in all, for answers that ask each document.
//!
//! Cost: all sequences are counted as for [`super::counts`]; a question is two binary searches. In the pool: what counting takes, and a key
//! for each sequence that is frequent.

use std::marker::PhantomData;

use tadoc_core::Packing;
use tadoc_core::parallel::Idle;

use super::buckets::{Layout, Piece};
use super::counts::{Counter, Occurrences};
use super::keys::Key;
use super::source::Sequences;
use crate::Result;
use crate::work::{Block, Blocks, Work};

/// The sequences that occur at least so often.
pub(super) struct Frequent<K, H> {
    layout: Layout,
    pieces: Vec<Piece<H>>,
    /// For each piece its keys, ascending, above the least of its first bucket.
    keys: Blocks,
    kind: PhantomData<K>,
}

impl<K: Key, H: Key> Frequent<K, H> {
    pub(super) fn new(
        work: &mut Work<'_>,
        source: &Sequences<'_, K, H>,
        packing: Packing,
        least: u64,
    ) -> Result<Self> {
        let occurrences = Occurrences::<H>::new(work, source, packing)?;
        let Occurrences { layout, root, rules, .. } = &occurrences;
        let pieces = occurrences.pieces(work, 0);
        // They are searched and not shown: whatever they are, a question has an answer.
        let are_keys = |_, block: Block<'_>| block.section::<H>(0).map(|_| true);
        let counters = Idle::default();
        let keys =
            work.append("frequent sequences", pieces.len(), are_keys, |operation, block| {
                let mut keys = Vec::new();
                counters.with(Counter::default, |counter| {
                    counter.count(*layout, &pieces[operation], root, rules, |key, count| {
                        if count >= least {
                            keys.push(key);
                        }
                    });
                });
                block.put(&keys);
                Ok(())
            })?;
        Ok(Self { layout: *layout, pieces, keys, kind: PhantomData })
    }

    /// Whether a sequence is one of them.
    pub(super) fn has(&self, key: K) -> bool {
        let (bucket, low) = (self.layout.bucket(key), self.layout.low::<K, H>(key));
        let begins = |piece: &Piece<H>| {
            let first = piece.keys.map_or(H::default(), |[first, _]| first);
            (piece.buckets.start, first) <= (bucket, low)
        };
        let piece = self.pieces.partition_point(begins) - 1;
        let above: H = self.layout.least(bucket - self.pieces[piece].buckets.start);
        self.keys.section::<H>(piece, 0).binary_search(&above.plus(low)).is_ok()
    }
}
