//! Checksums put right in files that were changed on purpose, so that tests and fuzzers reach the
//! decoders behind them: of archives and journals here, of stored views and pools in the modules
//! below. Knows what docs/format.md, docs/view.md and docs/pool.md say of checksums, and nothing
//! else. O(bytes).

mod pool;
mod view;

pub use pool::{mend_pool, pool_parts};
pub use view::mend_view;

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
const JOURNAL_HEADER_BYTES: usize = 32;
const RECORD_BYTES: usize = 64;
/// Fields of a record's header.
const RECORD_NUMBER: usize = 8;
const RECORD_SYNCED: usize = 16;
const PAYLOAD_BYTES: usize = 24;
const PAYLOAD_CHECKSUM: usize = 48;
const RECORD_CHECKSUM: usize = 56;

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

/// Makes the journal that starts at `start` one whose checksums hold: puts its header there, and
/// goes from record to record. Of their headers, magic and number are put right, and lengths and
/// positions made such as the file has.
pub fn mend_journal(file: &mut [u8], start: usize) {
    let length = file.len();
    let mut at = start + JOURNAL_HEADER_BYTES;
    if at > length {
        return;
    }
    file[start..start + 16].copy_from_slice(b"\x89TDJ\r\n\x1a\n\x01\0\0\0\0\0\0\0");
    put(file, start + 16, start as u64);
    let checksum = xxh64(&file[start..start + 24], 0);
    put(file, start + 24, checksum);
    let mut number = 0;
    while at + RECORD_BYTES <= length {
        file[at..at + 4].copy_from_slice(b"\x89TJR");
        put(file, at + RECORD_NUMBER, number);
        let synced = get(file, at + RECORD_SYNCED).min(at as u64);
        put(file, at + RECORD_SYNCED, synced);
        let payload = at + RECORD_BYTES;
        let bytes = get(file, at + PAYLOAD_BYTES).min((length - payload) as u64);
        put(file, at + PAYLOAD_BYTES, bytes);
        let end = payload + bytes as usize;
        let checksum = xxh64(&file[payload..end], 0);
        put(file, at + PAYLOAD_CHECKSUM, checksum);
        put(file, at + RECORD_CHECKSUM, at as u64);
        let checksum = xxh64(&file[at..payload], 0);
        put(file, at + RECORD_CHECKSUM, checksum);
        (at, number) = (end, number + 1);
    }
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
