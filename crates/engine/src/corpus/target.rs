//! The folder that files are restored into.
//!
//! Names come from the archive and are not trusted: every folder on the way is opened relative to
//! the one above it without following links, so nothing is written outside of the folder given,
//! whatever stands in the way and whoever changes it meanwhile. A file is written aside, where only
//! its owner can read it, and gets its mode and then its name when it is whole. It is locked until
//! then; who is killed leaves one that is not, and the next who restores into the same folder
//! removes it.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps, linkat, mkdirat,
    openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::names;
use crate::text::escape;
use crate::unfinished::{Removal, Unfinished};
use crate::{Document, Timestamp};

/// Why a file does not come to be: for a reason of its own, or one that ends the work.
pub(super) enum Failure {
    /// This file cannot be written; others may.
    Skip(Error),
    /// Nothing more can be written.
    End(Error),
}

type Attempt<T> = std::result::Result<T, Failure>;

/// The folder that is restored into, and the folders below it that are open now.
pub(super) struct Target<'f> {
    path: &'f Path,
    root: Folder,
    /// The folders of the last file that was looked at, outermost first.
    open: Vec<(Vec<u8>, Folder)>,
    /// Whether files that are there are replaced.
    replace: bool,
    /// The mode of files that have none of their own, once there is one.
    default_mode: Option<Mode>,
}

struct Folder {
    fd: OwnedFd,
    /// Whether nobody's unfinished files are in it.
    is_clean: bool,
}

impl<'f> Target<'f> {
    /// Opens a folder, made if it is not there.
    pub(super) fn open(path: &'f Path, replace: bool) -> Result<Self> {
        std::fs::create_dir_all(path).map_err(|error| Error::io(path, error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| Error::io(path, error.into()))?;
        let root = Folder { fd: root, is_clean: false };
        Ok(Self { path, root, open: Vec::new(), replace, default_mode: None })
    }

    /// Whether a file can be written, as far as can be told before: by its name, and by what is
    /// there.
    pub(super) fn admits(&mut self, file: &Document) -> Attempt<()> {
        if let Err(reason) = names::check(&file.name) {
            let reason = format!("its name {reason}");
            return Err(Failure::Skip(Error::UnsafeName { name: file.name.clone(), reason }));
        }
        let name = self.enter(file, false)?;
        let (Some(name), false) = (name, self.replace) else { return Ok(()) };
        match statat(self.last(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Failure::Skip(self.exists(file))),
            // What cannot be looked at is told when it is written.
            Err(_) => Ok(()),
        }
    }

    /// Starts a file, with the folders that it is in.
    pub(super) fn create(&mut self, file: &Document) -> Attempt<NewFile> {
        let name = self.enter(file, true)?.expect("folders are made").to_vec();
        for (_, folder) in &mut self.open {
            folder.clean();
        }
        self.root.clean();
        let folder = self.last().try_clone_to_owned();
        let folder = folder.map_err(|error| Failure::End(self.io_error(file, error)))?;
        let private = Mode::from_raw_mode(0o600);
        NewFile::create(folder, name, private).map_err(|error| self.failure(file, error))
    }

    /// Sets mode and time, and gives a file its name.
    pub(super) fn finish(&mut self, new: NewFile, file: &Document) -> Attempt<()> {
        let mode = match file.mode {
            // Permissions only: an archive does not get to make programs that run as someone else.
            Some(mode) => Mode::from_raw_mode(mode & 0o777),
            None => self.default_mode().map_err(|error| self.failure(file, error))?,
        };
        let finished = new.finish(mode, file.modified, self.replace);
        finished.map_err(|error| self.failure(file, error))
    }

    /// What the system makes of 0666 for a file that a program creates: asked of it by an empty
    /// one.
    fn default_mode(&mut self) -> Result<Mode, Errno> {
        if let Some(mode) = self.default_mode {
            return Ok(mode);
        }
        let root = self.root.fd.try_clone().map_err(|_| Errno::MFILE)?;
        let probe = NewFile::create(root, Vec::new(), Mode::from_raw_mode(0o666))?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&probe.file)?.st_mode & 0o777);
        Ok(*self.default_mode.insert(mode))
    }

    /// Opens the folders that a file is in, and makes them if `make` says so; gives the last part
    /// of its name, or `None` if a folder is not there.
    fn enter<'n>(&mut self, file: &'n Document, make: bool) -> Attempt<Option<&'n [u8]>> {
        let mut parts: Vec<&[u8]> = file.name.split(|&byte| byte == b'/').collect();
        let name = parts.pop().expect("a split has at least one part");
        let shared =
            self.open.iter().zip(&parts).take_while(|(open, part)| open.0 == **part).count();
        self.open.truncate(shared);
        for part in &parts[shared..] {
            let folder = match open_folder(self.last(), part, make) {
                Ok(folder) => folder,
                Err(Errno::NOENT) if !make => return Ok(None),
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    let reason = format!("{:?} on its way is a link or a file", escape(part));
                    let error = Error::UnsafeName { name: file.name.clone(), reason };
                    return Err(Failure::Skip(error));
                }
                Err(other) => return Err(self.failure(file, other)),
            };
            self.open.push((part.to_vec(), folder));
        }
        Ok(Some(name))
    }

    fn last(&self) -> BorrowedFd<'_> {
        self.open.last().map_or(self.root.fd.as_fd(), |(_, folder)| folder.fd.as_fd())
    }

    fn failure(&self, file: &Document, error: Errno) -> Failure {
        match error {
            Errno::EXIST => Failure::Skip(self.exists(file)),
            // Where nothing at all can be written, the folder is the wrong one.
            Errno::ACCESS | Errno::PERM if !self.open.is_empty() => {
                Failure::Skip(self.io_error(file, error.into()))
            }
            Errno::NOTDIR
            | Errno::ISDIR
            | Errno::LOOP
            | Errno::NAMETOOLONG
            | Errno::INVAL
            | Errno::ILSEQ => Failure::Skip(self.io_error(file, error.into())),
            other => Failure::End(self.io_error(file, other.into())),
        }
    }

    fn exists(&self, file: &Document) -> Error {
        Error::Exists { path: self.path_of(file) }
    }

    pub(super) fn io_error(&self, file: &Document, error: std::io::Error) -> Error {
        Error::io(self.path_of(file), error)
    }

    fn path_of(&self, file: &Document) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        self.path.join(std::ffi::OsStr::from_bytes(&file.name))
    }
}

/// Opens a folder in another one, made if it is not there and `make` says so; a link is not
/// followed.
fn open_folder(above: BorrowedFd<'_>, name: &[u8], make: bool) -> Result<Folder, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(above, name, flags, Mode::empty());
    match open() {
        Err(Errno::NOENT) if make => match mkdirat(above, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => Ok(Folder { fd: open()?, is_clean: true }),
            Err(Errno::EXIST) => Ok(Folder { fd: open()?, is_clean: false }),
            Err(error) => Err(error),
        },
        found => Ok(Folder { fd: found?, is_clean: false }),
    }
}

impl Folder {
    /// Removes files that were on their way to their names when those who restored them were
    /// killed. What cannot be removed does no harm.
    fn clean(&mut self) {
        if std::mem::replace(&mut self.is_clean, true) {
            return;
        }
        let Ok(entries) = Dir::read_from(&self.fd) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_file = matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown);
            if !is_file || !names::is_aside(name.to_bytes()) {
                continue;
            }
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let Ok(found) = openat(&self.fd, name, flags, Mode::empty()) else { continue };
            let found = File::from(found);
            if found.metadata().is_ok_and(|metadata| metadata.is_file()) && found.try_lock().is_ok()
            {
                let _ = unlinkat(&self.fd, name, AtFlags::empty());
            }
        }
    }
}

/// A file on its way; dropped before it is finished, it leaves nothing behind.
pub(super) struct NewFile {
    folder: Arc<OwnedFd>,
    name: Vec<u8>,
    aside: Option<Vec<u8>>,
    file: File,
    /// Known to who ends the process at a signal; dropped after the file is removed.
    _unfinished: Unfinished,
}

impl NewFile {
    fn create(folder: OwnedFd, name: Vec<u8>, mode: Mode) -> Result<Self, Errno> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = Arc::new(folder);
        for attempt in 0..1000 {
            // A name of its own, short enough beside names of any length.
            let aside = names::aside(std::process::id(), attempt);
            let created = Unfinished::begin(|| {
                let file = openat(&folder, &aside[..], flags, mode)?;
                let (folder, aside) = (folder.clone(), aside.clone());
                let removal: Removal = Box::new(move || {
                    let _ = unlinkat(folder, &aside[..], AtFlags::empty());
                });
                Ok::<_, Errno>((File::from(file), removal))
            });
            match created {
                Ok((file, unfinished)) => {
                    if is_ours(&file) {
                        let aside = Some(aside);
                        return Ok(Self { folder, name, aside, file, _unfinished: unfinished });
                    }
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::BUSY)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)
    }

    fn finish(
        mut self,
        mode: Mode,
        modified: Option<Timestamp>,
        replace: bool,
    ) -> Result<(), Errno> {
        rustix::fs::fchmod(&self.file, mode)?;
        if let Some(Timestamp { seconds, nanoseconds }) = modified {
            let time = Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() };
            let times = Timestamps { last_access: time, last_modification: time };
            rustix::fs::futimens(&self.file, &times)?;
        }
        let aside = self.aside.as_deref().expect("not finished yet");
        let (folder, name) = (&self.folder, &self.name[..]);
        if replace {
            renameat(folder, aside, folder, name)?;
        } else {
            match renameat_with(folder, aside, folder, name, RenameFlags::NOREPLACE) {
                Ok(()) => {}
                // A file system that cannot do that: a link never replaces either, and the drop
                // removes the other name.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    return linkat(folder, aside, folder, name, AtFlags::empty());
                }
                Err(error) => return Err(error),
            }
        }
        self.aside = None;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // A process that is just being started may have the file as well; what has its name is not
        // to stay locked by that.
        let _ = self.file.unlock();
        if let Some(aside) = &self.aside {
            let _ = unlinkat(&self.folder, &aside[..], AtFlags::empty());
        }
    }
}

/// Locks a file that was just created; whether nobody has taken it for one that was left behind
/// meanwhile.
fn is_ours(file: &File) -> bool {
    use std::fs::TryLockError;
    use std::os::unix::fs::MetadataExt;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Where files cannot be locked, nobody removes what others leave.
        Err(TryLockError::Error(_)) => true,
        Ok(()) => file.metadata().is_ok_and(|metadata| metadata.nlink() > 0),
    }
}
