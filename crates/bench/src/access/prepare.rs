//! The files of a corpus: a copy of its archive, which gets one index after the other, and the operations.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tadoc_engine::access::{self, Index};

use super::operations::Drawn;
use crate::corpus::Corpus;
use crate::paths;

/// The archive of a corpus without an index: a copy of a ready-made one, or made anew.
pub fn archive(corpus: &Corpus, ready_made: Option<&Path>) -> Result<PathBuf> {
    let archive = paths::work("access")?.join(format!("{}.tdc", corpus.name));
    let ready = ready_made.map(|folder| folder.join(format!("{}.tdc", corpus.name)));
    match ready.filter(|ready| ready.exists()) {
        Some(ready) => copy(&ready, &archive)?,
        // Made anew in every run: an old archive would be one of another tadoc.
        None => {
            eprintln!("{}: compressing", corpus.name);
            let mut command = Command::new(paths::tadoc()?);
            command
                .args(["compress", "--quiet", "--force"])
                .arg(&corpus.folder)
                .arg("-o")
                .arg(&archive);
            let status = command.status().with_context(|| format!("running {command:?}"))?;
            if !status.success() {
                bail!("{command:?} failed ({status})");
            }
        }
    }
    index(&archive, Index::None)?;
    Ok(archive)
}

/// Copies an archive, which may have an index.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}

/// Stores an index in an archive, in the place of the one that it has; gives the length of the file.
pub fn index(archive: &Path, index: Index) -> Result<u64> {
    access::store(archive, index, &())
        .with_context(|| format!("indexing {}", archive.display()))?;
    length(archive)
}

/// The length of a file.
pub fn length(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(metadata.len())
}

/// Writes operations where the processes that run them find them.
pub fn operations(corpus: &Corpus, drawn: &Drawn) -> Result<PathBuf> {
    let path = paths::work("access")?.join(format!("{}.json", corpus.name));
    let file = File::create(&path).with_context(|| format!("writing {}", path.display()))?;
    serde_json::to_writer(BufWriter::new(file), drawn)?;
    Ok(path)
}
