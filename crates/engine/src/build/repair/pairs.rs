//! Finding pairs that occur at least twice: all of them at the start, and those around a new symbol later.
//!
//! Every pair that comes up later contains the newest symbol, so its occurrences are among the places just
//! replaced: a sort of those groups them, and no table of pairs is needed.

use rayon::prelude::*;

use super::often;
use super::sequence::{BARRIER, Sequence};

/// Fewer keys are sorted by comparison, more by radix.
const RADIX_FROM: usize = 1 << 11;
const DIGIT_BITS: u32 = 11;

/// A pair of symbols and where it occurs: `places[start..start + count]`, ascending. Places go stale as
/// symbols around them are replaced; the count is an upper bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) start: u32,
    pub(super) count: u32,
}

/// All pairs that were found, and their places.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) pairs: Vec<Pair>,
    pub(super) places: Vec<u32>,
    /// Keys at work: a neighbour's symbol above, a place below.
    keys: Vec<u64>,
    spare: Vec<u64>,
}

fn key(symbol: u32, place: u32) -> u64 {
    u64::from(symbol) << 32 | u64::from(place)
}

impl Pairs {
    /// The pairs of a sequence of symbols below `limit`, found on so many threads. O(length): two counting
    /// sorts, by the first symbol over the whole sequence and by the second inside of each.
    ///
    /// Where most pairs are `rare`, so that they occur once, it is quicker to sort these out before.
    pub(super) fn of(sequence: &Sequence, limit: u32, threads: usize, rare: bool) -> Self {
        let cells = sequence.cells();
        if rare {
            let places = often::places(cells);
            let pairs = places.iter().map(|&place| (cells[place as usize], place));
            Self::among(cells, pairs, limit, threads)
        } else {
            Self::among(cells, pairs_of(cells), limit, threads)
        }
    }

    /// The same among some pairs, which are given by their first symbols and their places.
    fn among(
        cells: &[u32],
        pairs: impl Iterator<Item = (u32, u32)> + Clone + Sync,
        limit: u32,
        threads: usize,
    ) -> Self {
        // starts[symbol + 1] first counts, then is where the places of `symbol` start.
        let mut starts = vec![0_u32; limit as usize + 1];
        for (first, _) in pairs.clone() {
            starts[first as usize + 1] += 1;
        }
        for symbol in 1..starts.len() {
            starts[symbol] += starts[symbol - 1];
        }
        // Ranges of first symbols with about equally many pairs.
        let total = starts[limit as usize] as usize;
        let bounds: Vec<u32> = (0..=threads)
            .map(|part| {
                let wanted = (total * part / threads) as u32;
                starts.partition_point(|&start| start < wanted).min(limit as usize) as u32
            })
            .collect();
        let mut parts: Vec<Self> = bounds
            .par_windows(2)
            .enumerate()
            .map(|(part, bounds)| {
                let from = if part == 0 { 0 } else { bounds[0] };
                let to = if part + 1 == threads { limit } else { bounds[1] };
                Self::of_range(cells, pairs.clone(), from..to, &starts, limit)
            })
            .collect();
        let mut all = std::mem::take(&mut parts[0]);
        parts.drain(1..).for_each(|part| all.append(part));
        all
    }

    /// Puts other pairs behind these.
    pub(super) fn append(&mut self, mut others: Self) {
        let before = self.places.len() as u32;
        self.places.append(&mut others.places);
        let moved = |pair: Pair| Pair { start: before + pair.start, ..pair };
        self.pairs.extend(others.pairs.into_iter().map(moved));
    }

    /// The pairs whose first symbol is in a range; `starts` is where the places of each symbol start.
    fn of_range(
        cells: &[u32],
        pairs: impl Iterator<Item = (u32, u32)>,
        firsts: std::ops::Range<u32>,
        starts: &[u32],
        limit: u32,
    ) -> Self {
        let before = starts[firsts.start as usize];
        let count = (starts[firsts.end as usize] - before) as usize;
        let mut next: Vec<u32> = starts[firsts.start as usize..firsts.end as usize]
            .iter()
            .map(|start| start - before)
            .collect();
        let mut found = Self { places: vec![0; count], ..Self::default() };
        for (first, place) in pairs {
            if firsts.contains(&first) {
                let next = &mut next[(first - firsts.start) as usize];
                found.places[*next as usize] = place;
                *next += 1;
            }
        }
        // Now each entry is where the places of its symbol end.
        let mut kept = 0;
        let mut start = 0;
        for (first, end) in firsts.zip(next) {
            let range = start..end as usize;
            start = end as usize;
            if range.len() < 2 {
                continue;
            }
            let places = &found.places[range];
            found.keys.clear();
            found.keys.extend(places.iter().map(|&place| key(cells[place as usize + 1], place)));
            sort(&mut found.keys, &mut found.spare, limit);
            // What is kept never outgrows what was read.
            for group in found.keys.chunk_by(|left, right| left >> 32 == right >> 32) {
                if group.len() >= 2 {
                    found.pairs.push(Pair {
                        first,
                        second: (group[0] >> 32) as u32,
                        start: kept as u32,
                        count: group.len() as u32,
                    });
                    for &key in group {
                        found.places[kept] = key as u32;
                        kept += 1;
                    }
                }
            }
        }
        found.places.truncate(kept);
        found
    }

    /// Calls `visit` with count and number of each pair, in the order of their first places in a sequence
    /// of `length` cells: pairs that wait together are then near each other in memory.
    pub(super) fn in_order_of_text(&self, length: usize, mut visit: impl FnMut(u32, u32)) {
        const NONE: u32 = u32::MAX;
        if self.pairs.len() < length / 16 {
            let mut order: Vec<u32> = (0..self.pairs.len() as u32).collect();
            let first = |&pair: &u32| self.places[self.pairs[pair as usize].start as usize];
            order.sort_unstable_by_key(first);
            return order.iter().for_each(|&pair| visit(self.pairs[pair as usize].count, pair));
        }
        let mut pair_at = vec![NONE; length];
        for (number, pair) in self.pairs.iter().enumerate() {
            pair_at[self.places[pair.start as usize] as usize] = number as u32;
        }
        for &number in pair_at.iter().filter(|&&number| number != NONE) {
            visit(self.pairs[number as usize].count, number);
        }
    }

    /// Adds the pairs of the new `symbol` with its neighbours on one side; `neighbours` gives the
    /// neighbour's symbol and the place where the pair starts. Calls `added` for each new pair with its
    /// count and number.
    pub(super) fn add(
        &mut self,
        symbol: u32,
        side: Side,
        neighbours: impl Iterator<Item = (u32, u32)>,
        mut added: impl FnMut(u32, u32),
    ) {
        self.keys.clear();
        self.keys.extend(neighbours.map(|(neighbour, place)| key(neighbour, place)));
        sort(&mut self.keys, &mut self.spare, symbol + 1);
        for group in self.keys.chunk_by(|left, right| left >> 32 == right >> 32) {
            if group.len() >= 2 {
                let neighbour = (group[0] >> 32) as u32;
                let (first, second) = match side {
                    Side::Left => (neighbour, symbol),
                    Side::Right => (symbol, neighbour),
                };
                let (start, count) = (self.places.len() as u32, group.len() as u32);
                self.places.extend(group.iter().map(|&key| key as u32));
                added(count, self.pairs.len() as u32);
                self.pairs.push(Pair { first, second, start, count });
            }
        }
    }
}

/// The first symbols and the places of all pairs of neighbours.
fn pairs_of(cells: &[u32]) -> impl Iterator<Item = (u32, u32)> + Clone + Sync + '_ {
    let pairs = cells.windows(2).zip(0_u32..);
    pairs
        .filter(|(pair, _)| pair[0] != BARRIER && pair[1] != BARRIER)
        .map(|(pair, place)| (pair[0], place))
}

/// On which side of the new symbol a neighbour stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Sorts keys whose symbols are below `limit` and whose places ascend already.
fn sort(keys: &mut Vec<u64>, spare: &mut Vec<u64>, limit: u32) {
    if keys.len() < RADIX_FROM {
        keys.sort_unstable();
        return;
    }
    spare.resize(keys.len(), 0);
    let bits = u32::BITS - limit.leading_zeros();
    for shift in (32..32 + bits).step_by(DIGIT_BITS as usize) {
        let digit = |key: u64| (key >> shift) as usize & ((1 << DIGIT_BITS) - 1);
        let mut next = [0_u32; 1 << DIGIT_BITS];
        for &key in keys.iter() {
            next[digit(key)] += 1;
        }
        let mut sum = 0;
        for count in &mut next {
            sum += std::mem::replace(count, sum);
        }
        for &key in keys.iter() {
            let place = &mut next[digit(key)];
            spare[*place as usize] = key;
            *place += 1;
        }
        std::mem::swap(keys, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_occur_twice_are_found_with_their_places() {
        let sequence = Sequence::new(vec![BARRIER, 0, 1, 0, 1, BARRIER, 0, 1, 2, BARRIER]);
        for threads in 1..5 {
            for rare in [false, true] {
                let found = Pairs::of(&sequence, 3, threads, rare);
                assert_eq!(found.pairs.len(), 1);
                let pair = found.pairs[0];
                assert_eq!((pair.first, pair.second, pair.count), (0, 1, 3));
                assert_eq!(found.places, [1, 3, 6]);
            }
        }
    }

    #[test]
    fn radix_sort_agrees_with_the_standard_library() {
        let keys: Vec<u64> =
            (0..10_000_u64).map(|place| (place * 7919 % 5003) << 32 | place).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        let mut by_radix = keys;
        sort(&mut by_radix, &mut Vec::new(), 5003);
        assert_eq!(by_radix, sorted);
    }
}
