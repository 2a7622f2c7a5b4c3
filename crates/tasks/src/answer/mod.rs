//! Answers over terms that stay in the pool: rows are shown straight from the tables that the last phase made.

mod counts;
mod documents;
mod vectors;

pub use counts::{RankedCounts, SortedCounts};
pub use documents::DocumentsOfKeys;
pub use vectors::{Cell, KeysOfDocuments, Vectors};

use tadoc_core::answer::Position;

/// The block that is the part at a position, which moves behind it; `None` behind the last one.
fn next_block(at: &mut Position, blocks: usize) -> Option<usize> {
    let [block, ..] = at.state();
    *at = Position::new([block.saturating_add(1), 0, 0, 0]);
    (block < blocks as u64).then_some(block as usize)
}
