//! A view stored beside its archive, as docs/view.md describes it: mapped, not decoded.
//!
//! The file has the arrays of a [`View`] as they are in memory, so that opening it costs one pass over it
//! (checksums and the checks that no array leads out of another), at the speed of memory, on all threads. It is
//! of one archive, whose fingerprint it has; of another one, or of the same after a change, it is not opened.

use std::fs::File;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;
use rayon::prelude::*;

use super::container::checksum;
use super::read::Archive;
use super::wire::Reader;
use super::write::Aside;
use crate::error::{Error, Result};
use crate::{Array, Grammar, Network, Part, Terms, View};

const MAGIC: [u8; 8] = *b"\x89TDV\r\n\x1a\n";
const VERSION: u32 = 1;
/// Arrays start at multiples of this, and the header has so many bytes.
const ALIGNMENT: u64 = 256;
/// Bytes that have a checksum of their own.
const BLOCK: u64 = 1 << 20;
/// Arrays: bytes and ends of terms, symbols, starts of rules, starts of documents, parts, counts of the root.
const ARRAYS: usize = 7;
const ELEMENT_BYTES: [u64; ARRAYS] = [1, 8, 4, 4, 4, 4, 4];
const WHAT: &str = "the stored view";

/// Where the view of an archive is stored: the archive's path and `.view`.
pub fn view_path(archive: &Path) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push(".view");
    path.into()
}

/// How an archive is known again: the length of all sections but those of an index, and the checksum of their checksums and, if
/// it was edited, of the digest of its journal.
pub type Fingerprint = [u64; 2];

/// Where arrays of these lengths lie, and behind them the checksums.
fn layout(lengths: &[u64; ARRAYS]) -> Option<([Range<u64>; ARRAYS], u64)> {
    let mut ranges = [const { 0..0 }; ARRAYS];
    let mut at = ALIGNMENT;
    for ((range, &length), size) in ranges.iter_mut().zip(lengths).zip(ELEMENT_BYTES) {
        let end = at.checked_add(length.checked_mul(size)?)?;
        *range = at..end;
        at = end.checked_next_multiple_of(ALIGNMENT)?;
    }
    Some((ranges, at))
}

/// Writes the view of all words and documents of an archive to its place; gives the length of the file.
/// `root_counts` as for [`Network::root_counts_or`].
pub fn write_view(view: &View, root_counts: &[u32], archive: &Archive) -> Result<u64> {
    let path = view_path(archive.path());
    let network = view.network();
    let grammar = network.grammar();
    let parts: Vec<u32> = network
        .parts()
        .iter()
        .flat_map(|part| [part.root.start, part.root.end, part.rules.start, part.rules.end])
        .collect();
    let arrays: [&[u8]; ARRAYS] = [
        view.terms().bytes(),
        bytemuck::cast_slice(view.terms().ends()),
        bytemuck::cast_slice(grammar.symbols()),
        bytemuck::cast_slice(grammar.rule_starts()),
        bytemuck::cast_slice(grammar.document_starts()),
        bytemuck::cast_slice(&parts),
        bytemuck::cast_slice(root_counts),
    ];
    let mut lengths = [0; ARRAYS];
    for ((length, array), size) in lengths.iter_mut().zip(arrays).zip(ELEMENT_BYTES) {
        *length = array.len() as u64 / size;
    }
    let (ranges, end) = layout(&lengths).expect("arrays that are in memory fit a file");
    let blocks = (end - ALIGNMENT).div_ceil(BLOCK);
    let file_bytes = end + 8 * blocks;
    let mut header = Vec::with_capacity(ALIGNMENT as usize);
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&0_u32.to_le_bytes());
    for number in [file_bytes].into_iter().chain(archive.fingerprint()).chain(lengths) {
        header.extend_from_slice(&number.to_le_bytes());
    }
    header.resize(ALIGNMENT as usize - 8, 0);
    let sum = checksum(&header);
    header.extend_from_slice(&sum.to_le_bytes());

    let aside = Aside::create(&path)?;
    let mut writer = BlockWriter { aside, at: ALIGNMENT, block: Vec::new(), sums: Vec::new() };
    writer.aside.write(&header)?;
    for (array, range) in arrays.iter().zip(&ranges) {
        writer.pad(range.start)?;
        writer.write(array)?;
    }
    writer.pad(end)?;
    writer.finish()?;
    Ok(file_bytes)
}

/// Writes bytes, and takes a checksum of every block.
struct BlockWriter {
    aside: Aside,
    at: u64,
    block: Vec<u8>,
    sums: Vec<u8>,
}

impl BlockWriter {
    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = BLOCK as usize - self.block.len();
            let (taken, rest) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(taken);
            bytes = rest;
            if self.block.len() == BLOCK as usize {
                self.close()?;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.sums.extend_from_slice(&checksum(&self.block).to_le_bytes());
        self.aside.write(&self.block)?;
        self.block.clear();
        Ok(())
    }

    fn pad(&mut self, until: u64) -> Result<()> {
        self.write(&vec![0; (until - self.at) as usize])
    }

    fn finish(mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.close()?;
        }
        self.aside.write(&self.sums)?;
        self.aside.finish(true)
    }
}

/// Opens the view of so many documents that is stored beside an archive; `None` if there is none. With `counts_only`, the root is not read, and
/// the view has counts instead. Whatever is wrong with it is an [`Error::StoredView`].
pub fn open_view(archive: &Archive, documents: u64, counts_only: bool) -> Result<Option<View>> {
    let path = view_path(archive.path());
    open(&path, archive, documents, counts_only).map_err(|error| {
        // What is said about archives is to be said about the view.
        let reason = match error {
            Error::Checksum { .. } => "its bytes are not those that were written".to_string(),
            Error::Truncated { needed, available, .. } => {
                format!("it has {available} bytes and should have {needed}")
            }
            Error::UnsupportedVersion { found, supported } => {
                format!("it has version {found}, this tadoc reads version {supported}")
            }
            Error::Malformed { what } => what,
            Error::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        Error::StoredView { path, reason }
    })
}

fn open(
    path: &Path,
    archive: &Archive,
    expected_documents: u64,
    counts_only: bool,
) -> Result<Option<View>> {
    let io = |error| Error::io(path, error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let length = file.metadata().map_err(io)?.len();
    if length < ALIGNMENT {
        return Err(Error::malformed(format!("{WHAT} is cut short")));
    }
    let map = Arc::new(super::mapping::map(&file, length).map_err(io)?);
    let lengths = read_header(&map, archive.fingerprint())?;
    let (ranges, end) = layout(&lengths).expect("checked with the header");
    // The root is the first part of the symbols, and ends where the first rule starts.
    let starts: Array<u32> = slice(&map, &ranges[3]);
    let root_bytes = 4 * u64::from(starts.first().copied().unwrap_or(0));
    let root = ranges[2].start..(ranges[2].start + root_bytes).min(ranges[2].end);
    check_blocks(&map, end, counts_only.then_some(&root))?;
    let documents = (lengths[4].max(1) - 1) as u32;
    if u64::from(documents) != expected_documents {
        return Err(Error::malformed("it has other documents than the archive"));
    }
    let terms = Terms::new_unchecked(slice(&map, &ranges[0]), slice(&map, &ranges[1]))?;
    let mut parts: Vec<Part> = slice::<u32>(&map, &ranges[5])
        .chunks_exact(4)
        .map(|part| Part { root: part[0]..part[1], rules: part[2]..part[3] })
        .collect();
    let numbers = (0..documents).collect();
    let counts = slice::<u32>(&map, &ranges[6]);
    let network = if counts_only {
        parts.iter_mut().for_each(|part| part.root = 0..0);
        let first = starts.first().copied().unwrap_or(0);
        let starts: Vec<u32> = starts.iter().map(|start| start.saturating_sub(first)).collect();
        let symbols = slice::<u32>(&map, &(root.end..ranges[2].end));
        let document_starts = vec![0; lengths[4] as usize];
        let grammar = Grammar::new(terms.len(), symbols, starts, document_starts)?;
        Network::of_counts(grammar, parts, numbers, counts)?
    } else {
        let document_starts = slice::<u32>(&map, &ranges[4]);
        let symbols = slice::<u32>(&map, &ranges[2]);
        let grammar = Grammar::new(terms.len(), symbols, starts, document_starts)?;
        Network::new(grammar, parts, numbers)?.with_root_counts(counts)?
    };
    Ok(Some(View::new(terms, network)?))
}

/// Checks the header; gives the lengths of the arrays.
fn read_header(map: &[u8], fingerprint: Fingerprint) -> Result<[u64; ARRAYS]> {
    let (bytes, sum) = map[..ALIGNMENT as usize].split_at(ALIGNMENT as usize - 8);
    let mut reader = Reader::new(bytes, WHAT);
    if reader.take(8)? != MAGIC || cfg!(target_endian = "big") {
        return Err(Error::malformed(format!("{WHAT} is none")));
    }
    let expected = u64::from_le_bytes(sum.try_into().expect("eight bytes"));
    let found = checksum(bytes);
    if found != expected {
        return Err(Error::Checksum { what: format!("the header of {WHAT}"), expected, found });
    }
    let version = reader.u32()?;
    if version != VERSION {
        return Err(Error::UnsupportedVersion { found: version, supported: VERSION });
    }
    reader.u32()?;
    let file_bytes = reader.u64()?;
    if [reader.u64()?, reader.u64()?] != fingerprint {
        let what = "it is of another archive, or of this one before a change";
        return Err(Error::malformed(what));
    }
    let mut lengths = [0; ARRAYS];
    for length in &mut lengths {
        *length = reader.u64()?;
    }
    let end = layout(&lengths).map(|(_, end)| end);
    let whole = end.and_then(|end| end.checked_add(8 * (end - ALIGNMENT).div_ceil(BLOCK)));
    if whole != Some(file_bytes) || file_bytes != map.len() as u64 || lengths[5] % 4 != 0 {
        return Err(Error::Truncated {
            what: WHAT.into(),
            needed: whole.unwrap_or(u64::MAX),
            available: map.len() as u64,
        });
    }
    Ok(lengths)
}

/// Checks the checksums of all blocks, but those that are wholly in a range to be passed over.
fn check_blocks(map: &[u8], end: u64, passed_over: Option<&Range<u64>>) -> Result<()> {
    let (arrays, sums) = map[ALIGNMENT as usize..].split_at((end - ALIGNMENT) as usize);
    let blocks = arrays.par_chunks(BLOCK as usize).zip(sums.par_chunks(8)).enumerate();
    let wrong = blocks.find_map_any(|(number, (block, expected))| {
        let start = ALIGNMENT + number as u64 * BLOCK;
        let within =
            |range: &Range<u64>| range.start <= start && start + block.len() as u64 <= range.end;
        if passed_over.is_some_and(within) {
            return None;
        }
        let expected = u64::from_le_bytes(expected.try_into().expect("eight bytes"));
        let found = checksum(block);
        (found != expected).then_some((expected, found))
    });
    match wrong {
        Some((expected, found)) => Err(Error::Checksum { what: WHAT.into(), expected, found }),
        None => Ok(()),
    }
}

/// A stretch of a mapped file, as numbers.
struct Mapped<T> {
    map: Arc<Mmap>,
    range: Range<usize>,
    numbers: PhantomData<T>,
}

impl<T: Pod> AsRef<[T]> for Mapped<T> {
    fn as_ref(&self) -> &[T] {
        // Files are mapped at pages, and arrays start at multiples of `ALIGNMENT`.
        bytemuck::cast_slice(&self.map[self.range.clone()])
    }
}

fn slice<T: Pod + Send + Sync>(map: &Arc<Mmap>, range: &Range<u64>) -> Array<T> {
    let range = range.start as usize..range.end as usize;
    Array::Shared(Arc::new(Mapped { map: map.clone(), range, numbers: PhantomData }))
}
