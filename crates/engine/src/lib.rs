//! tadoc keeps text compressed and answers on the compressed form.

pub mod build;
pub mod compress;
pub mod corpus;
pub mod error;
pub mod progress;
pub mod text;

pub use build::lexer::Lexer;
pub use compress::{
    Builder, CompressOptions, CompressReport, Input, Source, Split, compress, transcode,
};
pub use corpus::{Corpus, RestoreReport, VerifyReport};
pub use error::{Error, Result};
pub use progress::{Observer, Phase};
pub use tadoc_core::archive::{Document, Info, Level, SectionInfo, SegmentInfo, Timestamp};
