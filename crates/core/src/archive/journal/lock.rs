//! The lock of an archive: whoever edits or replaces it holds it alone.
//!
//! It is an exclusive `flock` on the file itself, so it ends with the process that has it, however that ends. It is of the file
//! and not of its name: who gets it looks whether the name still means that file. Readers take no lock.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// So often is a file opened again because its name has come to mean another one.
const MOST_REPLACED: u32 = 1000;

/// How a file is known, whatever its names.
pub(crate) type Identity = [u64; 2];

pub(crate) fn identity(metadata: &Metadata) -> Identity {
    [metadata.dev(), metadata.ino()]
}

/// The right to edit or replace an archive, until it is dropped or the process ends.
#[derive(Debug)]
pub struct ArchiveLock {
    file: File,
    path: PathBuf,
    identity: Identity,
}

impl ArchiveLock {
    /// Takes the lock of the archive at a path; [`Error::Locked`] at once if someone else has it,
    /// [`Error::Replaced`] if its name keeps coming to mean other files.
    pub fn acquire(path: &Path) -> Result<Self> {
        // Some file systems lock only what may be written; who only replaces a file need not be able to write it.
        Self::acquire_as(path, || match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path),
            opened => opened,
        })
    }

    /// The same, where the file itself is to be written into.
    pub(super) fn acquire_to_write(path: &Path) -> Result<Self> {
        Self::acquire_as(path, || OpenOptions::new().read(true).write(true).open(path))
    }

    fn acquire_as(path: &Path, open: impl Fn() -> std::io::Result<File>) -> Result<Self> {
        for _ in 0..MOST_REPLACED {
            if let Some(lock) = Self::of(open(), path)? {
                return Ok(lock);
            }
        }
        Err(Error::Replaced { path: path.to_owned() })
    }

    /// Locks a file; `None` if the path means another one by now.
    fn of(opened: std::io::Result<File>, path: &Path) -> Result<Option<Self>> {
        let io = |error| Error::io(path, error);
        let file = opened.map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        let identity = identity(&file.metadata().map_err(io)?);
        let lock = Self { file, path: path.to_owned(), identity };
        Ok(lock.is_current()?.then_some(lock))
    }

    fn is_current(&self) -> Result<bool> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) => Ok(identity(&metadata) == self.identity),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io(&self.path, error)),
        }
    }

    /// [`Error::Replaced`] if the path no longer means the file that is locked. One look at the file system.
    pub fn check(&self) -> Result<()> {
        match self.is_current()? {
            true => Ok(()),
            false => Err(Error::Replaced { path: self.path.clone() }),
        }
    }

    /// The path that the archive has.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(in crate::archive) fn identity(&self) -> Identity {
        self.identity
    }
}

impl Drop for ArchiveLock {
    fn drop(&mut self) {
        // A handle that shares the lock may live on.
        let _ = self.file.unlock();
    }
}
