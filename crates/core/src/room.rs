//! Zeroed bytes to work in: on large pages of memory, or in a temporary file.
//!
//! Rows that are read at random places and are larger than the processor's caches cost more in looking up addresses
//! than in reading: with pages of 4 KiB every access misses the tables of addresses too. So large rooms ask the
//! system for pages of 2 MiB, where it has them, and are cleared by the system as they are touched.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{cast_slice, cast_slice_mut};
use memmap2::MmapMut;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::usize_of;

/// The size of a large page.
const LARGE_PAGE: usize = 2 << 20;
/// Bytes that a room is aligned to.
const ALIGNMENT: usize = size_of::<u128>();

/// Bytes that begin as zeros, aligned to at least 16.
#[derive(Debug)]
pub struct Room {
    row: Row,
    bytes: usize,
}

#[derive(Debug)]
enum Row {
    Heap(Vec<u128>),
    Mapped { map: MmapMut, start: usize },
}

impl Room {
    /// A room in memory of the process.
    ///
    /// # Errors
    /// If the system has no memory for a large one.
    pub fn in_memory(bytes: usize) -> io::Result<Self> {
        if bytes < LARGE_PAGE {
            return Ok(Self { row: Row::Heap(vec![0; bytes.div_ceil(ALIGNMENT)]), bytes });
        }
        // One page more, so that the row can begin with a large page.
        let map = MmapMut::map_anon(bytes + LARGE_PAGE)?;
        // Only a wish: without large pages, it works all the same.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        let start = map.as_ptr().align_offset(LARGE_PAGE);
        let start = if start <= LARGE_PAGE { start } else { 0 };
        Ok(Self { row: Row::Mapped { map, start }, bytes })
    }

    /// A copy of bytes, in memory of the process.
    ///
    /// # Errors
    /// If the system has no memory for a large one.
    pub fn copy_of(bytes: &[u8]) -> io::Result<Self> {
        if bytes.len() >= LARGE_PAGE {
            let mut room = Self::in_memory(bytes.len())?;
            room.copy_from_slice(bytes);
            return Ok(room);
        }
        let (whole, rest) = bytes.as_chunks::<ALIGNMENT>();
        let mut row = Vec::with_capacity(bytes.len().div_ceil(ALIGNMENT));
        row.extend(whole.iter().map(|&chunk| u128::from_ne_bytes(chunk)));
        if !rest.is_empty() {
            let mut last = [0; ALIGNMENT];
            last[..rest.len()].copy_from_slice(rest);
            row.push(u128::from_ne_bytes(last));
        }
        Ok(Self { row: Row::Heap(row), bytes: bytes.len() })
    }

    /// A room in a file without a name, which is gone with it; in the folder for temporary files if none is given.
    ///
    /// # Errors
    /// If the file cannot be made, or has no room.
    pub fn in_file(bytes: usize, folder: Option<&Path>) -> io::Result<Self> {
        if bytes == 0 {
            return Ok(Self::default());
        }
        let file = match folder {
            Some(folder) => tempfile::tempfile_in(folder)?,
            None => tempfile::tempfile()?,
        };
        let reserve = || fallocate(&file, FallocateFlags::empty(), 0, bytes as u64);
        match rustix::io::retry_on_intr(reserve) {
            // Some file systems reserve nothing.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(bytes as u64)?,
            reserved => reserved?,
        }
        #[allow(unsafe_code)]
        // SAFETY: the file has no name and its descriptor is not given out, so nobody else writes to it or cuts it.
        let map = unsafe { MmapMut::map_mut(&file)? };
        Ok(Self { row: Row::Mapped { map, start: 0 }, bytes })
    }
}

/// A file without a name, which any thread appends to, and which is read when all is there: many rows take one file and one mapping.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    length: AtomicU64,
}

impl SpillFile {
    /// An empty one, in the folder for temporary files.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, length: AtomicU64::new(0) })
    }

    /// Appends bytes; gives where they start, which is aligned as rooms are.
    ///
    /// # Errors
    /// If the file has no room.
    pub fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let whole = bytes.len().next_multiple_of(ALIGNMENT) as u64;
        let start = self.length.fetch_add(whole, Ordering::Relaxed);
        self.file.write_all_at(bytes, start)?;
        Ok(start)
    }

    /// All of it.
    ///
    /// # Errors
    /// If it cannot be mapped.
    pub fn into_room(self) -> io::Result<Room> {
        let bytes = self.length.into_inner();
        if bytes == 0 {
            return Ok(Room::default());
        }
        self.file.set_len(bytes)?;
        #[allow(unsafe_code)]
        // SAFETY: the file has no name and its descriptor was not given out, so nobody else writes to it or cuts it.
        let map = unsafe { MmapMut::map_mut(&self.file)? };
        Ok(Room { row: Row::Mapped { map, start: 0 }, bytes: usize_of(bytes) })
    }
}

impl Default for Room {
    fn default() -> Self {
        Self { row: Row::Heap(Vec::new()), bytes: 0 }
    }
}

impl Deref for Room {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.row {
            Row::Heap(row) => &cast_slice(row)[..self.bytes],
            Row::Mapped { map, start } => &map[*start..*start + self.bytes],
        }
    }
}

impl DerefMut for Room {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.row {
            Row::Heap(row) => &mut cast_slice_mut(row)[..self.bytes],
            Row::Mapped { map, start } => &mut map[*start..*start + self.bytes],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spilled_is_read_where_it_was_appended() {
        let file = SpillFile::new().unwrap();
        let rows: Vec<Vec<u8>> = (0..50).map(|length| vec![length; length.into()]).collect();
        let starts: Vec<u64> = rows.iter().map(|row| file.append(row).unwrap()).collect();
        let room = file.into_room().unwrap();
        for (row, start) in rows.iter().zip(starts) {
            assert_eq!(room[start as usize..][..row.len()], row[..]);
            assert_eq!(start % ALIGNMENT as u64, 0);
        }
        assert!(SpillFile::new().unwrap().into_room().unwrap().is_empty());
    }

    #[test]
    fn rooms_of_all_sizes_begin_as_zeros() {
        for bytes in [0, 1, 1000, LARGE_PAGE - 1, LARGE_PAGE, 3 * LARGE_PAGE + 7] {
            for mut room in [Room::in_memory(bytes).unwrap(), Room::in_file(bytes, None).unwrap()] {
                assert_eq!(room.len(), bytes);
                assert!(room.iter().all(|&byte| byte == 0));
                assert!(room.as_ptr().addr().is_multiple_of(ALIGNMENT));
                if let Some(last) = room.last_mut() {
                    *last = 7;
                }
                assert_eq!(
                    room.iter().map(|&byte| u64::from(byte)).sum::<u64>(),
                    if bytes > 0 { 7 } else { 0 }
                );
            }
        }
    }
}
