//! Sizes that cut small networks into many operations, for tests.

use proptest::prelude::*;

use crate::plan::Sizes;

/// Sizes that cut small networks into many operations, and into hash tables and counters.
pub fn sizes() -> impl Strategy<Value = Sizes> {
    let size = || prop_oneof![1..5_u32, 5..80_u32, Just(u32::MAX)];
    let some = (size(), size(), size(), size(), any::<bool>());
    some.prop_map(|(symbols, stretch, keys, hashed, dense)| Sizes {
        symbols,
        stretch,
        keys,
        dense,
        hashed,
    })
}
