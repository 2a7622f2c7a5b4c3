//! Lists of paths (`--from`, `--from0`): one a line, or each ended by a NUL as of `find -print0`.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// The paths in the list at `path`, or on standard input for `-`. Empty ones are passed over.
pub fn read(path: &Path, delimiter: u8) -> anyhow::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().read_to_end(&mut bytes).context("cannot read the list from standard input")?;
    } else {
        File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .with_context(|| format!("cannot read the list {}", path.display()))?;
    }
    bytes
        .split(|&byte| byte == delimiter)
        .filter(|entry| !entry.is_empty())
        .map(|entry| to_path(entry).with_context(|| format!("in the list {}", path.display())))
        .collect()
}

#[cfg(unix)]
fn to_path(bytes: &[u8]) -> anyhow::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn to_path(bytes: &[u8]) -> anyhow::Result<PathBuf> {
    let text = std::str::from_utf8(bytes).context("a path is not UTF-8")?;
    Ok(PathBuf::from(text.strip_suffix('\r').unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_by_line_and_by_nul() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"a b\n\nc\0d\ne").unwrap();
        let paths = |delimiter| read(file.path(), delimiter).unwrap();
        assert_eq!(paths(b'\n'), ["a b", "c\0d", "e"].map(PathBuf::from));
        assert_eq!(paths(0), ["a b\n\nc", "d\ne"].map(PathBuf::from));
        assert!(read(Path::new("no/such/list"), 0).is_err());
    }
}
