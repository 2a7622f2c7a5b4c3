//! What a compressed corpus *is*: the grammar, the bytes it is stored in, and the errors that both
//! can give. No algorithm lives here; those are in `tadoc-engine`; `tadoc` is what a user imports.
//!
//! A query goes from the grammar to a [`view`] of it, on which a [`task`] runs; [`answer`] says what an answer looks like to whoever prints or stores it.
//!
//! Three borders hold tadoc together, and two of them are modules here:
//!
//! - [`grammar`] knows rules, symbols and documents; not words, files or bytes on disk.
//! - [`archive`] knows bytes on disk, versions and checksums; nothing above it parses bytes.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

pub mod answer;
pub mod archive;
mod array;
pub mod backend;
pub mod budget;
pub mod cancel;
pub mod error;
pub mod grammar;
pub mod navigation;
pub mod new_file;
pub mod packed;
mod packing;
pub mod parallel;
pub mod room;
pub mod spill;
mod steps;
pub mod storage;
pub mod task;
pub mod unfinished;
pub mod view;

pub use array::Array;
pub use backend::{Answered, Backend};
pub use budget::{Budget, Counted, MemoryLimit, Share};
pub use cancel::{CancelFlag, Cancelled};
pub use error::{Error, Result};
pub use grammar::{Grammar, GrammarError, TokenSequence};
pub use packing::Packing;
pub use spill::{Spill, SpillVec};
pub use steps::{Step, Steps};
pub use task::{Limits, Measure, Norm, Strategy, Task, TfIdfOptions};
pub use view::{Network, Part, Terms, View};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("files are mapped, and their lengths are 64 bits: tadoc needs a 64-bit target");

/// A length or place in a file as one in memory, which has as many bits.
#[expect(clippy::cast_possible_truncation, reason = "there are only 64-bit targets")]
pub const fn usize_of(number: u64) -> usize {
    number as usize
}
