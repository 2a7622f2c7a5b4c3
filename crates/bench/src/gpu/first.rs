//! First answers: a process of its own opens the device, loads a view and asks once; with no compiled kernels, and with those
//! that the process before has left.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use tadoc_engine::gpu::{Device, GpuBackend, tasks};
use tadoc_engine::{Analyzer, Corpus, Limits};

use super::result::{FirstResult, FirstTimes};
use crate::task::{SEQUENCE_TERMS, TaskName};

/// One first answer, with its times as JSON
#[derive(Debug, Args)]
pub struct First {
    archive: PathBuf,
    task: TaskName,
    device: String,
}

impl First {
    pub fn run(self) -> Result<()> {
        let corpus = Corpus::open(&self.archive)?;
        let view = tadoc_engine::view::make(&[&corpus], &Analyzer::new(), None, &())?;
        let mut watch = Instant::now();
        let mut lap = || std::mem::replace(&mut watch, Instant::now()).elapsed().as_secs_f64();
        let gpu = GpuBackend::new(Device::open(Some(&self.device))?);
        let open = lap();
        let resident = gpu.load(view.network())?;
        gpu.device().finish()?;
        let load = lap();
        let task = self.task.of_archive(SEQUENCE_TERMS);
        let table = tasks::run(&resident, task, &Limits::default())?.download()?;
        let answer = lap();
        drop(table);
        println!("{}", serde_json::to_string(&FirstTimes { open, load, answer })?);
        Ok(())
    }
}

/// First answers to some tasks on an archive.
pub fn measure(archive: &Path, device: &Device, tasks: &[TaskName]) -> Result<Vec<FirstResult>> {
    let this = std::env::current_exe().context("finding this program")?;
    let selector = device.info().selector();
    let mut results = Vec::new();
    for &task in tasks {
        let cache = std::env::temp_dir().join(format!("tadoc-kernels-{}", std::process::id()));
        let first = || -> Result<FirstTimes> {
            let mut command = Command::new(&this);
            command.arg("gpu-first").arg(archive).args([task.name(), &selector]);
            let output = command.env("TADOC_KERNEL_CACHE", &cache).output()?;
            let told = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "a first answer failed: {told}");
            Ok(serde_json::from_slice(&output.stdout)?)
        };
        let (cold, warm) = (first(), first());
        // It is there only if kernels could be kept.
        let _ = std::fs::remove_dir_all(&cache);
        results.push(FirstResult { task, cold: cold?, warm: warm? });
    }
    Ok(results)
}
