//! Analytics in one file: the pool.
//!
//! A pool holds the view of a corpus, laid out for its medium, and all tables that a task works with. The medium is persistent
//! memory (mapped by DAX) or a mapped file; memory of the process holds only what is hot, so a corpus may be far larger than
//! it. A task is a chain of *phases*, each of which makes one table out of those before it, and a phase is a row of *operations*
//! that depend on nothing but finished tables. How much of that is made durable, and when, is [`Persist`]; after a crash the same
//! task goes on behind the last checkpoint.
//!
//! # Modules
//!
//! - `work`: the durable storage of tasks. Tables are filled, counters added up and blocks appended
//!   as `tadoc_tasks::work` has it; that they survive a crash is nothing that a task needs to know.
//! - the file below it: `patience` (a lock that others hold), `medium` (mapped memory and how it is
//!   made durable), `layout` and `pool` (header, checkpoints, tables), `image` (the view in it),
//!   `log` (counters that change in place). docs/pool.md says what every byte means.
//! - `backend`: runs the chain of a task in a pool that is open. The chains
//!   are those of `tadoc-tasks`.
//! - `error`: what can go wrong, as facts.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

pub mod backend;
pub mod error;
mod image;
mod layout;
mod log;
pub mod medium;
mod patience;
pub mod pool;
pub mod work;

pub use backend::PoolBackend;
pub use error::{Error, Result};
pub use patience::Patience;
pub use pool::{Chain, Pool, Resumption};

use std::fmt;
use std::str::FromStr;

/// When what was done is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Persist {
    /// At the end of every phase: a crash costs the phase that was at work.
    #[default]
    Phase,
    /// After a few operations for each thread, each of which is there as a whole or not at all: a crash costs those that were at work.
    Operation,
    /// Never; whatever the system has written by itself is used again if its checksums hold.
    None,
}

impl Persist {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Phase, Self::Operation, Self::None];

    /// The name that the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase => "phase",
            Self::Operation => "operation",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Persist {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Persist {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|persist| persist.name() == name);
        found.ok_or_else(|| format!("expected phase, operation or none, found `{name}`"))
    }
}
