//! tadoc keeps text compressed and answers on the compressed form.

pub mod build;
pub mod progress;
