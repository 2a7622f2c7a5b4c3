//! Archives taken apart into sections and put together again, with checksums that hold: how bad sections
//! come to lie in a good file. Knows section 3 of docs/format.md and trusts its input.

use xxhash_rust::xxh64::xxh64;

const HEADER: usize = 64;
const ENTRY: usize = 40;
pub const NO_SEGMENT: u32 = u32::MAX;

#[derive(Clone)]
pub struct Section {
    pub kind: [u8; 4],
    pub segment: u32,
    pub flags: u32,
    pub bytes: Vec<u8>,
}

/// The sections of an archive, and what the header says besides.
#[derive(Clone)]
pub struct Container {
    pub version: u32,
    pub flags: u32,
    pub sections: Vec<Section>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize
}

impl Container {
    pub fn parse(archive: &[u8]) -> Self {
        let table = &archive[u64_at(archive, 24)..][..u64_at(archive, 32)];
        let sections = table.chunks(ENTRY).map(|entry| Section {
            kind: entry[..4].try_into().expect("four bytes"),
            segment: u32_at(entry, 4),
            flags: u32_at(entry, 8),
            bytes: archive[u64_at(entry, 16)..][..u64_at(entry, 24)].to_vec(),
        });
        Self { version: u32_at(archive, 8), flags: 0, sections: sections.collect() }
    }

    /// The bytes of the section of this kind; the first, if there are several.
    pub fn section(&mut self, kind: &[u8; 4]) -> &mut Section {
        self.sections
            .iter_mut()
            .find(|section| section.kind == *kind)
            .expect("the section is there")
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = vec![0; HEADER];
        let mut table = Vec::new();
        for section in &self.sections {
            file.resize(file.len().next_multiple_of(8), 0);
            table.extend_from_slice(&section.kind);
            for field in [section.segment, section.flags, 0] {
                table.extend_from_slice(&field.to_le_bytes());
            }
            let checksum = xxh64(&section.bytes, 0);
            for field in [file.len() as u64, section.bytes.len() as u64, checksum] {
                table.extend_from_slice(&field.to_le_bytes());
            }
            file.extend_from_slice(&section.bytes);
        }
        let offset = file.len();
        file.extend_from_slice(&table);
        with_table(file, offset, self.version, self.flags)
    }
}

/// Writes the header of a file whose table starts at an offset and goes to the end.
pub fn with_table(mut file: Vec<u8>, offset: usize, version: u32, flags: u32) -> Vec<u8> {
    let mut header = b"\x89TDC\r\n\x1a\n".to_vec();
    header.extend_from_slice(&version.to_le_bytes());
    header.extend_from_slice(&flags.to_le_bytes());
    let table = &file[offset..];
    let fields = [file.len() as u64, offset as u64, table.len() as u64, xxh64(table, 0), 0];
    fields.iter().for_each(|field| header.extend_from_slice(&field.to_le_bytes()));
    let checksum = xxh64(&header, 0);
    header.extend_from_slice(&checksum.to_le_bytes());
    file[..HEADER].copy_from_slice(&header);
    file
}

/// Changes the table of an archive in place, and makes the checksums right again.
pub fn edit_table(archive: &[u8], edit: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut file = archive.to_vec();
    let offset = u64_at(archive, 24);
    edit(&mut file[offset..]);
    with_table(file, offset, u32_at(archive, 8), 0)
}
