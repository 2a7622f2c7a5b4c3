//! Where the project is, and its cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;

/// Packages with which dependencies have the features that a build of all packages gives them: a
/// few others alone would have all of it built again, with fewer.
pub const WITH_ALL_FEATURES: [&str; 8] = [
    "--package",
    "tadoc-cli",
    "--package",
    "tadoc-gpu",
    "--package",
    "tadoc-pool",
    "--package",
    "xtask",
];

/// The project's folders.
pub struct Project {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The folder of what is built.
    pub target: PathBuf,
}

impl Project {
    /// Finds the project that this program is of.
    pub fn find() -> Result<Self> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let root = crates.and_then(Path::parent).context("the project has no folder")?.to_owned();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(folder)?,
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// The folder of a package: its name without what all names begin with.
    pub fn folder_of(&self, package: &str) -> PathBuf {
        self.root.join("crates").join(package.strip_prefix("tadoc-").unwrap_or(package))
    }

    /// Builds the command with its checks on, as its tests have it built; gives its path.
    pub fn command(&self) -> Result<PathBuf> {
        let mut build = self.cargo();
        build.args(["test", "--quiet", "--no-run", "--test", "command"]);
        process::run(build.args(WITH_ALL_FEATURES))?;
        Ok(self.target.join("debug/tadoc"))
    }

    /// The cargo that runs this program, in the project's folder.
    pub fn cargo(&self) -> Command {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }
}
