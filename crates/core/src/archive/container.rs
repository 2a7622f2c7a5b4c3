//! The outer form of the file: header, sections, table of sections.

use std::collections::HashSet;

use xxhash_rust::xxh64::xxh64;

use super::wire::Reader;
use crate::error::{Error, Result};

/// First bytes of every archive. The first is not ASCII and line ends of both kinds follow, so that a
/// transfer which takes it for text is noticed.
pub(super) const MAGIC: [u8; 8] = *b"\x89TDC\r\n\x1a\n";
/// The version of the format that is written, and the highest that is read; the lowest is 1.
pub(super) const VERSION: u32 = 2;
pub(super) const HEADER_BYTES: usize = 64;
/// Sections start at multiples of this, so that later versions may map them.
pub(super) const ALIGNMENT: u64 = 8;
const ENTRY_BYTES: usize = 40;
/// More sections than any archive has.
const MOST_SECTIONS: u64 = 1 << 20;
/// Set on sections that a reader may pass over if it does not know them.
const OPTIONAL: u32 = 1;
/// The segment number of sections that belong to none.
const NO_SEGMENT: u32 = u32::MAX;

/// A segment as sections number it. No archive has so many that theirs do not fit: of another number, no section is
/// found.
pub(super) fn number_of(segment: usize) -> u32 {
    u32::try_from(segment).unwrap_or(NO_SEGMENT)
}

/// Checksum of bytes: XXH64 with seed 0.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    xxh64(bytes, 0)
}

/// What a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(pub [u8; 4]);

impl Kind {
    /// What the archive says about itself.
    pub const INFO: Self = Self(*b"INFO");
    /// Names, lengths, times, modes and digests of the documents.
    pub const DOCS: Self = Self(*b"DOCS");
    /// How the documents were made of files.
    pub const ORIG: Self = Self(*b"ORIG");
    /// The dictionary of a segment.
    pub const DICT: Self = Self(*b"DICT");
    /// The items of a segment's grammar.
    pub const ITEM: Self = Self(*b"ITEM");
    /// The symbols of a segment's grammar.
    pub const SYMB: Self = Self(*b"SYMB");
    /// The symbols of a segment's grammar, coded adaptively, as version 1 has them.
    pub const SYMD: Self = Self(*b"SYMD");
    /// The symbols of a segment's grammar, coded adaptively in streams.
    pub const SYMX: Self = Self(*b"SYMX");
    /// How a segment's root is cut into documents.
    pub const ROOT: Self = Self(*b"ROOT");
    /// How often each word of a segment occurs.
    pub const CNTW: Self = Self(*b"CNTW");
    /// The rules and lengths of a segment, to be mapped.
    pub const NAVI: Self = Self(*b"NAVI");
    /// The symbols of a segment's root, to be mapped.
    pub const SYMR: Self = Self(*b"SYMR");
    /// The documents of a segment's words, to be mapped.
    pub const DOCW: Self = Self(*b"DOCW");

    fn is_known(self) -> bool {
        [Self::INFO, Self::DOCS, Self::ORIG].contains(&self) || self.is_of_segment()
    }

    fn is_of_segment(self) -> bool {
        let of_grammar = [Self::ITEM, Self::SYMB, Self::SYMD, Self::SYMX, Self::ROOT];
        of_grammar.contains(&self) || [Self::DICT, Self::CNTW].contains(&self) || self.is_index()
    }

    /// Whether no answer depends on it, so that a reader may pass over it.
    fn is_optional(self) -> bool {
        [Self::ORIG, Self::CNTW].contains(&self) || self.is_index()
    }

    /// Whether it is part of the index: derived from other sections, and optional.
    pub(super) fn is_index(self) -> bool {
        [Self::NAVI, Self::SYMR, Self::DOCW].contains(&self)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.0.escape_ascii())
    }
}

/// Where a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) kind: Kind,
    pub(super) segment: Option<u32>,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) checksum: u64,
}

impl Section {
    /// Checks the bytes of the section.
    pub(super) fn check(&self, bytes: &[u8]) -> Result<()> {
        let found = checksum(bytes);
        if found != self.checksum {
            let what = format!("section {}", self.kind);
            return Err(Error::Checksum { what, expected: self.checksum, found });
        }
        Ok(())
    }
}

/// Where the table of sections is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// The version of the format.
    pub(super) version: u32,
    pub(super) file_bytes: u64,
    pub(super) table_offset: u64,
    pub(super) table_bytes: u64,
    pub(super) table_checksum: u64,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        for field in [self.file_bytes, self.table_offset, self.table_bytes, self.table_checksum, 0]
        {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes.try_into().expect("a header has 64 bytes")
    }

    /// Reads the header of a file of `file_bytes`. The file may go on behind the archive, with a journal.
    pub(super) fn parse(bytes: &[u8], file_bytes: u64) -> Result<Self> {
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if magic != &MAGIC[..magic.len()] || bytes.is_empty() {
            return Err(Error::NotAnArchive { found: describe(bytes) });
        }
        if bytes.len() < HEADER_BYTES {
            return Err(Error::Truncated {
                what: "the header".into(),
                needed: HEADER_BYTES as u64,
                available: bytes.len() as u64,
            });
        }
        let mut reader = Reader::new(&bytes[MAGIC.len()..HEADER_BYTES], "header");
        let version = reader.u32()?;
        let flags = reader.u32()?;
        let header = Self {
            version,
            file_bytes: reader.u64()?,
            table_offset: reader.u64()?,
            table_bytes: reader.u64()?,
            table_checksum: reader.u64()?,
        };
        let reserved = reader.u64()?;
        let expected = reader.u64()?;
        let found = checksum(&bytes[..HEADER_BYTES - 8]);
        if found != expected {
            return Err(Error::Checksum { what: "the header".into(), expected, found });
        }
        if version == 0 || version > VERSION {
            let what = "the archive";
            return Err(Error::UnsupportedVersion { what, found: version, supported: VERSION });
        }
        if flags != 0 || reserved != 0 {
            return Err(reader.malformed("it has flags that this version does not know"));
        }
        if file_bytes < header.file_bytes {
            return Err(Error::Truncated {
                what: "the file".into(),
                needed: header.file_bytes,
                available: file_bytes,
            });
        }
        let end = header.table_offset.checked_add(header.table_bytes);
        if header.table_offset < HEADER_BYTES as u64
            || end.is_none_or(|end| end > header.file_bytes)
        {
            return Err(reader.malformed("the table of sections is outside of the file"));
        }
        if header.table_bytes > MOST_SECTIONS * ENTRY_BYTES as u64 {
            return Err(reader.malformed("the table of sections is too long"));
        }
        Ok(header)
    }
}

/// Says what a file that is no archive might be.
fn describe(bytes: &[u8]) -> String {
    let known: [(&[u8], &str); 6] = [
        (b"\x1f\x8b", "it looks like a gzip file"),
        (b"\x28\xb5\x2f\xfd", "it looks like a zstd file"),
        (b"\xfd7zXZ", "it looks like an xz file"),
        (b"BZh", "it looks like a bzip2 file"),
        (b"PK\x03\x04", "it looks like a zip file"),
        (b"\xc2\x89TDC", "it looks like an archive that was converted as if it were text"),
    ];
    match known.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, what)) => (*what).to_owned(),
        None if bytes.is_empty() => "the file is empty".to_owned(),
        None => format!("it starts with \"{}\"", bytes[..bytes.len().min(8)].escape_ascii()),
    }
}

/// The table of sections as bytes.
pub(super) fn write_table(sections: &[Section]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sections.len() * ENTRY_BYTES);
    for section in sections {
        bytes.extend_from_slice(&section.kind.0);
        bytes.extend_from_slice(&section.segment.unwrap_or(NO_SEGMENT).to_le_bytes());
        let flags = if section.kind.is_optional() { OPTIONAL } else { 0 };
        bytes.extend_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        bytes.extend_from_slice(&section.offset.to_le_bytes());
        bytes.extend_from_slice(&section.bytes.to_le_bytes());
        bytes.extend_from_slice(&section.checksum.to_le_bytes());
    }
    bytes
}

/// Reads the table; sections that are optional and unknown are left out.
pub(super) fn parse_table(bytes: &[u8], table_offset: u64) -> Result<Vec<Section>> {
    let mut reader = Reader::new(bytes, "table of sections");
    let count = bytes.len() / ENTRY_BYTES;
    if !bytes.len().is_multiple_of(ENTRY_BYTES) {
        return Err(reader.malformed(format!("{} bytes are no table", bytes.len())));
    }
    let mut sections = Vec::with_capacity(count);
    let mut there = HashSet::with_capacity(count);
    let mut end = HEADER_BYTES as u64;
    for _ in 0..count {
        let kind = Kind(reader.take(4)?.try_into().expect("four bytes were taken"));
        let segment = Some(reader.u32()?).filter(|&segment| segment != NO_SEGMENT);
        let flags = reader.u32()?;
        let reserved = reader.u32()?;
        let section = Section {
            kind,
            segment,
            offset: reader.u64()?,
            bytes: reader.u64()?,
            checksum: reader.u64()?,
        };
        if flags & !OPTIONAL != 0 || reserved != 0 {
            return Err(reader.malformed(format!("section {kind} has unknown flags")));
        }
        let section_end = section.offset.checked_add(section.bytes);
        let Some(section_end) = section_end.filter(|&end| end <= table_offset) else {
            return Err(reader.malformed(format!("section {kind} is outside of the file")));
        };
        if !section.offset.is_multiple_of(ALIGNMENT) {
            return Err(reader.malformed(format!(
                "section {kind} is at {}, which is no multiple of {ALIGNMENT}",
                section.offset
            )));
        }
        if section.offset < end {
            return Err(reader.malformed(format!("section {kind} lies on another one")));
        }
        end = section_end;
        if kind.is_known() {
            if kind.is_of_segment() != segment.is_some() {
                return Err(reader.malformed(format!("section {kind} is of the wrong segment")));
            }
            if !there.insert((kind, segment)) {
                return Err(reader.malformed(format!("section {kind} is there twice")));
            }
            sections.push(section);
        } else if flags & OPTIONAL == 0 {
            return Err(reader.malformed(format!(
                "it needs the section {kind}, which this version does not know"
            )));
        }
    }
    reader.finish()?;
    Ok(sections)
}
