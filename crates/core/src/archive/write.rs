//! Writing an archive: aside, then synced, then under its name. At no moment is there half an archive
//! under the real name, whatever ends the program.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::container::{ALIGNMENT, HEADER_BYTES, Header, Kind, Section, checksum, write_table};
use super::dictionary::{self, Dictionary, Entry};
use super::documents::DocumentTable;
use super::grammar::{self, EncodedSymbols};
use super::info::Summary;
use super::journal::{ArchiveLock, Journal};
use super::read::Archive;
use super::types::Level;
use super::{documents, info};
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
/// [`Aside::finish`], it leaves nothing behind.
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
        self.file = None;
        give_name(&self.aside, &self.path, replace)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // After a finish that succeeded there is nothing under this name.
        drop(self.file.take());
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
            Ok(file) => return Ok((file, aside)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 1000 => {}
            Err(error) => return Err(Error::io(path, error)),
        }
    }
    unreachable!("the loop returns")
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
