//! Documents back into files.
//!
//! Names come from the archive and are not trusted: every folder on the way is opened relative to the one
//! above it without following links, so nothing is written outside of the folder given, whatever stands in
//! the way and whoever changes it meanwhile. A file is written aside and appears under its name when it is
//! whole.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{
    AtFlags, Mode, OFlags, Timespec, Timestamps, linkat, mkdirat, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use super::{Corpus, step};
use crate::error::{Error, Result};
use crate::progress::{Observer, Phase};
use crate::text::escape;
use crate::unfinished::{Removal, Unfinished};
use crate::{Document, Timestamp};

/// What came of restoring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Documents written.
    pub documents: u64,
    /// Bytes written.
    pub bytes: u64,
}

impl Corpus {
    /// Writes documents (places in [`Corpus::documents`], ascending) as files below `folder`, with their
    /// times and modes. Nothing is written outside of it, no link is followed, and a file that is there
    /// already is an error unless `force` is given. All names are checked before anything is written.
    pub fn restore(
        &self,
        documents: &[usize],
        folder: &Path,
        force: bool,
        observer: &dyn Observer,
    ) -> Result<RestoreReport> {
        let table = self.documents()?;
        for &number in documents {
            check_name(&table[number].name)?;
        }
        let total = self.total_bytes(documents)?;
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        let mut target = Target::open(folder, force)?;
        let mut current: Option<NewFile> = None;
        let mut report = RestoreReport::default();
        self.for_each_piece(documents, |number, piece, ends| {
            let document = &table[number];
            let mut file = match current.take() {
                Some(file) => file,
                None => target.create(document)?,
            };
            file.write(piece, document, folder)?;
            report.bytes += piece.len() as u64;
            if ends {
                file.finish(document, folder, force)?;
                report.documents += 1;
            } else {
                current = Some(file);
            }
            step(observer, Phase::Restoring, report.bytes, total)
        })?;
        Ok(report)
    }
}

/// Names that would leave the folder, or that no file can have.
fn check_name(name: &[u8]) -> Result<()> {
    let reason = match name {
        [b'/', ..] => "its name is absolute",
        _ if name.contains(&0) => "its name has a NUL in it",
        _ => {
            let mut parts = name.split(|&byte| byte == b'/');
            match parts.find(|part| matches!(*part, b"" | b"." | b"..")) {
                Some(b"..") => "its name leads out of the folder",
                Some(_) => "its name has an empty part",
                None => return Ok(()),
            }
        }
    };
    Err(Error::UnsafeName { name: name.to_vec(), reason: reason.into() })
}

/// The folder that is restored into, and the folders below it that are open now.
struct Target<'f> {
    folder: &'f Path,
    root: OwnedFd,
    /// Path of the last document's folder: names of the folders and the folders themselves.
    open: Vec<(Vec<u8>, OwnedFd)>,
    force: bool,
}

impl<'f> Target<'f> {
    fn open(folder: &'f Path, force: bool) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(folder, flags, Mode::empty())
            .map_err(|error| Error::io(folder, error.into()))?;
        Ok(Self { folder, root, open: Vec::new(), force })
    }

    fn error(&self, document: &Document, error: Errno) -> Error {
        io_error(self.folder, document, error.into())
    }

    /// Starts the file of a document, with the folders that it is in.
    fn create(&mut self, document: &Document) -> Result<NewFile> {
        let mut parts: Vec<&[u8]> = document.name.split(|&byte| byte == b'/').collect();
        let name = parts.pop().expect("a split has at least one part").to_vec();
        let shared =
            self.open.iter().zip(&parts).take_while(|(open, part)| open.0 == **part).count();
        self.open.truncate(shared);
        for part in &parts[shared..] {
            let above = self.open.last().map_or(self.root.as_fd(), |(_, folder)| folder.as_fd());
            let folder = open_folder(above, part).map_err(|error| match error {
                Errno::LOOP | Errno::NOTDIR => Error::UnsafeName {
                    name: document.name.clone(),
                    reason: format!("{:?} on its way is a link or a file", escape(part)),
                },
                other => self.error(document, other),
            })?;
            self.open.push((part.to_vec(), folder));
        }
        let above = self.open.last().map_or(self.root.as_fd(), |(_, folder)| folder.as_fd());
        if !self.force && rustix::fs::statat(above, &name[..], AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Err(Error::Exists { path: path_of(self.folder, document) });
        }
        let folder =
            above.try_clone_to_owned().map_err(|error| io_error(self.folder, document, error))?;
        NewFile::create(folder, name).map_err(|error| self.error(document, error))
    }
}

/// Opens a folder in another one, made if it is not there; a link is not followed.
fn open_folder(above: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(above, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            match mkdirat(above, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            openat(above, name, flags, Mode::empty())
        }
        other => other,
    }
}

/// A file on its way; dropped before it is finished, it leaves nothing behind.
struct NewFile {
    folder: Arc<OwnedFd>,
    name: Vec<u8>,
    aside: Option<Vec<u8>>,
    file: File,
    /// Known to who ends the process at a signal; dropped after the file is removed.
    _unfinished: Unfinished,
}

impl NewFile {
    fn create(folder: OwnedFd, name: Vec<u8>) -> Result<Self, Errno> {
        let folder = Arc::new(folder);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut attempt = 0;
        loop {
            // A name of its own, short enough beside names of any length.
            let aside = format!(".tadoc-{}-{attempt}", std::process::id()).into_bytes();
            let created = Unfinished::begin(|| {
                let file = openat(&folder, &aside[..], flags, Mode::from_raw_mode(0o666))?;
                let (folder, aside) = (folder.clone(), aside.clone());
                let removal: Removal = Box::new(move || {
                    let _ = unlinkat(folder, &aside[..], AtFlags::empty());
                });
                Ok::<_, Errno>((File::from(file), removal))
            });
            match created {
                Ok((file, unfinished)) => {
                    let aside = Some(aside);
                    return Ok(Self { folder, name, aside, file, _unfinished: unfinished });
                }
                Err(Errno::EXIST) if attempt < 1000 => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&mut self, bytes: &[u8], document: &Document, folder: &Path) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| io_error(folder, document, error))
    }

    /// Sets mode and time, and gives the file its name.
    fn finish(mut self, document: &Document, folder: &Path, force: bool) -> Result<()> {
        let named = self.set_attributes(document).and_then(|()| {
            let aside = self.aside.as_deref().expect("not finished yet");
            if force {
                renameat(&self.folder, aside, &self.folder, &self.name[..])?;
                self.aside = None;
                return Ok(());
            }
            // A link, unlike a rename, never replaces what came up meanwhile; the drop removes the other name.
            linkat(&self.folder, aside, &self.folder, &self.name[..], AtFlags::empty())
        });
        named.map_err(|error| match error {
            Errno::EXIST => Error::Exists { path: path_of(folder, document) },
            other => io_error(folder, document, other.into()),
        })
    }

    fn set_attributes(&self, document: &Document) -> Result<(), Errno> {
        if let Some(mode) = document.mode {
            // Permissions only: an archive does not get to make programs that run as someone else.
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode & 0o777))?;
        }
        if let Some(Timestamp { seconds, nanoseconds }) = document.modified {
            let time = Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() };
            rustix::fs::futimens(
                &self.file,
                &Timestamps { last_access: time, last_modification: time },
            )?;
        }
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(aside) = &self.aside {
            let _ = unlinkat(&self.folder, &aside[..], AtFlags::empty());
        }
    }
}

fn path_of(folder: &Path, document: &Document) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    folder.join(std::ffi::OsStr::from_bytes(&document.name))
}

fn io_error(folder: &Path, document: &Document, error: std::io::Error) -> Error {
    Error::io(path_of(folder, document), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in [
            &b"/etc/passwd"[..],
            b"../x",
            b"a/../../x",
            b"",
            b"a//b",
            b"./a",
            b"a/.",
            b"a\0b",
            b"..",
        ] {
            assert!(check_name(name).is_err(), "{}", name.escape_ascii());
        }
        for name in [&b"a"[..], b"a/b", b"...", b"..a/b..", b"\xff", b"a\\..\\b"] {
            check_name(name).unwrap();
        }
    }
}
