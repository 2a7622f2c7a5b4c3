//! The journal: edits behind an archive, each batch whole or not there.

mod edit;

pub use edit::Edit;
