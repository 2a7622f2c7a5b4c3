//! Archives changed inside, with lengths and checksums that hold: sections, their fields, the table, the header and
//! the journal. Victims are whole, so their layout is trusted. O(bytes) a mutant.

use tadoc_oracle::Random;
use xxhash_rust::xxh64::xxh64;

use super::fields::{self, Reader};
use super::tweak;
use crate::golden::coder::varint;
use crate::golden::container::{Container, edit_table};
use crate::golden::journal::{COMMIT, PACKED, header, record_of};

const HEADER: usize = 64;
const JOURNAL_HEADER: usize = 32;
const RECORD_HEADER: usize = 64;

/// A record of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Record {
    flags: u32,
    number: u64,
    /// Counted from where the journal starts; may be before it.
    synced: i64,
    text: u64,
    edits: u64,
    payload: Vec<u8>,
}

/// An archive in parts.
struct Parts {
    container: Container,
    /// `None` where there is no journal.
    journal: Option<Vec<Record>>,
    /// What is behind the last whole record.
    tail: Vec<u8>,
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// How long the stored archive is, without its journal.
fn stored_bytes(archive: &[u8]) -> usize {
    number_at(archive, 16) as usize
}

/// The records of a journal that starts somewhere, each with where it starts; and where the last one ends.
fn records(archive: &[u8], start: usize) -> (Vec<(usize, Record)>, usize) {
    let mut records = Vec::new();
    let mut at = start + JOURNAL_HEADER;
    while let Some(head) = archive.get(at..at + RECORD_HEADER) {
        let payload = at + RECORD_HEADER;
        let end = payload.saturating_add(number_at(head, 24) as usize);
        let Some(payload) = archive.get(payload..end) else { break };
        if head[..4] != *b"\x89TJR" || number_at(head, 48) != xxh64(payload, 0) {
            break;
        }
        let four = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        records.push((
            at,
            Record {
                flags: four(4),
                number: number_at(head, 8),
                synced: number_at(head, 16) as i64 - start as i64,
                text: number_at(head, 32),
                edits: four(40).into(),
                payload: payload.to_vec(),
            },
        ));
        at = end;
    }
    (records, at.min(archive.len()))
}

/// The archive after each of its transactions, before the last: what a torn journal may be taken for.
pub fn prefixes(archive: &[u8]) -> Vec<Vec<u8>> {
    let start = stored_bytes(archive);
    if archive.len() < start + JOURNAL_HEADER {
        return Vec::new();
    }
    let (records, end) = records(archive, start);
    let starts = records.iter().map(|&(at, _)| at).skip(1).chain([end]);
    let commits = records.iter().zip(starts).filter(|((_, record), _)| record.flags & COMMIT != 0);
    let mut ends: Vec<usize> = commits.map(|(_, end)| end).collect();
    ends.pop();
    ends.insert(0, start);
    ends.iter().map(|&end| archive[..end].to_vec()).collect()
}

impl Parts {
    fn parse(archive: &[u8]) -> Self {
        let start = stored_bytes(archive);
        let container = Container::parse(&archive[..start]);
        if archive.len() < start + JOURNAL_HEADER {
            return Self { container, journal: None, tail: archive[start..].to_vec() };
        }
        let (records, end) = records(archive, start);
        let journal = records.into_iter().map(|(_, record)| record).collect();
        Self { container, journal: Some(journal), tail: archive[end..].to_vec() }
    }

    fn write(&self) -> Vec<u8> {
        let mut file = self.container.to_bytes();
        let start = file.len();
        if let Some(journal) = &self.journal {
            file.extend(header(start, 1));
            for record in journal {
                let at = file.len();
                let synced = (start as i64).saturating_add(record.synced) as usize;
                let figures = [record.edits, record.text];
                let &Record { number, flags, .. } = record;
                file.extend(record_of(at, number, synced, flags, figures, &record.payload));
            }
        }
        file.extend(&self.tail);
        file
    }
}

/// An archive taken apart and put together again: the same bytes, where it is whole.
pub fn rewritten(archive: &[u8]) -> Vec<u8> {
    Parts::parse(archive).write()
}

/// A mutant whose checksums hold, and what was done; `other` is an archive to take sections from.
pub fn mutate(archive: &[u8], other: &[u8], random: &mut Random) -> (Vec<u8>, &'static str) {
    let mut parts = Parts::parse(archive);
    let kinds = if parts.journal.is_some() { 20 } else { 10 };
    let done = match random.below(kinds) {
        0..3 => mutate_section(&mut parts.container, random),
        3..6 => mutate_fields(&mut parts.container, random),
        6 => mutate_sections(&mut parts.container, other, random),
        7 => return (mutate_index(parts, archive, random), "index"),
        8 => return (mutate_table(archive, random), "table"),
        9 => return (mutate_header(archive, random), "header"),
        _ => mutate_journal(parts.journal.as_mut().expect("there is one"), random),
    };
    (parts.write(), done)
}

fn mutate_section(container: &mut Container, random: &mut Random) -> &'static str {
    let place = random.below(container.sections.len() as u64) as usize;
    for _ in 0..1 + random.below(2) {
        tweak::any(&mut container.sections[place].bytes, random);
    }
    "section"
}

fn mutate_fields(container: &mut Container, random: &mut Random) -> &'static str {
    let place = random.below(container.sections.len() as u64) as usize;
    let section = &mut container.sections[place];
    let Some(mut fields) = fields::parse(&section.kind, &section.bytes) else {
        return mutate_section(container, random);
    };
    let mut done = "fields";
    for _ in 0..1 + random.below(2) {
        done = fields::mutate(&mut fields, random);
    }
    section.bytes = fields::write(&fields, done == "frame" || random.below(4) > 0);
    done
}

/// Sections taken away, doubled, moved, or taken from another archive.
fn mutate_sections(container: &mut Container, other: &[u8], random: &mut Random) -> &'static str {
    let count = container.sections.len() as u64;
    let place = random.below(count) as usize;
    match random.below(6) {
        0 => {
            container.sections.remove(place);
        }
        1 => {
            let section = container.sections[place].clone();
            container.sections.push(section);
        }
        2 => container.sections.swap(place, count as usize - 1),
        3 => {
            let section = &mut container.sections[place];
            section.segment = tweak::number(random, section.segment.into()) as u32;
        }
        _ => {
            let kind = container.sections[place].kind;
            let other = Container::parse(&other[..stored_bytes(other)]);
            let found = other.sections.into_iter().find(|section| section.kind == kind);
            if let Some(found) = found {
                container.sections[place].bytes = found.bytes;
            }
        }
    }
    "sections"
}

/// Numbers of an index, which is mapped and believed more than the rest: in place, since its rows tell their lengths.
fn mutate_index(mut parts: Parts, archive: &[u8], random: &mut Random) -> Vec<u8> {
    let of_index = |kind: &[u8; 4]| matches!(kind, b"NAVI" | b"SYMR" | b"DOCW");
    let mut index: Vec<_> =
        parts.container.sections.iter_mut().filter(|section| of_index(&section.kind)).collect();
    if index.is_empty() {
        return mutate_table(archive, random);
    }
    let place = random.below(index.len() as u64) as usize;
    let bytes = &mut index[place].bytes;
    for _ in 0..1 + random.below(4) {
        let rows = 8 + 24 * number_at(bytes, 0).min(64) as usize;
        if random.below(3) == 0 {
            let at = random.below(rows.min(bytes.len()) as u64) as usize;
            tweak::word(bytes, at, random);
        } else {
            tweak::in_place(bytes, random);
        }
    }
    parts.write()
}

/// A table with a number changed; checksums of sections stay as they were.
fn mutate_table(archive: &[u8], random: &mut Random) -> Vec<u8> {
    let start = stored_bytes(archive);
    let mut file = edit_table(&archive[..start], |table| {
        for _ in 0..1 + random.below(2) {
            let at = random.below(table.len() as u64) as usize;
            tweak::word(table, at, random);
        }
    });
    if random.below(2) == 0 {
        tadoc_testing::mend_checksums(&mut file);
    }
    file.extend(&archive[start..]);
    file
}

fn mutate_header(archive: &[u8], random: &mut Random) -> Vec<u8> {
    let mut file = archive.to_vec();
    let at = 8 + random.below(48) as usize;
    tweak::word(&mut file[8..HEADER - 8], at - 8, random);
    let checksum = xxh64(&file[..HEADER - 8], 0);
    file[HEADER - 8..HEADER].copy_from_slice(&checksum.to_le_bytes());
    file
}

fn mutate_journal(journal: &mut Vec<Record>, random: &mut Random) -> &'static str {
    if journal.is_empty() {
        return "journal";
    }
    let place = random.below(journal.len() as u64) as usize;
    match random.below(12) {
        0 => {
            journal.remove(place);
            renumber(journal);
        }
        1 => {
            let record = journal[place].clone();
            let more = *random.choose(&[1, 1, 2, 100]);
            journal.splice(place..place, std::iter::repeat_n(record, more));
            renumber(journal);
        }
        2 => {
            let last = journal.len() - 1;
            journal.swap(place, last);
            renumber(journal);
        }
        3 => {
            let record = &mut journal[place];
            match random.below(5) {
                0 => record.flags ^= 1 << random.below(4),
                1 => record.number = tweak::number(random, record.number),
                2 => record.synced = tweak::number(random, record.synced as u64) as i64,
                3 => record.text = tweak::number(random, record.text),
                _ => record.edits = tweak::number(random, record.edits),
            }
        }
        4 => {
            mutate_large(&mut journal[place], random);
            return "journal large";
        }
        _ => {
            mutate_payload(&mut journal[place], random);
            return "journal payload";
        }
    }
    "journal"
}

fn renumber(journal: &mut [Record]) {
    for (record, number) in journal.iter_mut().zip(0..) {
        record.number = number;
    }
}

/// Changes edits, packed or not, and mostly the record's figures with them.
fn mutate_payload(record: &mut Record, random: &mut Random) {
    let mut edits = edits_of(record).unwrap_or_else(|| record.payload.clone());
    tweak::any(&mut edits, random);
    if random.below(4) > 0
        && let Some((count, text)) = figures(&edits)
    {
        (record.edits, record.text) = (count, text);
    }
    put_edits(record, edits, random.below(2) == 0);
    if record.flags & PACKED != 0 && random.below(8) == 0 {
        tweak::any(&mut record.payload, random);
    }
}

/// Edits that are small in the file and large in memory.
fn mutate_large(record: &mut Record, random: &mut Random) {
    let text = vec![b'a'; *random.choose(&[1 << 20, 8 << 20, (1 << 26) - 16])];
    let append = [&[1, 0][..], &varint(text.len() as u64), &text].concat();
    let many: Vec<u8> = b"\x01\x00\x01a".repeat(*random.choose(&[10_000, 1_000_000]));
    let edits = if random.below(2) == 0 { append } else { many };
    let (count, text) = figures(&edits).expect("these are edits");
    (record.edits, record.text) = (count, text);
    put_edits(record, edits, true);
}

fn edits_of(record: &Record) -> Option<Vec<u8>> {
    if record.flags & PACKED == 0 {
        return Some(record.payload.clone());
    }
    let mut reader = Reader(&record.payload);
    reader.number()?;
    fields::unpacked(reader.0)
}

fn put_edits(record: &mut Record, edits: Vec<u8>, packed: bool) {
    if packed {
        record.flags |= PACKED;
        record.payload = [varint(edits.len() as u64), fields::packed(&edits)].concat();
    } else {
        record.flags &= !PACKED;
        record.payload = edits;
    }
}

/// How many edits there are, and bytes of text in them (15.3); `None` if they are not whole.
fn figures(edits: &[u8]) -> Option<(u64, u64)> {
    let mut reader = Reader(edits);
    let (mut count, mut text) = (0, 0);
    while !reader.0.is_empty() {
        let kind = reader.take(1)?[0];
        let numbers = match kind {
            4 => 0,
            1 | 5 | 6 => 1,
            0 => 2,
            2 | 3 => 3,
            _ => return None,
        };
        for _ in 0..numbers {
            reader.number()?;
        }
        if kind == 4 {
            let name = reader.number()? as usize;
            reader.take(name)?;
            let attributes = reader.take(1)?[0];
            for _ in 0..2 * (attributes & 1) + (attributes >> 1 & 1) {
                reader.number()?;
            }
        }
        if !matches!(kind, 2 | 5) {
            let length = reader.number()?;
            reader.take(length as usize)?;
            text += if kind == 6 { 0 } else { length };
        }
        count += 1;
    }
    Some((count, text))
}
