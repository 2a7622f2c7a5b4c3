//! Rows by count: most frequent first, equal counts by key.
//!
//! Most counts are small, so rows are put in order by counting and only those of high counts are
//! compared. Equal counts stand together in the end, so they are kept once for each run and not for each row.

use std::ops::Range;

use rayon::prelude::*;
use tadoc_core::parallel::{for_each, map, split};

/// Counts below this are put in order by counting, the others by comparing.
const CLASSES: usize = 128;

/// Keys with counts: by count descending, then key ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ranking<K> {
    pub(super) keys: Vec<K>,
    /// Each count, descending, with the end of the keys that have it.
    pub(super) runs: Vec<(u64, u64)>,
}

/// Keys of a range, by key: those that come once, which are most of most answers, and the others with their counts.
#[derive(Debug, Clone)]
pub(super) struct Bucket<K> {
    pub(super) once: Vec<K>,
    pub(super) more: Vec<(K, u64)>,
}

impl<K> Default for Bucket<K> {
    fn default() -> Self {
        Self { once: Vec::new(), more: Vec::new() }
    }
}

impl<K> Bucket<K> {
    /// Adds a key that is above all before it.
    #[inline]
    pub(super) fn push(&mut self, key: K, count: u64) {
        if count == 1 {
            self.once.push(key);
        } else {
            self.more.push((key, count));
        }
    }
}

impl<K: Copy + Ord + Default + Send + Sync> Ranking<K> {
    /// Ranks rows. Buckets are in the order of keys.
    pub(super) fn new(buckets: Vec<Bucket<K>>) -> Self {
        let is_high = |count: u64| count >= CLASSES as u64;
        let high = map(buckets.len(), &|bucket| {
            let rows = buckets[bucket].more.iter().filter(|&&(_, count)| is_high(count));
            rows.map(|&(key, count)| (count, key)).collect::<Vec<(u64, K)>>()
        });
        let mut high = high.concat();
        high.par_sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        // How many rows of each low count each bucket has.
        let sizes: Vec<[u32; CLASSES]> = map(buckets.len(), &|bucket| {
            let bucket = &buckets[bucket];
            let mut sizes = [0; CLASSES];
            let low = bucket.more.iter().filter(|&&(_, count)| !is_high(count));
            low.for_each(|&(_, count)| sizes[count as usize] += 1);
            sizes[1] = bucket.once.len() as u32;
            sizes
        });
        let total = buckets.iter().map(|bucket| bucket.once.len() + bucket.more.len()).sum();
        let mut keys = vec![K::default(); total];
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (place, &(count, key)) in high.iter().enumerate() {
            keys[place] = key;
            match runs.last_mut() {
                Some(last) if last.0 == count => last.1 += 1,
                _ => runs.push((count, place as u64 + 1)),
            }
        }
        let mut end = high.len() as u64;
        let mut lengths = Vec::with_capacity(CLASSES * buckets.len());
        for class in (0..CLASSES).rev() {
            let before = end;
            for sizes in &sizes {
                lengths.push(sizes[class] as usize);
                end += u64::from(sizes[class]);
            }
            if end > before {
                runs.push((class as u64, end));
            }
        }
        // The place of each class in each bucket, regrouped by bucket.
        let mut places: Vec<Vec<&mut [K]>> =
            (0..buckets.len()).map(|_| Vec::with_capacity(CLASSES)).collect();
        let in_order = split(&mut keys[high.len()..], lengths.into_iter());
        for (number, place) in in_order.into_iter().enumerate() {
            places[number % buckets.len()].push(place);
        }
        let buckets = buckets.into_iter().zip(places).collect();
        for_each(buckets, &|_, (bucket, mut places): (Bucket<K>, Vec<&mut [K]>)| {
            let of_class = |count: u64| CLASSES - 1 - count as usize;
            places[of_class(1)].copy_from_slice(&bucket.once);
            for (key, count) in bucket.more.into_iter().filter(|&(_, count)| !is_high(count)) {
                let place = &mut places[of_class(count)];
                *place.split_off_first_mut().expect("as many places as rows") = key;
            }
        });
        Self { keys, runs }
    }

    /// Keeps the first `top` rows.
    pub(super) fn truncate(&mut self, top: usize) {
        self.keys.truncate(top);
        let end = self.keys.len() as u64;
        let kept = self.runs.partition_point(|&(_, run_end)| run_end < end);
        self.runs.truncate(kept + usize::from(end > 0));
        if let Some(last) = self.runs.last_mut() {
            last.1 = last.1.min(end);
        }
    }

    /// The keys of a range of rows with their counts.
    pub(super) fn rows(&self, rows: Range<u64>) -> impl Iterator<Item = (K, u64)> + '_ {
        let mut run = self.runs.partition_point(|&(_, end)| end <= rows.start);
        let keys = &self.keys[rows.start as usize..rows.end as usize];
        (rows.start..).zip(keys).map(move |(row, &key)| {
            while self.runs[run].1 <= row {
                run += 1;
            }
            (key, self.runs[run].0)
        })
    }
}

/// Ranks items by their counts (indexed by item), leaving out those below `least`.
pub(super) fn rank_items(counts: &[u64], least: u64) -> Ranking<u32> {
    let size = counts.len().div_ceil(4 * rayon::current_num_threads()).max(1 << 12);
    let buckets = counts.par_chunks(size).enumerate().map(|(number, chunk)| {
        let items = (number * size) as u32..;
        let rows = items.zip(chunk.iter().copied());
        let mut bucket = Bucket::default();
        rows.filter(|&(_, count)| count >= least.max(1))
            .for_each(|(item, count)| bucket.push(item, count));
        bucket
    });
    Ranking::new(buckets.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ranking: &Ranking<u32>) -> Vec<(u32, u64)> {
        ranking.rows(0..ranking.keys.len() as u64).collect()
    }

    #[test]
    fn by_count_then_key() {
        let counts: Vec<u64> =
            (0..20_000).map(|item| if item % 7 == 0 { 0 } else { item * item % 300 }).collect();
        let ranking = rank_items(&counts, 2);
        let mut expected: Vec<(u32, u64)> =
            (0..).zip(counts).filter(|&(_, count)| count >= 2).collect();
        expected.sort_by_key(|&(item, count)| (std::cmp::Reverse(count), item));
        assert_eq!(rows(&ranking), expected);
        let part: Vec<(u32, u64)> = ranking.rows(777..1300).collect();
        assert_eq!(part, expected[777..1300]);
    }

    #[test]
    fn truncated() {
        for top in [0, 1, 2, 3, 9] {
            let mut ranking = rank_items(&[5, 1, 5, 200], 1);
            ranking.truncate(top);
            let expected = [(3, 200), (0, 5), (2, 5), (1, 1)];
            assert_eq!(rows(&ranking), expected[..top.min(4)]);
        }
        assert_eq!(rows(&rank_items(&[], 1)), []);
    }
}
