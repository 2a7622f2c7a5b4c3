//! What is counted and weighed. [`score`] has the formulae; they know counts and no text.

mod keys;
mod partition;
pub mod score;
mod sequences;
mod windows;
