//! What is measured: tadoc at its levels, and the rivals on a tar of the same files.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::measure::Job;

/// A way to compress a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contender {
    Zstd3,
    Zstd19,
    Xz6,
    Tadoc(Level),
}

/// `--level` of tadoc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub enum Level {
    Fast,
    Dense,
}

impl Level {
    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Fast => "fast",
            Level::Dense => "dense",
        }
    }
}

/// The one that the others are compared with.
pub const REFERENCE: Contender = Contender::Zstd19;

/// The programs that must be there, and the Debian packages that have them.
const PROGRAMS: [(&str, &str); 3] = [("zstd", "zstd"), ("xz", "xz-utils"), ("tar", "tar")];

/// What a contender works on.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The `tadoc` command.
    pub tadoc: PathBuf,
    /// The corpus.
    pub folder: PathBuf,
    /// The corpus as a tar.
    pub tar: PathBuf,
    /// Where compressed files go.
    pub outputs: PathBuf,
}

impl Contender {
    /// All of them, with tadoc at these levels.
    pub fn all(levels: &[Level]) -> Vec<Self> {
        let rivals = [Self::Zstd3, Self::Zstd19, Self::Xz6];
        rivals.into_iter().chain(levels.iter().map(|&level| Self::Tadoc(level))).collect()
    }

    /// What it is called in tables.
    pub fn name(self) -> String {
        match self {
            Self::Zstd3 => "zstd -3".into(),
            Self::Zstd19 => "zstd -19 -T2 --long=27".into(),
            Self::Xz6 => "xz -6 -T2".into(),
            Self::Tadoc(level) => format!("tadoc {}", level.name()),
        }
    }

    /// The file that it makes.
    pub fn output(self, paths: &Paths) -> PathBuf {
        paths.outputs.join(match self {
            Self::Zstd3 => "3.zst",
            Self::Zstd19 => "19.zst",
            Self::Xz6 => "6.xz",
            Self::Tadoc(Level::Fast) => "fast.tdc",
            Self::Tadoc(Level::Dense) => "dense.tdc",
        })
    }

    /// Compresses the corpus.
    pub fn compress(self, paths: &Paths) -> Job {
        let output = self.output(paths);
        let zstd = |options: &[&str]| {
            Job::new("zstd").args(["-q", "-f"]).args(options).arg(&paths.tar).arg("-o").arg(&output)
        };
        match self {
            Self::Zstd3 => zstd(&["-3"]),
            Self::Zstd19 => zstd(&["-19", "-T2", "--long=27"]),
            Self::Xz6 => {
                Job::new("xz").args(["-6", "-T2", "-k", "-c"]).arg(&paths.tar).output(&output)
            }
            Self::Tadoc(level) => Job::new(&paths.tadoc)
                .args(["compress", "--quiet", "--force", "--level", level.name()])
                .arg(&paths.folder)
                .arg("-o")
                .arg(&output),
        }
    }

    /// Decompresses what was compressed, to nowhere. For those that are compared by it.
    pub fn decompress(self, paths: &Paths) -> Option<Job> {
        let output = self.output(paths);
        match self {
            Self::Zstd19 => Some(Job::new("zstd").arg("-dc").arg(output)),
            Self::Tadoc(_) => {
                Some(Job::new(&paths.tadoc).args(["restore", "--quiet", "--stdout"]).arg(output))
            }
            Self::Zstd3 | Self::Xz6 => None,
        }
    }

    /// Makes an archive ready for queries.
    pub fn load(self, paths: &Paths) -> Result<Option<Job>> {
        let Self::Tadoc(_) = self else { return Ok(None) };
        let this = std::env::current_exe().context("finding this program")?;
        Ok(Some(Job::new(this).arg("load").arg(self.output(paths))))
    }

    /// Asks what an archive holds.
    pub fn info(self, paths: &Paths) -> Option<Job> {
        let Self::Tadoc(_) = self else { return None };
        Some(Job::new(&paths.tadoc).arg("info").arg(self.output(paths)))
    }
}

/// Sees to it that the rivals are there: installs them where this may be done, and otherwise says what to
/// install.
pub fn ensure_installed() -> Result<()> {
    let missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|(program, _)| !is_there(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = format!("apt-get install {}", missing.join(" "));
    if !nix::unistd::geteuid().is_root() || !is_there("apt-get") {
        bail!("these programs are needed and not installed; on Debian: {install}");
    }
    eprintln!("installing {}", missing.join(", "));
    let status = Command::new("apt-get").args(["install", "-qq", "-y"]).args(&missing).status();
    if !status.context("running apt-get")?.success() {
        bail!("`{install}` failed (`apt-get update` run?)");
    }
    Ok(())
}

/// Whether a program can be run.
pub fn is_there(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder: PathBuf| is_program(&folder.join(program)))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_has_a_file_and_a_name_of_its_own() {
        let all = Contender::all(&[Level::Fast, Level::Dense]);
        let paths = Paths {
            tadoc: "tadoc".into(),
            folder: "corpus".into(),
            tar: "corpus.tar".into(),
            outputs: "out".into(),
        };
        let distinct =
            |texts: Vec<String>| texts.into_iter().collect::<std::collections::HashSet<_>>().len();
        assert_eq!(distinct(all.iter().map(|one| one.name()).collect()), all.len());
        let files = all.iter().map(|one| one.output(&paths).display().to_string()).collect();
        assert_eq!(distinct(files), all.len());
        assert!(all.contains(&REFERENCE));
    }

    #[test]
    fn programs_are_looked_for_on_the_path() {
        assert!(is_there("sh"));
        assert!(!is_there("no-such-program"));
    }
}
