//! Small changes of a row of bytes, whatever it is: what all mutations are made of. O(bytes) at most.

use tadoc_oracle::Random;

use crate::golden::coder::varint;

/// Numbers at which code goes wrong: borders of widths, signs and shifts.
const BORDERS: [u64; 24] = [
    0,
    1,
    2,
    7,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0xFFFF,
    0x1_0000,
    1 << 20,
    1 << 26,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
    0x1_0000_0000,
    1 << 40,
    (1 << 48) - 1,
    (1 << 57) - 1,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// A number near to another one or to a border of something.
pub fn number(random: &mut Random, was: u64) -> u64 {
    match random.below(8) {
        0 => was.wrapping_add(1),
        1 => was.wrapping_sub(1),
        2 => was ^ 1 << random.below(64),
        3 => was.wrapping_mul(2),
        4 => was / 2,
        5 => random.next_u64() >> random.below(64),
        6 => random.choose(&BORDERS).wrapping_sub(random.below(3)),
        _ => *random.choose(&BORDERS),
    }
}

/// A place in so many bytes; half of all are near the beginning or the end, where lengths and counts are.
pub fn place(random: &mut Random, length: usize) -> usize {
    let near = (length as u64).min(64);
    match random.below(4) {
        0 => random.below(near) as usize,
        1 => length - 1 - random.below(near) as usize,
        _ => random.below(length as u64) as usize,
    }
}

/// Changes bytes and leaves their number; the name of what was done.
pub fn in_place(bytes: &mut [u8], random: &mut Random) -> &'static str {
    if bytes.is_empty() {
        return "none";
    }
    let at = place(random, bytes.len());
    match random.below(10) {
        0..3 => {
            for _ in 0..1 + random.below(3) {
                let at = place(random, bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            "flip"
        }
        3..5 => {
            bytes[at] = number(random, bytes[at].into()) as u8;
            "byte"
        }
        5..8 => {
            word(bytes, at, random);
            "word"
        }
        8 => {
            let length = (1 + random.below(64) as usize).min(bytes.len() - at);
            let from = random.below((bytes.len() - length + 1) as u64) as usize;
            bytes.copy_within(from..from + length, at);
            "copy"
        }
        _ => {
            let length = (1 + random.below(600) as usize).min(bytes.len() - at);
            bytes[at..at + length].fill(*random.choose(&[0, 0, 0xFF]));
            "fill"
        }
    }
}

/// Overwrites the number of two, four or eight bytes around a place, mostly at a multiple of its width.
pub fn word(bytes: &mut [u8], at: usize, random: &mut Random) {
    let width = *random.choose(&[2_usize, 4, 4, 8, 8]);
    if bytes.len() < width {
        return;
    }
    let aligned = if random.below(4) == 0 { at } else { at / width * width };
    let at = aligned.min(bytes.len() - width);
    let mut was = [0; 8];
    was[..width].copy_from_slice(&bytes[at..at + width]);
    let now = number(random, u64::from_le_bytes(was)).to_le_bytes();
    bytes[at..at + width].copy_from_slice(&now[..width]);
}

/// Changes bytes, and maybe how many there are; the name of what was done.
pub fn any(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    if bytes.is_empty() {
        bytes.extend(some(random));
        return "insert";
    }
    let at = place(random, bytes.len());
    match random.below(12) {
        0 => {
            bytes.truncate(at);
            "truncate"
        }
        1 => {
            let more = some(random);
            bytes.splice(at..at, more);
            "insert"
        }
        2 => {
            let more = some(random);
            bytes.extend(more);
            "append"
        }
        3 => {
            let length = (1 + random.below(64) as usize).min(bytes.len() - at);
            bytes.drain(at..at + length);
            "delete"
        }
        4 => {
            let half = 1 + random.below(64) as usize;
            let end = (at + 2 * half).min(bytes.len());
            let middle = at + (end - at) / 2;
            bytes[at..end].rotate_left(middle - at);
            "swap"
        }
        5..7 => {
            let end = bytes[at..].iter().position(|byte| byte & 0x80 == 0);
            let end = end.map_or(bytes.len(), |length| at + length + 1).min(at + 10);
            let was = bytes[at..end]
                .iter()
                .rev()
                .fold(0_u64, |value, byte| value << 7 | u64::from(byte & 0x7F));
            bytes.splice(at..end, varint(number(random, was)));
            "varint"
        }
        _ => in_place(bytes, random),
    }
}

/// Some bytes: zeros, random ones or one again and again.
fn some(random: &mut Random) -> Vec<u8> {
    let length = *random.choose(&[1, 2, 4, 8, 30, 64, 512, 700, 4096]);
    match random.below(3) {
        0 => vec![0; length],
        1 => vec![random.next_u64() as u8; length],
        _ => (0..length).map(|_| random.next_u64() as u8).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_to_what_they_say() {
        let mut random = Random::new(1);
        for length in 0..200_usize {
            let original: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let mut bytes = original.clone();
            in_place(&mut bytes, &mut random);
            assert_eq!(bytes.len(), length);
            for _ in 0..20 {
                any(&mut bytes, &mut random);
            }
        }
    }
}
