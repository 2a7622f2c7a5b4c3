//! The pool: one file with a header, two checkpoints, and tables one behind the other.
//!
//! Tables come in two groups: the view, and what is of one task (*working*). A group has a key that says
//! what it is of; with another key it is made anew, and all behind it. A checkpoint is the list of
//! finished tables, and is written to the older of two slots, so that a torn one leaves the other.
//!
//! Opening costs reading the checkpoints. A table is read once more, for its checksums, when it is asked for.

use std::fs::OpenOptions;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use tadoc_core::room::Room;
use tadoc_core::{Spill, usize_of};
use tadoc_tasks::Work;
use xxhash_rust::xxh64::xxh64;

use crate::layout::{
    BLOCK, Directory, HEADER_WORDS, Header, MOST_TABLES, SLOT_BYTES, SLOTS, TABLES_START, Table,
    VERSION, WORKING, digest, header, read_header,
};
use crate::medium::space::Space;
use crate::medium::{self, Advice, Medium, PAGE};
use crate::work::Phases;
use crate::{Error, Patience, Persist, Result};

/// Blocks that are fetched while those before them are read.
const FETCHED_BLOCKS: u64 = 64;

/// What a row of phases is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// What it is, for people.
    pub name: String,
    /// Chains with the same key have the same phases with the same results. Everything that they depend
    /// on, beside the view, must be in it.
    pub key: u64,
}

/// What a chain found in the pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resumption {
    /// The chain's name.
    pub chain: String,
    /// Phases whose tables were there and were right.
    pub finished: Vec<String>,
    /// The phase that was at work: its name, and how many of how many operations were done.
    pub operations: Option<(String, u64, u64)>,
    /// What was there and is made again, and why.
    pub discarded: Vec<String>,
    /// The chain whose tables were there instead, if there was one: they make way for this one.
    pub replaced: Option<String>,
    /// Phases whose tables were made now, and how long that took.
    pub made: Vec<(String, Duration)>,
}

/// A pool that is open, and belongs to this process.
#[derive(Debug)]
pub struct Pool {
    pub(crate) space: Arc<Space>,
    path: PathBuf,
    /// Where files for rows to work in are made; in memory if it has none.
    folder: Option<PathBuf>,
    /// Where large rows of its view lie that are derived.
    pub(crate) spill: Spill,
    archive: [u64; 2],
    pub(crate) directory: Directory,
    resumptions: Vec<Resumption>,
    /// What the file was too short for when it was opened; told by the first chain.
    lost: Option<String>,
    /// When the phase at work began.
    began: Instant,
}

impl Pool {
    /// Opens the pool of an archive with this fingerprint; makes it if the file is not there. If another process has it, it is waited for.
    ///
    /// # Errors
    /// If another process has it, the file is no pool or one of another version or archive, its header is damaged, or the system says no. Whatever
    /// else is wrong with it is made again.
    pub fn open(path: &Path, archive: [u64; 2], patience: Patience) -> Result<Self> {
        let failed = |source| Error::Io { path: path.to_owned(), source };
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(failed)?;
        patience.lock(&file, path)?;
        let medium = medium::of_file(file).map_err(failed)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        Self::on(medium, archive, path.to_owned(), Some(folder))
    }

    /// A pool in any medium; for tests.
    pub fn over(medium: Arc<dyn Medium>, archive: [u64; 2]) -> Result<Self> {
        let path = PathBuf::from(format!("({})", medium.kind()));
        Self::on(medium, archive, path, None)
    }

    fn on(
        medium: Arc<dyn Medium>,
        archive: [u64; 2],
        path: PathBuf,
        folder: Option<PathBuf>,
    ) -> Result<Self> {
        if cfg!(target_endian = "big") {
            let what = "big-endian machines".into();
            return Err(Error::Unsupported { what });
        }
        let space = Space::new(medium);
        let directory = Directory::default();
        let mut pool = Self {
            space,
            path,
            spill: folder.as_deref().map(Spill::into_folder).unwrap_or_default(),
            folder,
            archive,
            directory,
            resumptions: Vec::new(),
            lost: None,
            began: Instant::now(),
        };
        let length = pool.space.len();
        // The process that was to make it may have ended before it wrote the header.
        let is_unwritten = length == TABLES_START
            && pool.space.shared::<u8>(0, usize_of(length)).iter().all(|&byte| byte == 0);
        let found = match length {
            0 => Header::Empty,
            1..64 => Header::Foreign,
            _ => read_header(&pool.space.shared(0, HEADER_WORDS)),
        };
        let path = pool.path.clone();
        match found {
            Header::Pool(found) if found != archive => {
                return Err(Error::OtherArchive { path, expected: archive, found });
            }
            Header::Pool(_) => pool.read_checkpoints()?,
            Header::Empty if length == 0 || is_unwritten => pool.make()?,
            Header::Empty | Header::Foreign => return Err(Error::NotAPool { path }),
            Header::OtherVersion(found) => {
                return Err(Error::OtherVersion { path, found, supported: VERSION });
            }
            Header::Damaged => return Err(Error::DamagedHeader { path }),
        }
        Ok(pool)
    }

    fn make(&mut self) -> Result<()> {
        self.resize(TABLES_START)?;
        self.space.region(0, HEADER_WORDS).copy_from_slice(&header(self.archive));
        self.persist(&[0..PAGE])
    }

    /// Takes the newer checkpoint of those that are whole.
    fn read_checkpoints(&mut self) -> Result<()> {
        if self.space.len() < TABLES_START {
            self.resize(TABLES_START)?;
        }
        let found = SLOTS.iter().filter_map(|&slot| {
            Directory::from_words(&self.space.shared(slot, usize_of(SLOT_BYTES) / 8))
        });
        self.directory = found.max_by_key(|directory| directory.sequence).unwrap_or_default();
        // What a checkpoint says of places is believed only as far as there is a file.
        if let Some(name) = self.directory.cut_to(self.space.len()) {
            self.lost = Some(format!(
                "the table of `{name}` and all behind it, which the file ends before"
            ));
        }
        Ok(())
    }

    /// Writes a checkpoint; durable unless the level is [`Persist::None`].
    pub(crate) fn checkpoint(&mut self, persist: Persist) -> Result<()> {
        self.directory.sequence += 1;
        let slot = SLOTS[(self.directory.sequence % 2) as usize];
        let words = self.directory.to_words();
        self.space.region(slot, words.len()).copy_from_slice(&words);
        if persist == Persist::None {
            Ok(())
        } else {
            self.persist(&[slot..slot + 8 * words.len() as u64])
        }
    }

    /// What lies where: the kind of medium, in a word or two.
    pub fn medium(&self) -> &'static str {
        self.space.kind()
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that the file has now.
    pub fn bytes(&self) -> u64 {
        self.space.len()
    }

    /// What each chain found here, from the first one that was asked since the pool was opened. The view counts as a chain.
    pub fn resumptions(&self) -> &[Resumption] {
        &self.resumptions
    }

    /// Begins a chain, or goes on with it: phases are asked for in order, and those that are finished are found.
    pub fn work(&mut self, chain: &Chain, persist: Persist, memory: u64) -> Result<Work<'_>> {
        Ok(Work::new(Box::new(self.phases(chain, persist)), memory))
    }

    /// The phases of a chain.
    pub(crate) fn phases(&mut self, chain: &Chain, persist: Persist) -> Phases<'_> {
        self.begin(WORKING, chain.key, &chain.name);
        Phases::new(self, WORKING, persist)
    }

    /// Begins a group, or goes on with it.
    pub(crate) fn begin(&mut self, group: usize, key: u64, name: &str) {
        let discarded = self.lost.take().into_iter().collect();
        let mut resumption =
            Resumption { chain: name.to_owned(), discarded, ..Resumption::default() };
        let found = &self.directory.groups[group];
        if found.key != key {
            let before = found.name.clone();
            let gone = self.directory.cut(group, 0);
            if gone > 0 {
                resumption.replaced = Some(before);
            }
            self.directory.groups[group].key = key;
        }
        self.directory.groups[group].name = name.to_owned();
        self.resumptions.push(resumption);
    }

    /// The notes of the chain at work.
    pub(crate) fn resumption(&mut self) -> &mut Resumption {
        self.resumptions.last_mut().expect("a chain was begun")
    }

    /// Notes that so many operations of a phase were found done.
    pub(crate) fn resumes(&mut self, phase: &str, done: u64, of: u64) {
        self.resumption().operations = Some((phase.to_owned(), done, of));
    }

    /// What a table is of: archive, keys of its own group and those before, its place in the group, and its phase's name, kind and shape.
    pub(crate) fn identity(&self, group: usize, place: usize, phase: &str, shape: &[u64]) -> u64 {
        let mut words = vec![self.archive[0], self.archive[1], group as u64, place as u64];
        words.extend(self.directory.groups[..=group].iter().map(|group| group.key));
        words.extend_from_slice(shape);
        digest(&words, xxh64(phase.as_bytes(), 0))
    }

    pub(crate) fn next_offset(&self) -> u64 {
        // Tables that were discarded may still be read by someone.
        self.directory.end().max(self.space.held_end()).next_multiple_of(PAGE)
    }

    /// Zeros, from an offset on that is behind everything in use, and nothing behind them.
    pub(crate) fn zeros(&self, range: Range<u64>) -> Result<()> {
        if self.space.len() > range.start {
            self.resize(range.start)?;
        }
        self.resize(range.end)
    }

    pub(crate) fn resize(&self, to: u64) -> Result<()> {
        self.space.resize(to).map_err(|source| self.failed(source, to))
    }

    pub(crate) fn persist(&self, ranges: &[Range<u64>]) -> Result<()> {
        self.space.persist(ranges).map_err(|source| self.failed(source, self.space.len()))
    }

    /// What the system said, as an error about this pool that was to have so many bytes.
    pub(crate) fn failed(&self, source: io::Error, needed: u64) -> Error {
        let path = self.path.clone();
        match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::QuotaExceeded => Error::NoRoom { path, needed, source },
            _ => Error::Io { path, source },
        }
    }

    /// Rows to work in, in a file without a name beside the pool.
    pub(crate) fn aside(&self, bytes: usize) -> Result<Room> {
        let room = Room::in_file(bytes, self.folder.as_deref());
        room.map_err(|error| self.failed(error, bytes as u64))
    }

    /// Enters a table that is at work, so that a restart finds what was done of it.
    pub(crate) fn enter(&mut self, group: usize, table: Table, persist: Persist) -> Result<()> {
        self.push(group, table)?;
        self.directory.at_work = true;
        self.checkpoint(persist)
    }

    fn push(&mut self, group: usize, table: Table) -> Result<()> {
        if self.directory.tables.len() == MOST_TABLES {
            let what = format!("a task of more than {MOST_TABLES} phases");
            return Err(Error::Unsupported { what });
        }
        debug_assert!(self.directory.of_group(group).end == self.directory.tables.len());
        self.directory.tables.push(table);
        self.directory.groups[group].tables += 1;
        Ok(())
    }

    /// Ends a phase: takes checksums of its table, behind which there must be room for them, makes it durable and a part of the next checkpoint.
    /// Nobody may hold a region of it to write.
    pub(crate) fn finish(
        &mut self,
        group: usize,
        mut table: Table,
        persist: Persist,
    ) -> Result<()> {
        let sums = self.sums(&table);
        table.sums = digest(&sums, table.identity);
        self.space.region(table.sums_start(), sums.len()).copy_from_slice(&sums);
        self.finish_with_sums(group, table, persist)
    }

    /// Takes the time from here on as that of the phase that is finished next.
    pub(crate) fn begin_phase(&mut self) {
        self.began = Instant::now();
    }

    /// Ends a phase whose table has its checksums.
    pub(crate) fn finish_with_sums(
        &mut self,
        group: usize,
        table: Table,
        persist: Persist,
    ) -> Result<()> {
        if persist != Persist::None {
            self.persist(&[table.offset..table.end()])?;
        }
        let made = (table.name.clone(), self.began.elapsed());
        self.resumption().made.push(made);
        if self.directory.at_work {
            let last = self.directory.tables.last_mut().expect("one is at work");
            *last = table;
            self.directory.at_work = false;
        } else {
            self.push(group, table)?;
        }
        self.checkpoint(persist)?;
        self.resize(self.next_offset())
    }

    /// The checksum of every block of a table. While some blocks are read, the next ones are fetched, so that a table that is not in memory comes at the
    /// speed of the medium.
    fn sums(&self, table: &Table) -> Vec<u64> {
        if table.blocks() == 0 {
            return Vec::new();
        }
        let bytes = self.space.shared::<u8>(table.offset, usize_of(table.bytes));
        let mut sums = Vec::with_capacity(table.blocks());
        for (number, stretch) in bytes.chunks(usize_of(FETCHED_BLOCKS * BLOCK)).enumerate() {
            let next = table.offset + (number as u64 + 1) * FETCHED_BLOCKS * BLOCK;
            let end = (table.offset + table.bytes).min(next + FETCHED_BLOCKS * BLOCK);
            if next < end {
                self.space.advise(next..end, Advice::WillNeed);
            }
            let blocks = stretch.par_chunks(usize_of(BLOCK)).with_max_len(1);
            sums.par_extend(blocks.map(|block| xxh64(block, table.identity)));
        }
        sums
    }

    /// Whether a table is as it was when it was finished.
    pub(crate) fn is_right(&self, table: &Table) -> bool {
        if table.end() > self.space.len() {
            return false;
        }
        let stored = self.space.shared::<u64>(table.sums_start(), table.blocks());
        digest(&stored, table.identity) == table.sums && *stored == self.sums(table)
    }

    pub(crate) fn archive(&self) -> [u64; 2] {
        self.archive
    }
}
