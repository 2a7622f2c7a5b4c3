//! Where work is done, on the command line.

use clap::{Args, ValueEnum};
use tadoc::Editor;
use tadoc::backend::{Backends, Choice};

/// `--backend` and `--device`, for work that a GPU can do too.
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
    /// The backends to choose from.
    pub fn backends(&self) -> Backends {
        let choice = match self.backend {
            Backend::Auto => Choice::Auto,
            Backend::Cpu => Choice::Cpu,
            Backend::Gpu => Choice::Gpu,
        };
        Backends::new(choice, self.device.clone())
    }

    /// Lets an editor run its batches on the device that is asked for; what they cost most is no matter of the backend, so
    /// none is taken by itself.
    pub fn give_to(&self, editor: &mut Editor) -> anyhow::Result<()> {
        #[cfg(feature = "gpu")]
        {
            let backends = self.backends();
            editor.set_device(backends.device_for_batches(0, 0)?, backends.choice());
        }
        #[cfg(not(feature = "gpu"))]
        if self.backend == Backend::Gpu {
            let _ = editor;
            return Err(tadoc::Error::NoGpuBackend.into());
        }
        Ok(())
    }
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
}
