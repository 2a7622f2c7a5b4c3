//! Writing an archive: aside, then synced, then under its name. At no moment is there half an archive
//! under the real name, whatever ends the program.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::container::{ALIGNMENT, HEADER_BYTES, Header, Kind, Section, checksum, write_table};
use super::dictionary::{self, Dictionary, Entry};
use super::documents::DocumentTable;
use super::grammar::{self, EncodedSymbols};
use super::info::Summary;
use super::journal::{ArchiveLock, Journal, identity};
use super::read::Archive;
use super::types::Level;
use super::{documents, info, origin};
use crate::error::{Error, Result};
use crate::grammar::Grammar;

/// The dictionary of a segment, encoded.
#[derive(Debug)]
pub struct EncodedDictionary(Vec<u8>);

impl EncodedDictionary {
    /// Encodes words and separators, on all threads. Both must be in ascending order and distinct.
    pub fn new(words: &[Entry<'_>], separators: &[&[u8]], level: Level) -> Self {
        Self(dictionary::encode(words, separators, level))
    }

    /// The same for one that is not to be kept: larger, and soon made.
    pub fn quick(words: &[Entry<'_>], separators: &[&[u8]]) -> Self {
        Self(dictionary::encode_at(words, separators, 1))
    }

    /// The dictionary itself, as if it were read from an archive.
    pub fn open(&self) -> Result<Dictionary> {
        Dictionary::open(&self.0)
    }
}

/// One segment, encoded: what [`ArchiveWriter::add_segment`] takes.
#[derive(Debug)]
pub struct EncodedSegment {
    dictionary: EncodedDictionary,
    grammar: grammar::Encoded,
}

impl EncodedSegment {
    /// Encodes a grammar and its dictionary, on all threads.
    ///
    /// # Panics
    /// If the grammar has tokens or rules that are never used, or its rules are not in Kahn's order.
    pub fn new(grammar: &Grammar, words: &[Entry<'_>], separators: &[&[u8]], level: Level) -> Self {
        Self::with_dictionary(EncodedDictionary::new(words, separators, level), grammar, level)
    }

    /// The same for a dictionary that was encoded before.
    ///
    /// # Panics
    /// As [`EncodedSegment::new`].
    pub fn with_dictionary(dictionary: EncodedDictionary, grammar: &Grammar, level: Level) -> Self {
        Self { dictionary, grammar: grammar::encode(grammar, level) }
    }
}

/// A new archive on its way to disk. Dropped before [`ArchiveWriter::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct ArchiveWriter {
    aside: Aside,
    position: u64,
    sections: Vec<Section>,
    segments: u32,
    /// The edits that it is to have, and the lock of the archive that they are taken from.
    edits: Option<(Journal, ArchiveLock)>,
}

impl ArchiveWriter {
    /// Starts an archive that will be at `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let mut writer = Self {
            aside: Aside::create(path)?,
            position: 0,
            sections: Vec::new(),
            segments: 0,
            edits: None,
        };
        writer.write(&[0; HEADER_BYTES])?;
        Ok(writer)
    }

    /// Starts an archive that will replace another one, with those of its sections that `keep` chooses, and all its edits. Nobody
    /// else can edit it meanwhile.
    pub(super) fn copy_of(archive: &Archive, keep: impl Fn(Kind) -> bool) -> Result<Self> {
        // A link stays one.
        let path = archive.path();
        let path = path.canonicalize().map_err(|error| Error::io(path, error))?;
        let lock = ArchiveLock::acquire(&path)?;
        // There may be more edits than when the archive was opened.
        let current = Archive::open(&path)?;
        if [current.identity()?, archive.identity()?] != [lock.identity(); 2] {
            return Err(Error::Replaced { path });
        }
        remove_left_behind(&path);
        let mut writer = Self::create(&path)?;
        writer.edits = Some((current.journal()?, lock));
        writer.aside.take_permissions(&path)?;
        for section in archive.sections().iter().filter(|section| keep(section.kind)) {
            writer.add_section(section.kind, section.segment, &archive.read_section(section)?)?;
        }
        Ok(writer)
    }

    /// Starts an archive that will be in the place of the one at `path`, without any of its sections or edits. Who calls this holds its lock.
    pub fn in_place_of(path: &Path) -> Result<Self> {
        // A link stays one.
        let path = path.canonicalize().map_err(|error| Error::io(path, error))?;
        remove_left_behind(&path);
        let mut writer = Self::create(&path)?;
        writer.aside.take_permissions(&path)?;
        Ok(writer)
    }

    /// Appends a segment of another archive of the same level as it is, but for its index.
    pub fn copy_segment(&mut self, archive: &Archive, segment: usize) -> Result<()> {
        let number = Some(self.segments);
        self.segments += 1;
        let own = |section: &&Section| {
            section.segment == Some(segment as u32) && !section.kind.is_index()
        };
        for section in archive.sections().iter().filter(own) {
            self.add_section(section.kind, number, &archive.read_section(section)?)?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.aside.write(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    pub(super) fn add_section(
        &mut self,
        kind: Kind,
        segment: Option<u32>,
        bytes: &[u8],
    ) -> Result<()> {
        let padding = self.position.next_multiple_of(ALIGNMENT) - self.position;
        self.write(&[0; ALIGNMENT as usize][..padding as usize])?;
        self.sections.push(Section {
            kind,
            segment,
            offset: self.position,
            bytes: bytes.len() as u64,
            checksum: checksum(bytes),
        });
        self.write(bytes)
    }

    /// Appends a segment.
    pub fn add_segment(&mut self, segment: &EncodedSegment) -> Result<()> {
        let number = Some(self.segments);
        self.segments += 1;
        self.add_section(Kind::DICT, number, &segment.dictionary.0)?;
        self.add_section(Kind::ITEM, number, &segment.grammar.items)?;
        match &segment.grammar.symbols {
            EncodedSymbols::Fast(symbols) => self.add_section(Kind::SYMB, number, symbols)?,
            EncodedSymbols::Dense(symbols) => self.add_section(Kind::SYMD, number, symbols)?,
        }
        self.add_section(Kind::ROOT, number, &segment.grammar.root)
    }

    /// Appends what is known at the end, syncs, and gives the archive its name; gives its length. An
    /// archive that is there already is replaced only if `replace` says so.
    pub fn finish(
        mut self,
        table: &DocumentTable,
        summary: &Summary,
        replace: bool,
    ) -> Result<u64> {
        let level = match summary.level {
            Level::Fast => 9,
            Level::Dense => 19,
        };
        self.add_section(Kind::DOCS, None, &documents::encode(table, level)?)?;
        if let Some(origin) = &summary.origin {
            self.add_section(Kind::ORIG, None, &origin::encode(origin))?;
        }
        self.add_section(Kind::INFO, None, &info::encode(summary))?;
        self.finish_sections(replace)
    }

    /// Ends an archive that has all its sections.
    pub(super) fn finish_sections(mut self, replace: bool) -> Result<u64> {
        let bytes = write_table(&self.sections);
        let header = Header {
            file_bytes: self.position + bytes.len() as u64,
            table_offset: self.position,
            table_bytes: bytes.len() as u64,
            table_checksum: checksum(&bytes),
        };
        self.write(&bytes)?;
        // The lock is held until the archive has its name.
        let edits = self.edits.take();
        if let Some((journal, _)) = &edits {
            journal.copy(header.file_bytes, |bytes| self.aside.write(bytes))?;
        }
        self.aside.rewind()?;
        self.aside.write(&header.to_bytes())?;
        self.aside.finish(replace)?;
        Ok(header.file_bytes)
    }
}

/// A file on its way to its name: written beside it, under a name that no other process uses. Dropped before
/// [`Aside::finish`], it leaves nothing behind. Who is killed leaves a file that is no longer locked.
#[derive(Debug)]
pub(super) struct Aside {
    file: Option<File>,
    aside: PathBuf,
    path: PathBuf,
}

impl Aside {
    /// Starts a file that will be at `path`.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let (file, aside) = create_aside(path)?;
        Ok(Self { file: Some(file), aside, path: path.to_owned() })
    }

    fn with<T>(&mut self, work: impl FnOnce(&mut File) -> std::io::Result<T>) -> Result<T> {
        let file = self.file.as_mut().expect("open until finished");
        work(file).map_err(|error| Error::io(&self.aside, error))
    }

    /// Makes the file one that the same people can read and write as another one.
    fn take_permissions(&mut self, of: &Path) -> Result<()> {
        let permissions =
            std::fs::metadata(of).map_err(|error| Error::io(of, error))?.permissions();
        self.with(|file| file.set_permissions(permissions))
    }

    /// Appends bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.with(|file| file.write_all(bytes))
    }

    /// Goes back to the start.
    fn rewind(&mut self) -> Result<()> {
        self.with(|file| file.seek(SeekFrom::Start(0)).map(|_| ()))
    }

    /// Syncs the file and gives it its name. One that is there already is replaced only if `replace` says so.
    pub(super) fn finish(mut self, replace: bool) -> Result<()> {
        self.with(|file| file.sync_all())?;
        // The file is locked until it has its name.
        give_name(&self.aside, &self.path, replace)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // A process that is just being started may have the file as well; what has its name is not to stay locked by that.
        if let Some(file) = self.file.take() {
            let _ = file.unlock();
        }
        // After a finish that succeeded there is nothing under this name.
        let _ = std::fs::remove_file(&self.aside);
    }
}

fn create_aside(path: &Path) -> Result<(File, PathBuf)> {
    let name = path.file_name().ok_or_else(|| {
        Error::io(path, std::io::Error::new(ErrorKind::InvalidInput, "this is no file name"))
    })?;
    for attempt in 0_u32.. {
        let mut aside = name.to_owned();
        aside.push(format!(".tmp-{}-{attempt}", std::process::id()));
        let aside = path.with_file_name(aside);
        match OpenOptions::new().write(true).create_new(true).open(&aside) {
            Ok(file) if is_ours(&file, &aside) => return Ok((file, aside)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 1000 => {}
            Err(error) => return Err(Error::io(path, error)),
        }
    }
    unreachable!("the loop returns")
}

/// Locks a file that was just created, so that nobody takes it for one that was left behind; whether nobody did so meanwhile.
fn is_ours(file: &File, aside: &Path) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Where files cannot be locked, nobody removes what others leave.
        Err(TryLockError::Error(_)) => true,
        Ok(()) => match (file.metadata(), std::fs::metadata(aside)) {
            (Ok(own), Ok(found)) => identity(&own) == identity(&found),
            _ => false,
        },
    }
}

/// Removes files that were on their way to a path when those who wrote them were killed. What cannot be removed does no harm.
fn remove_left_behind(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (Some(name), Ok(entries)) =
        (path.file_name(), std::fs::read_dir(folder.unwrap_or(Path::new("."))))
    else {
        return;
    };
    let is_aside = |found: &[u8]| {
        let numbers = found.strip_prefix(name.as_bytes())?.strip_prefix(b".tmp-")?;
        let (process, attempt) = std::str::from_utf8(numbers).ok()?.split_once('-')?;
        process.parse::<u32>().ok().zip(attempt.parse::<u32>().ok())
    };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || is_aside(entry.file_name().as_bytes()).is_none() {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Renames, and makes the new name durable. Without `replace`, a file that came up under the name in the
/// meantime wins: a hard link, unlike a rename, never replaces.
fn give_name(aside: &Path, path: &Path, replace: bool) -> Result<()> {
    let exists = || Error::Exists { path: path.to_owned() };
    if replace {
        std::fs::rename(aside, path).map_err(|error| Error::io(path, error))?;
    } else {
        match std::fs::hard_link(aside, path) {
            Ok(()) => std::fs::remove_file(aside).map_err(|error| Error::io(aside, error))?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(exists()),
            // A file system without hard links: look, then rename.
            Err(_) if path.symlink_metadata().is_ok() => return Err(exists()),
            Err(_) => std::fs::rename(aside, path).map_err(|error| Error::io(path, error))?,
        }
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Not every system can sync a folder; the archive itself is on disk either way.
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_writes_any_more_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tdc");
        let written = Aside::create(&path).unwrap();
        for name in [
            "a.tdc",
            "a.tdc.tmp-1-0",
            "a.tdc.tmp-4000000000-999",
            "a.tdc.tmp-1",
            "a.tdc.tmp-1-0-0",
            "a.tdc.tmp-one-0",
            "b.a.tdc.tmp-1-0",
            "b.tdc.tmp-1-0",
        ] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        std::fs::create_dir(folder.path().join("a.tdc.tmp-2-0")).unwrap();
        let by_another = File::open(folder.path().join("a.tdc.tmp-1-0")).unwrap();
        by_another.try_lock().unwrap();
        remove_left_behind(&path);
        assert!(folder.path().join("a.tdc.tmp-1-0").exists());
        by_another.unlock().unwrap();
        remove_left_behind(&path);
        let mut left: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.contains(&format!("-{}-", std::process::id())))
            .collect();
        left.sort();
        let kept = [
            "a.tdc",
            "a.tdc.tmp-1",
            "a.tdc.tmp-1-0-0",
            "a.tdc.tmp-2-0",
            "a.tdc.tmp-one-0",
            "b.a.tdc.tmp-1-0",
            "b.tdc.tmp-1-0",
        ];
        assert_eq!(left, kept);
        // What is being written was not touched, and gets its name.
        written.finish(true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
        // Nobody holds it then.
        File::open(&path).unwrap().try_lock().unwrap();
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut dropped = Aside::create(&folder.path().join("a.tdc")).unwrap();
        dropped.write(b"text").unwrap();
        drop(dropped);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
