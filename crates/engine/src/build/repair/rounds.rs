//! Pairing what chunks left, on all threads: in rounds, each of which replaces many pairs at once.
//!
//! Most pairs occur once by then. Of those that occur again, a round takes the places at which a pair is more frequent than
//! the ones it overlaps with on either side; a pair with two such places becomes a rule. So the most frequent pair comes
//! first wherever pairs compete, as in Re-Pair, and passages that repeat are halved by every round. What a few rounds leave
//! is paired on one thread (`pairing`).
//!
//! Pairs are spread over [`BUCKETS`] by their hashes, so the rules depend on the text alone.
//!
//! Cost: O(length) on all threads and 8 bytes a cell, besides 24 bytes for each place of a pair that occurs twice.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use tadoc_core::parallel::{map, map_chunks};

use super::often;
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
const AT_A_TIME: usize = 1 << 15;

/// Replaces repetitions in `cells` as [`super::pairing::pair_up`] does, where most pairs occur once. What is left has holes.
pub(super) fn pair_rare(
    cells: Vec<u32>,
    first_rule: u32,
    stage: &mut Stage<'_>,
    cancel: &CancelFlag,
) -> Result<(Sequence, Bodies), Cancelled> {
    let places = often::places(&cells);
    cancel.check()?;
    let text = Shared::new(cells);
    let shares = map_chunks(&places, AT_A_TIME, &|_, places: &[u32]| {
        let mut shares = Shares::default();
        for &place in places {
            shares.push(text.pair(place), place);
        }
        shares
    });
    drop(places);
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
struct Shares(Vec<Vec<u64>>);

impl Default for Shares {
    fn default() -> Self {
        Self(vec![Vec::new(); BUCKETS])
    }
}

impl Shares {
    fn push(&mut self, pair: (u32, u32), place: u32) {
        let hash = hash(pair);
        self.0[(hash >> 56) as usize].push(hash << 8 & !u64::from(u32::MAX) | u64::from(place));
    }
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
        let mut keys: Vec<u64> =
            shares.iter().flat_map(|shares| &shares.0[bucket]).copied().collect();
        keys.sort_unstable();
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
        let mut shares = Shares::default();
        for (rule, places) in chosen.rules() {
            for &place in places {
                let behind = self.get(self.next(place));
                if behind != BARRIER {
                    shares.push((symbol + rule, behind), place);
                }
                let previous = self.previous(place);
                let before = self.get(previous);
                if before < first {
                    shares.push((before, symbol + rule), previous);
                }
            }
        }
        shares
    }
}
