//! The devices of a machine as text and as JSON.

use std::fmt::Write;

use serde::Serialize;
use tadoc::{DeviceInfo, Measured};

use crate::failure::printable;
use crate::units;

/// What to do where there is no device.
const INSTALL: &str = "\
For an NVIDIA GPU, install its driver and the CUDA runtime compiler (libnvrtc: the package libnvrtc12, or `pip install
nvidia-cuda-nvrtc`); for other GPUs, the OpenCL driver of their vendor and the loader (the package ocl-icd-libopencl1).
To try it without a GPU, install pocl-opencl-icd and give --device opencl.
";

/// All that is known.
#[derive(Debug, Serialize)]
pub struct Report {
    devices: Vec<Listed>,
    /// What is wrong with drivers that do not answer.
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Listed {
    selector: String,
    name: String,
    api: &'static str,
    driver: String,
    memory_bytes: u64,
    units: u32,
    kind: &'static str,
    /// It shares its memory with the processor.
    unified: bool,
    usable: bool,
    /// Why it cannot be used.
    reason: Option<String>,
    measured: Option<Figures>,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Figures {
    upload_bytes_per_second: f64,
    download_bytes_per_second: f64,
    copy_bytes_per_second: f64,
    launch_seconds: f64,
    read_seconds: f64,
}

impl From<Measured> for Figures {
    fn from(measured: Measured) -> Self {
        Self {
            upload_bytes_per_second: measured.upload,
            download_bytes_per_second: measured.download,
            copy_bytes_per_second: measured.copy,
            launch_seconds: measured.launch.as_secs_f64(),
            read_seconds: measured.read.as_secs_f64(),
        }
    }
}

impl Report {
    /// Asks the drivers, and measures what can be used.
    pub fn new(measure: bool) -> Self {
        let (devices, problems) = DeviceInfo::list();
        let devices = devices.iter().map(|info| Listed::new(info, measure)).collect();
        Self { devices, problems }
    }

    /// Whether there is a device that can be used.
    pub fn usable(&self) -> bool {
        self.devices.iter().any(|device| device.usable)
    }
}

impl Listed {
    fn new(info: &DeviceInfo, measure: bool) -> Self {
        let mut listed = Self {
            selector: info.selector(),
            name: info.name.clone(),
            api: info.api.name(),
            driver: info.driver.clone(),
            memory_bytes: info.memory,
            units: info.units,
            kind: if info.is_processor { "processor" } else { "GPU" },
            unified: info.unified,
            usable: info.unusable.is_none(),
            reason: info.unusable.clone(),
            measured: None,
        };
        if measure && listed.usable {
            match info.measure() {
                Ok(measured) => listed.measured = Some(measured.into()),
                Err(error) => (listed.usable, listed.reason) = (false, Some(error.to_string())),
            }
        }
        listed
    }
}

/// The report for people: a line for each device, and what is wrong.
pub fn text(report: &Report) -> String {
    let mut rows = vec![["DEVICE", "KIND", "MEMORY", "NAME", "DRIVER", "USABLE"].map(String::from)];
    rows.extend(report.devices.iter().map(|device| {
        let memory = units::size(device.memory_bytes);
        let shared = if device.unified { " shared" } else { "" };
        let usable = match &device.reason {
            None => "yes".to_owned(),
            Some(reason) => format!("no: {reason}"),
        };
        let kind = device.kind.to_owned();
        let memory = format!("{memory}{shared}");
        let row = [
            device.selector.clone(),
            kind,
            memory,
            device.name.clone(),
            device.driver.clone(),
            usable,
        ];
        row.map(|cell| printable(&cell))
    }));
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut text = String::new();
    let mut line = |line: &str| writeln!(text, "{}", line.trim_end()).expect("a string takes all");
    if !report.devices.is_empty() {
        for row in &rows {
            let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
            line(&cells.collect::<Vec<_>>().join("  "));
        }
    }
    for device in &report.devices {
        let Some(figures) = &device.measured else { continue };
        line("");
        line(&printable(&format!("{}: {}", device.selector, device.name)));
        for (title, bytes) in [
            ("to the device", figures.upload_bytes_per_second),
            ("from the device", figures.download_bytes_per_second),
            ("on the device", figures.copy_bytes_per_second),
        ] {
            line(&format!("  {title:<16} {:.1} GB/s", bytes / 1e9));
        }
        for (title, seconds) in
            [("launch", figures.launch_seconds), ("read a value", figures.read_seconds)]
        {
            line(&format!("  {title:<16} {:.1} µs", seconds * 1e6));
        }
    }
    for problem in &report.problems {
        line(&printable(problem));
    }
    if !report.usable() {
        line("There is no device that tadoc can use; it works on the processor.");
        text.push_str(INSTALL);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tadoc::DeviceApi;

    fn info(number: usize, unusable: Option<&str>) -> DeviceInfo {
        DeviceInfo {
            api: DeviceApi::OpenCl,
            number,
            name: "Some GPU".into(),
            driver: "Driver 1.2".into(),
            memory: 3 << 30,
            units: 7,
            unified: number > 0,
            is_processor: number > 0,
            unusable: unusable.map(Into::into),
        }
    }

    #[test]
    fn devices_and_what_is_wrong_with_them() {
        let listed = |info: &DeviceInfo| Listed::new(info, false);
        let mut report = Report {
            devices: vec![listed(&info(0, None)), listed(&info(1, Some("too old")))],
            problems: vec!["CUDA: no driver".into()],
        };
        assert!(report.usable());
        assert_eq!(
            text(&report),
            "\
DEVICE    KIND       MEMORY          NAME      DRIVER      USABLE
opencl:0  GPU        3.0 GiB         Some GPU  Driver 1.2  yes
opencl:1  processor  3.0 GiB shared  Some GPU  Driver 1.2  no: too old
CUDA: no driver
"
        );
        report.devices.remove(0);
        assert!(!report.usable() && text(&report).contains("pocl-opencl-icd"));
        report.devices.clear();
        assert!(text(&report).starts_with("CUDA: no driver\nThere is no device"));
    }

    #[test]
    fn figures_are_below_the_list() {
        let measured = Measured {
            upload: 25e9,
            download: 24e9,
            copy: 4.3e12,
            launch: std::time::Duration::from_micros(2),
            read: std::time::Duration::from_micros(11),
        };
        let mut device = Listed::new(&info(0, None), false);
        device.measured = Some(measured.into());
        let text = text(&Report { devices: vec![device], problems: Vec::new() });
        assert!(text.contains("\n\nopencl:0: Some GPU\n  to the device    25.0 GB/s\n"), "{text}");
        assert!(
            text.ends_with("  launch           2.0 µs\n  read a value     11.0 µs\n"),
            "{text}"
        );
    }
}
