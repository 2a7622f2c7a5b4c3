//! Rows by count: most frequent first, equal counts by key.
//!
//! Most counts are small, so rows are put in order by counting and only those of high counts are compared. Equal counts stand
//! together in the end, so they are kept once for each run and not for each row.

use super::keys::Key;

/// Counts below this are put in order by counting, the others by comparing.
const CLASSES: usize = 128;

/// Keys with their counts, by key: those that come once, which are most of most answers, and the others.
#[derive(Debug)]
pub(super) struct Counted<H> {
    once: Vec<H>,
    more: Vec<(H, u64)>,
}

impl<H> Default for Counted<H> {
    fn default() -> Self {
        Self { once: Vec::new(), more: Vec::new() }
    }
}

/// Keys with counts: by count descending, then key ascending.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ranking<H> {
    pub(super) keys: Vec<H>,
    /// Each count, descending, with the end of the keys that have it.
    pub(super) runs: Vec<[u64; 2]>,
}

impl<H: Key> Counted<H> {
    /// Adds a key that is above all before it.
    #[inline]
    pub(super) fn push(&mut self, key: H, count: u64) {
        if count == 1 {
            self.once.push(key);
        } else {
            self.more.push((key, count));
        }
    }

    /// The `top` most frequent.
    pub(super) fn rank(self, top: usize) -> Ranking<H> {
        let Self { once, mut more } = self;
        // How many keys have each low count; all high ones are of class 0.
        let class = |count: u64| if count < CLASSES as u64 { count as usize } else { 0 };
        let mut places = [0_usize; CLASSES];
        more.iter().for_each(|&(_, count)| places[class(count)] += 1);
        let mut runs: Vec<[u64; 2]> = Vec::new();
        let mut sum = places[0];
        for (count, place) in places.iter_mut().enumerate().skip(2).rev() {
            sum += std::mem::replace(place, sum);
            if sum > *place {
                runs.push([count as u64, sum as u64]);
            }
        }
        places[0] = 0;
        let mut keys = vec![H::zeroed(); more.len()];
        let mut high = Vec::new();
        for &(key, count) in &more {
            if class(count) == 0 {
                high.push((key, count));
            } else {
                let place = &mut places[count as usize];
                keys[*place] = key;
                *place += 1;
            }
        }
        more = high;
        more.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        let mut high_runs: Vec<[u64; 2]> = Vec::new();
        for (place, &(key, count)) in more.iter().enumerate() {
            keys[place] = key;
            match high_runs.last_mut() {
                Some(last) if last[0] == count => last[1] += 1,
                _ => high_runs.push([count, place as u64 + 1]),
            }
        }
        high_runs.append(&mut runs);
        let mut ranking = Ranking { keys, runs: high_runs };
        if !once.is_empty() {
            ranking.keys.extend_from_slice(&once);
            ranking.runs.push([1, ranking.keys.len() as u64]);
        }
        ranking.truncate(top);
        ranking
    }
}

impl<H> Ranking<H> {
    fn truncate(&mut self, top: usize) {
        self.keys.truncate(top);
        let end = self.keys.len() as u64;
        let kept = self.runs.partition_point(|run| run[1] < end);
        self.runs.truncate(kept + usize::from(end > 0));
        if let Some(last) = self.runs.last_mut() {
            last[1] = last[1].min(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ranking: &Ranking<u64>) -> Vec<(u64, u64)> {
        let mut start = 0;
        let mut rows = Vec::new();
        for &[count, end] in &ranking.runs {
            rows.extend(ranking.keys[start..end as usize].iter().map(|&key| (key, count)));
            start = end as usize;
        }
        assert_eq!(start, ranking.keys.len());
        rows
    }

    #[test]
    fn by_count_then_key() {
        let all: Vec<(u64, u64)> = (0..20_000).map(|key| (key, key * key % 300 + 1)).collect();
        for top in [0, 1, 2, 777, 15_000, usize::MAX] {
            let mut counted = Counted::default();
            all.iter().for_each(|&(key, count)| counted.push(key, count));
            let mut expected = all.clone();
            expected.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
            expected.truncate(top);
            assert_eq!(rows(&counted.rank(top)), expected);
        }
    }

    #[test]
    fn of_nothing_and_of_one_kind() {
        assert_eq!(rows(&Counted::default().rank(9)), []);
        let mut once = Counted::default();
        once.push(5, 1);
        assert_eq!(rows(&once.rank(9)), [(5, 1)]);
        let mut often = Counted::default();
        often.push(5, u64::MAX);
        assert_eq!(rows(&often.rank(9)), [(5, u64::MAX)]);
    }
}
