//! Rows in pieces: cut for several threads, and put together by them.

use rayon::prelude::*;

/// Cuts a row into stretches of these lengths, which must not be more than it has.
pub(crate) fn split<T>(row: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut rest = row;
    lengths
        .map(|length| {
            let (stretch, behind) = std::mem::take(&mut rest).split_at_mut(length);
            rest = behind;
            stretch
        })
        .collect()
}

/// Maps every symbol of every part, and puts the results one after the other. `map` gets the number of the
/// part and a symbol. One pass, each thread writing its own stretch of the result.
pub(crate) fn map_concat(parts: &[&[u32]], map: impl Fn(usize, u32) -> u32 + Sync) -> Vec<u32> {
    let mut result = vec![0_u32; parts.iter().map(|part| part.len()).sum()];
    let stretches = split(&mut result, parts.iter().map(|part| part.len()));
    stretches.into_par_iter().zip(parts).enumerate().for_each(|(number, (stretch, part))| {
        for (place, &symbol) in stretch.iter_mut().zip(*part) {
            *place = map(number, symbol);
        }
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_in_order() {
        let mapped = map_concat(&[&[1, 2], &[], &[3]], |part, symbol| symbol * 10 + part as u32);
        assert_eq!(mapped, [10, 20, 32]);
    }
}
