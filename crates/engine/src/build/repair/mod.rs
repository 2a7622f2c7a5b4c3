//! Re-Pair.
mod pairing;
mod queue;
mod sequence;
pub use pairing::{Paired, pair_up};
