//! What the kernels do, in plain Rust: slow and obvious, for tests to compare with.

pub mod access;
pub mod inputs;
pub mod lists;
pub mod network;
pub mod scan;
pub mod select;
pub mod sequences;
pub mod sort;
