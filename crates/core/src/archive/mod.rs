//! The archive on disk, as docs/format.md describes it.

pub mod dictionary;
mod grammar;
mod integers;
mod rans;
pub mod types;
mod wire;

pub use dictionary::{Dictionary, Tokens};
pub use types::{Document, Info, Level, SectionInfo, SegmentInfo, Timestamp};
