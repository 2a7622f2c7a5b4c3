//! The journal: edits behind an archive, each transaction whole or not there. Section 15 of docs/format.md.
//!
//! [`JournalWriter`] appends: it holds the [`ArchiveLock`], knows no grammar and checks no document; an edit costs its bytes and a
//! few numbers in a buffer, a transaction one write and, if asked, one sync. [`Journal`] is what a reader finds: one pass over
//! its bytes tells which transactions are whole, and [`Journal::replay`] unpacks them record by record, in the memory of the
//! longest one.
//!
//! What a crash has left behind the last whole transaction is *torn*: readers pass over it, and the next writer cuts it off. Bytes
//! that no crash can have changed are *damaged*, and are told with their position.

mod edit;
mod lock;
mod read;
mod record;
#[cfg(test)]
mod tests;
mod write;

pub use edit::Edit;
pub use lock::ArchiveLock;
pub(in crate::archive) use lock::Identity;
pub(crate) use lock::identity;
pub use read::Journal;
pub use write::JournalWriter;
