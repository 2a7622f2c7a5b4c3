//! The sums of `primitives::scan`.

/// The sum before each value, and behind them the sum of all.
pub fn exclusive(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut sums = vec![0];
    for value in values {
        sums.push(sums[sums.len() - 1] + value);
    }
    sums
}
