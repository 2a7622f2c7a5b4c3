//! The devices that tests run on.

use std::sync::{Arc, OnceLock};

pub use crate::device::Faults;
use crate::{Device, Result};

/// One device for all tests of a process, as [`open`] gives it.
pub fn device() -> Option<Arc<Device>> {
    static DEVICE: OnceLock<Option<Arc<Device>>> = OnceLock::new();
    DEVICE.get_or_init(open).clone()
}

/// Opens the device that `TADOC_TEST_DEVICE` names, or PoCL or whatever else OpenCL has; `None`, with a line that says so, if there is none. Where
/// `TADOC_TEST_DEVICE` is set there must be one.
pub fn open() -> Option<Arc<Device>> {
    opened(Device::open)
}

/// Opens the same device with so many bytes of memory at the most, and with faults that are made while it is used.
pub fn open_faulty(memory: u64) -> Option<(Arc<Device>, Arc<Faults>)> {
    opened(|selector| Device::open_faulty(selector, memory))
}

fn opened<T>(open: impl FnOnce(Option<&str>) -> Result<T>) -> Option<T> {
    let named = std::env::var("TADOC_TEST_DEVICE").ok();
    match open(Some(named.as_deref().unwrap_or("opencl"))) {
        Ok(opened) => Some(opened),
        Err(error) if named.is_none() => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("TADOC_TEST_DEVICE: {error}"),
    }
}

/// About so many numbers below `end`, the first and the last among them: when faults come.
pub fn spread(end: u64, count: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).map(|number| number * end / count).collect();
    numbers.extend(end.checked_sub(1));
    numbers.dedup();
    numbers
}
