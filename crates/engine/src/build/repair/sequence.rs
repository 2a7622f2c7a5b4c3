//! A sequence of symbols in which pairs are replaced in place.
//!
//! Four bytes a cell and nothing else: a cell holds a symbol or belongs to a hole left behind by
//! replaced symbols. The first and the last cell of a hole hold its length, so that neighbours are found
//! in O(1) in both directions.

/// Marks a cell of a hole; the other bits are the hole's length.
pub(super) const HOLE: u32 = 1 << 31;
/// Stands between documents and at both ends: never part of a pair.
pub(in crate::build) const BARRIER: u32 = HOLE - 1;

pub(in crate::build) struct Sequence {
    cells: Vec<u32>,
}

impl Sequence {
    /// Takes symbols below [`BARRIER`] and barriers, with a barrier first and last.
    pub(in crate::build) fn new(cells: Vec<u32>) -> Self {
        debug_assert!(cells.first() == Some(&BARRIER) && cells.last() == Some(&BARRIER));
        debug_assert!(cells.iter().all(|&cell| cell <= BARRIER));
        debug_assert!(cells.len() < HOLE as usize);
        Self { cells }
    }

    /// Takes cells among which are holes.
    pub(super) fn with_holes(cells: Vec<u32>) -> Self {
        Self { cells }
    }

    pub(in crate::build) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// What is at `position`: a symbol, the barrier, or something above it in a hole.
    #[inline(always)]
    pub(in crate::build) fn get(&self, position: u32) -> u32 {
        self.cells[position as usize]
    }

    /// The position of the symbol behind the one at `position`, which is not the last barrier.
    #[inline(always)]
    pub(in crate::build) fn next(&self, position: u32) -> u32 {
        let cell = self.cells[position as usize + 1];
        if cell & HOLE == 0 { position + 1 } else { position + 1 + (cell ^ HOLE) }
    }

    /// The position of the symbol before the one at `position`, which is not the first barrier.
    #[inline(always)]
    pub(in crate::build) fn previous(&self, position: u32) -> u32 {
        let cell = self.cells[position as usize - 1];
        if cell & HOLE == 0 { position - 1 } else { position - 1 - (cell ^ HOLE) }
    }

    /// Puts `symbol` in the place of all that is from `start` up to the symbol at `end`, exclusive.
    #[inline(always)]
    pub(in crate::build) fn replace(&mut self, start: u32, end: u32, symbol: u32) {
        let hole = end - start - 1;
        // No symbol may be left standing inside of the hole: stale places are looked up there.
        let mut inside = self.next(start);
        while inside < end {
            let next = self.next(inside);
            self.cells[inside as usize] |= HOLE;
            inside = next;
        }
        self.cells[start as usize] = symbol;
        self.cells[start as usize + 1] = hole | HOLE;
        self.cells[end as usize - 1] = hole | HOLE;
    }

    /// The symbols and barriers that are left, in order.
    pub(in crate::build) fn symbols(&self) -> impl Iterator<Item = u32> + '_ {
        symbols(&self.cells)
    }
}

/// The symbols and barriers that are left in some cells, in order: all cells of holes are marked.
pub(super) fn symbols(cells: &[u32]) -> impl Iterator<Item = u32> + '_ {
    cells.iter().copied().filter(|cell| cell & HOLE == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_found_across_holes() {
        let mut sequence = Sequence::new(vec![BARRIER, 1, 2, 3, 4, 5, BARRIER]);
        sequence.replace(2, 4, 9);
        assert_eq!((sequence.next(2), sequence.previous(4)), (4, 2));
        sequence.replace(1, 5, 10);
        assert_eq!((sequence.next(1), sequence.previous(5)), (5, 1));
        assert_eq!(sequence.symbols().collect::<Vec<_>>(), [BARRIER, 10, 5, BARRIER]);
    }
}
