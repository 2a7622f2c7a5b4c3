//! Where the time of a device goes, kernel by kernel.

use anyhow::Result;
use tadoc_engine::Limits;
use tadoc_engine::gpu::tasks;

use super::result::KernelResult;
use super::tasks::Opened;
use crate::task::{SEQUENCE_TERMS, TaskName};

/// The kernels of one run of each task, those that take longest first.
pub fn measure(opened: &Opened<'_>, names: &[TaskName]) -> Result<Vec<KernelResult>> {
    let device = opened.gpu().device();
    let resident = opened.gpu().load(opened.view().network())?;
    let mut results = Vec::new();
    for &name in names {
        device.start_profile();
        let answer = tasks::run(&resident, name.of_archive(SEQUENCE_TERMS), &Limits::default());
        let times = device.take_profile()?;
        drop(answer?);
        results.extend(times.into_iter().map(|time| KernelResult {
            task: name,
            file: time.kernel.0.into(),
            kernel: time.kernel.1.into(),
            launches: time.launches,
            seconds: time.time.as_secs_f64(),
        }));
    }
    Ok(results)
}
