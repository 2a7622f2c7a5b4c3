//! The Rust code in the documents, which the tests compile.

#![doc = include_str!("../../../README.md")]
#![doc = include_str!("../../../docs/access.md")]
#![doc = include_str!("../../../docs/analytics.md")]
#![doc = include_str!("../../../docs/updates.md")]
