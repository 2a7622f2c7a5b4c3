//! Archives that were edited: section 15 of docs/format.md. Good journals are written by the writer itself, and what they
//! lead to is worked out on plain bytes; bad ones are put together here.

use std::path::Path;

use anyhow::Result;
use tadoc_core::archive::{Edit, JournalWriter};
use tadoc_engine::{CompressOptions, Timestamp};
use xxhash_rust::xxh64::xxh64;

use super::coder::varint;
use super::good::Good;
use super::{Expected, compress};

/// Documents by their numbers; `None` where one was removed.
type Documents = Vec<Option<Expected>>;

fn apply(documents: &mut Documents, edit: &Edit<'_>) {
    let mut splice = |document: u32, at: Option<u64>, length: u64, text: &[u8]| {
        let document = documents[document as usize].as_mut().expect("the document is there");
        let at = at.map_or(document.bytes.len(), |at| at as usize);
        document.bytes.splice(at..at + length as usize, text.iter().copied());
    };
    match *edit {
        Edit::Insert { document, offset, text } => splice(document, Some(offset), 0, text),
        Edit::Append { document, text } => splice(document, None, 0, text),
        Edit::Delete { document, offset, length } => splice(document, Some(offset), length, &[]),
        Edit::Replace { document, offset, length, text } => {
            splice(document, Some(offset), length, text);
        }
        Edit::Add { name, modified, mode, text } => {
            documents.push(Some(Expected { modified, mode, ..Expected::new(name, text) }));
        }
        Edit::Remove { document } => documents[document as usize] = None,
        Edit::Rename { document, name } => {
            let document = documents[document as usize].as_mut().expect("the document is there");
            document.name = name.to_vec();
        }
    }
}

/// Edits an archive; gives its bytes, and its documents in order.
fn edited(
    path: &Path,
    stored: &[Expected],
    transactions: &[Vec<Edit<'_>>],
) -> Result<(Vec<u8>, Vec<Expected>)> {
    let mut documents: Documents = stored.iter().cloned().map(Some).collect();
    let (_, _, mut writer) = JournalWriter::open(path)?;
    for edits in transactions {
        for edit in edits {
            writer.push(edit)?;
            apply(&mut documents, edit);
        }
        writer.commit(true)?;
    }
    let mut documents: Vec<Expected> = documents.into_iter().flatten().collect();
    documents.sort_by(|left, right| left.name.cmp(&right.name));
    Ok((std::fs::read(path)?, documents))
}

/// Archives that end in a journal, whole or torn.
pub fn good(work: &Path) -> Result<Vec<Good>> {
    let stored = [
        Expected::new("a.txt", "to be or not to be, to be or not to be\n"),
        Expected::new("b.txt", "to be or not to be; that is the question\n"),
        Expected::new("c.txt", ""),
    ];
    let path = compress(work, "journal", &stored, &CompressOptions::default())?;
    let unedited = std::fs::read(&path)?;
    let time = Some(Timestamp { seconds: -1, nanoseconds: 999_999_999 });
    let long = b"lines that come again, of which there are many\n".repeat(300);
    let transactions = vec![
        vec![Edit::Insert { document: 0, offset: 4, text: b"twe" }],
        vec![
            Edit::Append { document: 2, text: b"\xFF\0 any bytes" },
            Edit::Delete { document: 1, offset: 18, length: 22 },
            Edit::Replace { document: 0, offset: 0, length: 5, text: b"in be" },
            Edit::Add { name: b"aa.txt", modified: time, mode: Some(0o640), text: b"added" },
            Edit::Add { name: b"z/\xFE", modified: None, mode: None, text: &long },
        ],
        vec![
            Edit::Insert { document: 4, offset: 10, text: &long },
            Edit::Rename { document: 3, name: b"b.txt.2" },
            Edit::Remove { document: 0 },
            Edit::Add { name: b"a.txt", modified: None, mode: Some(0), text: b"" },
            Edit::Append { document: 5, text: b"another of this name" },
            Edit::Rename { document: 2, name: b"c.txt" },
        ],
        vec![Edit::Delete { document: 1, offset: 0, length: 19 }],
    ];
    let (whole, documents) = edited(&path, &stored, &transactions)?;
    let mut all = Vec::new();
    let mut add = |name, bytes: Vec<u8>, documents: &[Expected]| {
        all.push(Good { name, bytes, documents: documents.to_vec() });
    };
    add("journal", whole.clone(), &documents);
    add(
        "journal-torn",
        [&whole[..], &record(whole.len(), 4, 0, COMMIT, b"\x05\x01")[..65]].concat(),
        &documents,
    );
    let zeros = whole.len().next_multiple_of(SECTOR) + 3 * SECTOR + 7 - whole.len();
    add("journal-zeros", [&whole[..], &vec![0; zeros]].concat(), &documents);
    // The last sector of a long record is missing, and a record that follows it is there.
    let text = [&b"\x01\x01"[..], &varint(2000), &[b'x'; 2000]].concat();
    let mut sector = [&whole[..], &record(whole.len(), 4, 0, COMMIT, &text)].concat();
    let from = sector.len() / SECTOR * SECTOR;
    sector[from..].fill(0);
    let behind = sector.len();
    sector.extend(record(behind, 5, whole.len(), COMMIT, b"\x05\x01"));
    add("journal-sector", sector, &documents);
    let open = record(whole.len(), 4, whole.len(), 0, b"\x05\x01");
    add("journal-no-commit", [&whole[..], &open].concat(), &documents);
    add("journal-only-zeros", [&unedited[..], &[0; 700]].concat(), &stored);
    add("journal-header", [&unedited[..], &header(unedited.len(), 1)[..31]].concat(), &stored);
    Ok(all)
}

/// Edits at the borders of segments, and in a document that is in three of them.
pub fn of_segments(name: &'static str, stored: &Good, work: &Path) -> Result<Good> {
    let path = work.join(format!("{name}.tdc"));
    std::fs::write(&path, &stored.bytes)?;
    let length = |number: usize| stored.documents[number].bytes.len() as u64;
    let (half, quarter, end) = (length(2) / 2, length(4) / 4, length(4));
    let transactions = vec![
        vec![
            Edit::Insert { document: 2, offset: half, text: b"at a border" },
            Edit::Insert { document: 2, offset: 0, text: b"before all" },
            Edit::Append { document: 0, text: b"behind the first segment" },
            Edit::Delete { document: 4, offset: quarter - 3, length: end / 2 + 6 },
        ],
        vec![
            Edit::Remove { document: 1 },
            Edit::Rename { document: 3, name: b"a new name" },
            Edit::Replace { document: 0, offset: 0, length: length(0), text: b"all of it" },
            Edit::Add { name: b"new", modified: None, mode: None, text: b"a new one" },
        ],
    ];
    let (bytes, documents) = edited(&path, &stored.documents, &transactions)?;
    Ok(Good { name, bytes, documents })
}

const SECTOR: usize = 512;
pub const COMMIT: u32 = 1;
pub const PACKED: u32 = 2;

/// The header of a journal.
pub fn header(start: usize, version: u32) -> Vec<u8> {
    let mut bytes = b"\x89TDJ\r\n\x1a\n".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend((start as u64).to_le_bytes());
    let sum = xxh64(&bytes, 0);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// A record of one edit.
fn record(position: usize, number: u64, synced: usize, flags: u32, payload: &[u8]) -> Vec<u8> {
    let text = match payload {
        // Those that are appended here have fewer than 2^14 bytes, and one byte for the document.
        [1, _, length, rest @ ..] if *length < 0x80 => rest.len(),
        [1, _, _, _, rest @ ..] => rest.len(),
        _ => 0,
    };
    record_of(position, number, synced, flags, [1, text as u64], payload)
}

/// A record with the figures that are told: edits, and bytes of their text.
pub fn record_of(
    position: usize,
    number: u64,
    synced: usize,
    flags: u32,
    [edits, text]: [u64; 2],
    payload: &[u8],
) -> Vec<u8> {
    let mut bytes = b"\x89TJR".to_vec();
    bytes.extend(flags.to_le_bytes());
    for field in [number, synced as u64, payload.len() as u64, text, edits, xxh64(payload, 0)] {
        bytes.extend(field.to_le_bytes());
    }
    let sum = xxh64(&[&bytes[..], &(position as u64).to_le_bytes()].concat(), 0);
    bytes.extend(sum.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Journals that no crash has left so, behind a good archive of two documents.
pub fn bad(good: &[u8], add: &mut impl FnMut(&str, &str, Vec<u8>)) {
    let start = good.len();
    let first = start + 32;
    let behind = |records: &[u8]| [good, &header(start, 1), records].concat();
    let one = |flags, payload: &[u8]| behind(&record(first, 0, start, flags, payload));
    let append = b"\x01\x00\x04more";
    let whole = one(COMMIT, append);
    // Two records; `synced` of the second.
    let two = |synced: usize| {
        let second = record(whole.len(), 1, synced, COMMIT, b"\x05\x01");
        [&whole[..], &second].concat()
    };
    let flipped = |mut bytes: Vec<u8>, at: usize| {
        bytes[at] ^= 1;
        bytes
    };
    let damaged = |at: usize| format!("the journal of edits is damaged at byte {at}");
    let at_first = damaged(first);
    add("journal-version", "in a journal of version 2", [good, &header(start, 2)].concat());
    add("journal-moved", "were written", [good, &header(start + 1, 1)].concat());
    add("journal-damaged-header", &damaged(start), flipped(two(first), start + 9));
    add("journal-damaged", &at_first, flipped(two(whole.len()), first + 66));
    add("journal-damaged-unsynced", &at_first, flipped(two(first), first + 66));
    add("journal-damaged-record", &at_first, flipped(whole.clone(), first + 10));
    add("journal-damaged-magic", &at_first, flipped(whole.clone(), first));
    add("journal-damaged-end", &at_first, flipped(whole.clone(), whole.len() - 1));
    let mut zeroed = two(whole.len());
    zeroed[first..whole.len()].fill(0);
    add("journal-zeroed-but-synced", &at_first, zeroed);
    add("journal-flags", &at_first, one(COMMIT | 4, append));
    add("journal-number", &at_first, behind(&record(first, 1, start, COMMIT, append)));
    add("journal-synced", &at_first, behind(&record(first, 0, first + 1, COMMIT, append)));
    let reserved = record_of(first, 0, start, COMMIT, [1 | 1 << 32, 4], append);
    add("journal-reserved", &at_first, behind(&reserved));

    let counts =
        |counts, payload: &[u8]| behind(&record_of(first, 0, start, COMMIT, counts, payload));
    add("journal-edits-missing", "bytes are announced", counts([2, 4], append));
    add("journal-edits-left-over", "bytes follow its end", counts([0, 0], append));
    add("journal-text-bytes", "more or less text than it says", counts([1, 5], append));
    add("journal-kind", "7 is no kind of edit", one(COMMIT, b"\x07\x00"));
    add(
        "journal-number-too-large",
        "is the number of a document",
        one(COMMIT, b"\x05\x80\x80\x80\x80\x10"),
    );
    add("journal-name-empty", "a name is empty", one(COMMIT, b"\x06\x00\x00"));
    add("journal-name-nul", "a name has a NUL in it", one(COMMIT, b"\x06\x00\x01\x00"));
    add("journal-attributes", "unknown attributes", one(COMMIT, b"\x04\x01n\x04\x00"));
    add("journal-mode", "more than permission bits", one(COMMIT, b"\x04\x01n\x02\x80\x20\x00"));
    let time = [&b"\x04\x01n\x01\x00"[..], &varint(1_000_000_000), b"\x00"].concat();
    add("journal-nanoseconds", "no nanoseconds of 10^9", one(COMMIT, &time));
    let frame = zstd::bulk::compress(append, 1).expect("compressing in memory cannot fail");
    let packed = |length: u64| {
        let payload = [varint(length), frame.clone()].concat();
        counts_packed(behind, first, start, &payload)
    };
    add("journal-packed-length", "a frame unpacks to", packed(append.len() as u64 + 1));
    add("journal-packed-too-long", "bytes are packed, where at most", packed((1 << 26) + 1));
    add("journal-not-packed", "Zstandard", counts_packed(behind, first, start, b"\x02no"));

    add("journal-no-document", "is not there", one(COMMIT, b"\x05\x02"));
    add("journal-removed-document", "is not there", {
        let remove = one(COMMIT, b"\x05\x01");
        let again = record(remove.len(), 1, start, COMMIT, b"\x05\x01");
        [remove, again].concat()
    });
    add("journal-insert-past-end", "is past the end", counts([1, 1], b"\x00\x00\x28\x01x"));
    add("journal-delete-past-end", "is past the end", one(COMMIT, b"\x02\x00\x00\x28"));
    add("journal-name-twice", "two documents are called", one(COMMIT, b"\x04\x05b.txt\x00\x00"));
    add("journal-renamed-twice", "two documents are called", one(COMMIT, b"\x06\x00\x05b.txt"));
}

/// A journal of one packed record of one edit with four bytes of text.
fn counts_packed(
    behind: impl Fn(&[u8]) -> Vec<u8>,
    first: usize,
    start: usize,
    payload: &[u8],
) -> Vec<u8> {
    behind(&record_of(first, 0, start, COMMIT | PACKED, [1, 4], payload))
}
