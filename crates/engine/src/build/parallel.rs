//! One row out of many parts, mapped on all threads.

use rayon::prelude::*;

/// Maps every symbol of every part, and puts the results one after the other. `map` gets the number of the
/// part and a symbol. One pass, each thread writing its own stretch of the result.
pub(crate) fn map_concat(parts: &[&[u32]], map: impl Fn(usize, u32) -> u32 + Sync) -> Vec<u32> {
    let mut result = vec![0_u32; parts.iter().map(|part| part.len()).sum()];
    let mut stretches: Vec<&mut [u32]> = Vec::with_capacity(parts.len());
    let mut rest = &mut result[..];
    for part in parts {
        let (stretch, behind) = rest.split_at_mut(part.len());
        stretches.push(stretch);
        rest = behind;
    }
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
