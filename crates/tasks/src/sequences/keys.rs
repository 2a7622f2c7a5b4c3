//! Sequences of items packed into integers, the first item in the highest bits: integers compare as the sequences do.
//!
//! Keys are of 64, 128 or 256 bits, whichever is enough. What is kept in blocks by the million is often narrower than a key:
//! all but its highest bits, which a bucket has in common. So every width can be made of every other one.

use std::fmt::Debug;

use bytemuck::Pod;
use tadoc_core::Packing;

/// Bits of a tag.
pub(super) const TAG_BITS: u32 = 4;

/// 256 bits, the high half first.
pub(super) type Wide = [u128; 2];

/// A packed sequence, or a part of one.
pub(super) trait Key: Pod + Ord + Default + Debug + Send + Sync {
    /// Bits that it has.
    const BITS: u32;

    /// A key in which the lowest so many bits are set.
    fn mask(bits: u32) -> Self;

    /// The sequence with one more item of so many bits (at most 32) behind it, and what stood too far to the left cut off by a
    /// mask.
    fn push(self, bits: u32, item: u32, mask: Self) -> Self;

    /// The `width` bits (at most 32) above the lowest `shift` bits, of which there must be some.
    fn digit(self, shift: u32, width: u32) -> u32;

    /// The key with a number below 16 in its highest bits, which must be free.
    fn with_tag(self, tag: u32) -> Self;

    /// The number in its highest bits.
    #[inline]
    fn tag(self) -> u32 {
        self.digit(Self::BITS - TAG_BITS, TAG_BITS)
    }

    /// The bits that both have.
    fn and(self, other: Self) -> Self;

    /// The sum, which must fit.
    fn plus(self, other: Self) -> Self;

    /// A number with so many zero bits below it. Bits that do not fit are lost.
    fn shifted(number: u32, bits: u32) -> Self;

    /// The terms of a sequence, the last one first.
    #[inline]
    fn terms(self, packing: Packing) -> impl Iterator<Item = u32> {
        packing.terms(move |shift, bits| self.digit(shift, bits))
    }

    /// Whether it is a sequence of terms.
    #[inline]
    fn is_sequence(self, packing: Packing) -> bool {
        is_masked(self, packing.key_bits()) && self.terms(packing).all(|term| term < packing.items)
    }

    /// The same number in the widest form.
    fn wide(self) -> Wide;

    /// A number of the widest form, without the bits that do not fit.
    fn of_wide(wide: Wide) -> Self;

    /// The same number in another width, without the bits that do not fit.
    #[inline]
    fn to<L: Key>(self) -> L {
        L::of_wide(self.wide())
    }
}

/// The lowest so many bits.
#[inline]
fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

macro_rules! key_of_integer {
    ($integer:ty) => {
        impl Key for $integer {
            const BITS: u32 = Self::BITS;

            #[inline]
            fn mask(bits: u32) -> Self {
                mask(bits) as Self
            }

            #[inline]
            fn push(self, bits: u32, item: u32, mask: Self) -> Self {
                ((self << bits) | Self::from(item)) & mask
            }

            #[inline]
            fn digit(self, shift: u32, width: u32) -> u32 {
                ((self >> shift) & ((1 << width) - 1)) as u32
            }

            #[inline]
            fn with_tag(self, tag: u32) -> Self {
                self | Self::from(tag) << (Self::BITS - TAG_BITS)
            }

            #[inline]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline]
            fn shifted(number: u32, bits: u32) -> Self {
                Self::from(number).checked_shl(bits).unwrap_or(0)
            }

            #[inline]
            fn wide(self) -> Wide {
                [0, self as u128]
            }

            #[inline]
            fn of_wide(wide: Wide) -> Self {
                wide[1] as Self
            }
        }
    };
}

key_of_integer!(u64);
key_of_integer!(u128);

impl Key for Wide {
    const BITS: u32 = 256;

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

    #[inline]
    fn with_tag(self, tag: u32) -> Self {
        [self[0].with_tag(tag), self[1]]
    }

    #[inline]
    fn and(self, other: Self) -> Self {
        [self[0] & other[0], self[1] & other[1]]
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        let (low, carry) = self[1].overflowing_add(other[1]);
        [self[0] + other[0] + u128::from(carry), low]
    }

    #[inline]
    fn shifted(number: u32, bits: u32) -> Self {
        let number = u128::from(number);
        match bits {
            0 => [0, number],
            1..128 => [number >> (128 - bits), number << bits],
            _ => [number.checked_shl(bits - 128).unwrap_or(0), 0],
        }
    }

    #[inline]
    fn wide(self) -> Wide {
        self
    }

    #[inline]
    fn of_wide(wide: Wide) -> Self {
        wide
    }
}

/// Whether a key has nothing above its lowest so many bits.
#[inline]
pub(super) fn is_masked<K: Key>(key: K, bits: u32) -> bool {
    key.and(K::mask(bits)) == key
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
        let back: Vec<u32> = places.map(|place| key.digit(place * bits, bits)).collect();
        assert_eq!(back, items);
        // Cut in two and put together again, at every place.
        for low_bits in 0..bits * items.len() as u32 {
            let low = key.and(K::mask(low_bits));
            let width = (bits * items.len() as u32 - low_bits).min(16);
            let high = K::shifted(key.digit(low_bits, width), low_bits);
            let rest = K::mask(low_bits + width);
            assert_eq!(low.plus(high), key.and(rest));
        }
        let mut greater = items.to_vec();
        let last = greater.last_mut().unwrap();
        *last -= 1;
        let mut less = K::default();
        for &item in &greater {
            less = less.push(bits, item, mask);
        }
        assert!(less < key);
        assert_eq!(key.wide(), K::of_wide(key.wide()).wide());
    }

    #[test]
    fn items_are_packed_in_every_width() {
        packs::<u64>(21, &[7, 2_000_000, 3]);
        packs::<u64>(32, &[u32::MAX, u32::MAX - 1]);
        packs::<u128>(21, &[7, 2_000_000, 3]);
        packs::<u128>(25, &[30_000_000, 1, 2, 3, 4]);
        packs::<Wide>(21, &[7, 2_000_000, 3]);
        packs::<Wide>(32, &[u32::MAX, 1, 2, 3, 4, 5, 6, u32::MAX]);
    }

    #[test]
    fn tags_are_beside_the_items() {
        fn tagged<K: Key>() {
            let key = K::mask(K::BITS - TAG_BITS).with_tag(9);
            assert_eq!(key.tag(), 9);
            assert_eq!(key.digit(0, 32), u32::MAX);
        }
        tagged::<u64>();
        tagged::<u128>();
        tagged::<Wide>();
    }

    #[test]
    fn narrower_keys_lose_high_bits_alone() {
        let wide: Wide = [5, u128::MAX - 1];
        assert_eq!(wide.to::<u128>(), u128::MAX - 1);
        assert_eq!(wide.to::<u64>(), u64::MAX - 1);
        assert_eq!(77_u64.to::<Wide>(), [0, 77]);
    }
}
