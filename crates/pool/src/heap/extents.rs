//! Which stretches of a range are free: best fit, neighbours joined, O(log stretches) for everything.

use std::collections::{BTreeMap, BTreeSet};

/// A stretch that is free, or was until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) start: usize,
    pub(super) length: usize,
    /// Whether it has zeros.
    pub(super) is_zero: bool,
    /// Whether there is room on the disk for all of it.
    pub(super) is_reserved: bool,
    /// About how many of its bytes have pages.
    pub(super) kept: usize,
}

impl Extent {
    fn end(&self) -> usize {
        self.start + self.length
    }

    /// The first so many bytes, and the rest.
    fn cut(self, length: usize) -> (Self, Option<Self>) {
        let (start, rest) = (self.start + length, self.length - length);
        // Where the pages are is not known; the first part may have them all.
        let kept = self.kept.min(length);
        let first = Self { length, kept, ..self };
        let rest = Self { start, length: rest, kept: self.kept - kept, ..self };
        (first, (rest.length > 0).then_some(rest))
    }

    /// It and the one behind it.
    fn joined(self, next: Self) -> Self {
        Self {
            start: self.start,
            length: self.length + next.length,
            is_zero: self.is_zero && next.is_zero,
            is_reserved: self.is_reserved && next.is_reserved,
            kept: self.kept + next.kept,
        }
    }
}

/// The free stretches of a range, whose end has not been touched yet.
#[derive(Debug)]
pub(super) struct Extents {
    /// By their starts.
    free: BTreeMap<usize, Extent>,
    /// Lengths and starts of the same.
    by_length: BTreeSet<(usize, usize)>,
    /// Everything behind this is free and was never taken.
    end: usize,
    limit: usize,
    /// Bytes of free stretches that have pages.
    kept: usize,
}

impl Extents {
    /// A range of so many bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { free: BTreeMap::new(), by_length: BTreeSet::new(), end: 0, limit, kept: 0 }
    }

    /// How far it was ever used.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Bytes of free stretches that still have pages.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// Takes so many bytes: of the least free stretch that has them, else from the end.
    pub(super) fn take(&mut self, length: usize) -> Option<Extent> {
        match self.by_length.range((length, 0)..).next() {
            Some(&(_, start)) => Some(self.take_free(start, length)),
            None => self.take_end(self.last().map_or(self.end, |last| last.start), length),
        }
    }

    /// Takes so many bytes at a place, if they are free.
    pub(super) fn take_at(&mut self, start: usize, length: usize) -> Option<Extent> {
        match self.free.get(&start) {
            Some(extent) if extent.length >= length => Some(self.take_free(start, length)),
            Some(extent) if extent.end() == self.end => self.take_end(start, length),
            None if start == self.end => self.take_end(start, length),
            _ => None,
        }
    }

    /// The free stretch that reaches up to the end.
    fn last(&self) -> Option<&Extent> {
        self.free.last_key_value().map(|(_, last)| last).filter(|last| last.end() == self.end)
    }

    fn take_free(&mut self, start: usize, length: usize) -> Extent {
        let (taken, rest) = self.remove(start).cut(length);
        if let Some(rest) = rest {
            self.insert(rest);
        }
        taken
    }

    /// Takes so many bytes from a place from which on all is free, and more than up to the end.
    fn take_end(&mut self, start: usize, length: usize) -> Option<Extent> {
        let end = start.checked_add(length).filter(|&end| end <= self.limit)?;
        let before = (start < self.end).then(|| self.remove(start));
        let fresh = Extent {
            start: self.end,
            length: end - self.end,
            is_zero: true,
            is_reserved: false,
            kept: 0,
        };
        self.end = end;
        Some(before.map_or(fresh, |before| before.joined(fresh)))
    }

    /// Gives a stretch back.
    pub(super) fn give(&mut self, mut extent: Extent) {
        let before = self.free.range(..extent.start).next_back().map(|(_, before)| *before);
        if let Some(before) = before.filter(|before| before.end() == extent.start) {
            extent = self.remove(before.start).joined(extent);
        }
        if self.free.contains_key(&extent.end()) {
            extent = extent.joined(self.remove(extent.end()));
        }
        self.insert(extent);
    }

    fn insert(&mut self, extent: Extent) {
        self.by_length.insert((extent.length, extent.start));
        self.kept += extent.kept;
        self.free.insert(extent.start, extent);
    }

    /// Takes a stretch out of the free ones, which it must be among.
    fn remove(&mut self, start: usize) -> Extent {
        let extent = self.free.remove(&start).expect("a stretch that is free");
        self.by_length.remove(&(extent.length, start));
        self.kept -= extent.kept;
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(start: usize, length: usize) -> Extent {
        Extent { start, length, is_zero: false, is_reserved: true, kept: length }
    }

    fn untouched(start: usize, length: usize) -> Extent {
        Extent { start, length, is_zero: true, is_reserved: false, kept: 0 }
    }

    #[test]
    fn the_least_stretch_that_is_enough_is_taken_and_neighbours_are_joined() {
        let mut extents = Extents::new(100);
        for (start, length) in [(0, 10), (10, 5), (15, 20), (35, 5)] {
            let taken = extents.take(length).unwrap();
            assert_eq!(taken, untouched(start, length));
        }
        extents.give(used(0, 10));
        extents.give(used(15, 20));
        assert_eq!((extents.kept(), extents.end()), (30, 40));
        assert_eq!(extents.take(8), Some(used(0, 8)));
        assert_eq!(extents.take(8), Some(used(15, 8)));
        extents.give(used(0, 8));
        extents.give(used(15, 8));
        extents.give(used(10, 5));
        assert_eq!(extents.take(35), Some(used(0, 35)));
        assert_eq!(extents.kept(), 0);
        assert_eq!(extents.take(61), None);
        assert_eq!(extents.take(60).map(|taken| taken.start), Some(40));
    }

    #[test]
    fn what_is_joined_is_only_what_both_are() {
        let mut extents = Extents::new(100);
        extents.take(30);
        extents.give(used(0, 10));
        extents.give(untouched(10, 10));
        let mixed = Extent { is_reserved: false, kept: 10, ..used(0, 15) };
        assert_eq!(extents.take(15), Some(mixed));
    }

    #[test]
    fn stretches_grow_where_what_follows_is_free() {
        let mut extents = Extents::new(100);
        extents.take(30);
        extents.give(used(10, 10));
        assert_eq!(extents.take_at(10, 4), Some(used(10, 4)));
        assert_eq!(extents.take_at(14, 7), None);
        assert_eq!(extents.take_at(20, 1), None);
        assert_eq!(extents.take_at(30, 70).map(|taken| taken.length), Some(70));
        assert_eq!(extents.take_at(100, 1), None);
        // What is free before the end and the end are one.
        let mut extents = Extents::new(100);
        extents.take(30);
        extents.give(used(20, 10));
        assert_eq!(extents.take_at(20, 81), None);
        assert_eq!(extents.take_at(20, 20).map(|taken| taken.length), Some(20));
        extents.give(used(30, 10));
        assert_eq!(extents.take(70).map(|taken| (taken.start, extents.end())), Some((30, 100)));
    }
}
