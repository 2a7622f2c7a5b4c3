//! Sections of an archive as fields that can be changed one by one: numbers, lists and Zstandard frames, with
//! lengths that follow. Written from sections 4 to 8 of docs/format.md, for sections that are whole. O(bytes).

use tadoc_oracle::Random;

use super::tweak;
use crate::golden::coder::{list, varint};

/// A frame that unpacks to more is left packed.
const LARGEST_FRAME: usize = 16 << 20;

/// A part of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    Number(u64),
    List(Vec<u64>),
    Bytes(Vec<u8>),
    /// What a frame unpacks to; the number before it is the frame's length.
    Frame(Vec<u8>),
    /// A block of a dictionary: what its frame unpacks to, and its packed digits. The lists of lengths before it follow.
    Block(Vec<u8>, Vec<u8>),
}

/// The lists of a dictionary that tell the lengths of its blocks, by their places among its fields.
const FRAME_BYTES: usize = 4;
const UNPACKED_BYTES: usize = 5;
const DIGIT_BYTES: usize = 6;

/// The fields of a section; `None` where its kind has none, or it is not whole.
pub fn parse(kind: &[u8; 4], bytes: &[u8]) -> Option<Vec<Field>> {
    let mut reader = Reader(bytes);
    let mut fields = Vec::new();
    match kind {
        b"INFO" => {
            for _ in 0..3 {
                let length = reader.number()?;
                fields.push(Field::Number(length));
                fields.push(Field::Bytes(reader.take(length as usize)?.to_vec()));
            }
            while !reader.0.is_empty() {
                fields.push(Field::Number(reader.number()?));
            }
        }
        b"DOCS" => {
            fields.push(Field::Number(reader.number()?));
            fields.push(Field::List(reader.list()?));
            fields.push(Field::List(reader.list()?));
            let length = reader.number()? as usize;
            fields.push(Field::Frame(unpacked(reader.take(length)?)?));
            for _ in 0..4 {
                fields.push(Field::List(reader.list()?));
            }
            fields.push(Field::Bytes(reader.0.to_vec()));
        }
        b"DICT" => {
            fields.extend([Field::Number(reader.number()?), Field::Number(reader.number()?)]);
            for _ in 0..5 {
                fields.push(Field::List(reader.list()?));
            }
            let lengths = |place: usize| match &fields[place] {
                Field::List(lengths) => lengths.clone(),
                _ => Vec::new(),
            };
            let (frames, digits) = (lengths(FRAME_BYTES), lengths(DIGIT_BYTES));
            for _ in &frames {
                let length = reader.number()?;
                fields.push(Field::Number(length));
                fields.push(Field::Bytes(reader.take(length as usize)?.to_vec()));
            }
            for (&frame, &digits) in frames.iter().zip(&digits) {
                let frame = unpacked(reader.take(frame as usize)?)?;
                fields.push(Field::Block(frame, reader.take(digits as usize)?.to_vec()));
            }
        }
        b"ROOT" => fields.push(Field::List(reader.list()?)),
        b"ITEM" => {
            fields.extend([Field::Number(reader.number()?), Field::Number(reader.number()?)]);
            fields.push(Field::Bytes(reader.0.to_vec()));
        }
        b"SYMB" | b"SYMD" | b"SYMX" | b"CNTW" => {
            fields.push(Field::Number(reader.number()?));
            fields.push(Field::Bytes(reader.0.to_vec()));
        }
        _ => return None,
    }
    Some(fields)
}

/// The section that fields make. With `follow`, lengths of frames, blocks and digits are those that they have.
pub fn write(fields: &[Field], follow: bool) -> Vec<u8> {
    let mut fields = fields.to_vec();
    let frames: Vec<(Vec<u8>, u64, u64)> = fields
        .iter()
        .filter_map(|field| match field {
            Field::Block(text, digits) => {
                Some((packed(text), text.len() as u64, digits.len() as u64))
            }
            _ => None,
        })
        .collect();
    if follow && !frames.is_empty() {
        let lengths = |of: fn(&(Vec<u8>, u64, u64)) -> u64| frames.iter().map(of).collect();
        fields[FRAME_BYTES] = Field::List(lengths(|(frame, _, _)| frame.len() as u64));
        fields[UNPACKED_BYTES] = Field::List(lengths(|&(_, text, _)| text));
        fields[DIGIT_BYTES] = Field::List(lengths(|&(_, _, digits)| digits));
    }
    let mut frames = frames.into_iter();
    let mut bytes = Vec::new();
    for field in &fields {
        match field {
            Field::Number(number) => bytes.extend(varint(*number)),
            Field::List(values) => bytes.extend(list(values)),
            Field::Bytes(part) => bytes.extend(part),
            Field::Frame(text) => {
                let frame = packed(text);
                bytes.extend(varint(frame.len() as u64));
                bytes.extend(frame);
            }
            Field::Block(_, digits) => {
                bytes.extend(frames.next().expect("every block has a frame").0);
                bytes.extend(digits);
            }
        }
    }
    bytes
}

/// Changes a field; the name of what was done.
pub fn mutate(fields: &mut [Field], random: &mut Random) -> &'static str {
    let place = random.below(fields.len() as u64) as usize;
    match &mut fields[place] {
        Field::Number(number) => {
            *number = tweak::number(random, *number);
            "number"
        }
        Field::List(values) => {
            mutate_list(values, random);
            "list"
        }
        Field::Bytes(bytes) => {
            tweak::any(bytes, random);
            "bytes"
        }
        Field::Frame(text) => {
            mutate_text(text, random);
            "frame"
        }
        Field::Block(text, digits) => {
            if digits.is_empty() || random.below(4) > 0 {
                mutate_text(text, random);
            } else {
                tweak::any(digits, random);
            }
            "frame"
        }
    }
}

fn mutate_list(values: &mut Vec<u64>, random: &mut Random) {
    let length = values.len();
    if length == 0 {
        values.push(random.below(4));
        return;
    }
    let at = random.below(length as u64) as usize;
    match random.below(8) {
        0 => values.truncate(at),
        1 => values.push(tweak::number(random, values[at])),
        2 => values.swap(at, length - 1),
        3 => {
            let value = values[at];
            values.insert(at, value);
        }
        4 => {
            // Much of the same costs next to nothing when it is coded.
            let value = tweak::number(random, values[at]);
            let more = *random.choose(&[100_usize, 10_000, 200_000]);
            values.extend(std::iter::repeat_n(value, more));
        }
        _ => values[at] = tweak::number(random, values[at]),
    }
}

fn mutate_text(text: &mut Vec<u8>, random: &mut Random) {
    if random.below(12) == 0 {
        let byte = *random.choose(&[b'a', 0, 0xFF, 30, 25]);
        let more = *random.choose(&[1_usize << 16, 1 << 20, 1 << 23]);
        let at = random.below(text.len() as u64 + 1) as usize;
        text.splice(at..at, std::iter::repeat_n(byte, more));
    } else {
        tweak::any(text, random);
    }
}

pub fn unpacked(frame: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::decompress(frame, LARGEST_FRAME).ok()
}

pub fn packed(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 3).expect("compressing in memory cannot fail")
}

/// Takes bytes from a section, one after the other.
pub struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    pub fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A list of integers (4.3).
    pub fn list(&mut self) -> Option<Vec<u64>> {
        let count = self.number()?;
        if count == 0 {
            return Some(Vec::new());
        }
        let mut classes = Vec::new();
        let (mut class, mut start) = (0, 0);
        for _ in 0..self.number()? {
            class += self.number()?;
            let frequency = self.number()?;
            classes.push((class, start, frequency));
            (class, start) = (class + 1, start + frequency);
        }
        let length = self.number()? as usize;
        let mut stream = Stream::new(self.take(length)?)?;
        (0..count).map(|_| stream.value(&classes)).collect()
    }
}

/// A stream of rANS (4.2).
struct Stream<'b> {
    words: std::slice::Chunks<'b, u8>,
    state: u64,
}

impl<'b> Stream<'b> {
    fn new(bytes: &'b [u8]) -> Option<Self> {
        let mut stream = Self { words: bytes.chunks(4), state: 0 };
        stream.state = stream.word()? << 32 | stream.word()?;
        Some(stream)
    }

    fn word(&mut self) -> Option<u64> {
        Some(u32::from_le_bytes(self.words.next()?.try_into().ok()?).into())
    }

    fn refill(&mut self) -> Option<()> {
        if self.state < 1 << 31 {
            self.state = self.state << 32 | self.word()?;
        }
        Some(())
    }

    /// An integer, with classes as (class, start, frequency).
    fn value(&mut self, classes: &[(u64, u64, u64)]) -> Option<u64> {
        let slot = self.state % 16384;
        let found = classes.iter().find(|(_, start, frequency)| slot < start + frequency);
        let &(length, start, frequency) = found?;
        self.state = frequency * (self.state >> 14) + slot - start;
        self.refill()?;
        let (mut value, mut done) = (0, 0);
        while done + 1 < length {
            let now = (length - 1 - done).min(31);
            value += (self.state & ((1 << now) - 1)) << done;
            self.state >>= now;
            self.refill()?;
            done += now;
        }
        Some(if length > 0 { value + (1 << (length - 1)) } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_were_written() {
        for values in [vec![], vec![0], vec![5, 0, 1 << 40, u64::MAX, 7, 7], vec![3; 1000]] {
            assert_eq!(Reader(&list(&values)).list(), Some(values));
        }
    }
}
