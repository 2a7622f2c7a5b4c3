//! The fixed parts of a journal: its header, and the headers of its records.

use crate::archive::container::checksum;
use crate::archive::wire::Reader;

/// First bytes of every journal.
pub(super) const MAGIC: [u8; 8] = *b"\x89TDJ\r\n\x1a\n";
/// The version of the journal that is written, and the one that is read.
pub(super) const VERSION: u32 = 1;
/// Bytes of the journal's header.
pub(super) const JOURNAL_HEADER: usize = 32;
/// First bytes of every record.
pub(super) const RECORD_MAGIC: [u8; 4] = *b"\x89TJR";
/// Bytes of a record's header.
pub(super) const RECORD_HEADER: usize = 64;
/// The record is the last of a transaction.
pub(super) const COMMIT: u32 = 1;
/// The payload is a length and a Zstandard frame.
pub(super) const PACKED: u32 = 2;
/// No packed payload unpacks to more than this; one that is not packed may be longer.
pub(super) const MOST_UNPACKED: u64 = 1 << 26;

/// The header of the journal that starts at `start`.
pub(super) fn journal_header(start: u64) -> [u8; JOURNAL_HEADER] {
    let mut bytes = [0; JOURNAL_HEADER];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..24].copy_from_slice(&start.to_le_bytes());
    let sum = checksum(&bytes[..24]);
    bytes[24..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The version of a journal whose header has a checksum that holds.
pub(super) fn journal_version(bytes: &[u8]) -> Option<u32> {
    let (fields, sum) = bytes.split_at_checked(JOURNAL_HEADER - 8)?;
    let whole = fields.starts_with(&MAGIC) && sum == checksum(fields).to_le_bytes();
    whole.then(|| u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes")))
}

/// What the header of a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHeader {
    /// [`COMMIT`] and [`PACKED`].
    pub(super) flags: u32,
    /// Number of the record, from 0.
    pub(super) sequence: u64,
    /// The position in the file up to which all was synced when this was written.
    pub(super) synced: u64,
    /// Bytes of the payload as it is stored.
    pub(super) payload_bytes: u64,
    /// Bytes of text in its edits.
    pub(super) text_bytes: u64,
    /// How many edits it has.
    pub(super) edits: u32,
    /// 0.
    pub(super) reserved: u32,
    /// Checksum of the payload as it is stored.
    pub(super) payload_sum: u64,
}

impl RecordHeader {
    /// The header of a record at a position of the file. The position is in the checksum: bytes that are the copy of a record are
    /// none.
    pub(super) fn to_bytes(self, position: u64) -> [u8; RECORD_HEADER] {
        let mut bytes = [0; RECORD_HEADER];
        bytes[..4].copy_from_slice(&RECORD_MAGIC);
        bytes[4..8].copy_from_slice(&self.flags.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.synced.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.payload_bytes.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.text_bytes.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.edits.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.reserved.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.payload_sum.to_le_bytes());
        bytes[56..].copy_from_slice(&position.to_le_bytes());
        let sum = checksum(&bytes);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the header at a position of the file; `None` if there is none, or its checksum does not hold.
    pub(super) fn parse(bytes: &[u8; RECORD_HEADER], position: u64) -> Option<Self> {
        if !bytes.starts_with(&RECORD_MAGIC) {
            return None;
        }
        let mut reader = Reader::new(&bytes[4..], "record");
        let mut read = || -> crate::Result<Self> {
            Ok(Self {
                flags: reader.u32()?,
                sequence: reader.u64()?,
                synced: reader.u64()?,
                payload_bytes: reader.u64()?,
                text_bytes: reader.u64()?,
                edits: reader.u32()?,
                reserved: reader.u32()?,
                payload_sum: reader.u64()?,
            })
        };
        let header = read().expect("a header has all fields");
        (header.to_bytes(position) == *bytes).then_some(header)
    }

    /// Whether the record is the last of a transaction.
    pub(super) fn commits(&self) -> bool {
        self.flags & COMMIT != 0
    }

    /// Whether its payload is packed.
    pub(super) fn is_packed(&self) -> bool {
        self.flags & PACKED != 0
    }

    /// Why it cannot be what it says, behind the records before it.
    pub(super) fn contradiction(&self, position: u64, sequence: u64) -> Option<String> {
        if self.flags & !(COMMIT | PACKED) != 0 || self.reserved != 0 {
            Some("it has flags that this version does not know".into())
        } else if self.sequence != sequence {
            Some(format!("it is record {} where record {sequence} was expected", self.sequence))
        } else if self.synced > position {
            Some("it says that bytes behind itself were synced".into())
        } else {
            None
        }
    }

    /// The digest of a journal with this record behind one with another digest. What is in it counts, and not where it lies.
    pub(super) fn digest_after(&self, before: u64) -> u64 {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&before.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.payload_sum.to_le_bytes());
        bytes[16..].copy_from_slice(&self.flags.to_le_bytes());
        checksum(&bytes)
    }
}
