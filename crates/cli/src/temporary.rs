//! Temporary folders, also for a process that ends without unwinding: at a signal, nobody drops the
//! values that would remove them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use tempfile::TempDir;

/// How often a folder is removed in which another thread may be writing.
const ATTEMPTS: u32 = 1000;

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder that is removed when it is dropped, or by [`remove_all`].
pub struct TemporaryFolder {
    folder: TempDir,
    // Dropped last: a signal that comes while the folder is removed still finds it listed.
    _listed: Listed,
}

/// A path in [`FOLDERS`].
struct Listed(PathBuf);

impl TemporaryFolder {
    pub fn new() -> io::Result<Self> {
        let mut folders = folders();
        let folder = tempfile::tempdir()?;
        folders.push(folder.path().to_owned());
        let listed = Listed(folder.path().to_owned());
        Ok(Self { folder, _listed: listed })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        folders().retain(|folder| *folder != self.0);
    }
}

/// Removes all of them. The process has to end right after: making or dropping one from now on
/// waits for ever.
pub fn remove_all() {
    let folders = folders();
    folders.iter().for_each(|folder| remove(folder));
    std::mem::forget(folders);
}

/// What another thread writes meanwhile is in the way, and goes with the next attempt.
fn remove(folder: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`remove_all`] itself ends a process, and is tested by signals.
    #[test]
    fn a_folder_is_listed_while_it_is_there() {
        let folder = TemporaryFolder::new().unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir() && folders().contains(&path));
        drop(folder);
        assert!(!path.exists() && !folders().contains(&path));
    }
}
