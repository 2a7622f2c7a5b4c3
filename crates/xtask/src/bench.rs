//! `cargo xtask bench`: builds the command and the harness as they are released, and runs the harness. It
//! is a crate of its own, because it loads archives itself, and this one is built with its checks on.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;

/// Runs the harness with these arguments.
pub fn run(arguments: &[String]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    // Each by itself: built together, the command would get features that only the harness asks for.
    let build = ["build", "--quiet", "--release", "--package", "tadoc-cli"];
    process::run_visibly(Command::new(&cargo).args(build))?;
    let run = ["run", "--quiet", "--release", "--package", "tadoc-bench", "--"];
    // In the place of this process: what the harness says is all that is to be said.
    Err(Command::new(&cargo).args(run).args(arguments).exec()).context("running cargo")
}
