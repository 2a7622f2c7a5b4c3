//! What all traversals are made of: sums, sorts and selections of long rows in a device's memory.
//!
//! Everything is queued; where a number must be known to the host, it is said.

pub mod scan;
pub mod select;
pub mod sort;
