//! Where work is done, on the command line.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum, ValueHint};
use tadoc::OpenOptions;

/// `--backend` and `--device`, for work that a GPU can do too.
///
/// Batches have no other arguments; tasks have those of [`TaskBackendArguments`].
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct BackendArguments {
    /// Where the work is done; the answer is the same
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,

    /// The GPU to take, as `tadoc devices` lists it: cuda:0, opencl:1, or a part of its name
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

impl BackendArguments {
    /// How archives are opened for work there.
    pub fn options(&self, options: OpenOptions) -> OpenOptions {
        let options = options.backend(match self.backend {
            Backend::Auto => tadoc::Backend::Auto,
            Backend::Cpu => tadoc::Backend::Cpu,
            Backend::Gpu => tadoc::Backend::Gpu,
            Backend::Pool => tadoc::Backend::Pool,
        });
        match &self.device {
            Some(device) => options.device(device),
            None => options,
        }
    }
}

/// Where a task is done: in a pool too.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct TaskBackendArguments {
    #[command(flatten)]
    work: BackendArguments,

    #[command(flatten)]
    pool: PoolArguments,
}

impl TaskBackendArguments {
    /// How archives are opened for work there.
    pub fn options(&self, options: OpenOptions) -> anyhow::Result<OpenOptions> {
        if self.work.backend == Backend::Pool {
            self.refuse_device()?;
            return self.pool.place(options);
        }
        self.pool.refuse()?;
        Ok(self.work.options(options))
    }

    /// The pool to read an archive in, if reads are done in one.
    pub fn pool_of_reads(&self) -> anyhow::Result<Option<&PoolArguments>> {
        match self.work.backend {
            Backend::Pool => self.refuse_device().map(|()| Some(&self.pool)),
            Backend::Auto | Backend::Cpu | Backend::Gpu => self.pool.refuse().map(|()| None),
        }
    }

    fn refuse_device(&self) -> anyhow::Result<()> {
        if self.work.device.is_some() {
            bail!(
                "--device is for a GPU, and --backend pool works on the processor; leave one of them out"
            );
        }
        Ok(())
    }
}

/// How a pool that another process has is waited for: that is told, and a signal ends it.
#[cfg(feature = "pool")]
fn patience() -> tadoc::Patience {
    tadoc::Patience {
        tell: |path| {
            let path = path.display();
            let note = format!("waiting for the pool {path}, which is in use by another process");
            crate::failure::print_note(&note);
        },
        is_cancelled: crate::interrupt::requested,
        ..Default::default()
    }
}

/// `--pool` and `--persist`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct PoolArguments {
    /// The file for --backend pool: made if it is not there, and gone on with if it is
    ///
    /// It holds the grammar and all tables of the work, and so can be larger than the archive by far. It belongs to
    /// one archive; it can be deleted at any time, and costs nothing but the work again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pool: Option<PathBuf>,

    /// When what is done in the pool is made durable [default: phase]
    #[arg(long, value_enum, value_name = "WHEN")]
    persist: Option<Persist>,
}

impl PoolArguments {
    /// Tells that they are for pools, where the work is not done in one.
    pub fn refuse(&self) -> anyhow::Result<()> {
        let given = match (&self.pool, self.persist) {
            (Some(_), _) => "--pool",
            (None, Some(_)) => "--persist",
            (None, None) => return Ok(()),
        };
        bail!("{given} is for --backend pool only; give that too, or leave {given} out");
    }

    /// How archives are opened to be worked on in the file.
    #[cfg(feature = "pool")]
    pub fn place(&self, options: OpenOptions) -> anyhow::Result<OpenOptions> {
        let path = self.pool.as_deref().ok_or(tadoc::Error::NoPool)?;
        let persist = match self.persist {
            None | Some(Persist::Phase) => tadoc::Persist::Phase,
            Some(Persist::Operation) => tadoc::Persist::Operation,
            Some(Persist::None) => tadoc::Persist::None,
        };
        Ok(options.pool(path, persist, patience()))
    }

    /// How archives are opened to be worked on in the file.
    #[cfg(not(feature = "pool"))]
    pub fn place(&self, _: OpenOptions) -> anyhow::Result<OpenOptions> {
        Err(tadoc::Error::NoPoolBackend.into())
    }
}

/// `--persist`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Persist {
    /// At the end of every phase: a crash costs the phase that was at work
    Phase,
    /// After every operation: a crash costs next to nothing, and the work takes longer
    Operation,
    /// Never: a loss of power costs what the system had not written yet
    None,
}

/// `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The GPU where it is done first, all copies included; with --device, the GPU; else the processor
    Auto,
    /// The processor
    Cpu,
    /// The GPU, or an error
    Gpu,
    /// The processor, in the file of --pool instead of memory: for corpora larger than that, and work that may be interrupted
    Pool,
}
