//! A section made of rows: how long each is, and then the rows, each at a multiple of eight bytes. Rows are read where the
//! section lies: in a mapped archive, or in any memory that is shared.

use crate::usize_of;
use std::ops::Range;
use std::sync::Arc;

use crate::Array;
use crate::archive::wire::Reader;
use crate::error::{Error, Result};
use crate::packed::{Numbers, Packed};
use crate::spill::{Spill, SpillVec};

/// Rows start at multiples of this, counted from the start of the section.
const ALIGNMENT: usize = 8;
/// Bytes, numbers and bits a number: three fields of eight bytes.
const ENTRY: usize = 24;
/// More rows than any section has.
const MOST_ROWS: u64 = 64;

/// Puts rows together.
#[derive(Default)]
pub(super) struct RowsWriter<'r> {
    rows: Vec<(&'r [u8], u64, u64)>,
}

impl<'r> RowsWriter<'r> {
    pub(super) fn packed(&mut self, row: &'r Packed) {
        self.rows.push((row.as_bytes(), row.len() as u64, row.width().into()));
    }

    pub(super) fn bytes(&mut self, row: &'r [u8]) {
        self.rows.push((row, row.len() as u64, 8));
    }

    pub(super) fn numbers(&mut self, row: &'r Numbers) {
        let (small, before, large) = row.parts();
        self.bytes(small);
        self.packed(before);
        self.packed(large);
    }

    pub(super) fn to_bytes(&self, spill: &Spill) -> SpillVec<u8> {
        let padded = |row: &(&[u8], u64, u64)| row.0.len().next_multiple_of(ALIGNMENT);
        let bytes = self.rows.iter().map(padded).sum::<usize>();
        let mut section = spill.with_capacity(8 + ENTRY * self.rows.len() + bytes);
        section.extend_from_slice(&(self.rows.len() as u64).to_le_bytes());
        for &(bytes, length, width) in &self.rows {
            for field in [bytes.len() as u64, length, width] {
                section.extend_from_slice(&field.to_le_bytes());
            }
        }
        for (bytes, ..) in &self.rows {
            section.extend_from_slice(bytes);
            let padding = section.len().next_multiple_of(ALIGNMENT) - section.len();
            section.extend(std::iter::repeat_n(0, padding));
        }
        section
    }
}

/// Takes rows out of a section, one after the other.
pub(super) struct Rows {
    section: Arc<dyn AsRef<[u8]> + Send + Sync>,
    what: &'static str,
    /// Where the next row is in the section, its numbers, and bits a number: in order.
    rows: std::vec::IntoIter<(Range<usize>, u64, u64)>,
}

impl Rows {
    pub(super) fn new(section: Array<u8>, what: &'static str) -> Result<Self> {
        let bytes = &section[..];
        let mut reader = Reader::new(bytes, what);
        let count = reader.u64()?;
        if count > MOST_ROWS {
            return Err(reader.malformed(format!("{count} rows are too many")));
        }
        let mut at = 8 + ENTRY * usize_of(count);
        let mut rows = Vec::with_capacity(usize_of(count));
        for _ in 0..count {
            let (length_in_bytes, length, width) = (reader.u64()?, reader.u64()?, reader.u64()?);
            let end = usize::try_from(length_in_bytes)
                .ok()
                .and_then(|length| at.checked_add(length))
                .filter(|&end| end <= bytes.len());
            let Some(end) = end else {
                return Err(
                    reader.malformed(format!("a row of {length_in_bytes} bytes is outside of it"))
                );
            };
            rows.push((at..end, length, width));
            at = end.next_multiple_of(ALIGNMENT);
        }
        if at != bytes.len() {
            return Err(reader.malformed("its rows do not add up to its length"));
        }
        Ok(Self { section: section.into_shared(), what, rows: rows.into_iter() })
    }

    fn next(&mut self) -> Result<(Array<u8>, u64, u64)> {
        let missing = || Error::malformed(format!("{}: a row is missing", self.what));
        let (range, length, width) = self.rows.next().ok_or_else(missing)?;
        let row = Array::Shared(Arc::new(Row { section: self.section.clone(), range }));
        Ok((row, length, width))
    }

    pub(super) fn pass_over(&mut self, rows: usize) {
        self.rows.by_ref().take(rows).for_each(drop);
    }

    pub(super) fn packed(&mut self) -> Result<Packed> {
        let (bytes, length, width) = self.next()?;
        Packed::from_bytes(bytes, length, width)
    }

    pub(super) fn bytes(&mut self) -> Result<Array<u8>> {
        Ok(self.next()?.0)
    }

    pub(super) fn numbers(&mut self) -> Result<Numbers> {
        Numbers::from_parts(self.bytes()?, self.packed()?, self.packed()?)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        match self.rows.next() {
            None => Ok(()),
            Some(_) => Err(Error::malformed(format!("{}: it has rows left over", self.what))),
        }
    }
}

/// The bytes of a row.
struct Row {
    section: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl AsRef<[u8]> for Row {
    fn as_ref(&self) -> &[u8] {
        &(*self.section).as_ref()[self.range.clone()]
    }
}
