//! The archive on disk, as docs/format.md describes it: versions, checksums, sections and their codings.
//! Nothing above this module parses bytes.
//!
//! [`ArchiveWriter`] makes an archive of encoded segments; [`Archive`] opens one and decodes what it is
//! asked for. Reading believes nothing: a damaged or hostile file gives an error, in memory bounded by a
//! multiple of its length.
//!
//! Numbers come from files, so a cast that could lose some of one says why it does not.

mod container;
pub mod dictionary;
mod documents;
mod grammar;
mod index;
mod info;
mod integers;
pub mod journal;
mod mapping;
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "fixed-point numbers, bounded by the arithmetic itself"
)]
mod mixing;
mod origin;
mod rans;
mod read;
pub mod types;
mod view_file;
mod view_image;
mod wire;
mod word_counts;
#[expect(clippy::cast_possible_truncation, reason = "sizes of what is written, which is in memory")]
mod write;
mod zstandard;

pub use dictionary::{Dictionary, Tokens};
pub use documents::{Digester, DocumentTable, HASHED_PIECE, PieceHasher};
pub use grammar::CodedGrammar;
pub use index::{
    DocumentsOfWord, FastPart, Index, IndexWriter, WordDocuments, WordDocumentsBuilder, sections,
};
pub use info::Summary;
pub(crate) use journal::identity;
pub use journal::{ArchiveLock, Edit, Journal, JournalWriter};
pub use mapping::exit_on_truncated_files;
pub use origin::{Base, Origin, Split};
pub use read::Archive;
pub use types::{Document, Info, Level, SectionInfo, SegmentInfo, Timestamp};
pub use view_file::{open_view, view_path, write_view};
pub use view_image::{Fingerprint, ViewImage, open_image};
pub use write::{ArchiveWriter, EncodedDictionary, EncodedSegment};
