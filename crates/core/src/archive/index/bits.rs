//! Numbers of any number of bits, one behind the other; the lowest bit first.

use crate::spill::{Spill, SpillVec};

/// Appends numbers.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: SpillVec<u8>,
    pending: u64,
    bits: u32,
}

impl BitWriter {
    /// Nothing, where `spill` says.
    pub(super) fn spilling(spill: &Spill) -> Self {
        Self { bytes: spill.row(), ..Self::default() }
    }

    /// Where the next bit goes.
    pub(super) fn position(&self) -> u64 {
        8 * self.bytes.len() as u64 + u64::from(self.bits)
    }

    /// The lowest bits of a number, at most 56.
    #[expect(clippy::cast_possible_truncation, reason = "the lowest byte is meant")]
    pub(super) fn put(&mut self, number: u64, bits: u32) {
        debug_assert!(bits <= 56 && number >> bits == 0, "{number} in {bits} bits");
        self.pending |= number << self.bits;
        self.bits += bits;
        while self.bits >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.bits -= 8;
        }
    }

    /// So many zeros and a one.
    #[expect(clippy::cast_possible_truncation, reason = "they are fewer than 32")]
    pub(super) fn put_unary(&mut self, mut zeros: u64) {
        while zeros >= 32 {
            self.put(0, 32);
            zeros -= 32;
        }
        self.put(1 << zeros, zeros as u32 + 1);
    }

    /// A number of 1 or above by Elias' gamma code: its length in unary, and it without its highest bit.
    pub(super) fn put_gamma(&mut self, number: u64) {
        let bits = number.ilog2();
        self.put_unary(bits.into());
        let rest = number & !(1 << bits);
        let low = bits.min(32);
        self.put(rest & ((1 << low) - 1), low);
        self.put(rest >> low, bits - low);
    }

    /// By Rice's code: what is above the lowest `low` bits in unary, and those as they are.
    pub(super) fn put_rice(&mut self, number: u64, low: u32) {
        self.put_unary(number >> low);
        self.put(number & ((1 << low) - 1), low);
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lowest byte is meant")]
    pub(super) fn finish(mut self) -> SpillVec<u8> {
        if self.bits > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}

/// Reads numbers from a position on. Behind the end there are zeros; a code that is none there gives `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    position: u64,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8], position: u64) -> Self {
        Self { bytes, position }
    }

    #[cfg(test)]
    fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn skip(&mut self, bits: u64) {
        self.position = self.position.saturating_add(bits);
    }

    /// The next 57 bits or more.
    #[inline]
    fn window(&self) -> u64 {
        let start = (self.position / 8) as usize;
        let eight = match self.bytes.get(start..start.saturating_add(8)) {
            Some(eight) => u64::from_le_bytes(eight.try_into().expect("eight bytes")),
            None => self.last(start),
        };
        eight >> (self.position % 8)
    }

    #[cold]
    fn last(&self, start: usize) -> u64 {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(eight)
    }

    /// So many bits, at most 56.
    #[inline]
    pub(super) fn take(&mut self, bits: u32) -> u64 {
        let number = self.window() & ((1 << bits) - 1);
        self.position = self.position.saturating_add(u64::from(bits));
        number
    }

    #[inline]
    pub(super) fn unary(&mut self) -> Option<u64> {
        let mut zeros = 0;
        loop {
            let window = self.window();
            let here = window.trailing_zeros();
            if here < 57 {
                self.position = self.position.saturating_add(u64::from(here) + 1);
                return Some(zeros + u64::from(here));
            }
            if self.position / 8 >= self.bytes.len() as u64 {
                return None;
            }
            zeros += 57;
            self.position += 57;
        }
    }

    #[inline]
    pub(super) fn gamma(&mut self) -> Option<u64> {
        let bits = u32::try_from(self.unary()?).ok().filter(|&bits| bits < 64)?;
        let low = bits.min(32);
        let rest = self.take(low);
        Some(1 << bits | self.take(bits - low) << low | rest)
    }

    #[inline]
    pub(super) fn rice(&mut self, low: u32) -> Option<u64> {
        let high = self.unary()?;
        (high < 1 << 31).then(|| high << low | self.take(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_come_back(numbers in prop::collection::vec((any::<u64>(), 0..64_u32), 1..100), low in 0..20_u32) {
            let numbers: Vec<u64> = numbers.into_iter().map(|(number, shift)| number >> shift).collect();
            let mut writer = BitWriter::default();
            for &number in &numbers {
                writer.put_gamma(number.max(1));
                writer.put_rice(number % (1 << (low + 7)), low);
                writer.put(number >> 8, 56);
            }
            let end = writer.position();
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes, 0);
            for &number in &numbers {
                prop_assert_eq!(reader.gamma(), Some(number.max(1)));
                prop_assert_eq!(reader.rice(low), Some(number % (1 << (low + 7))));
                prop_assert_eq!(reader.take(56), number >> 8);
            }
            prop_assert_eq!(reader.position(), end);
        }
    }

    #[test]
    fn behind_the_end_there_is_nothing() {
        let mut reader = BitReader::new(&[0; 3], 5);
        assert_eq!(reader.unary(), None);
        assert_eq!(BitReader::new(&[], 1 << 40).gamma(), None);
        assert_eq!(BitReader::new(&[0xFF], 100).take(20), 0);
        // 70 zeros and a one are no gamma code.
        let mut writer = BitWriter::default();
        writer.put_unary(70);
        assert_eq!(BitReader::new(&writer.finish(), 0).gamma(), None);
    }
}
