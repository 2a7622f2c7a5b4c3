//! Answers over terms that stay in the pool: rows are shown straight from the tables that the last phase made.

mod counts;
mod documents;
mod vectors;

pub use counts::{RankedCounts, SortedCounts};
pub use documents::DocumentsOfKeys;
pub use vectors::{Cell, KeysOfDocuments, Vectors};

use std::ops::Range;

use tadoc_core::answer::Position;

/// The block that is the part at a position, which moves behind it; `None` behind the last one.
fn next_block(at: &mut Position, blocks: usize) -> Option<usize> {
    let [block, ..] = at.state();
    *at = Position::new([block.saturating_add(1), 0, 0, 0]);
    (block < blocks as u64).then_some(block as usize)
}

/// Calls `each` with a place and those of its rows that are in a range, for every place that has some; `ends` says where the rows of each end.
fn for_each_run(ends: &[u64], rows: Range<u64>, mut each: impl FnMut(usize, Range<u64>)) {
    let mut place = ends.partition_point(|&end| end <= rows.start);
    let mut at = rows.start;
    while at < rows.end {
        let end = ends[place].min(rows.end);
        if at < end {
            each(place, at..end);
        }
        at = end;
        place += 1;
    }
}
