//! Where what is read of an archive lies: in the archive itself, or in a pool.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum, ValueHint};
use tadoc::Corpus;
use tadoc::access::Access;

/// `--backend`, `--pool` and `--persist`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct PlaceArguments {
    /// What the archive is read by; the answer is the same
    #[arg(long, value_enum, default_value_t = Place::Cpu)]
    backend: Place,

    /// The file for --backend pool: made if it is not there, and gone on with if it is
    ///
    /// It holds everything that is read of the archive, and so can be larger than that by far. It belongs to
    /// one archive; it can be deleted at any time, and costs nothing but the work again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pool: Option<PathBuf>,

    /// When what is done in the pool is made durable [default: phase]
    #[arg(long, value_enum, value_name = "WHEN")]
    persist: Option<Persist>,
}

/// `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    /// The processor, with memory for what it decodes
    Cpu,
    /// The processor, in the file of --pool instead of memory: for archives larger than that
    Pool,
}

/// `--persist`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Persist {
    /// When all of the archive is in it: a crash costs all that was done
    Phase,
    /// After some segments of the archive: a crash costs these
    Operation,
    /// Never: a loss of power costs what the system had not written yet
    None,
}

impl PlaceArguments {
    /// The pool, if there is to be one. Large blocks of memory go to a file beside it from now on.
    pub fn pool(&self) -> anyhow::Result<Option<PoolPlace<'_>>> {
        match (self.backend, &self.pool, self.persist) {
            (Place::Pool, Some(path), persist) => {
                PoolPlace::prepare(path, persist.unwrap_or(Persist::Phase)).map(Some)
            }
            (Place::Pool, None, _) => {
                bail!("--backend pool needs a file to work in; give one with --pool FILE")
            }
            (Place::Cpu, None, None) => Ok(None),
            (Place::Cpu, pool, _) => {
                let given = if pool.is_some() { "--pool" } else { "--persist" };
                bail!("{given} is for --backend pool only; give that too, or leave {given} out")
            }
        }
    }
}

/// A pool to read in.
#[cfg_attr(not(feature = "pool"), expect(dead_code, reason = "without pools there is none"))]
pub struct PoolPlace<'a> {
    path: &'a Path,
    persist: Persist,
}

#[cfg(feature = "pool")]
impl<'a> PoolPlace<'a> {
    fn prepare(path: &'a Path, persist: Persist) -> anyhow::Result<Self> {
        crate::heap::spill_beside(path)?;
        Ok(Self { path, persist })
    }

    /// Opens an archive in it, and tells what was gone on with or made again.
    pub fn open<'c>(&self, corpus: &'c Corpus, quiet: bool) -> tadoc::Result<Access<'c>> {
        let persist = match self.persist {
            Persist::Phase => tadoc::pool::Persist::Phase,
            Persist::Operation => tadoc::pool::Persist::Operation,
            Persist::None => tadoc::pool::Persist::None,
        };
        let (access, found) = Access::in_pool(corpus, self.path, persist)?;
        if !quiet {
            let made_again = found.discarded.iter().map(|what| format!("made again: {what}"));
            let gone_on = found.operations.iter().map(|(phase, done, all)| {
                format!("the pool was gone on with: {done} of {all} operations of `{phase}` were done")
            });
            gone_on.chain(made_again).for_each(|note| crate::failure::print_note(&note));
        }
        Ok(access)
    }
}

#[cfg(not(feature = "pool"))]
impl<'a> PoolPlace<'a> {
    fn prepare(_: &'a Path, _: Persist) -> anyhow::Result<Self> {
        bail!(
            "this tadoc was built without the pool backend; build it with the feature `pool`, or take `--backend cpu`"
        )
    }

    pub fn open<'c>(&self, _: &'c Corpus, _: bool) -> tadoc::Result<Access<'c>> {
        unreachable!("there are no pools")
    }
}
