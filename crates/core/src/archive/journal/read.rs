//! Reading a journal: which of its transactions are whole, and what is in them.
//!
//! One pass over the bytes, in a buffer of fixed length, checks every checksum; edits are decoded when they are replayed. Bytes
//! that are not whole make it look for a later record that knows them to be synced, once.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use xxhash_rust::xxh64::Xxh64;

use super::edit::Edit;
use super::record::{
    JOURNAL_HEADER, MOST_UNPACKED, RECORD_HEADER, RECORD_MAGIC, RecordHeader, VERSION,
    journal_header, journal_version,
};
use crate::archive::container::checksum;
use crate::archive::wire::Reader;
use crate::archive::zstandard;
use crate::budget::{Budget, Share};
use crate::error::{Error, Result};
use crate::storage::{SECTOR, Storage};

/// Bytes that are read at once.
const WINDOW: usize = 1 << 20;
/// How often damage, or an end that is too early, is looked at again before it is believed.
const LOOKS: u32 = 3;
/// What edits are called in errors about memory, and what one costs beside its bytes: pieces of text, and more if a
/// document gets a name.
const EDITS: &str = "the edits in the journal";
const EDIT: u64 = 128;
const NAME: u64 = 256;
/// Bytes of names that are counted at a time.
const COUNTED_AT_ONCE: u64 = 1 << 16;
/// What a record is called in errors.
const WHAT: &str = "a record of the journal";

/// The whole transactions behind an archive, at the moment at which it was opened. Costs little to hold: edits are read when
/// they are asked for.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    storage: Option<Arc<dyn Storage>>,
    /// Where it starts in the file: where the stored archive ends.
    start: u64,
    /// Where the last whole transaction ends, or `start`.
    end: u64,
    /// Where the bytes end that were looked at.
    length: u64,
    counts: Counts,
    damage: Option<Damage>,
    budget: Budget,
}

/// What the records up to a place add up to.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    records: u64,
    transactions: u64,
    edits: u64,
    text_bytes: u64,
    digest: u64,
    synced: u64,
}

/// Bytes that are not those that were written.
#[derive(Debug, Clone)]
struct Damage {
    position: u64,
    reason: String,
}

/// Why a record, or the journal's header, is not whole.
enum Unwhole {
    /// The file ends before it does.
    Ends,
    /// These bytes are wrong: from the record's start up to a position.
    Wrong { end: u64, reason: String },
}

impl Journal {
    /// Reads the journal that starts at `start` in what has `length` bytes; `None` if what is there is no journal.
    pub(in crate::archive) fn read(
        storage: Arc<dyn Storage>,
        start: u64,
        length: u64,
    ) -> io::Result<Result<Option<Self>>> {
        let mut length = length;
        let mut looks = 0;
        loop {
            let scan = Scan { window: Window::new(&*storage, length), start };
            match scan.run() {
                // Its writer has cut it meanwhile; what was cut was torn.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    let now = storage.len()?;
                    if now >= length && looks == LOOKS {
                        return Err(error);
                    }
                    length = now.max(start);
                }
                Err(error) => return Err(error),
                // What was cut and written anew in between may look damaged, once.
                Ok(Ok(Some(Self { damage: Some(_), .. }))) if looks < LOOKS => {
                    length = storage.len()?.max(start);
                }
                Ok(Ok(Some(journal))) => {
                    return Ok(Ok(Some(Self { storage: Some(storage), ..journal })));
                }
                Ok(other) => return Ok(other),
            }
            looks += 1;
        }
    }

    /// The journal of an archive that has none.
    pub(in crate::archive) fn none(start: u64) -> Self {
        Self { start, end: start, length: start, ..Self::default() }
    }

    /// What its writer knows to be whole: nothing is read, and there are no counts.
    pub(super) fn written(storage: Arc<dyn Storage>, start: u64, end: u64) -> Self {
        Self { storage: Some(storage), start, end, length: end, ..Self::default() }
    }

    /// The same; what is unpacked of it is taken of a budget.
    pub(in crate::archive) fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.counts.transactions == 0
    }

    /// How many transactions there are.
    pub fn transactions(&self) -> u64 {
        self.counts.transactions
    }

    /// How many edits there are.
    pub fn edit_count(&self) -> u64 {
        self.counts.edits
    }

    /// Bytes of text in all edits.
    pub fn text_bytes(&self) -> u64 {
        self.counts.text_bytes
    }

    /// Bytes of the file that the transactions take, with the journal's header.
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// Bytes behind the last whole transaction, which do not count.
    pub fn torn(&self) -> u64 {
        self.length - self.end
    }

    /// Differs where the edits do; 0 if there are none.
    pub fn digest(&self) -> u64 {
        self.counts.digest
    }

    /// Where in the file the last whole transaction ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// How many records the transactions have.
    pub(super) fn records(&self) -> u64 {
        self.counts.records
    }

    /// The position up to which the file is known to be synced.
    pub(super) fn synced(&self) -> u64 {
        self.counts.synced
    }

    /// What is wrong behind the last whole transaction, if no crash can have made it so.
    pub(in crate::archive) fn damage(&self) -> Option<Error> {
        self.damage.as_ref().map(|damage| Error::DamagedJournal {
            position: damage.position,
            reason: damage.reason.clone(),
            transactions: self.transactions(),
            edits: self.edit_count(),
        })
    }

    /// Gives all edits in order. Memory: one record, unpacked: some mebibytes, or the longest edit.
    ///
    /// Whoever keeps what comes of the edits keeps the share: of the journal's budget it takes all their bytes, and
    /// what an edit costs beside them, before each record is given. So the number of edits is bounded, too.
    pub fn replay<E: From<Error>>(
        &self,
        mut each: impl FnMut(Edit<'_>) -> Result<(), E>,
    ) -> Result<Share, E> {
        let share = self.budget.share();
        self.for_each_record(|header, payload| {
            share.grow(EDIT * u64::from(header.edits), EDITS)?;
            let unpacking = self.budget.share();
            let unpacked;
            let bytes = if header.is_packed() {
                let mut reader = Reader::new(payload, WHAT);
                let length = reader.bounded(MOST_UNPACKED, "bytes are packed")?;
                share.grow(length, EDITS)?;
                unpacked = zstandard::unpack(&reader, reader.rest(), length, &unpacking, EDITS)?;
                &unpacked[..]
            } else {
                share.grow(payload.len() as u64, EDITS)?;
                payload
            };
            let mut reader = Reader::new(bytes, WHAT);
            let mut text_bytes = 0_u64;
            let mut named = 0;
            for _ in 0..header.edits {
                let edit = Edit::take(&mut reader)?;
                text_bytes += edit.text().len() as u64;
                if let Edit::Add { name, .. } | Edit::Rename { name, .. } = edit {
                    named += NAME + 2 * name.len() as u64;
                    if named >= COUNTED_AT_ONCE {
                        share.grow(std::mem::take(&mut named), EDITS)?;
                    }
                }
                each(edit)?;
            }
            share.grow(named, EDITS)?;
            if text_bytes != header.text_bytes {
                return Err(E::from(reader.malformed("it has more or less text than it says")));
            }
            Ok(reader.finish()?)
        })?;
        Ok(share)
    }

    /// Writes the journal anew, to lie behind another archive that ends at `start`. The copy is to be synced as a whole before it has
    /// a name.
    pub(in crate::archive) fn copy(
        &self,
        start: u64,
        mut write: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        write(&journal_header(start))?;
        let mut at = start + JOURNAL_HEADER as u64;
        self.for_each_record(|header, payload| {
            write(&RecordHeader { synced: at, ..*header }.to_bytes(at))?;
            at += (RECORD_HEADER + payload.len()) as u64;
            write(payload)
        })
    }

    /// Gives the header and the payload of each record of a whole transaction.
    fn for_each_record<E: From<Error>>(
        &self,
        mut each: impl FnMut(&RecordHeader, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(storage) = self.storage.as_deref() else { return Ok(()) };
        let io = |error| Error::io("the journal", error);
        let mut window = Window::new(storage, self.end);
        let mut at = self.start + JOURNAL_HEADER as u64;
        let mut long = Vec::new();
        while at < self.end {
            let header = window.bytes(at, RECORD_HEADER).map_err(io)?;
            let header = header.try_into().ok().and_then(|bytes| RecordHeader::parse(bytes, at));
            let whole = header.filter(|header| {
                header.payload_bytes <= self.end.saturating_sub(at + RECORD_HEADER as u64)
            });
            let changed = || self.changed(at);
            let header = whole.ok_or_else(changed)?;
            let start = at + RECORD_HEADER as u64;
            let payload = if header.payload_bytes <= WINDOW as u64 {
                window.bytes(start, header.payload_bytes as usize).map_err(io)?
            } else {
                long.resize(header.payload_bytes as usize, 0);
                storage.read_at(&mut long, start).map_err(io)?;
                &long[..]
            };
            if checksum(payload) != header.payload_sum {
                return Err(self.changed(at).into());
            }
            each(&header, payload)?;
            at = start + header.payload_bytes;
        }
        Ok(())
    }

    /// A record that was whole no longer is.
    fn changed(&self, position: u64) -> Error {
        Error::DamagedJournal {
            position,
            reason: "the record was whole when the archive was opened, and is so no longer".into(),
            transactions: self.transactions(),
            edits: self.edit_count(),
        }
    }
}

/// The pass over a journal that says what is whole.
struct Scan<'s> {
    window: Window<'s>,
    start: u64,
}

impl Scan<'_> {
    fn run(mut self) -> io::Result<Result<Option<Journal>>> {
        let length = self.window.length;
        let mut journal = Journal { length, ..Journal::none(self.start) };
        if length <= self.start {
            return Ok(Ok(Some(Journal { length: self.start, ..journal })));
        }
        match self.header()? {
            Header::Whole => {}
            Header::Torn => return Ok(Ok(Some(journal))),
            Header::Damaged => {
                let reason = "the header of the journal is not the one that was written".into();
                journal.damage = Some(Damage { position: self.start, reason });
                return Ok(Ok(Some(journal)));
            }
            Header::Other(found) => {
                return Ok(Err(Error::UnsupportedJournal { found, supported: VERSION }));
            }
            Header::None => return Ok(Ok(None)),
        }
        let mut at = self.start + JOURNAL_HEADER as u64;
        let mut counts = Counts::default();
        while at < length {
            match self.record(at, counts.records)? {
                Ok(header) => {
                    at += RECORD_HEADER as u64 + header.payload_bytes;
                    counts.records += 1;
                    counts.edits += u64::from(header.edits);
                    counts.text_bytes = counts.text_bytes.saturating_add(header.text_bytes);
                    counts.digest = header.digest_after(counts.digest);
                    counts.synced = header.synced;
                    if header.commits() {
                        counts.transactions += 1;
                        journal.end = at;
                        journal.counts = counts;
                    }
                }
                Err(unwhole) => {
                    journal.damage = self.judge(at, unwhole)?;
                    break;
                }
            }
        }
        Ok(Ok(Some(journal)))
    }

    fn header(&mut self) -> io::Result<Header> {
        let expected = journal_header(self.start);
        let found = self.window.bytes(self.start, JOURNAL_HEADER)?;
        if found == expected {
            return Ok(Header::Whole);
        }
        if let Some(version) = journal_version(found).filter(|&version| version != VERSION) {
            return Ok(Header::Other(version));
        }
        // A crash leaves each of its parts that are in one sector as it was written, or as zeros.
        let end = self.start + found.len() as u64;
        let torn = sectors(self.start, end).all(|(from, to)| {
            let range = (from - self.start) as usize..(to - self.start) as usize;
            found[range.clone()] == expected[range.clone()] || is_zero(&found[range])
        });
        let start = self.start;
        let later = self.search(start, |_| true)?;
        let claimed = later && self.search(start, |header| header.synced > start)?;
        Ok(match (torn, later) {
            (true, _) if !claimed => Header::Torn,
            (_, true) => Header::Damaged,
            (_, false) => Header::None,
        })
    }

    /// Reads a record; the header if it is whole.
    fn record(&mut self, at: u64, sequence: u64) -> io::Result<Result<RecordHeader, Unwhole>> {
        let length = self.window.length;
        let bytes = self.window.bytes(at, RECORD_HEADER)?;
        let Ok(bytes) = <&[u8; RECORD_HEADER]>::try_from(bytes) else {
            return Ok(Err(Unwhole::Ends));
        };
        let payload = at + RECORD_HEADER as u64;
        let wrong = |end, reason| Ok(Err(Unwhole::Wrong { end, reason }));
        let Some(header) = RecordHeader::parse(bytes, at) else {
            let reason = "no record starts there, or the checksum of its header does not hold";
            return wrong(payload, reason.into());
        };
        if let Some(reason) = header.contradiction(at, sequence) {
            return wrong(payload, reason);
        }
        if header.payload_bytes > length - payload {
            return Ok(Err(Unwhole::Ends));
        }
        let found = self.window.checksum(payload, payload + header.payload_bytes)?;
        if found != header.payload_sum {
            let expected = header.payload_sum;
            let reason =
                format!("the checksum of the record is {found:016x}, expected {expected:016x}");
            return wrong(payload + header.payload_bytes, reason);
        }
        Ok(Ok(header))
    }

    /// Whether what is not whole is damaged; it is torn otherwise.
    fn judge(&mut self, at: u64, unwhole: Unwhole) -> io::Result<Option<Damage>> {
        let synced = self.search(at, |header| header.synced > at)?;
        let reason = match unwhole {
            Unwhole::Ends if !synced => return Ok(None),
            Unwhole::Ends => "the record is longer than the file".to_owned(),
            Unwhole::Wrong { end, reason } => {
                if !synced && self.window.has_zeroed_sector(at, end)? {
                    return Ok(None);
                }
                reason
            }
        };
        Ok(Some(Damage { position: at, reason }))
    }

    /// Whether behind a position there is the header of a record that is as asked for.
    fn search(&mut self, behind: u64, wanted: impl Fn(&RecordHeader) -> bool) -> io::Result<bool> {
        let mut at = behind + 1;
        loop {
            let bytes = self.window.bytes(at, WINDOW)?;
            if bytes.len() < RECORD_HEADER {
                return Ok(false);
            }
            // A header that the window cuts is looked at in the next one.
            let starts = bytes.len() - RECORD_HEADER + 1;
            for (place, candidate) in bytes.windows(RECORD_HEADER).enumerate() {
                if candidate[0] == RECORD_MAGIC[0]
                    && let Ok(candidate) = candidate.try_into()
                    && RecordHeader::parse(candidate, at + place as u64)
                        .is_some_and(|header| wanted(&header))
                {
                    return Ok(true);
                }
            }
            at += starts as u64;
        }
    }
}

/// What is where a journal's header should be.
enum Header {
    Whole,
    Torn,
    Damaged,
    /// That of another version.
    Other(u32),
    /// Something else altogether.
    None,
}

/// The parts of a range of the file that are in one sector each.
fn sectors(from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
    let next = move |at: u64| to.min((at / SECTOR + 1) * SECTOR);
    let first = (from < to).then(|| (from, next(from)));
    std::iter::successors(first, move |&(_, end)| (end < to).then(|| (end, next(end))))
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// A stretch of the file in memory, moved along.
struct Window<'s> {
    storage: &'s dyn Storage,
    /// Where the file ends, whatever is written behind it meanwhile.
    length: u64,
    buffer: Vec<u8>,
    start: u64,
}

impl<'s> Window<'s> {
    fn new(storage: &'s dyn Storage, length: u64) -> Self {
        Self { storage, length, buffer: Vec::new(), start: 0 }
    }

    /// The bytes at a place: `wanted` of them, which are no more than [`WINDOW`], or as many as there are.
    fn bytes(&mut self, at: u64, wanted: usize) -> io::Result<&[u8]> {
        let wanted = (wanted as u64).min(self.length.saturating_sub(at)) as usize;
        let end = self.start + self.buffer.len() as u64;
        if at < self.start || at + wanted as u64 > end {
            let there = self.length.saturating_sub(at).min(WINDOW as u64);
            self.buffer.resize(there as usize, 0);
            self.start = at;
            self.storage.read_at(&mut self.buffer, at)?;
        }
        let from = (at - self.start) as usize;
        Ok(&self.buffer[from..from + wanted])
    }

    /// The checksum of a range.
    fn checksum(&mut self, from: u64, to: u64) -> io::Result<u64> {
        if to - from <= WINDOW as u64 {
            return Ok(checksum(self.bytes(from, (to - from) as usize)?));
        }
        let mut state = Xxh64::new(0);
        let mut at = from;
        while at < to {
            let bytes = self.bytes(at, (to - at).min(WINDOW as u64) as usize)?;
            state.update(bytes);
            at += bytes.len() as u64;
        }
        Ok(state.digest())
    }

    /// Whether one of the sectors of a range has zeros only, as far as it is in the range.
    fn has_zeroed_sector(&mut self, from: u64, to: u64) -> io::Result<bool> {
        for (from, to) in sectors(from, to) {
            if is_zero(self.bytes(from, (to - from) as usize)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
