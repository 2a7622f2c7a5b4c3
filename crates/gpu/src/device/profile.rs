//! Where the time of a device goes: the launches of each kernel, with marks around them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use super::Kernel;
use super::driver::{Driver, Handle};
use crate::error::Result;

/// What the launches of a kernel took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelTime {
    /// The file that it is in, and its name.
    pub kernel: (&'static str, &'static str),
    /// How often it was launched.
    pub launches: u64,
    /// The time of all launches.
    pub time: Duration,
}

/// The launches since profiling was started.
#[derive(Debug, Default)]
pub(super) struct Profile(Vec<(Kernel, Handle, Handle)>);

impl Profile {
    /// Does a launch between two marks.
    pub(super) fn time(
        &mut self,
        kernel: &Kernel,
        driver: &dyn Driver,
        launch: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let start = driver.mark()?;
        launch()?;
        self.0.push((*kernel, start, driver.mark()?));
        Ok(())
    }

    /// The times of all kernels, longest first.
    pub(super) fn times(self, driver: &dyn Driver) -> Result<Vec<KernelTime>> {
        let mut times: HashMap<(&str, &str), KernelTime> = HashMap::new();
        for (kernel, start, end) in self.0 {
            let elapsed = driver.elapsed(start, end);
            driver.drop_mark(start);
            driver.drop_mark(end);
            let kernel = (kernel.module.name, kernel.name);
            let none = KernelTime { kernel, launches: 0, time: Duration::ZERO };
            let sum = times.entry(kernel).or_insert(none);
            sum.launches += 1;
            sum.time += elapsed?;
        }
        let mut times: Vec<KernelTime> = times.into_values().collect();
        times.sort_by_key(|time| (Reverse(time.time), time.kernel));
        Ok(times)
    }
}
