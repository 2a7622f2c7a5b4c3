//! `cargo xtask bench gpu`: the six tasks and batches of random access on a GPU, beside the processor of the same machine.
//!
//! Archives are loaded once and asked many times, as a program that keeps them open would. What the device does is taken by its own
//! clock, between two marks in its queue; what the answer takes back to the host is told beside it. The processor's backend
//! answers in the same process, on one thread and on all. First answers, with drivers to be started and kernels to be compiled,
//! are those of a process of their own.
//!
//! The program needs nothing but itself, its archives and the driver, so that it can be carried to where a GPU is.

mod batches;
mod check;
mod first;
mod kernels;
mod render;
mod result;
mod synthetic;
mod tasks;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use rayon::ThreadPool;
use tadoc_engine::gpu::{Device, GpuBackend};

pub use self::first::First;
use self::result::{ArchiveResult, DeviceResult, GpuRun, bars};
use crate::machine::{self, Machine};
use crate::task::TaskName;
use crate::{paths, run, units};

/// Tasks and batches on a GPU, beside the processor of the same machine
#[derive(Debug, Args)]
pub struct Gpu {
    /// Archives
    #[arg(value_name = "ARCHIVE", required = true)]
    archives: Vec<PathBuf>,

    /// The device, as `tadoc devices` lists it [default: a GPU]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,

    /// How often each task is run on the device
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// How often each task is run on the processor, for each number of threads
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    processor_rounds: u32,

    /// Numbers of threads of the processor [default: 1 and all cores]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    processor_threads: Vec<usize>,

    /// Some of the tasks only
    #[arg(long, value_delimiter = ',')]
    tasks: Vec<TaskName>,

    /// Compare every answer with the processor's, row by row
    #[arg(long)]
    check: bool,

    /// Operations of a batch of random access; 0 for none
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    operations: u64,

    /// No synthetic networks of ten million edges and more
    #[arg(long)]
    no_synthetic: bool,

    /// No first answers, which are made by processes of their own
    #[arg(long)]
    no_first: bool,

    /// Write the run to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "write")]
    output: Option<PathBuf>,

    /// Write the run to crates/bench/runs, to be committed
    #[arg(long)]
    write: bool,
}

impl Gpu {
    pub fn run(self) -> Result<()> {
        let device = Device::open(self.device.as_deref())?;
        let load = machine::load();
        let threads = match &self.processor_threads[..] {
            [] => vec![1, std::thread::available_parallelism().map_or(1, usize::from)],
            given => given.to_vec(),
        };
        let pools = threads.iter().map(|&threads| pool(threads)).collect::<Result<Vec<_>>>()?;
        let measured = DeviceResult::new(&device)?;
        eprintln!("{}", render::device(&measured));
        let mut archives = Vec::new();
        for archive in &self.archives {
            let result = self.measure(&device, archive, &pools)?;
            eprintln!("{}", render::archive(&result, &measured, &threads));
            archives.push(result);
        }
        let synthetic = match self.no_synthetic {
            true => Vec::new(),
            false => synthetic::measure(&device, self.rounds as usize)?,
        };
        let bars = bars(&archives, &synthetic, &threads);
        let run = GpuRun {
            date: units::today(),
            command: paths::command(),
            machine: Machine::ask(),
            load,
            device: measured,
            threads,
            rounds: self.rounds,
            archives,
            synthetic,
            bars,
        };
        let text = render::markdown(&run);
        println!("{text}");
        let folder = if self.write { Some(paths::runs()) } else { self.output };
        if let Some(folder) = folder {
            let path = run::write(&folder, &run.date, "gpu", &text, &run)?;
            println!("written to {}", path.display());
        }
        Ok(())
    }

    fn measure(
        &self,
        device: &Arc<Device>,
        archive: &Path,
        pools: &[ThreadPool],
    ) -> Result<ArchiveResult> {
        let name = archive.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("{name}: tasks");
        let tasks = if self.tasks.is_empty() { TaskName::ALL.to_vec() } else { self.tasks.clone() };
        let gpu = GpuBackend::new(Arc::clone(device));
        let opened = tasks::Opened::new(archive, &gpu)?;
        let mut results = Vec::new();
        for &task in &tasks {
            results.push(opened.measure(
                task,
                self.rounds as usize,
                pools,
                self.processor_rounds as usize,
                self.check,
            )?);
        }
        let kernels = kernels::measure(&opened, &tasks)?;
        let view = opened.result();
        drop(opened);
        gpu.forget();
        let first = match self.no_first {
            true => Vec::new(),
            false => {
                eprintln!("{name}: first answers");
                first::measure(archive, device, &tasks)?
            }
        };
        let batches = match self.operations {
            0 => Vec::new(),
            count => {
                eprintln!("{name}: batches");
                let rounds = self.rounds as usize;
                batches::measure(archive, device, count, rounds, &pool(1)?, self.check)?
            }
        };
        Ok(ArchiveResult { name, view, tasks: results, kernels, first, batches })
    }
}

fn pool(threads: usize) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("starting threads")
}
