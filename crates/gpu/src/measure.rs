//! What a device does in a second: copies to it, from it and on it, and launches. The figures that decide whether work is
//! worth the way to it.
//!
//! Cost: three buffers of [`BYTES`] or a quarter of what is free, and about a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::device::{Device, Kernel, Module};
use crate::error::Result;

/// The kernels that are launched to be measured.
pub static MODULE: Module =
    Module { name: "measure", source: include_str!("../kernels/measure.c") };
const COUNT_LAUNCH: Kernel = Kernel { module: &MODULE, name: "count_launch" };

/// Bytes of a copy: far more than any cache has.
const BYTES: u64 = 256 << 20;
/// Copies of each kind, of which the fastest counts: what disturbs them only makes them slower.
const ROUNDS: usize = 5;
/// Launches in a row.
const LAUNCHES: u32 = 1000;

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Bytes a second from the host's memory to the device's.
    pub upload: f64,
    /// Bytes a second from the device's memory to the host's.
    pub download: f64,
    /// Bytes a second that are read and written, both counted, in copying on the device.
    pub copy: f64,
    /// The time from one launch to the next, if they do nothing.
    pub launch: Duration,
    /// The time of reading back a single value, with all waiting for it.
    pub read: Duration,
}

/// Measures a device.
pub fn measure(device: &Arc<Device>) -> Result<Measured> {
    let length = (BYTES.min(device.free_memory()? / 4) / 8).max(1) as usize;
    let bytes = 8.0 * length as f64;
    let values: Vec<u64> = (0..length as u64).collect();
    let (from, to) = (device.upload(&values)?, device.zeroed::<u64>(length)?);
    device.finish()?;
    let upload = fastest(|| {
        let start = Instant::now();
        device.write(&to, 0, &values)?;
        device.finish()?;
        Ok(start.elapsed())
    })?;
    let download = fastest(|| {
        let start = Instant::now();
        device.download(&from)?;
        Ok(start.elapsed())
    })?;
    let copy = fastest(|| {
        let start = device.mark()?;
        device.copy(&from, 0, &to, 0, length)?;
        device.mark()?.since(&start)
    })?;
    let launches = device.zeroed::<u32>(1)?;
    device.launch(&COUNT_LAUNCH, 1, &[(&launches).into()])?;
    device.finish()?;
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        device.launch(&COUNT_LAUNCH, 1, &[(&launches).into()])?;
    }
    device.finish()?;
    let launch = start.elapsed() / LAUNCHES;
    let read = fastest(|| {
        let start = Instant::now();
        device.value(&launches, 0)?;
        Ok(start.elapsed())
    })?;
    Ok(Measured {
        upload: bytes / upload.as_secs_f64(),
        download: bytes / download.as_secs_f64(),
        copy: 2.0 * bytes / copy.as_secs_f64(),
        launch,
        read,
    })
}

/// The shortest of several times, which no clock has as nothing.
fn fastest(mut time: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut shortest = Duration::MAX;
    for _ in 0..ROUNDS {
        shortest = shortest.min(time()?);
    }
    Ok(shortest.max(Duration::from_nanos(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_measured() {
        let Some(device) = crate::testing::device() else { return };
        let measured = measure(&device).unwrap();
        for speed in [measured.upload, measured.download, measured.copy] {
            assert!(speed.is_finite() && speed > 0.0, "{measured:?}");
        }
        assert!(measured.launch > Duration::ZERO);
    }

    #[test]
    fn every_launch_counts() {
        let Some(device) = crate::testing::device() else { return };
        let launches = device.zeroed::<u32>(1).unwrap();
        for _ in 0..3 {
            device.launch(&COUNT_LAUNCH, 2, &[(&launches).into()]).unwrap();
        }
        assert_eq!(device.value(&launches, 0).unwrap(), 3);
    }
}
