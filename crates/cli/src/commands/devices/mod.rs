//! `tadoc devices`: the GPUs that tasks and batches can run on.

#[cfg(feature = "gpu")]
mod listing;

use clap::Args;

use crate::arguments::examples;
use crate::failure::Outcome;

/// List the GPUs of this machine, and whether they can be used
///
/// A device is chosen with --device, by its selector or a part of its name. By itself, tadoc takes a GPU that CUDA or
/// else OpenCL has, and never a processor that OpenCL has; name that to try it.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc devices"
    "tadoc devices --measure      what copies and launches cost"
    "tadoc devices --json | jq .devices[].name"
))]
pub struct Devices {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Measure copies to and from each device, and launches on it: about a second for each
    #[arg(long)]
    measure: bool,
}

#[cfg(not(feature = "gpu"))]
impl Devices {
    pub fn run(self) -> anyhow::Result<Outcome> {
        Err(tadoc::Error::NoGpuBackend.into())
    }
}

#[cfg(feature = "gpu")]
impl Devices {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let report = listing::Report::new(self.measure);
        match self.json {
            true => crate::output::print_json(&report)?,
            false => crate::output::print_text(&listing::text(&report))?,
        }
        Ok(if report.usable() { Outcome::Done } else { Outcome::Negative })
    }
}
