//! What a file must be able to do for those who write into it in place: the journal of an archive.
//!
//! [`FileStorage`] is a real file. [`SimulatedStorage`] is one in memory that fails as disks do, for tests: it gets full, it
//! does not sync, and it loses power, after which any part of what was not synced may be there.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

mod simulated;

pub use simulated::{SECTOR, SimulatedStorage};

/// A file that is read and written at places.
pub trait Storage: std::fmt::Debug + Send + Sync {
    /// Its length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether it has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Fills `into` with the bytes from `offset` on; [`io::ErrorKind::UnexpectedEof`] if there are fewer.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all bytes, or fails with any of them written.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts it, or goes on with zeros.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Returns when all that was written, and the length, will be there after a loss of power.
    fn sync(&mut self) -> io::Result<()>;
    /// Another handle to the same file.
    fn handle(&self) -> io::Result<Box<dyn Storage>>;
}

/// A file of the file system.
#[derive(Debug)]
pub struct FileStorage(pub File);

impl Storage for FileStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(into, offset)
    }

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn handle(&self) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(Self(self.0.try_clone()?)))
    }
}
