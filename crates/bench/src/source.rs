//! What is measured, as it is given: folders of text, sets of them, and archives, whose text is restored.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::corpus::{self, Corpus};
use crate::measure::Job;
use crate::paths;

/// A corpus, and its archive where that is what was given.
#[derive(Debug, Clone)]
pub struct Source {
    pub corpus: Corpus,
    pub archive: Option<PathBuf>,
}

/// Finds all that was given. Archives are restored into folders that are kept: a note says of what.
pub fn find(given: &[PathBuf], tadoc: &Path) -> Result<Vec<Source>> {
    let (archives, folders): (Vec<PathBuf>, Vec<PathBuf>) =
        given.iter().cloned().partition(|path| is_archive(path));
    let mut sources = Vec::new();
    if !folders.is_empty() || archives.is_empty() {
        for folder in corpus::find(&folders, &paths::corpora())? {
            sources.push(Source { corpus: Corpus::open(&folder)?, archive: None });
        }
    }
    for archive in archives {
        let folder = restore(&archive, tadoc)?;
        sources.push(Source { corpus: Corpus::open(&folder)?, archive: Some(archive) });
    }
    Ok(sources)
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tdc") && path.is_file()
}

/// The text of an archive, as a folder with its name.
fn restore(archive: &Path, tadoc: &Path) -> Result<PathBuf> {
    let name = archive.file_stem().context("an archive has a name")?;
    let work = paths::work("restored")?;
    let (folder, note) = (work.join(name), work.join(name).with_extension("of"));
    let metadata = fs::metadata(archive)?;
    let stamp = format!("{}\n{:?}\n", metadata.len(), metadata.modified()?);
    if folder.is_dir() && fs::read_to_string(&note).is_ok_and(|noted| noted == stamp) {
        return Ok(folder);
    }
    eprintln!("{}: restoring", name.display());
    let _ = fs::remove_file(&note);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    let job = Job::new(tadoc).args(["restore", "--quiet"]).arg(archive);
    job.arg("-C").arg(&folder).measure()?;
    fs::write(&note, stamp).with_context(|| format!("writing {}", note.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_files_with_their_ending() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("web.tdc");
        assert!(!is_archive(&archive));
        fs::write(&archive, "").unwrap();
        assert!(is_archive(&archive));
        assert!(!is_archive(folder.path()));
    }
}
