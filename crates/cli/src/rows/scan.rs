//! Whether text can be copied as it is: the question that nearly all of the time of formatting goes into,
//! so it is asked of eight bytes at a time. About a nanosecond for a word.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// Eight spaces, which no format minds.
const SPACES: u64 = ONES * 0x20;

/// Whether the bytes are UTF-8 and none of them is below `BELOW` (at most 0x80), or `A`, `B` or `C` (ASCII).
#[inline]
pub fn is_plain<const BELOW: u8, const A: u8, const B: u8, const C: u8>(bytes: &[u8]) -> bool {
    let mut special = 0;
    let mut high = 0;
    let mut look = |word: u64| {
        // The highest bit of a byte is set for a byte that is sought; above the first such byte it may be
        // set for others too, which changes nothing.
        let below = word.wrapping_sub(ONES * u64::from(BELOW)) & !word;
        let equal = |byte: u8| {
            let difference = word ^ (ONES * u64::from(byte));
            difference.wrapping_sub(ONES) & !difference
        };
        special |= below | equal(A) | equal(B) | equal(C);
        high |= word;
    };
    match bytes.last_chunk::<8>() {
        Some(last) => {
            // The last word may overlap the one before.
            bytes.as_chunks::<8>().0.iter().for_each(|&word| look(u64::from_le_bytes(word)));
            look(u64::from_le_bytes(*last));
        }
        None => look(short(bytes)),
    }
    special & HIGHS == 0 && (high & HIGHS == 0 || std::str::from_utf8(bytes).is_ok())
}

/// Fewer than eight bytes as a word, some of them twice where that is quicker, and spaces.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let four =
            u64::from(u16::from_le_bytes(*first)) << 16 | u64::from(u16::from_le_bytes(*last));
        SPACES << 32 | four
    } else if let [byte] = bytes {
        SPACES << 8 | u64::from(*byte)
    } else {
        SPACES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_in_every_place() {
        for length in 0..=33 {
            assert!(is_plain::<0x0e, b'\\', b',', b'"'>(&vec![b'a'; length]));
            for place in 0..length {
                for byte in 0..=255 {
                    let mut bytes = vec![b'~'; length];
                    bytes[place] = byte;
                    let expected = (0x0e..0x80).contains(&byte) && !b"\\,\"".contains(&byte);
                    let plain = is_plain::<0x0e, b'\\', b',', b'"'>(&bytes);
                    assert_eq!(plain, expected, "{byte} at {place} of {length}");
                }
            }
        }
    }

    #[test]
    fn utf_8_is_plain_and_nothing_else_above_ascii() {
        for text in ["é", "日本語", "naïve text of some length", "🙂"] {
            assert!(is_plain::<0x20, b'\\', b'"', b'"'>(text.as_bytes()));
            let mut broken = text.as_bytes().to_vec();
            broken.insert(0, 0xbf);
            assert!(!is_plain::<0x20, b'\\', b'"', b'"'>(&broken));
        }
        assert!(!is_plain::<0x20, b'\\', b'"', b'"'>("日本\"".as_bytes()));
        assert!(!is_plain::<0x20, b'\\', b'"', b'"'>(b"\xed\xa0\x80"));
    }
}
