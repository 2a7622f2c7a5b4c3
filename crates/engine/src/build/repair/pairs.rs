//! Finding pairs that occur at least twice: all of them at the start, and those around a new symbol later.
//!
//! Every pair that comes up later contains the newest symbol, so its occurrences are among the places just
//! replaced: a sort of those groups them, and no table of pairs is needed.

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
    /// The pairs of a sequence of symbols below `limit`. O(length): two counting sorts, by the first
    /// symbol over the whole sequence and by the second inside of each.
    pub(super) fn of(sequence: &Sequence, limit: u32) -> Self {
        let cells = sequence.cells();
        // starts[symbol + 1] first counts, then is where the places of `symbol` go next, and in the end
        // where they end.
        let mut starts = vec![0_u32; limit as usize + 2];
        let pair_starts = || {
            cells
                .windows(2)
                .enumerate()
                .filter(|(_, pair)| pair[0] != BARRIER && pair[1] != BARRIER)
        };
        for (_, pair) in pair_starts() {
            starts[pair[0] as usize + 2] += 1;
        }
        for symbol in 2..starts.len() {
            starts[symbol] += starts[symbol - 1];
        }
        let total = starts[limit as usize + 1] as usize;
        let mut found = Self { places: vec![0; total], ..Self::default() };
        for (place, pair) in pair_starts() {
            let next = &mut starts[pair[0] as usize + 1];
            found.places[*next as usize] = place as u32;
            *next += 1;
        }
        let mut kept = 0;
        for first in 0..limit {
            let range = starts[first as usize] as usize..starts[first as usize + 1] as usize;
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
        let found = Pairs::of(&sequence, 3);
        assert_eq!(found.pairs.len(), 1);
        let pair = found.pairs[0];
        assert_eq!((pair.first, pair.second, pair.count), (0, 1, 3));
        assert_eq!(found.places, [1, 3, 6]);
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
