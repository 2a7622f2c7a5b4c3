//! The text that is asked about: documents in byte order of their names, mapped, in memory, or still in
//! files.
//!
//! A small file is read by the thread that lexes it, into a buffer that stays in its cache: mapping it would
//! cost more than copying it, and holding all text would cost its pages. A large one is mapped, so that several
//! threads share it.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use memmap2::Mmap;
use rayon::prelude::*;
use tadoc_engine::Lexer;

/// Files from this length on are mapped.
const MAPPED: u64 = 1 << 20;
/// About how many bytes a thread takes at once: enough that taking is free, few enough that all threads
/// end together. (Here as elsewhere, tests have small sizes, so that small cases are cut and split too.)
const UNIT: usize = if cfg!(test) { 1 << 10 } else { 256 << 10 };

/// Where the bytes of a document are.
#[derive(Debug)]
enum Content {
    /// A small file, not read yet.
    File(PathBuf, usize),
    Mapped(Mmap),
    Bytes(Vec<u8>),
}

/// A corpus.
#[derive(Debug, Default)]
pub struct Text {
    names: Vec<Vec<u8>>,
    contents: Vec<Content>,
}

/// Documents, or a part of one, that a thread lexes in one go.
#[derive(Debug, Clone)]
pub enum Unit {
    /// Whole documents.
    Documents(Range<usize>),
    /// A part of a document: its number, which part it is, and the bytes.
    Part(usize, u32, Range<usize>),
}

impl Text {
    /// The files of a folder, or one file. Links are not followed.
    pub fn open(path: &Path) -> Result<Self> {
        let mut files = Vec::new();
        if path.is_dir() {
            list(path, &mut Vec::new(), &mut files)?;
        } else {
            let name = path.as_os_str().as_bytes();
            let name = name.strip_prefix(b"./").unwrap_or(name);
            let start = name.iter().position(|&byte| byte != b'/').unwrap_or(0);
            files.push((name[start..].to_vec(), path.to_owned()));
        }
        files.sort_unstable();
        let contents: Vec<Content> = files
            .par_iter()
            .with_min_len(64)
            .map(|(_, path)| open_file(path).with_context(|| format!("opening {}", path.display())))
            .collect::<Result<_>>()?;
        Ok(Self { names: files.into_iter().map(|(name, _)| name).collect(), contents })
    }

    /// Documents from memory, in byte order of their names.
    #[cfg(test)]
    pub fn of(documents: &[(String, Vec<u8>)]) -> Self {
        Self {
            names: documents.iter().map(|(name, _)| name.clone().into_bytes()).collect(),
            contents: documents.iter().map(|(_, bytes)| Content::Bytes(bytes.clone())).collect(),
        }
    }

    /// Reads every file that is not mapped, so that questions cost no system calls.
    pub fn load(mut self) -> Result<Self> {
        self.contents.par_iter_mut().with_min_len(64).try_for_each(|content| {
            if let Content::File(path, _) = content {
                let bytes = fs::read(&*path);
                let bytes = bytes.with_context(|| format!("reading {}", path.display()))?;
                *content = Content::Bytes(bytes);
            }
            anyhow::Ok(())
        })?;
        Ok(self)
    }

    /// Names of the documents.
    pub fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// All of it in units of about equal length, in order. Parts begin where no word is cut.
    pub fn units(&self, lexer: Lexer) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut documents = 0..0;
        let mut bytes = 0;
        for (document, content) in self.contents.iter().enumerate() {
            match content.slice() {
                Some(slice) if slice.len() > 2 * UNIT => {
                    let part = |(index, range)| Unit::Part(document, index as u32, range);
                    units.push(Unit::Documents(documents));
                    units.extend(parts(lexer, slice).into_iter().enumerate().map(part));
                    documents = document + 1..document + 1;
                    bytes = 0;
                }
                _ => {
                    documents.end = document + 1;
                    bytes += content.len();
                    if bytes >= UNIT {
                        units.push(Unit::Documents(documents));
                        documents = document + 1..document + 1;
                        bytes = 0;
                    }
                }
            }
        }
        units.push(Unit::Documents(documents));
        units
    }

    /// Calls `each` with number, part and bytes of what a unit holds; `buffer` is for reading files.
    pub fn visit(
        &self,
        unit: Unit,
        buffer: &mut Vec<u8>,
        mut each: impl FnMut(usize, u32, &[u8]),
    ) -> Result<()> {
        match unit {
            Unit::Part(document, part, range) => {
                let slice = self.contents[document].slice().expect("only slices are cut");
                each(document, part, &slice[range]);
            }
            Unit::Documents(documents) => {
                for document in documents {
                    match &self.contents[document] {
                        Content::File(path, length) => {
                            let bytes = read(path, *length, buffer)
                                .with_context(|| format!("reading {}", path.display()))?;
                            each(document, 0, bytes);
                        }
                        content => each(document, 0, content.slice().expect("all but files")),
                    }
                }
            }
        }
        Ok(())
    }
}

impl Content {
    fn len(&self) -> usize {
        match self {
            Content::File(_, length) => *length,
            Content::Mapped(map) => map.len(),
            Content::Bytes(bytes) => bytes.len(),
        }
    }

    fn slice(&self) -> Option<&[u8]> {
        match self {
            Content::File(..) => None,
            Content::Mapped(map) => Some(map),
            Content::Bytes(bytes) => Some(bytes),
        }
    }
}

/// Cuts a long document.
fn parts(lexer: Lexer, text: &[u8]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let end = lexer.safe_cut(text, start + UNIT).unwrap_or(text.len());
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Adds the files below a folder with their names.
fn list(folder: &Path, name: &mut Vec<u8>, files: &mut Vec<(Vec<u8>, PathBuf)>) -> Result<()> {
    let listing = || format!("listing {}", folder.display());
    for entry in fs::read_dir(folder).with_context(listing)? {
        let entry = entry.with_context(listing)?;
        let kind = entry.file_type().with_context(listing)?;
        let length = name.len();
        name.extend_from_slice(entry.file_name().as_bytes());
        if kind.is_dir() {
            name.push(b'/');
            list(&entry.path(), name, files)?;
        } else if kind.is_file() {
            files.push((name.clone(), entry.path()));
        }
        name.truncate(length);
    }
    Ok(())
}

fn open_file(path: &Path) -> std::io::Result<Content> {
    let length = fs::metadata(path)?.len();
    if length < MAPPED {
        return Ok(Content::File(path.to_owned(), length as usize));
    }
    map(&File::open(path)?).map(Content::Mapped)
}

#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: corpora are not changed while they are measured; this is a benchmark, and every reader of a
    // map asks for the same.
    unsafe { Mmap::map(file) }
}

/// Reads a file into a buffer that is used again, and never shortened: giving it length costs zeroing it.
fn read<'b>(path: &Path, length: usize, buffer: &'b mut Vec<u8>) -> std::io::Result<&'b [u8]> {
    if buffer.is_empty() {
        buffer.resize(MAPPED as usize, 0);
    }
    let mut file = File::open(path)?;
    let mut filled = 0;
    loop {
        let count = file.read(&mut buffer[filled..])?;
        filled += count;
        if count == 0 || filled == length {
            return Ok(&buffer[..filled]);
        }
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
    }
}
