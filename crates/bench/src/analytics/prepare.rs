//! What the contenders read, made before anything is measured: the archive, a copy of it with its view stored
//! beside it, and the compressed tar.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::corpus::{self, Corpus};
use crate::source::Source;
use crate::{paths, zstd};

/// Where a corpus lies in each form.
#[derive(Debug, Clone)]
pub struct Files {
    /// The archive, with nothing beside it.
    pub archive: PathBuf,
    /// A copy of the archive with its view beside it; `None` if this `tadoc` stores no views.
    pub viewed: Option<PathBuf>,
    /// The corpus as a tar, compressed by zstd; `None` if nothing needs it.
    pub tar: Option<PathBuf>,
}

/// What is made beside the archive.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// The compressed tar.
    pub tar: bool,
    /// The copy with a stored view.
    pub viewed: bool,
    /// The files of the corpus are read as well.
    pub text: bool,
}

/// Where ready-made files may be, and how others are made.
#[derive(Debug, Clone, Default)]
pub struct Preparation {
    pub tadoc: PathBuf,
    /// Archives that were given instead of folders.
    pub given: Vec<PathBuf>,
    /// A folder of `NAME.tdc`.
    pub archives: Option<PathBuf>,
    /// A folder of `NAME.tar.zst`.
    pub tars: Option<PathBuf>,
    /// zstd's level for tars that are not there.
    pub zstd_level: u8,
}

impl Preparation {
    /// Notes the archives that were given instead of folders.
    pub fn of(mut self, sources: &[Source]) -> Self {
        self.given = sources.iter().filter_map(|source| source.archive.clone()).collect();
        self
    }

    /// Makes what is not there, and reads all of it once, so that no contender pays for the disk.
    pub fn make(&self, corpus: &Corpus, needs: Needs) -> Result<Files> {
        let archive = self.archive(corpus)?;
        let viewed = if needs.viewed { self.viewed(corpus, &archive)? } else { None };
        let tar = needs.tar.then(|| self.tar(corpus)).transpose()?;
        let mut read = vec![archive.clone()];
        read.extend(viewed.iter().flat_map(|viewed| [viewed.clone(), view_of(viewed)]));
        read.extend(tar.clone());
        if needs.text {
            corpus.warm_up(&read)?;
        } else {
            corpus::warm_up(&read)?;
        }
        Ok(Files { archive, viewed, tar })
    }

    /// The archive in a folder of its own: what somebody stored beside a ready-made one must not help.
    pub fn archive(&self, corpus: &Corpus) -> Result<PathBuf> {
        let archive = paths::work("analytics/plain")?.join(format!("{}.tdc", corpus.name));
        let _ = fs::remove_file(view_of(&archive));
        let name = format!("{}.tdc", corpus.name);
        let given = self.given.iter().find(|given| given.ends_with(&name)).cloned();
        match given.or_else(|| ready_made(self.archives.as_deref(), &name)) {
            Some(ready) => copy(&ready, &archive)?,
            // Made anew in every run: an old archive would be one of another tadoc.
            None => {
                eprintln!("{}: compressing", corpus.name);
                let compress = ["compress", "--quiet", "--force"];
                run(Command::new(&self.tadoc)
                    .args(compress)
                    .arg(&corpus.folder)
                    .arg("-o")
                    .arg(&archive))?;
            }
        }
        Ok(archive)
    }

    /// A copy of the archive with its view.
    fn viewed(&self, corpus: &Corpus, archive: &Path) -> Result<Option<PathBuf>> {
        let copied = paths::work("analytics/viewed")?.join(format!("{}.tdc", corpus.name));
        copy(archive, &copied)?;
        let _ = fs::remove_file(view_of(&copied));
        let output = Command::new(&self.tadoc).args(["index", "--view"]).arg(&copied).output();
        let output = output.with_context(|| format!("running {}", self.tadoc.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) if view_of(&copied).exists() => Ok(Some(copied)),
            Some(0 | 2) => {
                let said = said.lines().next().unwrap_or("no view was written");
                eprintln!("{}: views are not stored, so (b') is left out: {said}", corpus.name);
                Ok(None)
            }
            _ => bail!("`tadoc index --view` failed: {}", said.trim()),
        }
    }

    /// The tar, compressed; kept with a note that says of what it was made, for it takes a minute.
    pub fn tar(&self, corpus: &Corpus) -> Result<PathBuf> {
        let name = format!("{}.tar.zst", corpus.name);
        if let Some(ready) = ready_made(self.tars.as_deref(), &name) {
            return Ok(ready);
        }
        let cache = paths::work("zst")?;
        let (compressed, note) = (cache.join(&name), cache.join(format!("{}.of", corpus.name)));
        let level = format!("-{}", self.zstd_level);
        let stamp = format!("zstd {level} --long=27\n{}", corpus.stamp()?);
        if compressed.exists() && fs::read_to_string(&note).is_ok_and(|noted| noted == stamp) {
            return Ok(compressed);
        }
        let _ = fs::remove_file(&note);
        let tar = corpus.tar(&paths::work("tar")?)?;
        eprintln!("{}: zstd {level}", corpus.name);
        zstd::compressing(&tar, &compressed, self.zstd_level)?.measure()?;
        fs::write(&note, stamp).with_context(|| format!("writing {}", note.display()))?;
        Ok(compressed)
    }
}

/// Where the view of an archive is stored.
fn view_of(archive: &Path) -> PathBuf {
    let mut name = archive.as_os_str().to_owned();
    name.push(".view");
    name.into()
}

fn ready_made(folder: Option<&Path>, name: &str) -> Option<PathBuf> {
    folder.map(|folder| folder.join(name)).filter(|path| path.exists())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}

/// Runs a program that must not fail.
fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("running {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed ({status})");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_made_files_are_taken_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("web.tdc"), "").unwrap();
        let found = ready_made(Some(folder.path()), "web.tdc");
        assert_eq!(found, Some(folder.path().join("web.tdc")));
        assert_eq!(ready_made(Some(folder.path()), "logs.tdc"), None);
        assert_eq!(ready_made(None, "web.tdc"), None);
        assert_eq!(view_of(Path::new("a/web.tdc")), Path::new("a/web.tdc.view"));
    }
}
