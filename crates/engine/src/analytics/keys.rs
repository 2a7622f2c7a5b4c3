//! Sequences of items packed into integers, whose order is the order of the sequences.

use std::fmt::Debug;

use bytemuck::Pod;

/// Bits of a tag.
const TAG_BITS: u32 = 4;

/// A packed sequence.
pub(super) trait Key: Pod + Ord + Default + Debug + Send + Sync {
    /// Bits that it has.
    const BITS: u32;

    /// A key in which the lowest so many bits are set.
    fn mask(bits: u32) -> Self;

    /// The sequence with one more item of so many bits (at most 32) behind it, and what stood too far to
    /// the left cut off by a mask.
    fn push(self, bits: u32, item: u32, mask: Self) -> Self;

    /// The key with a number below 16 in its highest bits, which must be free. A key of `n - 1` items has them free
    /// if one of `n` items fits: an item has four bits or more, or all of them have few.
    fn with_tag(self, tag: u32) -> Self;

    /// The number in its highest bits.
    #[inline]
    fn tag(self) -> u32 {
        self.digit(Self::BITS - TAG_BITS, TAG_BITS)
    }

    /// Its lowest `bits` bits, which are at most 64.
    fn low(self, bits: u32) -> u64;

    /// A key of its lowest `bits` bits, and of those above them.
    fn of_parts(high: u32, low: u64, bits: u32) -> Self;

    /// Appends the key to bytes that [`Key::take`] reads.
    fn put(self, into: &mut Vec<u8>);

    /// Reads a key from its [`Key::BITS`] / 8 bytes.
    fn take(bytes: &[u8]) -> Self;

    /// The `width` bits (at most 32) above the lowest `shift` bits.
    fn digit(self, shift: u32, width: u32) -> u32;
}

/// The lowest so many bits.
fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

impl Key for u64 {
    const BITS: u32 = 64;

    fn with_tag(self, tag: u32) -> Self {
        self | Self::from(tag) << (Self::BITS - TAG_BITS)
    }

    #[inline]
    fn low(self, bits: u32) -> u64 {
        self & mask(bits) as Self
    }

    #[inline]
    fn of_parts(high: u32, low: u64, bits: u32) -> Self {
        // No high bits are left where the low ones are all.
        Self::from(high).checked_shl(bits).unwrap_or(0) | low
    }

    fn put(self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.to_le_bytes());
    }

    fn take(bytes: &[u8]) -> Self {
        Self::from_le_bytes(bytes.try_into().expect("the bytes of one key"))
    }

    fn mask(bits: u32) -> Self {
        mask(bits) as u64
    }

    #[inline]
    fn push(self, bits: u32, item: u32, mask: Self) -> Self {
        ((self << bits) | u64::from(item)) & mask
    }

    #[inline]
    fn digit(self, shift: u32, width: u32) -> u32 {
        ((self >> shift) & ((1 << width) - 1)) as u32
    }
}

impl Key for u128 {
    const BITS: u32 = 128;

    fn with_tag(self, tag: u32) -> Self {
        self | Self::from(tag) << (Self::BITS - TAG_BITS)
    }

    #[inline]
    fn low(self, bits: u32) -> u64 {
        (self & mask(bits) as Self) as u64
    }

    #[inline]
    fn of_parts(high: u32, low: u64, bits: u32) -> Self {
        // No high bits are left where the low ones are all.
        Self::from(high).checked_shl(bits).unwrap_or(0) | Self::from(low)
    }

    fn put(self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.to_le_bytes());
    }

    fn take(bytes: &[u8]) -> Self {
        Self::from_le_bytes(bytes.try_into().expect("the bytes of one key"))
    }

    fn mask(bits: u32) -> Self {
        mask(bits)
    }

    #[inline]
    fn push(self, bits: u32, item: u32, mask: Self) -> Self {
        ((self << bits) | u128::from(item)) & mask
    }

    #[inline]
    fn digit(self, shift: u32, width: u32) -> u32 {
        ((self >> shift) & ((1 << width) - 1)) as u32
    }
}

/// 256 bits, the high half first.
pub(super) type Wide = [u128; 2];

impl Key for Wide {
    const BITS: u32 = 256;

    fn with_tag(self, tag: u32) -> Self {
        [self[0].with_tag(tag), self[1]]
    }

    #[inline]
    fn low(self, bits: u32) -> u64 {
        self[1].low(bits)
    }

    #[inline]
    fn of_parts(high: u32, low: u64, bits: u32) -> Self {
        [0, u128::of_parts(high, low, bits)]
    }

    fn put(self, into: &mut Vec<u8>) {
        self[0].put(into);
        self[1].put(into);
    }

    fn take(bytes: &[u8]) -> Self {
        [u128::take(&bytes[..16]), u128::take(&bytes[16..])]
    }

    fn mask(bits: u32) -> Self {
        [mask(bits.saturating_sub(128)), mask(bits)]
    }

    #[inline]
    fn push(self, bits: u32, item: u32, mask: Self) -> Self {
        let high = (self[0] << bits) | (self[1] >> (128 - bits));
        let low = (self[1] << bits) | u128::from(item);
        [high & mask[0], low & mask[1]]
    }

    #[inline]
    fn digit(self, shift: u32, width: u32) -> u32 {
        let bits = match shift {
            0 => self[1],
            1..128 => (self[1] >> shift) | (self[0] << (128 - shift)),
            _ => self[0] >> (shift - 128),
        };
        (bits & mask(width)) as u32
    }
}

/// Bits that a number below `count` needs, at least one.
pub(super) fn bits_for(count: u32) -> u32 {
    (u32::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packs<K: Key>(bits: u32, items: &[u32]) {
        let mask = K::mask(bits * items.len() as u32);
        // What stood before is cut off.
        let mut key = K::default().push(bits, 1, mask);
        for &item in items {
            key = key.push(bits, item, mask);
        }
        let places = (0..items.len() as u32).rev();
        let unpacked: Vec<u32> = places.map(|place| key.digit(place * bits, bits)).collect();
        assert_eq!(unpacked, items);
        let mut bytes = Vec::new();
        key.put(&mut bytes);
        assert_eq!((K::take(&bytes), bytes.len() as u32 * 8), (key, K::BITS));
        if K::BITS <= 128 {
            let low = (bits * items.len() as u32).min(64) - 20;
            let high = key.digit(low, 20.min(K::BITS - low));
            let whole = bits * items.len() as u32 <= low + 20;
            assert!(!whole || K::of_parts(high, key.low(low), low) == key);
        }
        let mask = K::mask(bits * (items.len() as u32 - 1));
        let shorter = items[1..].iter().fold(K::default(), |key, &item| key.push(bits, item, mask));
        let tagged = shorter.with_tag(9);
        assert_eq!((tagged.tag(), tagged.digit(0, bits)), (9, items[items.len() - 1]));
    }

    #[test]
    fn items_come_back() {
        packs::<u64>(21, &[5, 2_097_151, 0]);
        packs::<u64>(32, &[u32::MAX, 7]);
        packs::<u128>(32, &[u32::MAX, 7, 0, 9]);
        packs::<u128>(25, &[1, 2, 3, 4, 33_554_431]);
        packs::<Wide>(32, &[1, 2, 3, 4, u32::MAX, 6, 7, u32::MAX]);
        packs::<Wide>(27, &[9, 2, 3, 4, 100_000_000, 6]);
    }

    #[test]
    fn order_is_that_of_the_sequences() {
        let key = |items: [u32; 6]| {
            items.iter().fold(Wide::default(), |key, &item| key.push(30, item, Wide::mask(180)))
        };
        assert!(key([1, 2, 3, 4, 5, 6]) < key([1, 2, 3, 4, 6, 0]));
        assert!(key([0, 9, 9, 9, 9, 9]) < key([1, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn bits() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(bits_for), [1, 1, 1, 2, 2, 3]);
        assert_eq!(bits_for(u32::MAX), 32);
    }
}
