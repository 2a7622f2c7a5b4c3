//! The device that tests run on.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Arc, OnceLock};

pub use crate::device::Faults;
use crate::{Device, Result};

/// One device for all tests of a process, as [`open`] gives it.
pub fn device() -> Option<Arc<Device>> {
    static DEVICE: OnceLock<Option<Arc<Device>>> = OnceLock::new();
    let device = DEVICE.get_or_init(|| found(Device::open)).clone();
    told(device)
}

/// Opens the device that `TADOC_TEST_DEVICE` names, or PoCL or whatever else OpenCL has; `None`,
/// with a line that says so, if there is none.
///
/// Where `TADOC_TEST_DEVICE` is set, a device that is missing is a panic. Tests that were given one
/// are then told in the file that `TADOC_TEST_DEVICE_LOG` names, a line each.
pub fn open() -> Option<Arc<Device>> {
    told(found(Device::open))
}

/// Opens the same device with so many bytes of memory at the most, and with faults that are made
/// while it is used.
pub fn open_faulty(memory: u64) -> Option<(Arc<Device>, Arc<Faults>)> {
    told(found(|selector| Device::open_faulty(selector, memory)))
}

fn found<T>(open: impl FnOnce(Option<&str>) -> Result<T>) -> Option<T> {
    let named = std::env::var("TADOC_TEST_DEVICE").ok();
    match open(Some(named.as_deref().unwrap_or("opencl"))) {
        Ok(opened) => Some(opened),
        Err(error) if named.is_none() => {
            eprintln!("no device: {error}");
            None
        }
        Err(error) => panic!("TADOC_TEST_DEVICE: {error}"),
    }
}

/// Says that a test is skipped, or writes down that it has a device.
fn told<T>(opened: Option<T>) -> Option<T> {
    if opened.is_none() {
        eprintln!("skipped: no OpenCL device");
    } else if let Some(path) = std::env::var_os("TADOC_TEST_DEVICE_LOG") {
        let program = std::env::current_exe().expect("this program has a path");
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a thread of a test");
        let line = format!("{} {test}\n", program.file_name().unwrap_or_default().display());
        let log = OpenOptions::new().create(true).append(true).open(path);
        log.and_then(|mut log| log.write_all(line.as_bytes())).expect("TADOC_TEST_DEVICE_LOG");
    }
    opened
}

/// About so many numbers below `end`, the first and the last among them: when faults come.
pub fn spread(end: u64, count: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).map(|number| number * end / count).collect();
    numbers.extend(end.checked_sub(1));
    numbers.dedup();
    numbers
}
