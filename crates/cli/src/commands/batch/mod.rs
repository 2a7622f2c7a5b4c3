//! Operations by the hundred thousand, one JSON object a line: what `query` and `edit` have in common.
//!
//! [`input`] reads lines, [`operation`] says what is in one, and [`result`] writes what came of it.

pub mod input;
pub mod operation;
pub mod result;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;

use crate::failure::{Outcome, print_error};
use crate::units;

/// Answers of about so many bytes are in memory at a time.
pub const PACK_BYTES: u64 = 64 << 20;

/// How many operations there were, and how many of them failed.
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    pub operations: u64,
    pub failed: u64,
}

impl Tally {
    /// Tells how many failed, if any did: exit code 1.
    pub fn outcome(self) -> Outcome {
        if self.failed == 0 {
            return Outcome::Done;
        }
        print_error(&format!(
            "{} of {} failed",
            units::count(self.failed),
            units::counted(self.operations, "operation")
        ));
        Outcome::Negative
    }
}

/// Where operations come from, and what that is called in errors; - is standard input.
pub fn open(file: &Path) -> anyhow::Result<(String, Box<dyn Read + Send>)> {
    if file.as_os_str() == "-" {
        return Ok(("standard input".into(), Box::new(io::stdin())));
    }
    let opened = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok((file.display().to_string(), Box::new(opened)))
}
