//! Large rows of numbers on large pages.
//!
//! Rows that are read at random places and are larger than the processor's caches cost more in looking up addresses
//! than in reading: with pages of 4 KiB every access misses the tables of addresses too. Here a row asks the
//! system for pages of 2 MiB, where it has them, and is cleared by the system as it is touched.

use std::fmt;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// The size of a large page.
const LARGE_PAGE: usize = 2 << 20;

/// Numbers that begin as zeros.
pub(crate) struct Zeroed<T>(Row<T>);

enum Row<T> {
    Heap(Vec<T>),
    Mapped { map: MmapMut, start: usize, bytes: usize },
}

impl<T: Pod> Zeroed<T> {
    /// A row of zeros.
    pub(crate) fn new(length: usize) -> Self {
        let bytes = length * size_of::<T>();
        if bytes >= LARGE_PAGE {
            // One page more, so that the row can begin with a page. No memory for it is told when a vector asks.
            if let Ok(map) = MmapMut::map_anon(bytes + LARGE_PAGE) {
                // Only a wish: without large pages, it works all the same.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                let start = map.as_ptr().align_offset(LARGE_PAGE);
                if start <= LARGE_PAGE {
                    return Self(Row::Mapped { map, start, bytes });
                }
            }
        }
        Self(Row::Heap(vec![T::zeroed(); length]))
    }
}

impl<T: Pod> Deref for Zeroed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Row::Heap(row) => row,
            Row::Mapped { map, start, bytes } => {
                bytemuck::cast_slice(&map[*start..*start + *bytes])
            }
        }
    }
}

impl<T: Pod> DerefMut for Zeroed<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Row::Heap(row) => row,
            Row::Mapped { map, start, bytes } => {
                bytemuck::cast_slice_mut(&mut map[*start..*start + *bytes])
            }
        }
    }
}

impl<T: Pod> Default for Zeroed<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T: Pod> fmt::Debug for Zeroed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Zeroed({} elements)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_sizes_begin_as_zeros() {
        for length in [0, 1, 1000, LARGE_PAGE / 8, LARGE_PAGE] {
            let mut row = Zeroed::<u64>::new(length);
            assert_eq!(row.len(), length);
            assert!(row.iter().all(|&number| number == 0));
            if let Some(last) = row.last_mut() {
                *last = 7;
            }
            assert_eq!(row.iter().sum::<u64>(), if length > 0 { 7 } else { 0 });
        }
    }
}
