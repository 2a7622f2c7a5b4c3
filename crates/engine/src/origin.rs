//! The folder that an archive's names are relative to: how it is recorded, and how further files
//! are named by it.
//!
//! A path is recorded from the archive's own folder where the one is inside the other, so that both
//! can be moved together; of any other folder only a hash is recorded, which a path can be compared
//! with and which tells nobody where a person keeps files.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use tadoc_core::archive::{Base, Origin};
use xxhash_rust::xxh64::xxh64;

/// The folder that names are relative to, and what stands before those relative paths: how the
/// documents of an archive were named, for files that are to be added.
#[derive(Debug, Clone)]
pub struct NamesFrom {
    base: Known,
    prefix: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Known {
    Folder(PathBuf),
    Hash(u64),
}

impl NamesFrom {
    /// Names are paths below `folder`, an absolute path without links, with `prefix` before them.
    pub fn new(folder: impl Into<PathBuf>, prefix: impl Into<Vec<u8>>) -> Self {
        Self { base: Known::Folder(folder.into()), prefix: prefix.into() }
    }

    /// How the files of an archive were named; `None` where that is not recorded, or no longer
    /// means anything.
    pub(crate) fn of(origin: &Origin, archive: &Path) -> Option<Self> {
        let base = match &origin.base {
            Base::Unknown => return None,
            Base::Relative(path) => Known::Folder(resolved(path, archive)?),
            Base::Hashed(hash) => Known::Hash(*hash),
        };
        Some(Self { base, prefix: origin.prefix.clone() })
    }

    /// How the folder is recorded in an archive.
    pub(crate) fn base(&self, archive: &Path) -> Base {
        match &self.base {
            Known::Folder(folder) => base_of(folder, archive),
            Known::Hash(hash) => Base::Hashed(*hash),
        }
    }

    /// What stands before the paths in all names.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The path of a file or folder from the folder of the names; `None` if it is not below that.
    /// `path` is absolute.
    pub fn relative<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        match &self.base {
            Known::Folder(folder) => path.strip_prefix(folder).ok(),
            Known::Hash(hash) => {
                let base = path.ancestors().find(|folder| hash_of(folder) == *hash)?;
                path.strip_prefix(base).ok()
            }
        }
    }
}

/// How a folder is recorded in an archive.
fn base_of(folder: &Path, archive: &Path) -> Base {
    let hashed = Base::Hashed(hash_of(folder));
    let Some(beside) = folder_of(archive).filter(|_| folder.parent().is_some()) else {
        return hashed;
    };
    if let Ok(below) = folder.strip_prefix(&beside) {
        return Base::Relative(below.as_os_str().as_bytes().to_vec());
    }
    match beside.strip_prefix(folder) {
        Ok(down) => {
            let up: Vec<&[u8]> = down.components().map(|_| &b".."[..]).collect();
            Base::Relative(up.join(&b'/'))
        }
        Err(_) => hashed,
    }
}

/// The origin of an archive, as it is to be recorded in a copy at another path.
pub(crate) fn moved(origin: &Origin, from: &Path, to: &Path) -> Origin {
    let base = match &origin.base {
        Base::Relative(path) => {
            resolved(path, from).map_or(Base::Unknown, |folder| base_of(&folder, to))
        }
        other => other.clone(),
    };
    Origin { base, ..origin.clone() }
}

fn hash_of(folder: &Path) -> u64 {
    xxh64(folder.as_os_str().as_bytes(), 0)
}

/// The folder that a path from the archive's folder leads to, if it is there.
fn resolved(path: &[u8], archive: &Path) -> Option<PathBuf> {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    folder_of(archive)?.join(path).canonicalize().ok()
}

/// The folder that an archive is in, or will be in, without links.
fn folder_of(archive: &Path) -> Option<PathBuf> {
    if let Ok(archive) = archive.canonicalize() {
        return archive.parent().map(Path::to_owned);
    }
    match archive.parent() {
        Some(folder) if folder.components().any(|part| part != Component::CurDir) => {
            folder.canonicalize().ok()
        }
        _ => Path::new(".").canonicalize().ok(),
    }
}
