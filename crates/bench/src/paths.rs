//! Where things are: everything that a bench makes is under `target/`, and runs to commit beside this crate.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The root of the repository that this was built in; the current folder on a machine that does not have it.
fn root() -> &'static Path {
    let built_in = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    if built_in.is_dir() { built_in } else { Path::new(".") }
}

/// Where `cargo xtask corpus` puts its sets of corpora.
pub fn corpora() -> PathBuf {
    root().join("target/corpora")
}

/// A folder for what a bench keeps or makes for a while.
pub fn work(name: &str) -> Result<PathBuf> {
    let folder = root().join("target/bench").join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    Ok(folder)
}

/// Where Python packages are installed that only a bench needs.
pub fn virtual_environment() -> PathBuf {
    root().join("target/venv")
}

/// The tasks in SQL.
pub fn duckdb_script() -> PathBuf {
    root().join("crates/bench/src/rival/duckdb.py")
}

/// Where runs are written that shall be committed.
pub fn runs() -> PathBuf {
    root().join("crates/bench/runs")
}

/// The `tadoc` command, built beside this program.
pub fn tadoc() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("tadoc");
    if !program.exists() {
        bail!(
            "{} is missing; run this as `cargo xtask bench`, or put `tadoc` beside it",
            program.display()
        );
    }
    Ok(program)
}

/// The command that this is, as one would type it. Of paths outside of the repository only the end is
/// told: runs are published, and where somebody keeps a corpus is nobody's business.
pub fn command() -> String {
    let root = root().canonicalize().unwrap_or_default();
    let words = std::env::args_os().skip(1).map(|word| published(&word, &root));
    ["cargo xtask bench".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

fn published(word: &OsStr, root: &Path) -> String {
    let path = Path::new(word);
    let shown = match path.strip_prefix(root) {
        _ if !path.is_absolute() => path.to_owned(),
        Ok(inside) => inside.to_owned(),
        Err(_) => {
            let parts: Vec<Component<'_>> = path.components().skip(1).collect();
            let end = &parts[parts.len().saturating_sub(2)..];
            Path::new("…").join(end.iter().collect::<PathBuf>())
        }
    };
    shown.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_paths_elsewhere_only_the_end_is_told() {
        let published = |word: &str| published(OsStr::new(word), Path::new("/home/a/tadoc"));
        assert_eq!(published("--levels"), "--levels");
        assert_eq!(published("fast,dense"), "fast,dense");
        assert_eq!(published("../corpora/logs"), "../corpora/logs");
        assert_eq!(published("/home/a/tadoc/target/corpora/small/web"), "target/corpora/small/web");
        assert_eq!(published("/srv/somebody/medium/logs-ld"), "…/medium/logs-ld");
    }
}
