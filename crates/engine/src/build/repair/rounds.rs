//! Pairing what chunks left, on all threads: in rounds, each of which replaces many pairs at once.
//!
//! Most pairs occur once by then. Of those that occur again, a round takes the places at which a pair is more frequent than
//! the ones it overlaps with on either side; a pair with two such places becomes a rule. So the most frequent pair comes
//! first wherever pairs compete, as in Re-Pair, and passages that repeat are halved by every round. What a few rounds leave
//! is paired on one thread (`pairing`).
//!
//! Pairs are spread over [`BUCKETS`] by their hashes, so the rules depend on the text alone.
//!
//! Cost: O(length) on all threads and up to 28 bytes a cell, 16 where most pairs occur once.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use tadoc_core::parallel::map;

use super::pairing::replace_pairs;
use super::pairs::{Pair, Pairs};
use super::sequence::{BARRIER, HOLE, Sequence};
use crate::build::builder::{CancelFlag, Cancelled, Stage};
use crate::build::prune::Bodies;

/// Any number gives the same grammar in size; this one keeps what is sorted in the cache.
const BUCKETS: usize = 256;
/// Fewer places are left to one thread.
const WORTH_A_ROUND: usize = 1 << 15;
/// As many rounds halve the longest passages that are found in practice; a long run of one symbol would take more.
const MOST_ROUNDS: usize = 32;
/// Places that are looked at by a thread, before the next ones.
const AT_A_TIME: usize = 1 << 16;

/// Replaces repetitions in `cells` as [`super::pairing::pair_up`] does, where most pairs occur once. What is left has holes.
pub(super) fn pair_rare(
    cells: Vec<u32>,
    first_rule: u32,
    stage: &mut Stage<'_>,
    cancel: &CancelFlag,
) -> Result<(Sequence, Bodies), Cancelled> {
    let text = Shared::new(cells);
    let count = text.cells.len() - 1;
    let shares: Vec<Shares> = map(count.div_ceil(AT_A_TIME), &|part| {
        let from = part * AT_A_TIME;
        let pairs = (from as u32..count.min(from + AT_A_TIME) as u32)
            .map(|place| ((text.get(place), text.get(place + 1)), place));
        Shares::new(pairs.filter(|&((first, second), _)| first != BARRIER && second != BARRIER))
    });
    cancel.check()?;
    let mut buckets: Vec<Pairs> = map(BUCKETS, &|bucket| {
        let mut pairs = Pairs::default();
        text.group(&shares, bucket, &mut pairs);
        pairs
    });
    drop(shares);
    stage.reach(1, 3);
    let mut bodies = Bodies::new();
    for round in 1..=MOST_ROUNDS {
        cancel.check()?;
        buckets.par_iter_mut().for_each(|bucket| text.rank(bucket));
        let left: usize = buckets.iter().map(|bucket| bucket.places.len()).sum();
        let chosen: Vec<Chosen> = match left < WORTH_A_ROUND {
            true => Vec::new(),
            false => buckets.par_iter().map(|bucket| text.choose(bucket)).collect(),
        };
        let first = first_rule + bodies.len() as u32;
        let mut symbols = Vec::with_capacity(BUCKETS);
        for (chosen, bucket) in chosen.iter().zip(&buckets) {
            symbols.push(first_rule + bodies.len() as u32);
            for &(pair, _) in &chosen.pairs {
                let Pair { first, second, .. } = bucket.pairs[pair as usize];
                bodies.symbols.extend([first, second]);
                bodies.close();
            }
        }
        if bodies.len() as u32 == first - first_rule {
            break;
        }
        chosen.par_iter().for_each(|chosen| text.forget(chosen));
        chosen.par_iter().zip(&symbols).for_each(|(chosen, &symbol)| text.replace(chosen, symbol));
        let shares: Vec<Shares> = chosen
            .par_iter()
            .zip(&symbols)
            .map(|(chosen, &symbol)| text.neighbours(chosen, symbol, first))
            .collect();
        buckets
            .par_iter_mut()
            .enumerate()
            .for_each(|(number, bucket)| text.group(&shares, number, bucket));
        stage.reach(round as u64 + 4, round as u64 + 9);
    }
    let mut pairs = Pairs::default();
    buckets.into_iter().for_each(|bucket| pairs.append(bucket));
    let mut sequence = text.into_sequence();
    replace_pairs(&mut sequence, pairs, first_rule, &mut bodies, cancel, |_| {})?;
    Ok((sequence, bodies))
}

/// Pairs of a bucket that become rules: their numbers, and behind which of the places theirs end.
#[derive(Default)]
struct Chosen {
    pairs: Vec<(u32, u32)>,
    places: Vec<u32>,
}

impl Chosen {
    /// The places of each rule, and its number among those of the bucket.
    fn rules(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let starts = std::iter::once(0).chain(self.pairs.iter().map(|&(_, end)| end));
        let places = |((start, &(_, end)), rule): ((u32, &(u32, u32)), u32)| {
            (rule, &self.places[start as usize..end as usize])
        };
        starts.zip(&self.pairs).zip(0..).map(places)
    }
}

/// Places of pairs by bucket: more of the hash above, a place below.
struct Shares {
    keys: Vec<u64>,
    ends: [u32; BUCKETS],
}

impl Shares {
    fn new(pairs: impl Iterator<Item = ((u32, u32), u32)>) -> Self {
        let pairs: Vec<(u64, u32)> = pairs.map(|(pair, place)| (hash(pair), place)).collect();
        let bucket = |hash: u64| (hash >> 56) as usize;
        let mut ends = [0_u32; BUCKETS];
        pairs.iter().for_each(|&(hash, _)| ends[bucket(hash)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut keys = vec![0; pairs.len()];
        for (hash, place) in pairs {
            let end = &mut ends[bucket(hash)];
            keys[*end as usize] = hash << 8 & !u64::from(u32::MAX) | u64::from(place);
            *end += 1;
        }
        Self { keys, ends }
    }

    fn bucket(&self, bucket: usize) -> &[u64] {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        &self.keys[start as usize..self.ends[bucket] as usize]
    }
}

/// The keys that come twice or more often, and a few others, in the order of their hashes.
fn repeated(shares: &[Shares], bucket: usize) -> Vec<u64> {
    let keys = || shares.iter().flat_map(|shares| shares.bucket(bucket));
    let count: usize = shares.iter().map(|shares| shares.bucket(bucket).len()).sum();
    // Bits say which hashes come once and which again: what is sorted is little where most come once.
    let bits = (count * 8).next_power_of_two().max(64);
    let bit = |key: u64| ((key >> 38) as usize & (bits / 64 - 1), 1_u64 << (key >> 32 & 63));
    let (mut once, mut again) = (vec![0_u64; bits / 64], vec![0_u64; bits / 64]);
    for &key in keys() {
        let (word, bit) = bit(key);
        again[word] |= once[word] & bit;
        once[word] |= bit;
    }
    let is_repeated = |&key: &u64| {
        let (word, bit) = bit(key);
        again[word] & bit != 0
    };
    let mut repeated: Vec<u64> = keys().copied().filter(is_repeated).collect();
    repeated.sort_unstable();
    repeated
}

fn hash((first, second): (u32, u32)) -> u64 {
    let hash = (u64::from(first) << 32 | u64::from(second)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// A [`Sequence`] that several threads change, each at other places, and how frequent the pair at each place is.
struct Shared {
    cells: Vec<AtomicU32>,
    ranks: Vec<AtomicU32>,
}

impl Shared {
    fn new(cells: Vec<u32>) -> Self {
        let ranks = vec![0_u32; cells.len()];
        let atomic = |row: Vec<u32>| row.into_iter().map(AtomicU32::new).collect();
        Self { cells: atomic(cells), ranks: atomic(ranks) }
    }

    fn into_sequence(self) -> Sequence {
        Sequence::with_holes(self.cells.into_iter().map(AtomicU32::into_inner).collect())
    }

    #[inline(always)]
    fn get(&self, place: u32) -> u32 {
        self.cells[place as usize].load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set(&self, place: u32, cell: u32) {
        self.cells[place as usize].store(cell, Ordering::Relaxed);
    }

    #[inline(always)]
    fn next(&self, place: u32) -> u32 {
        let cell = self.get(place + 1);
        if cell & HOLE == 0 { place + 1 } else { place + 1 + (cell ^ HOLE) }
    }

    #[inline(always)]
    fn previous(&self, place: u32) -> u32 {
        let cell = self.get(place - 1);
        if cell & HOLE == 0 { place - 1 } else { place - 1 - (cell ^ HOLE) }
    }

    /// The pair that starts at a symbol.
    #[inline(always)]
    fn pair(&self, place: u32) -> (u32, u32) {
        (self.get(place), self.get(self.next(place)))
    }

    #[inline(always)]
    fn rank_at(&self, place: u32) -> u32 {
        self.ranks[place as usize].load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set_rank(&self, place: u32, rank: u32) {
        self.ranks[place as usize].store(rank, Ordering::Relaxed);
    }

    /// Adds the pairs of a bucket that occur twice or more often.
    fn group(&self, shares: &[Shares], bucket: usize, into: &mut Pairs) {
        let keys = repeated(shares, bucket);
        let mut group: Vec<((u32, u32), u32)> = Vec::new();
        for same_hash in keys.chunk_by(|left, right| left >> 32 == right >> 32) {
            if same_hash.len() < 2 {
                continue;
            }
            group.clear();
            group.extend(same_hash.iter().map(|&key| (self.pair(key as u32), key as u32)));
            if group.iter().any(|&(pair, _)| pair != group[0].0) {
                group.sort_unstable();
            }
            for same in group.chunk_by(|left, right| left.0 == right.0) {
                if same.len() >= 2 {
                    let ((first, second), _) = same[0];
                    let (start, count) = (into.places.len() as u32, same.len() as u32);
                    into.places.extend(same.iter().map(|&(_, place)| place));
                    into.pairs.push(Pair { first, second, start, count });
                }
            }
        }
    }

    /// Drops places that went stale and pairs that occur no more than once, and says at the others how frequent they are.
    fn rank(&self, bucket: &mut Pairs) {
        let Pairs { pairs, places, .. } = bucket;
        let mut kept = 0;
        pairs.retain_mut(|pair| {
            let start = kept;
            for place in pair.start as usize..(pair.start + pair.count) as usize {
                let place = places[place];
                if self.get(place) == pair.first && self.get(self.next(place)) == pair.second {
                    places[kept] = place;
                    kept += 1;
                }
            }
            let count = (kept - start) as u32;
            (pair.start, pair.count) = (start as u32, count);
            if count < 2 {
                places[start..kept].iter().for_each(|&place| self.set_rank(place, 0));
                kept = start;
                return false;
            }
            let rank = count.min(0xFFFF) << 16 | (hash((pair.first, pair.second)) & 0xFFFF) as u32;
            places[start..kept].iter().for_each(|&place| self.set_rank(place, rank));
            true
        });
        places.truncate(kept);
    }

    /// The pairs that are more frequent than their neighbours at two places or more.
    fn choose(&self, bucket: &Pairs) -> Chosen {
        let mut chosen = Chosen::default();
        for (number, pair) in (0_u32..).zip(&bucket.pairs) {
            let before = chosen.places.len();
            let places = &bucket.places[pair.start as usize..(pair.start + pair.count) as usize];
            let rank = self.rank_at(places[0]);
            // Of equal ones side by side the first is taken, and no other.
            chosen.places.extend(places.iter().copied().filter(|&place| {
                rank >= self.rank_at(self.next(place)) && rank > self.rank_at(self.previous(place))
            }));
            if chosen.places.len() < before + 2 {
                chosen.places.truncate(before);
            } else {
                chosen.pairs.push((number, chosen.places.len() as u32));
            }
        }
        chosen
    }

    /// Takes back what is said of the pairs that are no more when these places are replaced.
    fn forget(&self, chosen: &Chosen) {
        for &place in &chosen.places {
            self.set_rank(self.previous(place), 0);
            self.set_rank(place, 0);
            self.set_rank(self.next(place), 0);
        }
    }

    /// Replaces pairs by symbols from `symbol` on. Others are replaced beside: only what is inside of a pair is read.
    fn replace(&self, chosen: &Chosen, symbol: u32) {
        for (rule, places) in chosen.rules() {
            for &start in places {
                let second = self.next(start);
                let end = self.next(second);
                let hole = end - start - 1;
                self.set(second, self.get(second) | HOLE);
                self.set(start, symbol + rule);
                self.set(start + 1, hole | HOLE);
                self.set(end - 1, hole | HOLE);
            }
        }
    }

    /// The pairs of symbols from `symbol` on with their neighbours; those of two symbols of this round, which
    /// began with `first`, are counted on the right.
    fn neighbours(&self, chosen: &Chosen, symbol: u32, first: u32) -> Shares {
        let pairs = chosen.rules().flat_map(|(rule, places)| {
            places.iter().flat_map(move |&place| {
                let behind = self.get(self.next(place));
                let previous = self.previous(place);
                let before = self.get(previous);
                let right = (behind != BARRIER).then_some(((symbol + rule, behind), place));
                let left = (before < first).then_some(((before, symbol + rule), previous));
                right.into_iter().chain(left)
            })
        });
        Shares::new(pairs)
    }
}

#[cfg(test)]
mod tests {
    use tadoc_oracle::Random;

    use super::super::sequence::symbols;
    use super::*;

    fn expand(cells: &[u32], first_rule: u32, bodies: &Bodies, into: &mut Vec<u32>) {
        for &cell in cells {
            match cell.checked_sub(first_rule) {
                Some(rule) if cell != BARRIER => {
                    expand(bodies.body(rule as usize), first_rule, bodies, into);
                }
                _ => into.push(cell),
            }
        }
    }

    #[test]
    fn rounds_leave_no_pair_twice_and_lose_nothing() {
        const FIRST_RULE: u32 = 5000;
        let mut random = Random::new(7);
        let phrases: Vec<Vec<u32>> = (0..20_000)
            .map(|_| (0..2 + random.below(20)).map(|_| random.below(5000) as u32).collect())
            .collect();
        let mut cells = vec![BARRIER];
        for number in 0..60_000 {
            match number % 10 {
                0 => cells.push(BARRIER),
                // Runs, in which a pair overlaps itself.
                1 => cells.extend(vec![7; random.below(9) as usize]),
                _ => cells.extend(random.choose::<Vec<u32>>(&phrases)),
            }
        }
        cells.push(BARRIER);
        let never = CancelFlag::default();
        let made: Vec<(Vec<u32>, Bodies)> = [1, 3]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let paired = pool
                    .install(|| pair_rare(cells.clone(), FIRST_RULE, &mut never.stage(1), &never));
                let (sequence, bodies) = paired.unwrap();
                (symbols(sequence.cells()).collect(), bodies)
            })
            .collect();
        assert_eq!(made[0], made[1]);
        let (left, bodies) = &made[0];
        assert!(left.len() < cells.len() / 4, "{} of {}", left.len(), cells.len());
        let mut expanded = Vec::new();
        expand(left, FIRST_RULE, bodies, &mut expanded);
        assert_eq!(expanded, cells);
        let mut pairs: Vec<&[u32]> =
            left.windows(2).filter(|pair| !pair.contains(&BARRIER) && pair[0] != pair[1]).collect();
        pairs.sort_unstable();
        assert!(pairs.windows(2).all(|pairs| pairs[0] != pairs[1]));
    }
}
