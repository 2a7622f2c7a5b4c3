//! Numbers that are kept in no more bits than they need, and read one by one in constant time.
//!
//! [`Packed`] gives every number of a row the same number of bits: a read is one load of eight bytes, a shift and a
//! mask. [`Numbers`] is for rows of which most are small: a byte each, and those of 255 and above apart; a read of such a
//! one counts the marks before it in its group of 64.

use crate::Array;
use crate::error::{Error, Result};
use crate::spill::Spill;
use crate::usize_of;

/// The widest number that can be packed: with up to seven bits before it, it must fit eight bytes.
pub const WIDEST: u32 = 57;

/// Bytes behind the last number, so that eight can be read from anywhere.
const PADDING: usize = 8;

/// How many bits a number needs.
pub fn width_of(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}

/// Asks for the memory in which an element is, so that it is there when it is read soon; nothing happens if there is none at that
/// place.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction. It reads nothing and cannot fail, whatever the address is,
        // and this one is that of an element.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// A row of numbers of the same number of bits each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packed {
    bytes: Array<u8>,
    width: u32,
    length: usize,
}

impl Packed {
    /// How many bytes so many numbers take, or `None` if there are too many or they are too wide.
    fn bytes_for(length: u64, width: u32) -> Option<u64> {
        if width > WIDEST {
            return None;
        }
        let bits = length.checked_mul(width.into())?;
        bits.div_ceil(8).checked_add(PADDING as u64)
    }

    /// Packs numbers, none of which is above `most`.
    ///
    /// # Panics
    /// If `most` has more than [`WIDEST`] bits.
    pub fn new(numbers: impl ExactSizeIterator<Item = u64>, most: u64) -> Self {
        Self::spilling(numbers, most, &Spill::default())
    }

    /// The same, where `spill` says.
    ///
    /// # Panics
    /// As [`Packed::new`].
    #[expect(clippy::cast_possible_truncation, reason = "the lowest 64 bits are meant")]
    pub fn spilling(numbers: impl ExactSizeIterator<Item = u64>, most: u64, spill: &Spill) -> Self {
        let (width, length) = (width_of(most), numbers.len());
        let size = Self::bytes_for(length as u64, width).expect("numbers that can be packed");
        let mut bytes = spill.with_capacity(usize_of(size));
        // What is not yet written, from the lowest bit on.
        let (mut pending, mut bits) = (0_u128, 0);
        for number in numbers {
            debug_assert!(number <= most, "{number} is above {most}");
            pending |= u128::from(number) << bits;
            bits += width;
            if bits >= 64 {
                bytes.extend_from_slice(&(pending as u64).to_le_bytes());
                pending >>= 64;
                bits -= 64;
            }
        }
        bytes.extend_from_slice(&pending.to_le_bytes()[..bits.div_ceil(8) as usize]);
        bytes.extend(std::iter::repeat_n(0, usize_of(size) - bytes.len()));
        Self { bytes: bytes.into_array(), width, length }
    }

    /// Numbers that were packed before: `bytes` is what [`Packed::as_bytes`] gave.
    ///
    /// # Errors
    /// If there are other bytes than so many numbers of that width take.
    pub fn from_bytes(bytes: Array<u8>, length: u64, width: u64) -> Result<Self> {
        let width = u32::try_from(width).unwrap_or(u32::MAX);
        if Self::bytes_for(length, width) != Some(bytes.len() as u64) {
            let found = bytes.len();
            return Err(Error::malformed(format!(
                "{length} numbers of {width} bits are not {found} bytes"
            )));
        }
        Ok(Self { bytes, width, length: usize_of(length) })
    }

    /// The numbers as they are stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bits of each number.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The numbers for loops in which every step counts.
    #[inline]
    pub fn slice(&self) -> PackedSlice<'_> {
        PackedSlice {
            bytes: &self.bytes,
            width: self.width as usize,
            mask: (1 << self.width) - 1,
            length: self.length,
        }
    }

    /// One of the numbers.
    ///
    /// # Panics
    /// If there is none at that place.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.slice().get(index)
    }
}

/// The numbers of a [`Packed`], wherever they lie.
#[derive(Debug, Clone, Copy)]
pub struct PackedSlice<'p> {
    bytes: &'p [u8],
    width: usize,
    mask: u64,
    length: usize,
}

impl PackedSlice<'_> {
    /// Asks for the memory in which a number is; nothing happens if there is none at that place.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.bytes, index * self.width / 8);
    }

    /// One of the numbers.
    ///
    /// # Panics
    /// If there is none at that place.
    #[inline(always)]
    pub fn get(self, index: usize) -> u64 {
        assert!(index < self.length, "number {index} of {}", self.length);
        let bit = index * self.width;
        let start = bit / 8;
        let eight = self.bytes[start..start + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(eight) >> (bit % 8) & self.mask
    }

    /// How many numbers there are.
    #[inline]
    pub fn len(self) -> usize {
        self.length
    }

    /// Whether there is no number.
    pub fn is_empty(self) -> bool {
        self.length == 0
    }
}

/// Numbers that share a count of the large ones before them.
const GROUP: usize = 64;
/// Stands for a number that is kept apart.
const LARGE: u8 = u8::MAX;

/// A row of numbers of which most are below 255.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbers {
    small: Array<u8>,
    /// For each group, how many large ones are before it.
    before: Packed,
    large: Packed,
    /// For each group, a bit for each large one: derived, and not stored.
    marks: Vec<u64>,
}

/// A bit for each large number of a group.
fn marks_of(group: &[u8]) -> u64 {
    group.iter().rev().fold(0, |marks, &number| marks << 1 | u64::from(number == LARGE))
}

impl Numbers {
    /// Takes numbers over.
    ///
    /// # Panics
    /// If one has more than [`WIDEST`] bits.
    pub fn new(numbers: impl Iterator<Item = u64>) -> Self {
        Self::spilling(numbers, &Spill::default())
    }

    /// The same, where `spill` says.
    ///
    /// # Panics
    /// As [`Numbers::new`].
    pub fn spilling(numbers: impl Iterator<Item = u64>, spill: &Spill) -> Self {
        let mut small = spill.with_capacity(numbers.size_hint().0);
        let (mut before, mut large) = (spill.row(), spill.row());
        for number in numbers {
            if small.len().is_multiple_of(GROUP) {
                before.push(large.len() as u64);
            }
            small.push(u8::try_from(number).unwrap_or(LARGE));
            if number >= LARGE.into() {
                large.push(number);
            }
        }
        let count = large.len() as u64;
        let most = large.iter().copied().max().unwrap_or(0);
        Self {
            marks: small.chunks(GROUP).map(marks_of).collect(),
            small: small.into_array(),
            before: Packed::spilling(before.iter().copied(), count, spill),
            large: Packed::spilling(large.iter().copied(), most, spill),
        }
    }

    /// Puts together what [`Numbers::parts`] gave.
    ///
    /// # Errors
    /// If the large ones are not those that the small ones announce.
    pub fn from_parts(small: Array<u8>, before: Packed, large: Packed) -> Result<Self> {
        let wrong = || Error::malformed("large numbers are not where they are announced");
        if before.len() != small.len().div_ceil(GROUP) {
            return Err(wrong());
        }
        let marks: Vec<u64> = small.chunks(GROUP).map(marks_of).collect();
        let mut count = 0;
        for (group, marks) in marks.iter().enumerate() {
            if before.get(group) != count {
                return Err(wrong());
            }
            count += u64::from(marks.count_ones());
        }
        if count != large.len() as u64 {
            return Err(wrong());
        }
        Ok(Self { small, before, large, marks })
    }

    /// The small numbers, how many large ones are before each group, and the large ones.
    pub fn parts(&self) -> (&[u8], &Packed, &Packed) {
        (&self.small, &self.before, &self.large)
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.small.len()
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.small.is_empty()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        let stored = self.before.as_bytes().len() + self.large.as_bytes().len();
        self.small.len() + stored + self.derived_bytes()
    }

    /// Bytes of that which are derived, and on the heap wherever the numbers lie.
    pub fn derived_bytes(&self) -> usize {
        8 * self.marks.len()
    }

    /// The numbers for loops in which every step counts.
    #[inline]
    pub fn slice(&self) -> NumbersSlice<'_> {
        NumbersSlice {
            small: &self.small,
            before: self.before.slice(),
            large: self.large.slice(),
            marks: &self.marks,
        }
    }

    /// One of the numbers.
    ///
    /// # Panics
    /// If there is none at that place.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.slice().get(index)
    }
}

/// The numbers of a [`Numbers`], wherever they lie.
#[derive(Debug, Clone, Copy)]
pub struct NumbersSlice<'n> {
    small: &'n [u8],
    before: PackedSlice<'n>,
    large: PackedSlice<'n>,
    marks: &'n [u64],
}

impl NumbersSlice<'_> {
    /// How many numbers there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.small.len()
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.small.is_empty()
    }

    /// One of the numbers.
    ///
    /// # Panics
    /// If there is none at that place.
    #[inline(always)]
    pub fn get(&self, index: usize) -> u64 {
        match self.small[index] {
            LARGE => self.large(index),
            small => small.into(),
        }
    }

    #[inline(never)]
    fn large(&self, index: usize) -> u64 {
        let group = index / GROUP;
        let before = self.marks[group] & ((1 << (index % GROUP)) - 1);
        self.large.get(usize_of(self.before.get(group)) + before.count_ones() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_numbers_come_back(numbers in prop::collection::vec(any::<u64>(), 0..200), width in 0..=WIDEST) {
            let most = (1_u64 << width) - 1;
            let numbers: Vec<u64> = numbers.into_iter().map(|number| number & most).collect();
            let packed = Packed::new(numbers.iter().copied(), most);
            prop_assert_eq!(packed.width(), width);
            let again = Packed::from_bytes(packed.as_bytes().to_vec().into(), numbers.len() as u64, width.into()).unwrap();
            prop_assert_eq!(&packed, &again);
            let read: Vec<u64> = (0..packed.len()).map(|index| again.get(index)).collect();
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn small_and_large_numbers_come_back(numbers in prop::collection::vec(prop_oneof![0..300_u64, 0..1_u64 << 50], 0..400)) {
            let row = Numbers::new(numbers.iter().copied());
            let (small, before, large) = row.parts();
            let again = Numbers::from_parts(small.to_vec().into(), before.clone(), large.clone()).unwrap();
            let read: Vec<u64> = (0..again.len()).map(|index| again.get(index)).collect();
            prop_assert_eq!(read, numbers);
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let packed = Packed::new([1, 2, 3].into_iter(), 3);
        let bytes = || Array::from(packed.as_bytes().to_vec());
        assert!(Packed::from_bytes(bytes(), 3, 2).is_ok());
        assert!(Packed::from_bytes(bytes(), 300, 2).is_err());
        assert!(Packed::from_bytes(bytes(), 0, 58).is_err());
        assert!(Packed::from_bytes(bytes(), u64::MAX, 57).is_err());
        let row = Numbers::new([1, 255, 3, 700].into_iter());
        let (small, before, large) = row.parts();
        let mut other = small.to_vec();
        other[0] = 255;
        assert!(Numbers::from_parts(other.into(), before.clone(), large.clone()).is_err());
        assert!(
            Numbers::from_parts(small.to_vec().into(), Packed::default(), large.clone()).is_err()
        );
    }
}
