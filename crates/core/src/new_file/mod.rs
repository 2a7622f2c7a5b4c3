//! A new file on its way to its name: the one way in which tadoc makes files that people see.
//!
//! The file is written beside its place, locked, under a name that says whose it is
//! (`NAME.tmp-PROCESS-NUMBER`), and renamed when it is whole: at no moment is half a file under the real
//! name, whatever ends the process. One that is dropped is removed. One whose process was killed is no
//! longer locked, so the next writer to the same place knows it and removes it.
//!
//! - A symbolic link is followed and stays a link ([`Destination`]).
//! - A device, pipe or socket is never replaced. The file is written to a temporary file, as archives
//!   need to seek, and copied into it at the end.
//! - A file that replaces another one keeps its owner, group, mode, ACL and user attributes; one derived
//!   from an archive is never more readable than that ([`Permissions`]).
//!
//! Cost: reading the folder once, a lock and a rename.

mod destination;
mod permissions;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use xxhash_rust::xxh64::xxh64;

pub use destination::{Destination, Found};
pub use permissions::Permissions;

use crate::archive::identity;
use crate::error::{Error, Result};
use crate::unfinished::{Removal, Unfinished};

/// So often is a file made anew that was not found again under its name.
const MOST_LOST: u32 = 16;
/// So many names are tried that other files have.
const MOST_TAKEN: u32 = 1000;
/// Names longer than this are cut, so that there is room for what is appended: file systems allow 255 bytes.
const LONGEST_STEM: usize = 200;

/// A file that gets its name when it is whole. Dropped before [`NewFile::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: Option<File>,
    place: Place,
    /// What it is called, for messages: the path as it was given.
    path: PathBuf,
    /// Whom it is for.
    readers: Readers,
    /// The permissions of the file that was there when this one was started.
    replaced: Option<Permissions>,
}

#[derive(Debug)]
enum Place {
    /// Beside `target`.
    Aside {
        aside: PathBuf,
        target: PathBuf,
        /// Known to who ends the process at a signal; dropped after the file is removed.
        _unfinished: Unfinished,
    },
    /// In a temporary file without a name, to be copied into what is no regular file.
    Spooled { into: File },
}

/// Who may read a new file.
#[derive(Debug)]
enum Readers {
    /// Those of the file that it replaces; without one, those of any new file.
    Usual,
    /// The same, but nobody whom these permissions keep out.
    Within(Permissions),
    /// Those of these permissions, whatever it replaces, as far as the umask allows.
    Like(Permissions),
}

impl NewFile {
    /// Starts a file that will be at `path`.
    pub fn create(path: &Path) -> Result<Self> {
        Self::start(path, Readers::Usual)
    }

    /// Starts a file that nobody may read whom `limit` keeps out.
    pub fn create_within(path: &Path, limit: Permissions) -> Result<Self> {
        Self::start(path, Readers::Within(limit))
    }

    /// Starts a file with these permissions, as far as the umask allows, whatever it replaces.
    pub fn create_like(path: &Path, permissions: Permissions) -> Result<Self> {
        Self::start(path, Readers::Like(permissions))
    }

    fn start(path: &Path, readers: Readers) -> Result<Self> {
        let io = |error| Error::io(path, error);
        let path_given = path.to_owned();
        let Destination { path: target, found } = Destination::of(path)?;
        if found == Found::Special {
            let into = open_special(&target).map_err(io)?;
            let file = Some(tempfile::tempfile().map_err(io)?);
            let place = Place::Spooled { into };
            return Ok(Self { file, place, path: path_given, readers, replaced: None });
        }
        remove_left_behind(&target);
        let replaced = Permissions::at(&target).map_err(io)?;
        let mode = match (&readers, &replaced) {
            (Readers::Like(permissions), _) | (Readers::Within(permissions), None) => {
                permissions.mode_of_derived()
            }
            (Readers::Usual, None) => 0o666,
            // Until it is known who may read it.
            (_, Some(_)) => 0o600,
        };
        let ((file, aside), unfinished) = Unfinished::begin(|| {
            let (file, aside) = create_aside(&target, mode, is_ours)?;
            let name = aside.clone();
            let removal: Removal = Box::new(move || drop(std::fs::remove_file(name)));
            Ok::<_, Error>(((file, aside), removal))
        })?;
        let place = Place::Aside { aside, target, _unfinished: unfinished };
        Ok(Self { file: Some(file), place, path: path_given, readers, replaced })
    }

    /// Where the file is until it has its name; `None` if it has none meanwhile.
    #[cfg(test)]
    fn aside(&self) -> Option<&Path> {
        match &self.place {
            Place::Aside { aside, .. } => Some(aside),
            Place::Spooled { .. } => None,
        }
    }

    /// The path that was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&mut self) -> &mut File {
        self.file.as_mut().expect("open until finished")
    }

    /// Syncs the file and gives it its name, which is durable then. A file that is there already is replaced
    /// only if `replace` says so.
    pub fn finish(self, replace: bool) -> Result<()> {
        self.end(replace, true)
    }

    /// The same without syncing, for what can be made again.
    pub fn finish_unsynced(self, replace: bool) -> Result<()> {
        self.end(replace, false)
    }

    fn end(mut self, replace: bool, durable: bool) -> Result<()> {
        let given = self.path.clone();
        let io = |error| Error::io(&given, error);
        let file = self.file.as_mut().expect("open until finished");
        let (aside, target) = match &mut self.place {
            Place::Spooled { into } => {
                file.seek(SeekFrom::Start(0)).map_err(io)?;
                io::copy(file, into).map_err(io)?;
                return into.flush().map_err(io);
            }
            Place::Aside { aside, target, .. } => (&*aside, &*target),
        };
        // What has come up in the meantime may be a pipe or a device.
        match std::fs::symlink_metadata(target) {
            Ok(found) if replace && !found.is_file() => {
                let reason =
                    "it was a file or nothing, and is neither any more; nothing was written";
                return Err(io(io::Error::new(ErrorKind::InvalidInput, reason)));
            }
            _ => {}
        }
        let found = Permissions::at(target).map_err(io)?;
        let is_there = found.is_some();
        match (&self.readers, found.or(self.replaced.take())) {
            (Readers::Like(like), _) | (Readers::Within(like), None) => like.give_derived(file),
            (Readers::Within(limit), Some(replaced)) => replaced.within(limit).give(file),
            (Readers::Usual, Some(replaced)) => replaced.give(file),
            (Readers::Usual, None) => Ok(()),
        }
        .map_err(io)?;
        if is_there && !matches!(self.readers, Readers::Like(_)) {
            permissions::copy_user_attributes(target, file);
        }
        if durable {
            file.sync_all().map_err(io)?;
        }
        // The file is locked until it has its name.
        give_name(aside, target, replace, &given)?;
        if durable {
            sync_folder(target);
        }
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file().seek(to)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // A process that is just being started may have the file as well; what has its name is not to stay locked by that.
        if let Some(file) = self.file.take() {
            let _ = file.unlock();
        }
        // After a finish that succeeded there is nothing under this name.
        if let Place::Aside { aside, .. } = &self.place {
            let _ = std::fs::remove_file(aside);
        }
    }
}

/// Opens a pipe, device or the like to write into it; waits for the reader of a pipe.
pub fn open_special(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).truncate(true).open(path)
}

/// What the names of files on their way to `path` begin with, and the folder that they are in.
fn stem(path: &Path) -> Option<(PathBuf, Vec<u8>)> {
    let mut stem = path.file_name()?.as_bytes().to_vec();
    if stem.len() > LONGEST_STEM {
        let hash = xxh64(&stem, 0);
        stem.truncate(LONGEST_STEM - 17);
        stem.extend_from_slice(format!("~{hash:016x}").as_bytes());
    }
    stem.extend_from_slice(b".tmp-");
    Some((folder_of(path).to_owned(), stem))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Makes a file on its way to `path`, and locks it. `is_ours` is whether a file that was just made is still
/// there and locked.
fn create_aside(
    path: &Path,
    mode: u32,
    is_ours: impl Fn(&File, &Path) -> bool,
) -> Result<(File, PathBuf)> {
    /// No two files of a process have the same name, even if one of them is gone.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let failed = |error| Error::io(path, error);
    let (_, stem) = stem(path)
        .ok_or_else(|| failed(io::Error::new(ErrorKind::InvalidInput, "this is no file name")))?;
    let (mut lost, mut taken) = (0, 0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut name = stem.clone();
        name.extend_from_slice(format!("{}-{number}", std::process::id()).as_bytes());
        let aside = path.with_file_name(std::ffi::OsString::from_vec(name));
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&aside) {
            Ok(file) if is_ours(&file, &aside) => return Ok((file, aside)),
            Ok(_) => {
                // If another process has removed it, it is gone already.
                let _ = std::fs::remove_file(&aside);
                lost += 1;
                if lost == MOST_LOST {
                    let reason = format!(
                        "{MOST_LOST} files made beside it were replaced or locked by something else \
                         at once; does its file system keep inode numbers and locks?"
                    );
                    return Err(failed(io::Error::other(reason)));
                }
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && taken < MOST_TAKEN => {
                taken += 1;
            }
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Locks a file that was just created, so that nobody takes it for one that was left behind; whether nobody did so meanwhile.
fn is_ours(file: &File, aside: &Path) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Where files cannot be locked, nobody removes what others leave.
        Err(TryLockError::Error(_)) => true,
        Ok(()) => match (file.metadata(), std::fs::metadata(aside)) {
            (Ok(own), Ok(found)) => identity(&own) == identity(&found),
            _ => false,
        },
    }
}

/// Removes files that were on their way to a path when those who wrote them were killed. What cannot be
/// removed does no harm.
fn remove_left_behind(path: &Path) {
    let Some((folder, stem)) = stem(path) else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let is_aside = |found: &[u8]| {
        let numbers = found.strip_prefix(&stem[..])?;
        let (process, number) = std::str::from_utf8(numbers).ok()?.split_once('-')?;
        process.parse::<u32>().ok().zip(number.parse::<u32>().ok())
    };
    for entry in entries.flatten() {
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_aside(entry.file_name().as_bytes()).is_none() || !is_file() {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Renames. Without `replace`, a file that came up under the name in the meantime wins: a hard link, unlike
/// a rename, never replaces.
fn give_name(aside: &Path, target: &Path, replace: bool, given: &Path) -> Result<()> {
    let exists = || Error::Exists { path: given.to_owned() };
    let rename = || std::fs::rename(aside, target).map_err(|error| Error::io(given, error));
    if replace {
        return rename();
    }
    match std::fs::hard_link(aside, target) {
        Ok(()) => std::fs::remove_file(aside).map_err(|error| Error::io(aside, error)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists()),
        // A file system without hard links: look, then rename.
        Err(_) if target.symlink_metadata().is_ok() => Err(exists()),
        Err(_) => rename(),
    }
}

/// Makes a new name durable. Not every system can sync a folder; the file itself is on disk either way.
fn sync_folder(target: &Path) {
    if let Ok(folder) = File::open(folder_of(target)) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests;
