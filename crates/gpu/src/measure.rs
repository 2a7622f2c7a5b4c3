//! What a device does in a second: copies to it, from it and on it, and launches. The figures that decide whether work is
//! worth the way to it.
//!
//! Cost: three buffers of [`BYTES`] or a quarter of what is free, and a fraction of a second. The
//! figures are kept beside the compiled kernels, for a device of this name with this driver.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::device::{Device, Kernel, Module, cache};
use crate::error::Result;

/// The kernels that are launched to be measured.
pub static MODULE: Module =
    Module { name: "measure", source: include_str!("../kernels/measure.c") };
const COUNT_LAUNCH: Kernel = Kernel { module: &MODULE, name: "count_launch" };

/// Bytes of a copy: more than caches have.
const BYTES: u64 = 64 << 20;
/// Copies of each kind, of which the fastest counts: what disturbs them only makes them slower.
const ROUNDS: usize = 3;
/// Copies on the device in a row, so that launching one does not count.
const COPIES: usize = 8;
/// Launches in a row.
const LAUNCHES: u32 = 1000;
/// How figures are made and kept. A change of either raises it, and devices are measured anew.
const METHOD: &str = "1";

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

impl Measured {
    fn to_bytes(self) -> Vec<u8> {
        let Self { upload, download, copy, launch, read } = self;
        let values = [upload, download, copy, launch.as_secs_f64(), read.as_secs_f64()];
        values.into_iter().flat_map(f64::to_le_bytes).collect()
    }

    /// `None` unless every figure is above zero.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, []) = bytes.as_chunks::<8>() else { return None };
        let values: Vec<f64> = values.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        let &[upload, download, copy, launch, read] = &values[..] else { return None };
        if !values.iter().all(|value| value.is_finite() && *value > 0.0) {
            return None;
        }
        let [launch, read] = [launch, read].map(Duration::try_from_secs_f64);
        Some(Self { upload, download, copy, launch: launch.ok()?, read: read.ok()? })
    }
}

/// The figures of a device: kept ones, or else it is measured. A cache that cannot be read or
/// written is as good as an empty one.
///
/// # Errors
/// What the device gives.
pub fn measured(device: &Arc<Device>) -> Result<Measured> {
    measured_in(cache::folder().as_deref(), device)
}

fn measured_in(folder: Option<&Path>, device: &Arc<Device>) -> Result<Measured> {
    let kept = cache::read(folder, MODULE.name, &keys(device));
    match kept.and_then(|kept| Measured::from_bytes(&kept)) {
        Some(measured) => Ok(measured),
        None => measure_in(folder, device),
    }
}

/// Measures a device, and keeps the figures for [`measured`].
///
/// # Errors
/// What the device gives.
pub fn measure(device: &Arc<Device>) -> Result<Measured> {
    measure_in(cache::folder().as_deref(), device)
}

fn measure_in(folder: Option<&Path>, device: &Arc<Device>) -> Result<Measured> {
    let measured = figures(device)?;
    cache::write(folder, MODULE.name, &keys(device), &measured.to_bytes());
    Ok(measured)
}

/// What figures depend on.
fn keys(device: &Device) -> [&str; 5] {
    let info = device.info();
    ["figures", METHOD, info.api.name(), &info.name, &info.driver]
}

fn figures(device: &Arc<Device>) -> Result<Measured> {
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
        for _ in 0..COPIES {
            device.copy(&from, 0, &to, 0, length)?;
        }
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
    let launch = (start.elapsed() / LAUNCHES).max(Duration::from_nanos(1));
    let read = fastest(|| {
        let start = Instant::now();
        device.value(&launches, 0)?;
        Ok(start.elapsed())
    })?;
    Ok(Measured {
        upload: bytes / upload.as_secs_f64(),
        download: bytes / download.as_secs_f64(),
        copy: 2.0 * COPIES as f64 * bytes / copy.as_secs_f64(),
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

    use crate::testing::{device, open_faulty, spread};

    #[test]
    fn a_device_is_measured_once() {
        let Some((device, faults)) = open_faulty(u64::MAX) else { return };
        let folder = tempfile::tempdir().unwrap();
        let folder = Some(folder.path());
        let first = measured_in(folder, &device).unwrap();
        assert_eq!(Measured::from_bytes(&first.to_bytes()), Some(first), "{first:?}");
        let calls = faults.calls();
        assert_eq!(measured_in(folder, &device).unwrap(), first);
        assert_eq!(faults.calls(), calls);
        // Figures that make no sense, and none at all.
        for wrong in [&[][..], &[0; 40], &[0xFF; 40], &first.to_bytes()[1..]] {
            cache::write(folder, MODULE.name, &keys(&device), wrong);
            let calls = faults.calls();
            let again = measured_in(folder, &device).unwrap();
            assert!(faults.calls() > calls);
            assert_eq!(measured_in(folder, &device).unwrap(), again);
        }
    }

    #[test]
    fn a_lost_device_has_no_figures() {
        let Some((device, faults)) = open_faulty(64 << 10) else { return };
        let folder = tempfile::tempdir().unwrap();
        measured_in(None, &device).unwrap();
        let before = faults.calls();
        measured_in(None, &device).unwrap();
        for calls in spread(faults.calls() - before, 40) {
            faults.lose_after(calls);
            let lost = measured_in(Some(folder.path()), &device).unwrap_err().to_string();
            assert!(lost.contains("the device was lost"), "after {calls} calls: {lost}");
            assert_eq!((faults.taken(), folder.path().read_dir().unwrap().count()), (0, 0));
        }
    }

    #[test]
    fn every_launch_counts() {
        let Some(device) = device() else { return };
        let launches = device.zeroed::<u32>(1).unwrap();
        for _ in 0..3 {
            device.launch(&COUNT_LAUNCH, 2, &[(&launches).into()]).unwrap();
        }
        assert_eq!(device.value(&launches, 0).unwrap(), 3);
    }
}
