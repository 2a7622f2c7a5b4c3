//! Writing a journal.
//!
//! Edits are coded into a buffer, which becomes a record when the transaction ends or some mebibytes are reached: a transaction
//! of any length takes bounded memory. A record is packed if that makes it smaller, and written at once. Nothing is allocated
//! for an edit. After a write or sync that failed nobody can say what is on the disk, so the writer refuses all that follows.

use std::path::{Path, PathBuf};

use xxhash_rust::xxh64::Xxh64;

use super::edit::Edit;
use super::lock::ArchiveLock;
use super::read::Journal;
use super::record::{
    COMMIT, JOURNAL_HEADER, MOST_UNPACKED, PACKED, RECORD_HEADER, RecordHeader, journal_header,
};
use crate::archive::container::checksum;
use crate::archive::read::Archive;
use crate::archive::wire::put_varint;
use crate::budget::{Budget, MemoryLimit};
use crate::error::{Error, Result};
use crate::new_file::Destination;
use crate::storage::{FileStorage, SECTOR, Storage};

/// A record is written when its edits have so many bytes, even if the transaction goes on.
const FULL_RECORD: usize = 4 << 20;
/// Texts of so many bytes are written from where they are, and not packed.
const LONG_TEXT: usize = 8 << 20;
/// Fewer bytes than this are not packed.
const LEAST_PACKED: usize = 4 << 10;
/// The level of Zstandard: what is fast.
const PACKING_LEVEL: i32 = 1;
/// Bytes before the edits in a buffer, for headers.
const HEAD: usize = JOURNAL_HEADER + RECORD_HEADER;
/// Bytes of the longest varint.
const LONGEST_VARINT: usize = 10;

const _: () = assert!((FULL_RECORD + LONG_TEXT) as u64 * 2 < MOST_UNPACKED);

/// Appends transactions to the journal of an archive. Dropped in the middle of one, it leaves bytes that do not count.
pub struct JournalWriter<S: Storage = FileStorage> {
    storage: S,
    lock: Option<ArchiveLock>,
    path: PathBuf,
    /// Where the journal starts.
    start: u64,
    /// What there was when the last transaction ended.
    committed: Place,
    /// Where the next record goes.
    next: Place,
    /// All up to this position is synced.
    synced: u64,
    /// Room for headers, and the edits of the record to come.
    buffer: Vec<u8>,
    edits: u32,
    text_bytes: u64,
    /// Room for headers, and a packed payload.
    packed: Vec<u8>,
    packer: zstd::bulk::Compressor<'static>,
    failure: Option<String>,
    /// [`FULL_RECORD`] and [`LONG_TEXT`], but for tests.
    pub(super) full_record: usize,
    pub(super) long_text: usize,
}

/// A place between two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    position: u64,
    /// Number of the record that is to come.
    sequence: u64,
}

impl<S: Storage> std::fmt::Debug for JournalWriter<S> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("JournalWriter");
        fields.field("path", &self.path).field("committed", &self.committed);
        fields.field("next", &self.next).field("synced", &self.synced);
        fields.field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl JournalWriter<FileStorage> {
    /// Takes the lock of an archive and opens it; reads its journal, and cuts off what is torn. [`Error::Locked`] if someone else
    /// edits it, [`Error::DamagedJournal`] if there is more behind the last whole transaction than a crash can explain.
    pub fn open(path: &Path) -> Result<(Archive, Journal, Self)> {
        Self::open_within(path, MemoryLimit::Default)
    }

    /// The same, with a limit on the memory that all that is decoded of the archive may take together.
    pub fn open_within(path: &Path, memory: MemoryLimit) -> Result<(Archive, Journal, Self)> {
        let lock = ArchiveLock::acquire_to_write(path)?;
        // Those who were killed while they replaced it left files beside it.
        Destination::of(path)?.remove_left_behind();
        let archive = Archive::open_within(path, memory)?;
        if archive.identity()? != lock.identity() {
            return Err(Error::Replaced { path: path.to_owned() });
        }
        let journal = archive.journal()?;
        let file = lock.file().try_clone().map_err(|error| Error::io(path, error))?;
        let start = archive.stored_bytes();
        let writer = Self::behind(FileStorage(file), Some(lock), path, start, &journal)?;
        Ok((archive, journal, writer))
    }

    /// [`Error::Replaced`] if the path no longer means the archive that is written behind.
    pub fn check_lock(&self) -> Result<()> {
        self.lock.as_ref().map_or(Ok(()), ArchiveLock::check)
    }

    /// Gives up the lock; from then on nothing can be written.
    pub fn release(&mut self) {
        self.forget();
        self.lock = None;
        self.failure.get_or_insert_with(|| "the lock of the archive was given up".into());
    }

    /// Ends writing, and keeps the lock. Edits that were not committed are gone.
    pub fn into_lock(self) -> ArchiveLock {
        self.lock.expect("a writer that was opened has a lock")
    }
}

impl<S: Storage> JournalWriter<S> {
    /// Writes a journal into any storage, behind an archive that ends at `archive_end`; cuts off what is torn. Nothing is locked.
    pub fn over(storage: S, archive_end: u64) -> Result<(Journal, Self)> {
        let path = Path::new("the journal");
        let io = |error| Error::io(path, error);
        let length = storage.len().map_err(io)?;
        let handle = storage.handle().map_err(io)?;
        let journal = Journal::read(handle.into(), archive_end, length).map_err(io)??;
        let journal = journal.ok_or(Error::BytesBehindArchive { stored: archive_end, length })?;
        if let Some(damage) = journal.damage() {
            return Err(damage);
        }
        let writer = Self::behind(storage, None, path, archive_end, &journal)?;
        Ok((journal, writer))
    }

    fn behind(
        storage: S,
        lock: Option<ArchiveLock>,
        path: &Path,
        start: u64,
        journal: &Journal,
    ) -> Result<Self> {
        let packer = zstd::bulk::Compressor::new(PACKING_LEVEL);
        let place = Place { position: journal.end(), sequence: journal.records() };
        let mut writer = Self {
            storage,
            lock,
            path: path.to_owned(),
            start,
            committed: place,
            next: place,
            synced: journal.synced(),
            buffer: vec![0; HEAD],
            edits: 0,
            text_bytes: 0,
            packed: Vec::new(),
            packer: packer.expect("a level that Zstandard has"),
            failure: None,
            full_record: FULL_RECORD,
            long_text: LONG_TEXT,
        };
        if journal.torn() > 0 {
            writer.cut()?;
        }
        Ok(writer)
    }

    /// Puts an edit into the transaction. Whether its document and its places exist is not looked at; [`Error::BadEdit`] for what no
    /// archive can have.
    pub fn push(&mut self, edit: &Edit<'_>) -> Result<()> {
        self.check()?;
        let text = edit.text();
        if text.len() >= self.long_text {
            return self.push_long(edit);
        }
        edit.put_head(&mut self.buffer)?;
        self.buffer.extend_from_slice(text);
        self.edits += 1;
        self.text_bytes += text.len() as u64;
        if self.buffer.len() >= self.full_record {
            self.write_record(0)?;
        }
        Ok(())
    }

    /// An edit as a record of its own, whose text is not copied.
    fn push_long(&mut self, edit: &Edit<'_>) -> Result<()> {
        if self.edits > 0 {
            self.write_record(0)?;
        }
        let head = self.buffer.len();
        edit.put_head(&mut self.buffer)?;
        debug_assert_eq!(head, HEAD);
        let text = edit.text();
        let mut sum = Xxh64::new(0);
        sum.update(&self.buffer[HEAD..]);
        sum.update(text);
        let header = RecordHeader {
            flags: 0,
            sequence: self.next.sequence,
            synced: self.synced.min(self.next.position),
            payload_bytes: (self.buffer.len() - HEAD + text.len()) as u64,
            text_bytes: text.len() as u64,
            edits: 1,
            reserved: 0,
            payload_sum: sum.digest(),
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let (from, position) = self.put_headers(&mut buffer, &header);
        let behind = position + (buffer.len() - JOURNAL_HEADER) as u64;
        // No sector is written twice, so that after a crash each is whole or not there.
        let filling = (behind.next_multiple_of(SECTOR) - behind) as usize;
        let (filling, rest) = text.split_at(filling.min(text.len()));
        buffer.extend_from_slice(filling);
        let written = self.storage.write_at(&buffer[from..], self.next.position);
        let behind = behind + filling.len() as u64;
        let written = written.and_then(|()| self.storage.write_at(rest, behind));
        self.buffer = buffer;
        self.written(written, position, &header)
    }

    /// Ends the transaction: when this returns, it is written, and synced if that was asked for. [`Error::Replaced`] if the
    /// archive was replaced meanwhile. Nothing is written for a transaction without edits.
    pub fn commit(&mut self, sync: bool) -> Result<()> {
        self.check()?;
        if self.edits > 0 || self.next != self.committed {
            if let Some(lock) = &self.lock {
                lock.check()?;
            }
            self.write_record(COMMIT)?;
            self.committed = self.next;
        }
        if sync { self.sync() } else { Ok(()) }
    }

    /// Syncs all that was written.
    pub fn sync(&mut self) -> Result<()> {
        self.check()?;
        if self.synced < self.next.position {
            if let Err(error) = self.storage.sync() {
                return Err(self.fail("syncing", &error));
            }
            self.synced = self.next.position;
        }
        Ok(())
    }

    /// The journal with all edits that were pushed, also those of the open transaction, which readers
    /// do not see yet. Writes the edits that wait; what is unpacked is taken of `budget`.
    pub fn journal(&mut self, budget: &Budget) -> Result<Journal> {
        self.check()?;
        if self.edits > 0 {
            self.write_record(0)?;
        }
        let handle = self.storage.handle().map_err(|error| Error::io(&self.path, error))?;
        Ok(Journal::written(handle.into(), self.start, self.next.position).within(budget.clone()))
    }

    /// Bytes of the file that the journal takes, with its header; edits that wait to be written are not among them.
    pub fn bytes(&self) -> u64 {
        self.next.position - self.start
    }

    /// Forgets what was pushed since the last commit. If that cannot be cut off the file, what is called next says so.
    pub fn abandon(&mut self) {
        self.forget();
        if self.failure.is_none() && self.next != self.committed {
            self.next = self.committed;
            // What `cut` gives is kept, and given again by the next call.
            let _ = self.cut();
        }
    }

    fn forget(&mut self) {
        self.buffer.truncate(HEAD);
        self.edits = 0;
        self.text_bytes = 0;
    }

    /// Cuts the file behind the last whole transaction, for good: what comes next must not mix with what was there.
    fn cut(&mut self) -> Result<()> {
        let cut = self.storage.truncate(self.committed.position);
        if let Err(error) = cut.and_then(|()| self.storage.sync()) {
            return Err(self.fail("cutting off an unfinished transaction", &error));
        }
        self.synced = self.committed.position;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(reason) => {
                Err(Error::JournalFailed { path: self.path.clone(), reason: reason.clone() })
            }
        }
    }

    fn fail(&mut self, what: &str, error: &std::io::Error) -> Error {
        let reason = format!("{what} failed: {error}");
        self.failure = Some(reason.clone());
        Error::JournalFailed { path: self.path.clone(), reason }
    }

    /// Writes the edits of the buffer as a record.
    fn write_record(&mut self, flags: u32) -> Result<()> {
        let packed = self.pack();
        let flags = if packed { flags | PACKED } else { flags };
        let owner = if packed { &mut self.packed } else { &mut self.buffer };
        let mut bytes = std::mem::take(owner);
        let header = RecordHeader {
            flags,
            sequence: self.next.sequence,
            synced: self.synced.min(self.next.position),
            payload_bytes: (bytes.len() - HEAD) as u64,
            text_bytes: self.text_bytes,
            edits: self.edits,
            reserved: 0,
            payload_sum: checksum(&bytes[HEAD..]),
        };
        let (from, position) = self.put_headers(&mut bytes, &header);
        let written = self.storage.write_at(&bytes[from..], self.next.position);
        if packed {
            self.packed = bytes;
        } else {
            self.buffer = bytes;
        }
        self.written(written, position, &header)
    }

    /// Packs the buffer; whether that made it smaller.
    fn pack(&mut self) -> bool {
        let edits = &self.buffer[HEAD..];
        if edits.len() < LEAST_PACKED {
            return false;
        }
        self.packed.clear();
        self.packed.resize(HEAD, 0);
        put_varint(&mut self.packed, edits.len() as u64);
        let start = self.packed.len();
        // No more room than is worth it: what gets longer is not packed.
        self.packed.resize(start + edits.len() - LONGEST_VARINT, 0);
        match self.packer.compress_to_buffer(edits, &mut self.packed[start..]) {
            Ok(length) => {
                self.packed.truncate(start + length);
                true
            }
            Err(_) => false,
        }
    }

    /// Writes the header of a record before its payload, and that of the journal if it is the first; from where on bytes are
    /// to be written, and the position of the record.
    fn put_headers(&self, bytes: &mut [u8], header: &RecordHeader) -> (usize, u64) {
        let first = self.next.position == self.start;
        let from = if first { 0 } else { JOURNAL_HEADER };
        let position = self.next.position + (JOURNAL_HEADER - from) as u64;
        if first {
            bytes[..JOURNAL_HEADER].copy_from_slice(&journal_header(self.start));
        }
        bytes[JOURNAL_HEADER..HEAD].copy_from_slice(&header.to_bytes(position));
        (from, position)
    }

    /// A record was written, or not; then all that is known to be whole is kept.
    fn written(
        &mut self,
        written: std::io::Result<()>,
        position: u64,
        header: &RecordHeader,
    ) -> Result<()> {
        self.forget();
        if let Err(error) = written {
            let failure = self.fail("writing", &error);
            // What stays if this fails as well is torn.
            let cut = self.storage.truncate(self.committed.position);
            let _ = cut.and_then(|()| self.storage.sync());
            return Err(failure);
        }
        self.next = Place {
            position: position + RECORD_HEADER as u64 + header.payload_bytes,
            sequence: self.next.sequence + 1,
        };
        Ok(())
    }
}
