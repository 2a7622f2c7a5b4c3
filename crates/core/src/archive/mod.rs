//! The archive on disk, as docs/format.md describes it.

pub mod types;

pub use types::{Document, Info, Level, SectionInfo, SegmentInfo, Timestamp};
