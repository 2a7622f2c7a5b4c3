//! What the path of a new file means: a file to be, a file to be replaced, or something to write into.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::{folder_of, remove_left_behind};
use crate::archive::identity;
use crate::error::{Error, Result};

/// So many links in a row are followed, as Linux does.
const MOST_LINKS: usize = 40;

/// Where a new file goes, with links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The path that is written to: no symbolic link, unless it is [`Found::Special`].
    pub path: PathBuf,
    /// What is there.
    pub found: Found,
}

/// What is at a path that is to be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A regular file.
    File,
    /// What cannot be replaced: a device, a pipe, a socket, or a file without a name, as `/dev/stdout` can
    /// be.
    Special,
}

impl Destination {
    /// Follows a path. A folder is an error.
    pub fn of(path: &Path) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let reason = "this is a folder; give the name of a file";
                Err(failed(io::Error::new(ErrorKind::IsADirectory, reason)))
            }
            Ok(metadata) if metadata.is_file() => {
                let target = match is_link(path) {
                    false => path.to_owned(),
                    true => fs::canonicalize(path).map_err(failed)?,
                };
                let is_same = fs::symlink_metadata(&target)
                    .is_ok_and(|found| identity(&found) == identity(&metadata));
                Ok(match is_same {
                    true => Self { path: target, found: Found::File },
                    false => Self { path: path.to_owned(), found: Found::Special },
                })
            }
            Ok(_) => Ok(Self { path: path.to_owned(), found: Found::Special }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(Self { path: end_of_links(path).map_err(failed)?, found: Found::Nothing })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The same; [`Error::Exists`] for a file that is not to be replaced.
    pub fn to_write(path: &Path, replace: bool) -> Result<Self> {
        let destination = Self::of(path)?;
        if destination.found == Found::File && !replace {
            return Err(Error::Exists { path: path.to_owned() });
        }
        Ok(destination)
    }

    /// Removes files that were on their way here when the processes that wrote them were killed.
    pub fn remove_left_behind(&self) {
        if self.found != Found::Special {
            remove_left_behind(&self.path);
        }
    }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// What a link that leads nowhere should lead to.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !is_link(&path) {
            return Ok(path);
        }
        path = folder_of(&path).join(fs::read_link(&path)?);
    }
    Err(io::Error::other("too many symbolic links"))
}
