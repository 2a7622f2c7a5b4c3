//! Where what is read of an archive lies: in the archive itself, or in a pool.

use clap::{Args, ValueEnum};

use crate::commands::backend::PoolArguments;

/// `--backend`, `--pool` and `--persist`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct PlaceArguments {
    /// What the archive is read by; the answer is the same
    #[arg(long, value_enum, default_value_t = Place::Cpu)]
    backend: Place,

    #[command(flatten)]
    pool: PoolArguments,
}

/// `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    /// The processor, with memory for what it decodes
    Cpu,
    /// The processor, in the file of --pool instead of memory: for archives larger than that
    Pool,
}

impl PlaceArguments {
    /// The pool, if an archive is to be read in one.
    pub fn pool(&self) -> anyhow::Result<Option<&PoolArguments>> {
        match self.backend {
            Place::Pool => Ok(Some(&self.pool)),
            Place::Cpu => self.pool.refuse().map(|()| None),
        }
    }
}
