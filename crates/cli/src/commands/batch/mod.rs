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

/// Answers of about so many bytes are in memory at a time.
pub const PACK_BYTES: u64 = 64 << 20;

/// Where operations come from, and what that is called in errors; - is standard input.
pub fn open(file: &Path) -> anyhow::Result<(String, Box<dyn Read + Send>)> {
    if file.as_os_str() == "-" {
        return Ok(("standard input".into(), Box::new(io::stdin())));
    }
    let opened = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok((file.display().to_string(), Box::new(opened)))
}
