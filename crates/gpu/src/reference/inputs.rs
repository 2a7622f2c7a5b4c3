//! What kernels and their references are given in tests.

use proptest::prelude::*;

/// Sizes of rows that are awkward for groups, tiles and passes.
pub fn sizes() -> impl Strategy<Value = usize> {
    let around = |size: usize| size - 1..=size + 1;
    prop_oneof![
        0..4_usize,
        around(256),
        around(2048),
        around(4 * 2048),
        around(5 * 2048),
        1..3_000_usize,
        1..100_000_usize,
    ]
}

/// So many numbers that look random, the same for the same seed.
pub fn noise(seed: u32, count: usize) -> Vec<u32> {
    let mut state = u64::from(seed) << 32 | 0x9e37_79b9;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    std::iter::repeat_with(next).take(count).collect()
}
