//! The order of `primitives::sort`.

use std::cmp::Reverse;
use std::ops::Range;

/// The places of keys in the order of some of their bits; of equal ones, the first comes first.
pub fn places(keys: &[u128], bits: Range<u32>, descending: bool) -> Vec<u32> {
    let length = bits.len() as u32;
    let mask = if length >= 128 { u128::MAX } else { (1 << length) - 1 };
    let key = |place: &u32| keys[*place as usize].checked_shr(bits.start).unwrap_or(0) & mask;
    let mut places: Vec<u32> = (0..keys.len() as u32).collect();
    match descending {
        true => places.sort_by_key(|place| Reverse(key(place))),
        false => places.sort_by_key(key),
    }
    places
}
