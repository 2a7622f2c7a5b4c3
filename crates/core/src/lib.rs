//! What a compressed corpus *is*: the grammar, the bytes it is stored in, and the errors that both
//! can give. No algorithm lives here; those are in the `tadoc` crate, which is what a user imports.
//!
//! [`answer`] says what an answer looks like to whoever prints or stores it.
//!
//! Three borders hold tadoc together, and two of them are modules here:
//!
//! - [`grammar`] knows rules, symbols and documents; not words, files or bytes on disk.
//! - [`archive`] knows bytes on disk, versions and checksums; nothing above it parses bytes.

pub mod answer;
pub mod archive;
pub mod error;
pub mod grammar;

pub use error::{Error, Result};
pub use grammar::{Grammar, GrammarError, TokenSequence};
