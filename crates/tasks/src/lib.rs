//! The tasks of tadoc, once: phases that make tables, over storage that is volatile or durable.
//!
//! A task is a chain of *phases*, each of which makes one table out of those before it, and a phase is a row of *operations*
//! that depend on nothing but finished tables ([`work`]). Where tables are is the business of [`work::Storage`]: memory, or a pool's file. The
//! processor and the pool differ in the storage that they give and in nothing else.
//!
//! # Modules
//!
//! - [`work`]: phases and their storage; the volatile one.
//! - `weights` (top-down) and `tables` (bottom-up): what the whole corpus has, and what each rule has; `bounds` says how much it can be before it is counted.
//! - `plan` and `walk`: one document after the other, counted in a `hash_table` with the rules that wait in a `queue`; `transpose` turns that round to the documents
//!   of each key. They are for keys of any kind (`entry`); `terms` makes them go over terms.
//! - `sequences`: the tasks over sequences of terms, from the ends of rules to their rows.
//! - [`tasks`]: the chain of each task, with `rank` and `vectors` for the order of rows, and `answer`, which shows rows straight from the tables; `select` chooses the
//!   strategy.

mod answer;
mod bounds;
mod check;
mod cpu;
mod custom;
mod entry;
mod hash_table;
mod plan;
mod queue;
mod rank;
#[cfg(test)]
mod reference;
pub mod score;
mod select;
mod sequences;
mod tables;
pub mod tasks;
mod terms;
mod tfidf;
mod transpose;
mod vectors;
mod walk;
mod weights;
pub mod work;

pub use cpu::CpuBackend;
pub use custom::{CustomTask, Phases};
pub use select::choose;
pub use tadoc_core::{Error, Result};
pub use tasks::{answer_with, check};
pub use weights::{Weights, root_counts};
pub use work::{Storage, Work};
