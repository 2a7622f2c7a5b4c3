//! The small change of the format: fixed and variable-length integers, read with bounds checked.

use crate::error::{Error, Result};

/// Reads a section from its start to its end. Every read says what it was after if it fails.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`, which are called `what` in errors.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    /// Takes the next `length` bytes.
    pub(crate) fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        match usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length)) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => Err(self.malformed(format!(
                "{length} bytes are announced where {} are left",
                self.bytes.len()
            ))),
        }
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes were taken")))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes were taken")))
    }

    /// An unsigned LEB128 integer of at most 64 bits.
    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let Some((&byte, rest)) = self.bytes.split_first() else {
                return Err(self.malformed("it ends inside of a number"));
            };
            self.bytes = rest;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.malformed("a number has more than 64 bits"))
    }

    /// A varint that must not pass `limit`.
    pub(crate) fn bounded(&mut self, limit: u64, of: &str) -> Result<u64> {
        let value = self.varint()?;
        if value > limit {
            return Err(self.malformed(format!("{value} {of}, where at most {limit} can be")));
        }
        Ok(value)
    }

    /// A varint of at most 32 bits that must not pass `limit`.
    pub(crate) fn bounded_u32(&mut self, limit: u32, of: &str) -> Result<u32> {
        let value = self.bounded(limit.into(), of)?;
        Ok(u32::try_from(value).expect("it is within a limit of 32 bits"))
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Fails unless everything was read.
    pub(crate) fn finish(self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        Err(self.malformed(format!("{} bytes follow its end", self.bytes.len())))
    }

    /// An error about this section.
    pub(crate) fn malformed(&self, what: impl std::fmt::Display) -> Error {
        Error::malformed(format!("{}: {what}", self.what))
    }
}

/// Appends an unsigned LEB128 integer.
#[expect(clippy::cast_possible_truncation, reason = "the lowest seven bits are meant")]
pub(crate) fn put_varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Folds the sign into the lowest bit: 0, -1, 1, -2 become 0, 1, 2, 3.
#[expect(clippy::cast_sign_loss, reason = "the bits are meant, not the number")]
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[expect(clippy::cast_possible_wrap, reason = "half of it, and one bit, are below 2^63")]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_and_too_long_ones_are_refused() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut reader = Reader::new(&bytes, "test");
            assert_eq!(reader.varint().unwrap(), value);
            reader.finish().unwrap();
            assert!(Reader::new(&bytes[..bytes.len() - 1], "test").varint().is_err());
        }
        assert!(Reader::new(&[0xFF; 11], "test").varint().is_err());
        assert!(
            Reader::new(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], "t")
                .varint()
                .is_err()
        );
    }

    #[test]
    fn zigzag_round_trips() {
        for value in [0, 1, -1, 5, -5, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
