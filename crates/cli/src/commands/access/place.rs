//! Where what is read of an archive lies: in the archive itself, or in a pool.

use clap::{Args, ValueEnum};
use tadoc_engine::Corpus;
use tadoc_engine::access::Access;

use crate::commands::backend::PoolArguments;
#[cfg(feature = "pool")]
use crate::commands::backend::patience;

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

/// Puts large blocks of memory into a file beside the pool from now on.
#[cfg(feature = "pool")]
pub fn prepare(pool: &PoolArguments) -> anyhow::Result<()> {
    crate::heap::spill_beside(pool.file()?.0)
}

/// Opens an archive in a pool, and tells what was there.
#[cfg(feature = "pool")]
pub fn open<'c>(
    pool: &PoolArguments,
    corpus: &'c Corpus,
    quiet: bool,
) -> tadoc_engine::Result<Access<'c>> {
    let (path, persist) = pool.file()?;
    let (access, found) = Access::in_pool(corpus, path, persist, patience())?;
    // That everything was there is what one expects of the second question, and not worth telling.
    let is_told = !(found.made.is_empty() && found.discarded.is_empty());
    if is_told && !quiet {
        let notes = tadoc_engine::backend::notes(&[found]);
        notes.iter().for_each(|note| crate::failure::print_note(note));
    }
    Ok(access)
}

/// Tells what was found damaged while it was read, and is made again.
#[cfg(feature = "pool")]
pub fn tell_made_again(access: &Access<'_>) {
    for segment in access.made_again() {
        crate::failure::print_note(&format!(
            "made again: segment {segment} in the pool, which was damaged"
        ));
    }
}

#[cfg(not(feature = "pool"))]
pub fn prepare(_: &PoolArguments) -> anyhow::Result<()> {
    Err(tadoc_engine::Error::NoPoolBackend.into())
}

#[cfg(not(feature = "pool"))]
pub fn open<'c>(_: &PoolArguments, _: &'c Corpus, _: bool) -> tadoc_engine::Result<Access<'c>> {
    Err(tadoc_engine::Error::NoPoolBackend)
}

#[cfg(not(feature = "pool"))]
pub fn tell_made_again(_: &Access<'_>) {}
