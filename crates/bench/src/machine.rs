//! What a run was made on and of: figures without it say little.

use std::process::Command;

use serde::Serialize;

use crate::contenders::is_there;
use crate::zstd::built_in_version;

/// Says which commit was carried to a machine that has no repository.
const COMMIT: &str = "TADOC_BENCH_COMMIT";

/// The machine and the versions of what was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// Cores that may be used.
    pub cores: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Operating system and version of the kernel.
    pub system: String,
    /// The compiler.
    pub rustc: String,
    /// The rivals' versions.
    pub zstd: String,
    /// The rivals' versions.
    pub xz: String,
    /// The commit that was measured; says so if files were changed since.
    pub commit: String,
}

impl Machine {
    /// Asks the system. What it does not tell is `unknown`.
    pub fn ask() -> Self {
        let file = |path| std::fs::read_to_string(path).unwrap_or_default();
        let name = field(&file("/etc/os-release"), "PRETTY_NAME", '=');
        let kernel = numeric_start(&file("/proc/sys/kernel/osrelease"));
        let memory = field(&file("/proc/meminfo"), "MemTotal", ':');
        let memory = memory.split(' ').next().and_then(|kibibytes| kibibytes.parse::<u64>().ok());
        Self {
            processor: field(&file("/proc/cpuinfo"), "model name", ':'),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory.unwrap_or(0) * 1024,
            system: format!("{name}, Linux {kernel}"),
            rustc: said("rustc", &["--version"]),
            zstd: zstd(),
            xz: version(&said("xz", &["--version"])),
            commit: commit(),
        }
    }
}

/// How many programs ran or waited to run, on average over the last minute.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// The version of zstd that was measured.
fn zstd() -> String {
    match is_there("zstd") {
        true => version(&said("zstd", &["--version"])),
        false => built_in_version(),
    }
}

/// The first line that a program prints, or `unknown`.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    match text.unwrap_or_default().lines().next() {
        Some(line) if !line.trim().is_empty() => line.trim().to_owned(),
        _ => "unknown".into(),
    }
}

fn commit() -> String {
    if let Ok(commit) = std::env::var(COMMIT) {
        return commit;
    }
    let commit = said("git", &["rev-parse", "--short=12", "HEAD"]);
    match said("git", &["status", "--porcelain", "--untracked-files=no"]).as_str() {
        "unknown" => commit,
        _ => format!("{commit} with uncommitted changes"),
    }
}

/// The value of the first line that starts with `key`, a separator behind it.
fn field(text: &str, key: &str, separator: char) -> String {
    let value = text.lines().find_map(|line| {
        let (found, value) = line.split_once(separator)?;
        (found.trim() == key).then(|| value.trim().trim_matches('"').to_owned())
    });
    value.unwrap_or("unknown".into())
}

/// The number in what a program says about its version: digits and dots.
fn version(said: &str) -> String {
    let is_version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let mut words = said.split([' ', ',']).map(|word| word.trim_start_matches('v'));
    words.find(is_version).unwrap_or("unknown").to_owned()
}

/// `6.1` of `6.1.0-18-amd64`: what is behind it is one distribution's.
fn numeric_start(release: &str) -> String {
    release.split(['.', '-']).take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "NAME=x\nPRETTY_NAME=\"Some Linux 12\"\n";
        assert_eq!(field(text, "PRETTY_NAME", '='), "Some Linux 12");
        assert_eq!(field(text, "NAME", '='), "x");
        assert_eq!(field("MemTotal:   123 kB\n", "MemTotal", ':'), "123 kB");
        assert_eq!(field("", "model name", ':'), "unknown");
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let zstd = "*** zstd command line interface 64-bits v1.5.4, by Yann Collet ***";
        assert_eq!(version(zstd), "1.5.4");
        assert_eq!(version("*** Zstandard CLI (64-bit) v1.5.7, by Yann Collet ***"), "1.5.7");
        assert_eq!(version("xz (XZ Utils) 5.4.1"), "5.4.1");
        assert_eq!(version("no number"), "unknown");
        assert_eq!(numeric_start("6.1.0-18-amd64\n"), "6.1");
    }
}
