//! Keys by count: most frequent first, equal counts by key.
//!
//! Most counts are small. So all are counted by class first, of which the low counts have one each and the high ones one for every power of two; then every
//! operation takes classes that have together what fits into memory, goes over all counts and keeps those of its own. Low counts are put in
//! order by counting, and only high ones are compared. Equal counts stand together in the end, so each is written once.
//!
//! Cost: two sweeps over the counts, and one more for every further operation. Size: a key a row.

use tadoc_core::parallel;

use crate::Result;
use crate::check::are_ends;
use crate::entry::Key;
use crate::work::{Block, Blocks, Work};

/// Sections of a block: keys; and every count, descending, with the end of the keys that have it.
pub const KEYS: usize = 0;
/// See [`KEYS`].
pub const RUNS: usize = 1;

/// Counts below this have a class each.
const LOW: usize = 128;
/// Classes of low counts, and of powers of two.
const CLASSES: usize = LOW + 64;
/// Rows of an operation take this part of the memory that the work may take.
const PART_OF_MEMORY: u64 = 16;
/// About so many operations share rows, for threads to have something to do, if each has as many as
/// are worth it.
const FEW_OPERATIONS: u64 = 4;
const ROWS_WORTH_AN_OPERATION: u64 = 1 << 16;
/// Rows of an operation: at least, and at most.
const ROWS_AT_ONCE: std::ops::RangeInclusive<u64> = 1 << 14..=1 << 22;

/// The class of a count: the higher, the more frequent.
fn class(count: u64) -> usize {
    if count < LOW as u64 { count as usize } else { LOW + count.ilog2() as usize }
}

/// An operation.
struct Classes {
    /// Those that it has.
    classes: std::ops::Range<usize>,
    /// How many rows it keeps of them.
    rows: u64,
}

/// Ranks keys that occur at least so often, and keeps the first. `sweep` calls with the keys of a stretch, ascending, and their counts; stretches ascend too.
/// `is_key` says whether there is such a key.
pub fn rank<K: Key>(
    work: &mut Work<'_>,
    phase: &'static str,
    stretches: usize,
    sweep: impl Fn(usize, &mut dyn FnMut(K, u64)) + Sync,
    is_key: impl Fn(K) -> bool + Sync,
    least: u64,
    top: Option<usize>,
) -> Result<Blocks> {
    let least = least.max(1);
    let of_stretches = parallel::map(stretches, &|stretch| {
        let mut sizes = [0_u64; CLASSES];
        sweep(stretch, &mut |_, count| sizes[class(count)] += u64::from(count >= least));
        sizes
    });
    let sizes: [u64; CLASSES] =
        std::array::from_fn(|class| of_stretches.iter().map(|sizes| sizes[class]).sum());
    let row_bytes = size_of::<(u64, K)>() as u64;
    // Every operation goes over all counts, so there are few unless memory wants more.
    let few = (sizes.iter().sum::<u64>() / FEW_OPERATIONS).max(ROWS_WORTH_AN_OPERATION);
    let most = (work.memory() / PART_OF_MEMORY / row_bytes)
        .min(few)
        .clamp(*ROWS_AT_ONCE.start(), *ROWS_AT_ONCE.end());
    let operations = operations(&sizes, most, top.map_or(u64::MAX, |top| top as u64));
    let are_rows = |_, block: Block<'_>| {
        let (keys, runs) = (block.section::<K>(KEYS)?, block.section::<[u64; 2]>(RUNS)?);
        let by_key = keys.iter().all(|&key| is_key(key));
        Some(by_key && are_ends(runs.iter().map(|&[_, end]| end), keys.len()))
    };
    work.append(phase, operations.len(), are_rows, |operation, block| {
        let Classes { classes, rows } = &operations[operation];
        let mut high: Vec<(u64, K)> = Vec::new();
        let is_low = |class: usize| class < LOW;
        // Where the keys of each low count go, the highest first.
        let mut places = [0; LOW];
        let mut sum = 0;
        for class in (classes.start..classes.end.min(LOW)).rev() {
            places[class] = sum;
            sum += sizes[class] as usize;
        }
        let mut low = vec![K::zeroed(); sum];
        for stretch in 0..stretches {
            sweep(stretch, &mut |key, count| {
                let class = class(count);
                if count < least || !classes.contains(&class) {
                    return;
                }
                if is_low(class) {
                    low[places[class]] = key;
                    places[class] += 1;
                } else {
                    high.push((count, key));
                }
            });
        }
        high.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut runs: Vec<[u64; 2]> = Vec::new();
        let mut run = |count: u64, end: u64| match runs.last_mut() {
            Some([last, last_end]) if *last == count => *last_end = end,
            _ => runs.push([count, end]),
        };
        (1..).zip(&high).for_each(|(end, &(count, _))| run(count, end));
        let mut end = high.len() as u64;
        for class in (classes.start..classes.end.min(LOW)).rev() {
            end += sizes[class];
            if sizes[class] > 0 {
                run(class as u64, end);
            }
        }
        let mut keys: Vec<K> = high.into_iter().map(|(_, key)| key).collect();
        keys.append(&mut low);
        keys.truncate(*rows as usize);
        runs.truncate(runs.partition_point(|&[_, end]| end < *rows) + 1);
        if let Some([_, end]) = runs.last_mut() {
            *end = keys.len() as u64;
        }
        block.put(&keys);
        block.put(&runs);
        Ok(())
    })
}

/// Shares classes out, from the most frequent down.
fn operations(sizes: &[u64; CLASSES], most: u64, top: u64) -> Vec<Classes> {
    let mut operations: Vec<Classes> = Vec::new();
    let mut left = top;
    let mut whole = 0;
    for class in (0..CLASSES).rev().filter(|&class| sizes[class] > 0) {
        if left == 0 {
            break;
        }
        let rows = sizes[class].min(left);
        left -= rows;
        match operations.last_mut() {
            Some(last) if whole + sizes[class] <= most => {
                last.classes.start = class;
                last.rows += rows;
                whole += sizes[class];
            }
            _ => {
                operations.push(Classes { classes: class..class + 1, rows });
                whole = sizes[class];
            }
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(
        counts: &[u64],
        least: u64,
        top: Option<usize>,
        memory: u64,
    ) -> (usize, Vec<(u32, u64)>) {
        let size = counts.len().div_ceil(3).max(1);
        let sweep = |stretch: usize, each: &mut dyn FnMut(u32, u64)| {
            let first = stretch * size;
            for (term, &count) in
                (first as u32..).zip(&counts[first..counts.len().min(first + size)])
            {
                each(term, count);
            }
        };
        let mut work = Work::volatile(memory);
        let blocks =
            rank(&mut work, "ranking", counts.len().div_ceil(size), sweep, |_| true, least, top)
                .unwrap();
        let mut rows = Vec::new();
        for block in 0..blocks.len() {
            let keys = blocks.section::<u32>(block, KEYS);
            let mut start = 0;
            for &[count, end] in blocks.section::<[u64; 2]>(block, RUNS) {
                assert!(start < end);
                rows.extend(keys[start as usize..end as usize].iter().map(|&key| (key, count)));
                start = end;
            }
            assert_eq!(start as usize, keys.len());
        }
        (blocks.len(), rows)
    }

    #[test]
    fn by_count_then_key() {
        let counts: Vec<u64> = (0..60_000_u64)
            .map(|term| if term % 7 == 0 { 0 } else { (term * term % 300) << (term % 3 * 20) })
            .collect();
        for least in [0, 1, 2, 130] {
            let mut expected: Vec<(u32, u64)> =
                (0..).zip(counts.iter().copied()).filter(|row| row.1 >= least.max(1)).collect();
            expected.sort_by_key(|&(term, count)| (std::cmp::Reverse(count), term));
            for top in [None, Some(0), Some(1), Some(20_000), Some(59_000)] {
                let kept = &expected[..top.unwrap_or(usize::MAX).min(expected.len())];
                let (one, rows) = ranked(&counts, least, top, 1 << 30);
                assert_eq!(rows, kept);
                let (several, rows) = ranked(&counts, least, top, 0);
                assert_eq!(rows, kept);
                assert!(one <= 1 && (several > 1 || kept.len() <= 20_000));
            }
        }
        assert_eq!(ranked(&[], 1, None, 0), (0, Vec::new()));
    }
}
