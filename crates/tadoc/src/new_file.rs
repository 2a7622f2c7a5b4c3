//! Files that get their names when they are whole.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tadoc_core::new_file::{self, Destination, Found};

use crate::Result;

/// A file that gets its name when it is whole, as archives and restored documents are written.
/// Dropped before, it leaves nothing behind.
///
/// It is written beside its place, and keeps the permissions of a file that it replaces.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("counts.tsv");
/// use std::io::Write;
/// use tadoc::{Error, NewFile};
///
/// let mut file = NewFile::create(&path, false)?;
/// writeln!(file, "be\t2")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"be\t2\n");
///
/// let refused = NewFile::create(&path, false).map(drop);
/// assert!(matches!(refused, Err(Error::Exists { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct NewFile {
    file: new_file::NewFile,
    replace: bool,
}

impl NewFile {
    /// Starts a file that will be at `path`. What is no regular file, such as a pipe, is written
    /// into at the end.
    ///
    /// # Errors
    /// As [`NewFile::destination`], and where nothing can be written beside it.
    pub fn create(path: impl AsRef<Path>, replace: bool) -> Result<Self> {
        let path = path.as_ref();
        Destination::to_write(path, replace)?;
        Ok(Self { file: new_file::NewFile::create(path)?, replace })
    }

    /// Where a file of this path is written, with links followed; `None` for what is written into
    /// and cannot be replaced: a device, a pipe, or a file without a name, as `/dev/stdout` can be.
    ///
    /// # Errors
    /// [`Error::Exists`](crate::Error::Exists) for a file that is not to be replaced; a folder.
    pub fn destination(path: impl AsRef<Path>, replace: bool) -> Result<Option<PathBuf>> {
        let destination = Destination::to_write(path.as_ref(), replace)?;
        Ok((destination.found != Found::Special).then_some(destination.path))
    }

    /// Removes files that were on their way to `path` when the processes that wrote them were
    /// killed.
    ///
    /// # Errors
    /// As [`NewFile::destination`] for a file that may be replaced.
    pub fn remove_left_behind(path: impl AsRef<Path>) -> Result<()> {
        Destination::of(path.as_ref())?.remove_left_behind();
        Ok(())
    }

    /// Whether restoring gives such names to files on their way: one is left behind by a process
    /// that was killed, and the next that restores into the same folder removes it.
    pub fn is_unfinished(name: &[u8]) -> bool {
        tadoc_engine::corpus::is_unfinished(name)
    }

    /// Removes all unfinished files of this process: archives, restored documents and those of
    /// [`NewFile::create`]. For a process that ends at a signal, right after this: who begins or
    /// ends a file from now on waits for ever.
    ///
    /// ```standalone_crate
    /// # let folder = tempfile::tempdir().unwrap();
    /// let file = tadoc::NewFile::create(folder.path().join("a"), false).unwrap();
    /// tadoc::NewFile::remove_all_unfinished();
    /// assert!(folder.path().read_dir().unwrap().next().is_none());
    /// # std::mem::forget(file);
    /// ```
    pub fn remove_all_unfinished() {
        tadoc_core::unfinished::remove_all();
    }

    /// Syncs the file and gives it its name, which is then durable.
    ///
    /// # Errors
    /// [`Error::Exists`](crate::Error::Exists) if a file has come up that is not to be replaced;
    /// what the system says.
    pub fn finish(self) -> Result<()> {
        Ok(self.file.finish(self.replace)?)
    }

    /// The same without syncing, for what can be made again.
    ///
    /// # Errors
    /// As [`NewFile::finish`].
    pub fn finish_unsynced(self) -> Result<()> {
        Ok(self.file.finish_unsynced(self.replace)?)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
