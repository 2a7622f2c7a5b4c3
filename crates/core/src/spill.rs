//! Vectors of numbers that lie in memory or in temporary files.
//!
//! A [`Spill`] says which. With a folder, a row of 256 KiB and more is a file without a name there,
//! mapped and shared: the system can write its pages out instead of keeping them. A smaller row is
//! a vector, and so is every row without a folder, or where the disk is full. Large rows of zeros
//! in memory are on large pages, and cleared by those who touch them first. A row in a file or on
//! large pages that outgrows its room is copied to a new one, so lengths that are known are
//! reserved.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rayon::prelude::*;

use crate::Array;
use crate::parallel::split;
use crate::room::Room;

/// Smaller rows are never in files.
const LEAST_SPILLED: usize = 256 << 10;
/// Smaller rows of zeros are vectors.
const LEAST_ROOM: usize = 4 << 20;
/// Less is appended on one thread.
const LEAST_APPENDED: usize = 1 << 20;

/// Where large rows lie: in memory, or in temporary files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spill(Option<Arc<Path>>);

impl Spill {
    /// In files without names in this folder.
    pub fn into_folder(folder: &Path) -> Self {
        Self(Some(folder.into()))
    }

    /// In files without names beside this one.
    pub fn beside(file: &Path) -> Self {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        Self::into_folder(parent.unwrap_or(Path::new(".")))
    }

    /// Whether large rows are in files.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// An empty row.
    pub fn row<T: Pod>(&self) -> SpillVec<T> {
        self.of(Place::default())
    }

    fn of<T>(&self, place: Place<T>) -> SpillVec<T> {
        SpillVec { place, spill: self.clone() }
    }

    /// An empty row with room for so many elements.
    pub fn with_capacity<T: Pod>(&self, capacity: usize) -> SpillVec<T> {
        let mut row = self.row();
        row.reserve_exact(capacity);
        row
    }

    /// So many times one value.
    pub fn filled<T: Pod>(&self, value: T, length: usize) -> SpillVec<T> {
        // Zeros need not be written.
        let is_zero = bytemuck::bytes_of(&value).iter().all(|&byte| byte == 0);
        match self.file::<T>(length) {
            Some(mut room) if !is_zero => {
                cast_slice_mut(&mut room).fill(value);
                self.of(Place::Room { room, length })
            }
            Some(room) => self.of(Place::Room { room, length }),
            None if is_zero && let Some(room) = large::<T>(length) => {
                self.of(Place::Room { room, length })
            }
            None => self.of(Place::Heap(vec![value; length])),
        }
    }

    /// An empty row with room for so many elements, if that can be had, which several threads fill:
    /// [`SpillVec::extend_from_slices`]. Room in memory that is not filled is never touched.
    pub fn with_room<T: Pod>(&self, capacity: usize) -> SpillVec<T> {
        match self.file::<T>(capacity).or_else(|| large::<T>(capacity)) {
            Some(room) => self.of(Place::Room { room, length: 0 }),
            None => self.row(),
        }
    }

    /// What an iterator gives.
    pub fn collect<T: Pod>(&self, from: impl Iterator<Item = T>) -> SpillVec<T> {
        let mut row = self.with_capacity(from.size_hint().0);
        row.extend(from);
        row
    }

    /// Room in a file for so many elements; `None` if they belong in memory.
    fn file<T>(&self, length: usize) -> Option<Room> {
        let folder = self.0.as_deref()?;
        let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= LEAST_SPILLED)?;
        Room::in_file(bytes, Some(folder)).ok()
    }
}

/// Room on large pages for so many elements; `None` if they are few, or there is none.
fn large<T>(length: usize) -> Option<Room> {
    let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= LEAST_ROOM)?;
    Room::in_memory(bytes).ok()
}

/// A row of numbers, in memory or in a temporary file. A clone is in memory.
pub struct SpillVec<T> {
    place: Place<T>,
    spill: Spill,
}

enum Place<T> {
    Heap(Vec<T>),
    Room { room: Room, length: usize },
}

impl<T: Pod> SpillVec<T> {
    /// Where it lies if it is large.
    pub fn spill(&self) -> &Spill {
        &self.spill
    }

    /// How many elements it has room for.
    fn capacity(&self) -> usize {
        match &self.place {
            Place::Heap(row) => row.capacity(),
            Place::Room { room, .. } => room.len() / size_of::<T>(),
        }
    }

    /// Makes room for so many elements more, as appending does it.
    pub fn reserve(&mut self, more: usize) {
        if let (Place::Heap(row), false) = (&mut self.place, self.spill.is_on()) {
            return row.reserve(more);
        }
        let (length, capacity) = (self.len(), self.capacity());
        if length + more > capacity {
            self.reserve_exact(more.max(length));
        }
    }

    /// Makes room for so many elements more.
    pub fn reserve_exact(&mut self, more: usize) {
        let length = self.len();
        if length + more <= self.capacity() {
            return;
        }
        self.place = match (self.spill.file::<T>(length + more), std::mem::take(&mut self.place)) {
            (Some(mut room), old) => {
                cast_slice_mut(&mut room)[..length].copy_from_slice(old.elements());
                Place::Room { room, length }
            }
            (None, Place::Heap(mut row)) => {
                row.reserve_exact(more);
                Place::Heap(row)
            }
            (None, old) => match large::<T>(length + more) {
                Some(mut room) => {
                    cast_slice_mut(&mut room)[..length].copy_from_slice(old.elements());
                    Place::Room { room, length }
                }
                None => {
                    let mut row = Vec::with_capacity(length + more);
                    row.extend_from_slice(old.elements());
                    Place::Heap(row)
                }
            },
        };
    }

    /// Appends rows, one after the other; on all threads where they are long and there is room for
    /// them. Gives where each starts.
    pub fn extend_from_slices(&mut self, rows: &[&[T]]) -> Vec<usize>
    where
        T: Send + Sync,
    {
        let more: usize = rows.iter().map(|row| row.len()).sum();
        self.reserve(more);
        let mut end = self.len();
        let starts = rows
            .iter()
            .map(|row| {
                end += row.len();
                end - row.len()
            })
            .collect();
        match &mut self.place {
            Place::Room { room, length } if size_of::<T>() * more >= LEAST_APPENDED => {
                let free = &mut cast_slice_mut(room)[*length..end];
                let places = split(free, rows.iter().map(|row| row.len()));
                let copied = places.into_par_iter().zip(rows);
                copied.for_each(|(place, row)| place.copy_from_slice(row));
                *length = end;
            }
            _ => rows.iter().for_each(|row| self.extend_from_slice(row)),
        }
        starts
    }

    /// Appends an element.
    #[inline]
    pub fn push(&mut self, element: T) {
        match &mut self.place {
            Place::Heap(row) if row.len() < row.capacity() => row.push(element),
            _ => self.extend_from_slice(&[element]),
        }
    }

    /// Appends elements.
    #[inline]
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        self.reserve(elements.len());
        match &mut self.place {
            Place::Heap(row) => row.extend_from_slice(elements),
            Place::Room { room, length } => {
                let end = *length + elements.len();
                cast_slice_mut(room)[*length..end].copy_from_slice(elements);
                *length = end;
            }
        }
    }

    /// The row where it lies, to be read only.
    pub fn into_array(self) -> Array<T>
    where
        T: Send + Sync,
    {
        match self.place {
            Place::Heap(row) => Array::Owned(row),
            Place::Room { .. } => Array::Shared(Arc::new(self)),
        }
    }

    /// Keeps so many of the first elements.
    pub fn truncate(&mut self, most: usize) {
        match &mut self.place {
            Place::Heap(row) => row.truncate(most),
            Place::Room { length, .. } => *length = most.min(*length),
        }
    }
}

impl<T> Default for Place<T> {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl<T: Pod> Place<T> {
    #[inline]
    fn elements(&self) -> &[T] {
        match self {
            Self::Heap(row) => row,
            Self::Room { room, length } => &cast_slice(room)[..*length],
        }
    }
}

impl<T: Pod> Clone for SpillVec<T> {
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}

impl<T: Pod> Deref for SpillVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.place.elements()
    }
}

impl<T: Pod> DerefMut for SpillVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.place {
            Place::Heap(row) => row,
            Place::Room { room, length } => &mut cast_slice_mut(room)[..*length],
        }
    }
}

impl<T: Pod> AsRef<[T]> for SpillVec<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Pod> Extend<T> for SpillVec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        let elements = elements.into_iter();
        self.reserve(elements.size_hint().0);
        elements.for_each(|element| self.push(element));
    }
}

impl<T> Default for SpillVec<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for SpillVec<T> {
    fn from(row: Vec<T>) -> Self {
        Self { place: Place::Heap(row), spill: Spill::default() }
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for SpillVec<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(formatter)
    }
}

impl<T: Pod + PartialEq> PartialEq for SpillVec<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Pod + Eq> Eq for SpillVec<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in_file<T>(row: &SpillVec<T>) -> bool {
        row.spill.is_on() && matches!(row.place, Place::Room { .. })
    }

    /// Appends in steps of all lengths, and compares with a vector.
    fn grow(spill: &Spill, most: usize) -> SpillVec<u32> {
        let (mut row, mut expected) = (spill.row(), Vec::new());
        for step in (1..200_u32).cycle() {
            let more: Vec<u32> = (0..step * step).map(|number| number ^ step).collect();
            if step % 3 == 0 {
                row.extend_from_slice(&more);
            } else {
                row.extend(more.iter().copied());
            }
            expected.extend(more);
            if expected.len() > most {
                break;
            }
        }
        assert!(row[..] == expected);
        row.truncate(most);
        assert!(row[..] == expected[..most]);
        row[most / 2] = 7;
        assert_eq!(row.iter().filter(|&&element| element == 7).count(), {
            expected.truncate(most);
            expected[most / 2] = 7;
            expected.iter().filter(|&&element| element == 7).count()
        });
        row
    }

    #[test]
    fn large_rows_are_in_files_and_small_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::into_folder(folder.path());
        let least = LEAST_SPILLED / size_of::<u32>();
        assert!(is_in_file(&grow(&spill, 2 * least)));
        assert!(!is_in_file(&grow(&spill, least / 8)));
        assert!(!is_in_file(&grow(&Spill::default(), 2 * least)));
        assert!(is_in_file(&spill.filled(0_u32, least)));
        assert!(!is_in_file(&spill.filled(0_u32, least - 1)));
        let row = spill.collect((0..least as u32).map(|number| [number, 1]));
        assert!(is_in_file(&row) && row[least - 1] == [least as u32 - 1, 1]);
        assert!(row.clone() == row);
        let ones = spill.filled(1_u32, 3 * least);
        assert!(ones.len() == 3 * least && ones.iter().all(|&one| one == 1));
        let array = ones.into_array();
        assert!(matches!(array, Array::Shared(_)) && array.len() == 3 * least);
        // The folder shows nothing of them.
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn rows_are_appended_on_all_threads() {
        let folder = tempfile::tempdir().unwrap();
        let numbers: Vec<u32> = (0..LEAST_ROOM as u32).collect();
        let rows: Vec<&[u32]> = numbers.chunks(100_003).collect();
        for spill in [Spill::default(), Spill::into_folder(folder.path())] {
            let rooms = [spill.row(), spill.with_room(10), spill.with_room(3 * numbers.len())];
            for mut row in rooms {
                for _ in 0..3 {
                    let before = row.len();
                    let starts = row.extend_from_slices(&rows);
                    assert_eq!(starts[1], before + rows[0].len());
                    assert!(row[before..] == numbers);
                    row.push(7);
                }
                assert_eq!(row.len(), 3 * (numbers.len() + 1));
            }
        }
    }

    #[test]
    fn rows_whose_files_cannot_be_made_are_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::into_folder(&folder.path().join("none"));
        assert!(!is_in_file(&spill.filled(3_u8, 2 * LEAST_SPILLED)));
        assert!(!is_in_file(&grow(&spill, LEAST_SPILLED)));
    }
}
