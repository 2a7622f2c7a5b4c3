//! The corpora that are measured: folders, their tars, and beginnings of them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A folder of text.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// The folder's name.
    pub name: String,
    pub folder: PathBuf,
    /// The plain files in it and their lengths, in order of their paths.
    pub files: Vec<(PathBuf, u64)>,
}

impl Corpus {
    /// Looks at a folder. Links are not followed and do not count.
    pub fn open(folder: &Path) -> Result<Self> {
        let folder = folder
            .canonicalize()
            .with_context(|| format!("looking for the corpus {}", folder.display()))?;
        let name = folder.file_name().context("a corpus needs a name")?.to_string_lossy().into();
        let mut files = Vec::new();
        let mut folders = vec![folder.clone()];
        while let Some(below) = folders.pop() {
            let listing =
                fs::read_dir(&below).with_context(|| format!("listing {}", below.display()))?;
            for entry in listing {
                let entry = entry.with_context(|| format!("listing {}", below.display()))?;
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    files.push((entry.path(), entry.metadata()?.len()));
                }
            }
        }
        files.sort();
        if files.iter().all(|(_, bytes)| *bytes == 0) {
            bail!("{} has no text in it", folder.display());
        }
        Ok(Self { name, folder, files })
    }

    /// Bytes of text.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes).sum()
    }

    /// A tar of the folder in `cache`, made once: a note beside it says of what.
    pub fn tar(&self, cache: &Path) -> Result<PathBuf> {
        let tar = cache.join(format!("{}.tar", self.name));
        let note = cache.join(format!("{}.of", self.name));
        let stamp = self.stamp()?;
        if tar.exists() && fs::read_to_string(&note).is_ok_and(|noted| noted == stamp) {
            return Ok(tar);
        }
        let _ = fs::remove_file(&note);
        let status = Command::new("tar")
            .args([
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
                "--format=gnu",
                "-cf",
            ])
            .arg(&tar)
            .arg("-C")
            .arg(&self.folder)
            .arg(".")
            .status()
            .context("running tar")?;
        if !status.success() {
            bail!("making {} failed", tar.display());
        }
        fs::write(&note, stamp).with_context(|| format!("writing {}", note.display()))?;
        Ok(tar)
    }

    /// What tells this folder from another one, and from itself after a change.
    pub fn stamp(&self) -> Result<String> {
        let mut newest = 0;
        for (file, _) in &self.files {
            let metadata =
                file.metadata().with_context(|| format!("reading {}", file.display()))?;
            newest = newest.max(metadata.mtime());
        }
        let (folder, files, bytes) = (self.folder.display(), self.files.len(), self.bytes());
        Ok(format!("{folder}\n{files} files, {bytes} bytes, newest {newest}\n"))
    }

    /// Reads everything and some files more once, so that no contender pays for the disk.
    pub fn warm_up(&self, more: &[PathBuf]) -> Result<()> {
        warm_up(self.files.iter().map(|(file, _)| file).chain(more))
    }

    /// Makes `to` a folder with the first so many bytes of the corpus: its first files as links, and of the
    /// last one a part.
    pub fn beginning(&self, bytes: u64, to: &Path) -> Result<Self> {
        if to.exists() {
            fs::remove_dir_all(to).with_context(|| format!("removing {}", to.display()))?;
        }
        for (file, taken) in beginning(&self.files, bytes) {
            let copy = to.join(file.strip_prefix(&self.folder)?);
            let making = || format!("copying {} to {}", file.display(), copy.display());
            fs::create_dir_all(copy.parent().context("a file is in a folder")?)
                .with_context(making)?;
            let whole = file.metadata().with_context(making)?.len() == taken;
            if !(whole && fs::hard_link(file, &copy).is_ok()) {
                let mut part = File::open(file).with_context(making)?.take(taken);
                let mut copied = File::create(&copy).with_context(making)?;
                io::copy(&mut part, &mut copied).with_context(making)?;
            }
        }
        Self::open(to)
    }

    /// Makes `to` a folder of about so many bytes, with the same part of every corpus, each in a folder of its own.
    pub fn part_of_all(corpora: &[Self], bytes: u64, to: &Path) -> Result<Self> {
        let total: u64 = corpora.iter().map(Self::bytes).sum();
        if to.exists() {
            fs::remove_dir_all(to).with_context(|| format!("removing {}", to.display()))?;
        }
        for (number, corpus) in corpora.iter().enumerate() {
            let part = u128::from(corpus.bytes()) * u128::from(bytes) / u128::from(total);
            if part == 0 {
                continue;
            }
            // Folders may have the same name.
            corpus.beginning(part as u64, &to.join(format!("{number}-{}", corpus.name)))?;
        }
        Self::open(to)
    }
}

/// Reads files once.
pub fn warm_up<'f>(files: impl IntoIterator<Item = &'f PathBuf>) -> Result<()> {
    for file in files {
        let read = File::open(file).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
        read.with_context(|| format!("reading {}", file.display()))?;
    }
    Ok(())
}

/// The first files with so many bytes together, and how many are taken of each.
fn beginning(files: &[(PathBuf, u64)], bytes: u64) -> Vec<(&Path, u64)> {
    let mut left = bytes;
    let mut taken = Vec::new();
    for (file, length) in files {
        if left == 0 {
            break;
        }
        let now = left.min(*length);
        taken.push((file.as_path(), now));
        left -= now;
    }
    taken
}

/// The folders that are meant: a path is a corpus, a name stands for all corpora of that set, and nothing
/// for those of `medium`.
pub fn find(given: &[PathBuf], sets: &Path) -> Result<Vec<PathBuf>> {
    let default = [PathBuf::from("medium")];
    let given = if given.is_empty() { &default[..] } else { given };
    let mut folders = Vec::new();
    for path in given {
        let set = sets.join(path);
        if path.components().count() == 1 && set.is_dir() {
            let listing =
                fs::read_dir(&set).with_context(|| format!("listing {}", set.display()))?;
            let below: Vec<PathBuf> =
                listing.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
            folders.extend(below.into_iter().filter(|path| path.is_dir()));
        } else if path.is_dir() {
            folders.push(path.clone());
        } else {
            bail!(
                "there is no corpus {}; `cargo xtask corpus medium` makes those of `medium`, and any \
                 folder of text is a corpus",
                path.display()
            );
        }
    }
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(folder: &Path) -> Corpus {
        fs::create_dir_all(folder.join("below")).unwrap();
        fs::write(folder.join("a"), "aaaa").unwrap();
        fs::write(folder.join("below/b"), "bbbb").unwrap();
        fs::write(folder.join("c"), "cccc").unwrap();
        Corpus::open(folder).unwrap()
    }

    #[test]
    fn a_beginning_has_the_bytes_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let whole = corpus(&folder.path().join("whole"));
        assert_eq!((whole.files.len(), whole.bytes()), (3, 12));
        let part = whole.beginning(6, &folder.path().join("part")).unwrap();
        let names: Vec<_> = part
            .files
            .iter()
            .map(|(file, bytes)| {
                (file.strip_prefix(&part.folder).unwrap().display().to_string(), *bytes)
            })
            .collect();
        assert_eq!(names, [("a".to_string(), 4), ("below/b".to_string(), 2)]);
        assert_eq!(whole.beginning(100, &folder.path().join("part")).unwrap().bytes(), 12);
        assert_eq!(corpus(&folder.path().join("whole")).bytes(), 12);
    }

    #[test]
    fn a_part_of_all_has_the_same_part_of_each() {
        let folder = tempfile::tempdir().unwrap();
        let corpora = ["one/text", "other/text"].map(|name| corpus(&folder.path().join(name)));
        let part = Corpus::part_of_all(&corpora, 12, &folder.path().join("part")).unwrap();
        assert_eq!((part.bytes(), part.files.len()), (12, 4));
        let part = Corpus::part_of_all(&corpora, 24, &folder.path().join("part")).unwrap();
        assert_eq!((part.bytes(), part.files.len()), (24, 6));
    }

    #[test]
    fn a_tar_is_made_again_when_the_folder_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let before = corpus(&folder.path().join("text"));
        let tar = before.tar(folder.path()).unwrap();
        fs::write(&tar, "kept").unwrap();
        before.tar(folder.path()).unwrap();
        assert_eq!(fs::read(&tar).unwrap(), b"kept");
        fs::write(before.folder.join("d"), "dddd").unwrap();
        let after = Corpus::open(&before.folder).unwrap();
        after.tar(folder.path()).unwrap();
        assert!(fs::read(&tar).unwrap().len() > 4096);
    }

    #[test]
    fn names_stand_for_sets_and_paths_for_themselves() {
        let sets = tempfile::tempdir().unwrap();
        for name in ["medium/web", "medium/logs", "small/web"] {
            fs::create_dir_all(sets.path().join(name)).unwrap();
        }
        let find = |given: &[&str]| {
            let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
            find(&given, sets.path())
        };
        let medium = ["logs", "web"].map(|name| sets.path().join("medium").join(name));
        assert_eq!(find(&[]).unwrap(), medium);
        assert_eq!(find(&["medium"]).unwrap(), medium);
        let path = sets.path().join("small/web");
        assert_eq!(find(&[path.to_str().unwrap()]).unwrap(), [path]);
        assert!(find(&["large"]).unwrap_err().to_string().contains("there is no corpus large"));
    }

    #[test]
    fn a_folder_without_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("empty"), "").unwrap();
        assert!(Corpus::open(folder.path()).is_err());
    }
}
