//! Sorting out pairs that occur once, where most do.
//!
//! Two rows of bits say of the hash of a pair whether it came once and whether it came again; pairs whose hash came
//! only once occur only once. What is left has nearly all others sorted out.
//!
//! Cost: O(length) on all threads, two random reads or writes a pair; a byte a pair while it works.

use std::sync::atomic::{AtomicU64, Ordering};

use tadoc_core::parallel::{each, in_batches, map};

use super::sequence::BARRIER;

/// Pairs that a thread looks at before the next ones.
const AT_A_TIME: usize = 1 << 16;

/// The places of the pairs that occur twice or more often, in order, and of a few others.
pub(super) fn places(cells: &[u32]) -> Vec<u32> {
    let bits = (cells.len().max(16) * 4).next_power_of_two();
    let shift = u64::BITS - bits.trailing_zeros();
    let row = || -> Vec<AtomicU64> { (0..bits / 64).map(|_| AtomicU64::new(0)).collect() };
    let (once, again) = (row(), row());
    let pair_count = cells.len().saturating_sub(1);
    let pairs_of = |part: usize| {
        let from = part * AT_A_TIME;
        (from..pair_count.min(from + AT_A_TIME)).filter_map(move |place| {
            let (first, second) = (cells[place], cells[place + 1]);
            (first != BARRIER && second != BARRIER).then(|| {
                let hash = (u64::from(first) << 32 | u64::from(second))
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let hash = (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> shift;
                (place as u32, (hash / 64) as usize, 1_u64 << (hash % 64))
            })
        })
    };
    let parts = pair_count.div_ceil(AT_A_TIME);
    // Whatever the order of the threads, the second row says in the end what came more than once.
    each(parts, &|part| {
        let look = |(_, word, _): (u32, usize, u64)| once[word].load(Ordering::Relaxed);
        in_batches(pairs_of(part), look, |(_, word, bit)| {
            if once[word].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
                again[word].fetch_or(bit, Ordering::Relaxed);
            }
        });
    });
    let kept: Vec<Vec<u32>> = map(parts, &|part| {
        pairs_of(part)
            .filter(|&(_, word, bit)| again[word].load(Ordering::Relaxed) & bit != 0)
            .map(|(place, ..)| place)
            .collect()
    });
    kept.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_pairs_that_occur_once_are_sorted_out_and_no_other() {
        // Twice the same hundred thousand symbols, of which no pair repeats, with others behind them.
        let cells: Vec<u32> = (0..100_000).chain(0..100_000).chain(100_000..1_000_000).collect();
        let places = places(&cells);
        assert!(places.is_sorted());
        let repeated = (0..99_999).chain(100_000..199_999);
        let mut kept = places.iter().copied().peekable();
        for place in repeated {
            while kept.next_if(|&other| other < place).is_some() {}
            assert_eq!(kept.next(), Some(place));
        }
        assert!(places.len() < 600_000, "{}", places.len());
    }
}
