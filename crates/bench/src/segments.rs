//! What little memory costs in size: the archive of several segments beside that of one.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use tadoc_core::archive::Archive;

use crate::measure::Job;
use crate::units::MB;

/// `--memory` that makes several segments of text that is not short, and one that makes one of any.
const LITTLE: &str = "1GiB";
const PLENTY: &str = "1TiB";

/// The same text compressed (fast) with little memory and with plenty of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Segments {
    pub little: Made,
    pub plenty: Made,
}

/// An archive that was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Made {
    pub segments: usize,
    pub bytes: u64,
    pub seconds: f64,
    pub peak_bytes: u64,
}

impl Segments {
    /// Compresses a folder twice.
    pub fn measure(tadoc: &Path, folder: &Path, output: &Path) -> Result<Self> {
        let make = |memory: &str| -> Result<Made> {
            let compress =
                ["compress", "--quiet", "--force", "--level", "fast", "--memory", memory];
            let job = Job::new(tadoc).args(compress).arg(folder).arg("-o").arg(output);
            let measured = job.measure()?;
            let archive =
                Archive::open(output).with_context(|| format!("opening {}", output.display()))?;
            Ok(Made {
                segments: archive.summary().segments.len(),
                bytes: std::fs::metadata(output)?.len(),
                seconds: measured.seconds,
                peak_bytes: measured.peak_bytes,
            })
        };
        let segments = Self { little: make(LITTLE)?, plenty: make(PLENTY)? };
        std::fs::remove_file(output)?;
        Ok(segments)
    }

    /// The size with little memory, that with plenty of it being 1.
    pub fn size_ratio(&self) -> f64 {
        self.little.bytes as f64 / self.plenty.bytes as f64
    }

    /// In a line.
    pub fn text(&self) -> String {
        let made = |memory: &str, made: &Made| {
            format!(
                "--memory {memory}: {:.2} MB, segments: {} ({:.2} s, peak {:.0} MB)",
                made.bytes as f64 / MB,
                made.segments,
                made.seconds,
                made.peak_bytes as f64 / MB
            )
        };
        format!(
            "fast with {}; {}: {:.3}x\n",
            made(LITTLE, &self.little),
            made(PLENTY, &self.plenty),
            self.size_ratio()
        )
    }
}
