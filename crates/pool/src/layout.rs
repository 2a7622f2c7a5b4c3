//! Header and checkpoints of a pool as bytes, as docs/pool.md describes them. Everything here is a row of 64-bit numbers.

use tadoc_core::usize_of;
use xxhash_rust::xxh64::xxh64;

use crate::medium::PAGE;

/// The first number of a header: `\x89TDP\r\n\x1a\n`.
const MAGIC: u64 = u64::from_le_bytes(*b"\x89TDP\r\n\x1a\n");
pub(crate) const VERSION: u64 = 2;
/// Numbers of a header: one line of cache, so that it is there as a whole or not at all.
pub(crate) const HEADER_WORDS: usize = 8;
/// Where the two slots for checkpoints are, and how many bytes each has.
pub(crate) const SLOTS: [u64; 2] = [1 << 15, 1 << 16];
pub(crate) const SLOT_BYTES: u64 = 1 << 15;
/// Where the first table may be.
pub(crate) const TABLES_START: u64 = SLOTS[1] + SLOT_BYTES;
/// Bytes of a table that have a checksum of their own.
pub(crate) const BLOCK: u64 = 1 << 20;
/// Sequence numbers above this are no checkpoint's and no record's: there must be a next one.
pub(crate) const LAST_SEQUENCE: u64 = u64::MAX / 2;
/// Where checksums and sections may be.
pub(crate) const ALIGNMENT: u64 = 256;

const SLOT_WORDS: usize = usize_of(SLOT_BYTES) / 8;
/// Numbers of a slot before its tables.
const HEAD_WORDS: usize = 32;
const TABLE_WORDS: usize = 16;
/// Tables that a checkpoint has room for.
pub(crate) const MOST_TABLES: usize = (SLOT_WORDS - HEAD_WORDS) / TABLE_WORDS;
const GROUP_WORDS: usize = 8;
const GROUP_NAME_WORDS: usize = GROUP_WORDS - 2;
const NAME_WORDS: usize = 8;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// It was never written.
    Empty,
    /// A pool of the archive with this fingerprint.
    Pool([u64; 2]),
    OtherVersion(u64),
    Damaged,
    /// They are of something else.
    Foreign,
}

pub(crate) fn header(archive: [u64; 2]) -> [u64; HEADER_WORDS] {
    let mut words = [MAGIC, VERSION, archive[0], archive[1], 0, 0, 0, 0];
    words[HEADER_WORDS - 1] = digest(&words[..HEADER_WORDS - 1], 0);
    words
}

pub(crate) fn read_header(words: &[u64]) -> Header {
    let (sum, words) = words.split_last().expect("a header has numbers");
    if words.iter().all(|&word| word == 0) && *sum == 0 {
        return Header::Empty;
    }
    let whole = *sum == digest(words, 0);
    match (words[0] == MAGIC, whole) {
        (true, true) if words[1] != VERSION => Header::OtherVersion(words[1]),
        (true, true) => Header::Pool([words[2], words[3]]),
        (true, false) => Header::Damaged,
        (false, _) => Header::Foreign,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// The image of a view, which has checksums of its own.
    Image = 1,
    Fill = 2,
    Counters = 3,
    Blocks = 4,
    /// Blocks each of which has a checksum of its own.
    LateBlocks = 5,
}

impl Kind {
    fn of(number: u32) -> Option<Self> {
        [Self::Image, Self::Fill, Self::Counters, Self::Blocks, Self::LateBlocks]
            .into_iter()
            .find(|&kind| kind as u32 == number)
    }
}

/// A table that is finished, or at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub name: String,
    pub kind: Kind,
    /// Bytes of an element.
    pub element: u32,
    pub offset: u64,
    pub bytes: u64,
    /// What it is the table of: see `Pool::identity`.
    pub identity: u64,
    /// The digest of the checksums of its blocks.
    pub sums: u64,
}

impl Table {
    /// Where the checksums of its blocks are.
    pub(crate) fn sums_start(&self) -> u64 {
        (self.offset + self.bytes).next_multiple_of(ALIGNMENT)
    }

    /// How many checksums it has.
    pub(crate) fn blocks(&self) -> usize {
        match self.kind {
            Kind::Image | Kind::LateBlocks => 0,
            _ => usize_of(self.bytes.div_ceil(BLOCK)),
        }
    }

    /// Where it ends, checksums included.
    pub(crate) fn end(&self) -> u64 {
        self.sums_start() + 8 * self.blocks() as u64
    }
}

/// Tables that belong together, and what they are of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub key: u64,
    pub tables: usize,
    pub name: String,
}

/// The view; what is of one task.
pub(crate) const GROUPS: usize = 2;
pub(crate) const IMAGE: usize = 0;
pub(crate) const WORKING: usize = 1;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Directory {
    pub sequence: u64,
    pub groups: [Group; GROUPS],
    /// Those of the first group, then those of the next.
    pub tables: Vec<Table>,
    /// Whether the last table is not finished.
    pub at_work: bool,
}

impl Directory {
    /// Which tables are those of a group.
    pub(crate) fn of_group(&self, group: usize) -> std::ops::Range<usize> {
        let start = self.groups[..group].iter().map(|group| group.tables).sum();
        start..start + self.groups[group].tables
    }

    /// Forgets the tables of a group from this one on, and all of later groups; gives how many finished ones these were.
    pub(crate) fn cut(&mut self, group: usize, keep: usize) -> usize {
        let keep = keep.min(self.groups[group].tables);
        let end = self.of_group(group).start + keep;
        self.groups[group].tables = keep;
        self.groups[group + 1..].iter_mut().for_each(|group| group.tables = 0);
        let mut gone = self.tables.len() - end;
        self.tables.truncate(end);
        if gone > 0 {
            gone -= usize::from(self.at_work);
            self.at_work = false;
        }
        gone
    }

    /// Forgets the tables from the first one on that does not end within so many bytes; gives the name of
    /// that one.
    pub(crate) fn cut_to(&mut self, bytes: u64) -> Option<String> {
        let first = self.tables.iter().position(|table| table.end() > bytes)?;
        let name = self.tables[first].name.clone();
        let group = (0..GROUPS).find(|&group| self.of_group(group).contains(&first))?;
        self.cut(group, first - self.of_group(group).start);
        Some(name)
    }

    /// Where the last table ends.
    pub(crate) fn end(&self) -> u64 {
        self.tables.iter().map(Table::end).max().unwrap_or(0).max(TABLES_START)
    }

    /// The numbers of a slot, as many as are used.
    pub(crate) fn to_words(&self) -> Vec<u64> {
        let mut words = vec![0; HEAD_WORDS + TABLE_WORDS * self.tables.len()];
        words[1] = self.sequence;
        words[2] = self.tables.len() as u64;
        words[3] = u64::from(self.at_work);
        for (group, place) in self.groups.iter().zip(words[8..].chunks_exact_mut(GROUP_WORDS)) {
            place[0] = group.key;
            place[1] = group.tables as u64;
            put_name(&group.name, &mut place[2..2 + GROUP_NAME_WORDS]);
        }
        for (table, place) in
            self.tables.iter().zip(words[HEAD_WORDS..].chunks_exact_mut(TABLE_WORDS))
        {
            let kind = table.kind as u64 | u64::from(table.element) << 32;
            let numbers = [kind, table.offset, table.bytes, table.identity, table.sums];
            place[..numbers.len()].copy_from_slice(&numbers);
            put_name(&table.name, &mut place[TABLE_WORDS - NAME_WORDS..]);
        }
        words[0] = digest(&words[1..], 0);
        words
    }

    /// The checkpoint in a slot, if there is a whole one.
    #[expect(clippy::cast_possible_truncation, reason = "the kind is the lower half of a word")]
    pub(crate) fn from_words(words: &[u64]) -> Option<Self> {
        let tables =
            usize::try_from(*words.get(2)?).ok().filter(|&tables| tables <= MOST_TABLES)?;
        let words = words.get(..HEAD_WORDS + TABLE_WORDS * tables)?;
        if words[0] != digest(&words[1..], 0) || words[1] == 0 {
            return None;
        }
        if words[1] > LAST_SEQUENCE {
            return None;
        }
        let mut directory = Self { sequence: words[1], at_work: words[3] != 0, ..Self::default() };
        for (group, place) in directory.groups.iter_mut().zip(words[8..].chunks_exact(GROUP_WORDS))
        {
            group.key = place[0];
            group.tables =
                usize::try_from(place[1]).ok().filter(|&tables| tables <= MOST_TABLES)?;
            group.name = name(&place[2..2 + GROUP_NAME_WORDS]);
        }
        for place in words[HEAD_WORDS..].chunks_exact(TABLE_WORDS) {
            let table = Table {
                name: name(&place[TABLE_WORDS - NAME_WORDS..]),
                kind: Kind::of(place[0] as u32)?,
                element: (place[0] >> 32) as u32,
                offset: place[1],
                bytes: place[2],
                identity: place[3],
                sums: place[4],
            };
            // Tables lie one behind the other, so no two of them have a byte in common.
            let behind = directory.tables.last().map_or(TABLES_START, Table::end);
            let aligned = table.offset >= behind && table.offset.is_multiple_of(PAGE);
            let small = table.offset < 1 << 48 && table.bytes < 1 << 48;
            directory.tables.push(Some(table).filter(|_| aligned && small)?);
        }
        let told: usize = directory.groups.iter().map(|group| group.tables).sum();
        (told == tables && (tables > 0 || !directory.at_work)).then_some(directory)
    }
}

pub(crate) fn digest(words: &[u64], seed: u64) -> u64 {
    xxh64(bytemuck::cast_slice(words), seed)
}

/// Puts a name into numbers: its bytes, as many as there is room for, and zeros.
fn put_name(name: &str, words: &mut [u64]) {
    let place: &mut [u8] = bytemuck::cast_slice_mut(words);
    let mut length = name.len().min(place.len());
    while !name.is_char_boundary(length) {
        length -= 1;
    }
    place[..length].copy_from_slice(&name.as_bytes()[..length]);
}

fn name(words: &[u64]) -> String {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(tables: usize) -> Directory {
        let mut directory = Directory { sequence: 7, at_work: tables > 0, ..Directory::default() };
        for number in 0..tables {
            directory.tables.push(Table {
                name: format!("table {number}"),
                kind: Kind::Blocks,
                element: 8,
                offset: TABLES_START + number as u64 * PAGE,
                bytes: 100,
                identity: 3,
                sums: 4,
            });
        }
        directory.groups[IMAGE] = Group { key: 9, tables, name: "the view".into() };
        directory
    }

    #[test]
    fn a_checkpoint_is_read_as_it_was_written() {
        for tables in [0, 1, 5, MOST_TABLES] {
            let directory = directory(tables);
            let mut words = directory.to_words();
            assert!(words.len() <= SLOT_WORDS);
            words.resize(SLOT_WORDS, 0);
            assert_eq!(Directory::from_words(&words), Some(directory));
        }
    }

    #[test]
    fn a_checkpoint_with_any_bit_flipped_is_none() {
        let words = directory(2).to_words();
        for bit in 0..64 * words.len() {
            let mut words = words.clone();
            words[bit / 64] ^= 1 << (bit % 64);
            words.resize(SLOT_WORDS, 0);
            assert_eq!(Directory::from_words(&words), None, "bit {bit}");
        }
        assert_eq!(Directory::from_words(&[0; SLOT_WORDS]), None);
    }

    #[test]
    fn a_header_says_what_it_is() {
        let words = header([1, 2]);
        assert_eq!(read_header(&words), Header::Pool([1, 2]));
        assert_eq!(read_header(&[0; HEADER_WORDS]), Header::Empty);
        for bit in 64..64 * HEADER_WORDS {
            let mut words = words;
            words[bit / 64] ^= 1 << (bit % 64);
            assert_eq!(read_header(&words), Header::Damaged, "bit {bit}");
        }
        let mut other = words;
        other[1] = VERSION + 1;
        other[7] = digest(&other[..7], 0);
        assert_eq!(read_header(&other), Header::OtherVersion(VERSION + 1));
        other[0] = 1;
        assert_eq!(read_header(&other), Header::Foreign);
    }

    #[test]
    fn cutting_a_group_cuts_those_behind_it() {
        let mut directory = directory(3);
        directory.groups[WORKING].tables = 1;
        directory.groups[IMAGE].tables = 2;
        assert_eq!(directory.of_group(WORKING), 2..3);
        assert_eq!(directory.cut(IMAGE, 5), 0);
        assert_eq!((directory.tables.len(), directory.at_work), (2, false));
        assert_eq!(directory.cut(IMAGE, 1), 1);
        assert_eq!(directory.of_group(WORKING), 1..1);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let mut words = [0; 1];
        put_name("abcdefgä", &mut words);
        assert_eq!(name(&words), "abcdefg");
    }
}
