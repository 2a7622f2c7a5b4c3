//! Blocks of front-coded entries.
//!
//! An entry is the bytes in which it differs from the one before it, and then one control byte that says
//! how many bytes the *next* entry shares with it: the end of one entry and the start of the next in one
//! byte, which is what Zstandard makes the most of. Control bytes are those below 32 that are not white
//! space; where one is meant as itself, another stands before it. Long runs of hexadecimal digits
//! (digests, addresses) are kept apart at four bits a digit, which nothing can better where they are
//! random; runs with a pattern are left to Zstandard.

use crate::archive::integers;
use crate::archive::wire::{Reader, put_varint};
use crate::archive::zstandard;
use crate::budget::{Budget, Share};
use crate::error::Result;
use crate::usize_of;

/// What memory is taken for, in errors.
pub(super) const WHAT: &str = "the dictionary";
/// Bytes that a key takes at least, in memory of its own.
const LEAST_KEY: usize = 64;

/// The control bytes, in ascending order: 0 to 8 and 14 to 31. Where one stands, its place in this order
/// is its meaning: a shared length below 24, or one of those below.
const CONTROL_COUNT: u8 = 27;
/// A varint follows: so many hexadecimal digits, from the packed ones.
const DIGITS: u8 = 24;
/// A varint follows: a shared length, less 24.
const LONG: u8 = 25;
/// The next byte is meant as itself.
const LITERAL: u8 = 26;
/// Shared lengths below this are one byte.
const SHORT_LENGTHS: u64 = 24;
/// Shorter runs of digits stay where they are.
const LEAST_DIGITS: usize = 12;
/// Runs of fewer different digits stay too: zeros, masks, separators of tables.
const LEAST_DIFFERENT_DIGITS: u32 = 4;
/// Runs that are longer are packed only if Zstandard does not make less of them.
const LONGEST_UNTRIED: usize = 256;

fn control_byte(meaning: u8) -> u8 {
    debug_assert!(meaning < CONTROL_COUNT);
    if meaning < 9 { meaning } else { meaning + 5 }
}

#[inline(always)]
fn control_meaning(byte: u8) -> Option<u8> {
    match byte {
        0..=8 => Some(byte),
        14..=31 => Some(byte - 5),
        _ => None,
    }
}

/// What the index says about a block.
#[derive(Debug, Clone)]
pub(super) struct BlockInfo {
    /// Number of its first entry.
    pub(super) first_entry: u32,
    /// How many entries it has.
    pub(super) entries: u32,
    /// Not above its first entry, and above the last one of the block before.
    pub(super) key: Vec<u8>,
    start: usize,
    compressed: usize,
    /// Its length when it is decompressed.
    pub(super) unpacked: usize,
    digits: usize,
}

/// Writes the index of blocks: lists of their numbers of entries, lengths, and keys.
pub(super) fn write_index(into: &mut Vec<u8>, blocks: &[EncodedBlock]) {
    integers::write(into, blocks.iter().map(|block| u64::from(block.entries)));
    integers::write(into, blocks.iter().map(|block| block.compressed.len() as u64));
    integers::write(into, blocks.iter().map(|block| block.unpacked));
    integers::write(into, blocks.iter().map(|block| block.digits.len() as u64));
    for block in blocks {
        put_varint(into, block.key.len() as u64);
        into.extend_from_slice(&block.key);
    }
}

/// Reads the index of blocks; the blocks themselves are what is left in the reader.
pub(super) fn read_index(
    reader: &mut Reader<'_>,
    words: u32,
    separators: u32,
    share: &Share,
) -> Result<Vec<BlockInfo>> {
    let mut list = || integers::read(reader, share.budget(), WHAT);
    let (entries, compressed, unpacked, digits) = (list()?, list()?, list()?, list()?);
    if [compressed.len(), unpacked.len(), digits.len()] != [entries.len(); 3] {
        return Err(reader.malformed("the lists of blocks differ in length"));
    }
    // A block has a byte at least, the length of its key.
    if entries.len() > reader.rest().len() {
        return Err(reader.malformed("there are more blocks than bytes of them"));
    }
    share.grow((size_of::<BlockInfo>() + LEAST_KEY) as u64 * entries.len() as u64, WHAT)?;
    let keys: Vec<Vec<u8>> = (0..entries.len())
        .map(|_| {
            let length = reader.varint()?;
            Ok(reader.take(length)?.to_vec())
        })
        .collect::<Result<_>>()?;
    let mut first_entry = 0_u64;
    let mut start = 0_u64;
    let available = reader.rest().len() as u64;
    let mut blocks = Vec::with_capacity(entries.len());
    for (index, key) in keys.into_iter().enumerate() {
        let end = start.saturating_add(compressed[index]).saturating_add(digits[index]);
        let next_entry = first_entry.saturating_add(entries[index]);
        // A block is of words or of separators, and no block is empty.
        let mixed = first_entry < u64::from(words) && next_entry > u64::from(words);
        let (Ok(first), Ok(count)) = (u32::try_from(first_entry), u32::try_from(entries[index]))
        else {
            return Err(reader.malformed(format!("block {index} has more entries than there are")));
        };
        if end > available || mixed || count == 0 || unpacked[index] > u64::from(u32::MAX) {
            return Err(reader.malformed(format!("block {index} cannot be")));
        }
        blocks.push(BlockInfo {
            first_entry: first,
            entries: count,
            key,
            start: usize_of(start),
            compressed: usize_of(compressed[index]),
            unpacked: usize_of(unpacked[index]),
            digits: usize_of(digits[index]),
        });
        (start, first_entry) = (end, next_entry);
    }
    if first_entry != u64::from(words) + u64::from(separators) || start != available {
        return Err(reader.malformed("its blocks do not add up to its entries"));
    }
    Ok(blocks)
}

impl BlockInfo {
    /// Decompresses the block. What it takes is counted twice, since an entry may be as long as all of it.
    pub(super) fn unpack(&self, data: &[u8], budget: &Budget) -> Result<Entries> {
        let (compressed, digits) =
            data[self.start..self.start + self.compressed + self.digits].split_at(self.compressed);
        let section = Reader::new(data, "section DICT");
        let share = budget.take((2 * digits.len()) as u64, WHAT)?;
        let front_coded =
            zstandard::unpack(&section, compressed, self.unpacked as u64, &share, WHAT)?;
        share.grow((front_coded.len() + digits.len()) as u64, WHAT)?;
        Ok(Entries { front_coded, digits: digits.to_vec(), _share: share })
    }
}

/// A decompressed block.
pub(super) struct Entries {
    front_coded: Vec<u8>,
    digits: Vec<u8>,
    _share: Share,
}

impl Entries {
    pub(super) fn entries(&self) -> EntryReader<'_> {
        EntryReader {
            reader: Reader::new(&self.front_coded, "section DICT"),
            digits: &self.digits,
            next_digit: 0,
            current: Vec::new(),
            shared: 0,
        }
    }
}

/// Reads the entries of a block in order.
pub(super) struct EntryReader<'a> {
    reader: Reader<'a>,
    digits: &'a [u8],
    next_digit: usize,
    current: Vec<u8>,
    /// What the next entry shares with the current one.
    shared: usize,
}

impl EntryReader<'_> {
    /// The next entry. Fails if it does not come behind the one before it.
    pub(super) fn advance(&mut self) -> Result<&[u8]> {
        let shared = self.shared;
        let replaced = self.current.get(shared).copied();
        self.current.truncate(shared);
        self.read_suffix()?;
        // As much is shared as can be, so the first byte that is not tells the order.
        if self.current.get(shared).copied() <= replaced {
            return Err(self.reader.malformed("entries are empty or not in order"));
        }
        Ok(&self.current)
    }

    fn read_suffix(&mut self) -> Result<()> {
        loop {
            let rest = self.reader.rest();
            let plain =
                rest.iter().position(|&byte| control_meaning(byte).is_some()).unwrap_or(rest.len());
            self.current.extend_from_slice(self.reader.take(plain as u64)?);
            let control = self.reader.take(1)?[0];
            match control_meaning(control).expect("a control byte ended the plain ones") {
                DIGITS => {
                    let available = 2 * self.digits.len() - self.next_digit;
                    let count = self.reader.bounded(available as u64, "hexadecimal digits")?;
                    for _ in 0..count {
                        let pair = self.digits[self.next_digit / 2];
                        let digit =
                            if self.next_digit.is_multiple_of(2) { pair & 15 } else { pair >> 4 };
                        self.current.push(b"0123456789abcdef"[usize::from(digit)]);
                        self.next_digit += 1;
                    }
                }
                LITERAL => self.current.extend_from_slice(self.reader.take(1)?),
                LONG => {
                    let length = self.reader.varint()?.saturating_add(SHORT_LENGTHS);
                    return self.share(length);
                }
                length => return self.share(length.into()),
            }
        }
    }

    fn share(&mut self, length: u64) -> Result<()> {
        if length > self.current.len() as u64 {
            return Err(self.reader.malformed("an entry shares more than there is"));
        }
        self.shared = usize_of(length);
        Ok(())
    }

    /// Fails unless everything was read.
    pub(super) fn finish(self) -> Result<()> {
        if self.next_digit.div_ceil(2) != self.digits.len() {
            return Err(self.reader.malformed("there are hexadecimal digits without an entry"));
        }
        self.reader.finish()
    }
}

/// A block on its way to disk.
pub(super) struct EncodedBlock {
    pub(super) entries: u32,
    key: Vec<u8>,
    pub(super) compressed: Vec<u8>,
    unpacked: u64,
    pub(super) digits: Vec<u8>,
}

/// Encodes entries, which are in order, as a block. `before` is the last entry of the block before it.
pub(super) fn encode<'e>(
    entries: impl Iterator<Item = &'e [u8]> + Clone,
    before: &[u8],
    level: i32,
) -> EncodedBlock {
    let mut front_coded = Vec::new();
    let mut digits = PackedDigits::default();
    let mut count = 0;
    let mut shared = 0;
    let mut following = entries.clone().skip(1);
    for entry in entries.clone() {
        put_suffix(&mut front_coded, &mut digits, &entry[shared..]);
        shared = following.next().map_or(0, |next| shared_length(entry, next));
        match u8::try_from(shared) {
            Ok(short) if u64::from(short) < SHORT_LENGTHS => front_coded.push(control_byte(short)),
            _ => {
                front_coded.push(control_byte(LONG));
                put_varint(&mut front_coded, shared as u64 - SHORT_LENGTHS);
            }
        }
        count += 1;
    }
    let first = entries.clone().next().unwrap_or_default();
    let key_length = (shared_length(before, first) + 1).min(first.len());
    EncodedBlock {
        entries: count,
        key: first[..key_length].to_vec(),
        compressed: zstd::bulk::compress(&front_coded, level)
            .expect("compressing in memory cannot fail"),
        unpacked: front_coded.len() as u64,
        digits: digits.bytes,
    }
}

fn shared_length(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

fn put_suffix(into: &mut Vec<u8>, digits: &mut PackedDigits, suffix: &[u8]) {
    let mut rest = suffix;
    while let Some(&byte) = rest.first() {
        let run = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
        if packing_wins(&rest[..run]) {
            into.push(control_byte(DIGITS));
            put_varint(into, run as u64);
            rest[..run].iter().for_each(|&digit| digits.push(digit));
            rest = &rest[run..];
            continue;
        }
        let plain = run.max(1);
        if control_meaning(byte).is_some() {
            into.push(control_byte(LITERAL));
        }
        into.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
    }
}

/// Whether a run of hexadecimal digits takes less room at four bits a digit.
fn packing_wins(run: &[u8]) -> bool {
    if run.len() < LEAST_DIGITS {
        return false;
    }
    let seen = run.iter().fold(0_u32, |seen, &digit| seen | 1 << (digit & 0x1F));
    if seen.count_ones() < LEAST_DIFFERENT_DIGITS {
        return false;
    }
    let compressed =
        |run| zstd::bulk::compress(run, 1).expect("compressing in memory cannot fail").len();
    run.len() <= LONGEST_UNTRIED || compressed(run) >= run.len() / 2
}

/// Hexadecimal digits, two a byte, the first in the low half.
#[derive(Default)]
struct PackedDigits {
    bytes: Vec<u8>,
    half: bool,
}

impl PackedDigits {
    fn push(&mut self, digit: u8) {
        let value = if digit <= b'9' { digit - b'0' } else { digit - b'a' + 10 };
        if self.half {
            *self.bytes.last_mut().expect("a half byte is there") |= value << 4;
        } else {
            self.bytes.push(value);
        }
        self.half = !self.half;
    }
}
