//! Checksums put right in an archive that was changed on purpose, so that tests and fuzzers reach the
//! decoders behind them. Knows the header and the table of sections from docs/format.md and nothing
//! else. O(bytes).

use std::ops::Range;

use xxhash_rust::xxh64::xxh64;

const HEADER_BYTES: usize = 64;
const ENTRY_BYTES: usize = 40;
/// Fields of the header.
const FILE_BYTES: usize = 16;
const TABLE_OFFSET: usize = 24;
const TABLE_BYTES: usize = 32;
const TABLE_CHECKSUM: usize = 40;
const HEADER_CHECKSUM: usize = 56;
/// Fields of an entry of the table.
const SECTION_OFFSET: usize = 16;
const SECTION_BYTES: usize = 24;
const SECTION_CHECKSUM: usize = 32;

/// Makes lengths and checksums of an archive agree with its bytes, as far as they can be found: the
/// length of the file, the place of the table (at the end, where one of that length fits), and the
/// checksums of sections, table and header.
pub fn mend_checksums(archive: &mut [u8]) {
    let length = archive.len();
    if length < HEADER_BYTES {
        return;
    }
    put(archive, FILE_BYTES, length as u64);
    let table_bytes = get(archive, TABLE_BYTES);
    if table_bytes <= (length - HEADER_BYTES) as u64 {
        put(archive, TABLE_OFFSET, length as u64 - table_bytes);
    }
    if let Some(table) = range(archive, TABLE_OFFSET, TABLE_BYTES) {
        for entry in table.clone().step_by(ENTRY_BYTES) {
            if entry + ENTRY_BYTES > table.end {
                break;
            }
            if let Some(section) = range(archive, entry + SECTION_OFFSET, entry + SECTION_BYTES) {
                let checksum = xxh64(&archive[section], 0);
                put(archive, entry + SECTION_CHECKSUM, checksum);
            }
        }
        let checksum = xxh64(&archive[table], 0);
        put(archive, TABLE_CHECKSUM, checksum);
    }
    let checksum = xxh64(&archive[..HEADER_CHECKSUM], 0);
    put(archive, HEADER_CHECKSUM, checksum);
}

/// The bytes that an offset and a length at two places tell of, if they are there.
fn range(archive: &[u8], offset: usize, bytes: usize) -> Option<Range<usize>> {
    let start = usize::try_from(get(archive, offset)).ok()?;
    let end = start.checked_add(usize::try_from(get(archive, bytes)).ok()?)?;
    (start >= HEADER_BYTES && end <= archive.len()).then_some(start..end)
}

fn get(archive: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(archive[at..at + 8].try_into().expect("eight bytes"))
}

fn put(archive: &mut [u8], at: usize, value: u64) {
    archive[at..at + 8].copy_from_slice(&value.to_le_bytes());
}
