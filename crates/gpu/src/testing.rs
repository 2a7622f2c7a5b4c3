//! The device that tests run on.

use std::sync::{Arc, OnceLock};

use crate::Device;

/// One device for all tests of a process, as [`open`] gives it.
pub fn device() -> Option<Arc<Device>> {
    static DEVICE: OnceLock<Option<Arc<Device>>> = OnceLock::new();
    DEVICE.get_or_init(open).clone()
}

/// Opens the device that `TADOC_TEST_DEVICE` names, or PoCL or whatever else OpenCL has; `None`, with a line that says so, if there is none. Where
/// `TADOC_TEST_DEVICE` is set there must be one.
pub fn open() -> Option<Arc<Device>> {
    let named = std::env::var("TADOC_TEST_DEVICE").ok();
    match Device::open(Some(named.as_deref().unwrap_or("opencl"))) {
        Ok(device) => Some(device),
        Err(error) if named.is_none() => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("TADOC_TEST_DEVICE: {error}"),
    }
}
