//! The documents of an archive: the section `DOCS` of docs/format.md.
//!
//! Columns: names (front-coded, compressed with Zstandard), lengths, times, modes, digests. A digest
//! covers one document, or several small ones in a row, so that a corpus of a million lines does not
//! consist of digests. Cost: O(documents) to read and in memory.

use crate::usize_of;
use xxhash_rust::xxh64::Xxh64;

use super::integers;
use super::types::{Document, Timestamp};
use super::wire::{Reader, put_varint, unzigzag, zigzag};
use super::zstandard;
use crate::budget::{Budget, Share};
use crate::error::{Error, Result};

/// A digest is taken at the end of the document in which so many bytes are reached since the last one.
const DIGEST_BYTES: u64 = 4096;
/// All names together have at most so many bytes, and so many more for each byte of the section: shared
/// beginnings cost next to nothing there, but memory here.
const NAME_BYTES: u64 = 1 << 28;
const NAME_BYTES_PER_BYTE: u64 = 1024;
/// More bits than a mode has.
pub(super) const MOST_MODE: u32 = 0o7777;

/// The documents and what they must expand to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentTable {
    /// The documents, in byte order of their names.
    pub documents: Vec<Document>,
    /// The digests of [`Digester`], in order.
    pub digests: Vec<u32>,
}

/// Documents are hashed in pieces of so many bytes, so that large ones can be hashed on several threads.
pub const HASHED_PIECE: u64 = 8 << 20;

/// Hashes the pieces of one document.
#[derive(Clone, Default)]
pub struct PieceHasher {
    state: Option<Box<Xxh64>>,
    filled: u64,
    hashes: Vec<u64>,
}

impl PieceHasher {
    /// The next bytes of the document.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let now = bytes.len().min(usize_of(HASHED_PIECE - self.filled));
            self.state.get_or_insert_with(|| Box::new(Xxh64::new(0))).update(&bytes[..now]);
            self.filled += now as u64;
            bytes = &bytes[now..];
            if self.filled == HASHED_PIECE {
                self.end_piece();
            }
        }
    }

    fn end_piece(&mut self) {
        let state = self.state.take().unwrap_or_else(|| Box::new(Xxh64::new(0)));
        self.hashes.push(state.digest());
        self.filled = 0;
    }

    /// The document ends: the hashes of its pieces, of which even an empty document has one.
    pub fn finish(&mut self) -> Vec<u64> {
        if self.filled > 0 || self.hashes.is_empty() {
            self.end_piece();
        }
        std::mem::take(&mut self.hashes)
    }
}

/// Digests of documents that go by in order: hashes over the hashes of their pieces.
#[derive(Clone)]
pub struct Digester {
    state: Xxh64,
    bytes: u64,
}

impl Default for Digester {
    fn default() -> Self {
        Self { state: Xxh64::new(0), bytes: 0 }
    }
}

impl Digester {
    /// The next document; `last` if none follows. Gives the digest if one is due.
    #[expect(clippy::cast_possible_truncation, reason = "a digest is the lowest 32 bits")]
    pub fn document(&mut self, bytes: u64, piece_hashes: &[u64], last: bool) -> Option<u32> {
        for hash in piece_hashes {
            self.state.update(&hash.to_le_bytes());
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes < DIGEST_BYTES && !last {
            return None;
        }
        Some(std::mem::take(self).state.digest() as u32)
    }
}

/// How many digests documents of these lengths have.
fn digest_count(documents: &[Document]) -> usize {
    let mut bytes = 0_u64;
    let mut count = 0;
    for (index, document) in documents.iter().enumerate() {
        bytes = bytes.saturating_add(document.bytes);
        if bytes >= DIGEST_BYTES || index + 1 == documents.len() {
            count += 1;
            bytes = 0;
        }
    }
    count
}

fn most_name_bytes(section_bytes: usize) -> u64 {
    NAME_BYTES + NAME_BYTES_PER_BYTE * section_bytes as u64
}

/// Encodes the section; an error if the names are longer than readers take.
pub(super) fn encode(table: &DocumentTable, level: i32) -> Result<Vec<u8>> {
    let documents = &table.documents;
    let mut section = Vec::new();
    put_varint(&mut section, documents.len() as u64);
    let mut suffixes = Vec::new();
    let mut previous: &[u8] = &[];
    let mut shared = Vec::with_capacity(documents.len());
    for document in documents {
        let length =
            previous.iter().zip(&document.name).take_while(|(left, right)| left == right).count();
        shared.push(length as u64);
        suffixes.extend_from_slice(&document.name[length..]);
        previous = &document.name;
    }
    integers::write(&mut section, shared.iter().copied());
    let lengths = documents.iter().zip(&shared);
    integers::write(
        &mut section,
        lengths.map(|(document, shared)| document.name.len() as u64 - shared),
    );
    let compressed =
        zstd::bulk::compress(&suffixes, level).expect("compressing in memory cannot fail");
    put_varint(&mut section, compressed.len() as u64);
    section.extend_from_slice(&compressed);

    integers::write(&mut section, documents.iter().map(|document| document.bytes));
    // 0 is no time; otherwise 1 more than the step from the time before.
    let mut before = 0_i64;
    let steps: Vec<u64> = documents
        .iter()
        .map(|document| match document.modified {
            None => 0,
            Some(time) => {
                let step = zigzag(time.seconds.wrapping_sub(before));
                before = time.seconds;
                step.saturating_add(1)
            }
        })
        .collect();
    integers::write(&mut section, steps.iter().copied());
    let times = documents.iter().filter_map(|document| document.modified);
    integers::write(&mut section, times.map(|time| time.nanoseconds.into()));
    integers::write(
        &mut section,
        documents.iter().map(|document| document.mode.map_or(0, |mode| u64::from(mode) + 1)),
    );
    for digest in &table.digests {
        section.extend_from_slice(&digest.to_le_bytes());
    }
    let name_bytes: u64 = documents.iter().map(|document| document.name.len() as u64).sum();
    let most = most_name_bytes(section.len());
    if name_bytes > most {
        return Err(Error::NamesTooLong { bytes: name_bytes, most });
    }
    Ok(section)
}

/// What memory is taken for, in errors.
const WHAT: &str = "the table of documents";
/// Bytes that a document takes beside the bytes of its name: itself, its name's vector on the way, and what the
/// allocator adds to a name.
const DOCUMENT: usize = size_of::<Document>() + size_of::<Vec<u8>>() + 24;

/// Decodes the section. The table's own memory is taken of `budget` for good.
pub(super) fn decode(section: &[u8], budget: &Budget) -> Result<DocumentTable> {
    let mut reader = Reader::new(section, "section DOCS");
    let count = reader.varint()?;
    if u32::try_from(count).is_err() {
        return Err(reader.malformed(format!("{count} documents, which have numbers of 32 bits")));
    }
    let list = |reader: &mut Reader<'_>, what: &str| {
        let list = integers::read(reader, budget, WHAT)?;
        if list.len() as u64 != count {
            return Err(reader.malformed(format!("{} {what} of {count} documents", list.len())));
        }
        Ok(list)
    };
    let shared = list(&mut reader, "names")?;
    let lengths = list(&mut reader, "names")?;
    let compressed = reader.varint()?;
    let compressed = reader.take(compressed)?;
    let bytes = list(&mut reader, "lengths")?;
    let steps = list(&mut reader, "times")?;
    let nanoseconds = integers::read(&mut reader, budget, WHAT)?;
    let modes = list(&mut reader, "modes")?;

    let most = most_name_bytes(section.len());
    let share = budget.take(DOCUMENT as u64 * count, WHAT)?;
    let names = decode_names(&reader, &shared, &lengths, compressed, most, &share)?;
    let mut nanoseconds = nanoseconds.iter().copied();
    let mut documents = Vec::with_capacity(names.len());
    let mut seconds = 0_i64;
    for (index, name) in names.into_iter().enumerate() {
        let modified = match steps[index].checked_sub(1) {
            None => None,
            Some(step) => {
                seconds = seconds.wrapping_add(unzigzag(step));
                let nanoseconds = nanoseconds.next().and_then(|part| u32::try_from(part).ok());
                let Some(nanoseconds) = nanoseconds.filter(|&part| part < 1_000_000_000) else {
                    return Err(reader.malformed("a time has no nanoseconds"));
                };
                Some(Timestamp { seconds, nanoseconds })
            }
        };
        let mode = match modes[index].checked_sub(1) {
            None => None,
            Some(mode) => match u32::try_from(mode) {
                Ok(known) if known <= MOST_MODE => Some(known),
                _ => return Err(reader.malformed(format!("{mode} is no mode"))),
            },
        };
        documents.push(Document { name, bytes: bytes[index], modified, mode });
    }
    if nanoseconds.next().is_some() {
        return Err(reader.malformed("there are nanoseconds without a time"));
    }
    let digests =
        (0..digest_count(&documents)).map(|_| reader.u32()).collect::<Result<Vec<u32>>>()?;
    reader.finish()?;
    share.grow(size_of::<u32>() as u64 * digests.len() as u64, WHAT)?;
    share.keep();
    Ok(DocumentTable { documents, digests })
}

fn decode_names(
    reader: &Reader<'_>,
    shared: &[u64],
    lengths: &[u64],
    compressed: &[u8],
    most: u64,
    share: &Share,
) -> Result<Vec<Vec<u8>>> {
    let mut left = most;
    for part in shared.iter().chain(lengths) {
        left = left.checked_sub(*part).ok_or_else(|| reader.malformed("the names are too long"))?;
    }
    share.grow(most - left, WHAT)?;
    let unpacking = share.budget().share();
    let suffixes = zstandard::unpack(reader, compressed, lengths.iter().sum(), &unpacking, WHAT)?;
    let mut suffixes = &suffixes[..];
    let mut names: Vec<Vec<u8>> = Vec::with_capacity(shared.len());
    for (&shared, &length) in shared.iter().zip(lengths) {
        let previous: &[u8] = names.last().map_or(&[], |name| name);
        let Some(shared) = previous.get(..usize_of(shared)) else {
            return Err(reader.malformed("a name shares more than there is"));
        };
        let (suffix, rest) = suffixes.split_at(usize_of(length));
        suffixes = rest;
        if suffix.contains(&0) {
            return Err(reader.malformed("a name has a NUL in it"));
        }
        let name = [shared, suffix].concat();
        // No name is empty: every one comes behind the empty name before the first.
        if name.as_slice() <= previous {
            return Err(reader.malformed("the names are not in order"));
        }
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(section: &[u8]) -> Result<DocumentTable> {
        super::decode(section, &Budget::unlimited())
    }

    fn documents() -> impl Strategy<Value = Vec<Document>> {
        let time = proptest::option::of((any::<i32>(), 0_u32..1_000_000_000));
        let rest = (0_u64..10_000, time, proptest::option::of(0_u32..0o10000));
        proptest::collection::btree_map(proptest::collection::vec(1_u8.., 1..12), rest, 0..60)
            .prop_map(|map| {
                map.into_iter()
                    .map(|(name, (bytes, time, mode))| Document {
                        name,
                        bytes,
                        modified: time.map(|(seconds, nanoseconds)| Timestamp {
                            seconds: seconds.into(),
                            nanoseconds,
                        }),
                        mode,
                    })
                    .collect()
            })
    }

    proptest! {
        #[test]
        fn tables_round_trip(documents in documents()) {
            let digests = (0..digest_count(&documents) as u32).collect();
            let table = DocumentTable { documents, digests };
            let section = encode(&table, 3).unwrap();
            prop_assert_eq!(&decode(&section).unwrap(), &table);
            for cut in 0..section.len() {
                prop_assert!(decode(&section[..cut]).is_err());
            }
        }
    }

    /// A section with these names, shared beginnings included, whatever they are.
    fn section_of_names(shared: &[u64], suffixes: &[&[u8]]) -> Vec<u8> {
        let mut section = Vec::new();
        let count = shared.len();
        put_varint(&mut section, count as u64);
        integers::write(&mut section, shared.iter().copied());
        integers::write(&mut section, suffixes.iter().map(|suffix| suffix.len() as u64));
        let compressed = zstd::bulk::compress(&suffixes.concat(), 3).unwrap();
        put_varint(&mut section, compressed.len() as u64);
        section.extend_from_slice(&compressed);
        integers::write(&mut section, std::iter::repeat_n(0, count));
        integers::write(&mut section, std::iter::repeat_n(0, count));
        integers::write(&mut section, std::iter::empty());
        integers::write(&mut section, std::iter::repeat_n(0, count));
        section.extend_from_slice(&[0; 4]);
        section
    }

    #[test]
    fn more_documents_than_numbers_are_refused() {
        let refusal = |count: u64| {
            let mut section = Vec::new();
            put_varint(&mut section, count);
            section.extend_from_slice(&section_of_names(&[], &[])[1..]);
            decode(&section).unwrap_err().to_string()
        };
        assert!(refusal(1 << 32).contains("numbers of 32 bits"), "{}", refusal(1 << 32));
        assert!(refusal((1 << 32) - 1).contains("0 names of 4294967295 documents"));
    }

    #[test]
    fn names_that_no_writer_gives_are_refused() {
        let refused = |shared: &[u64], suffixes: &[&[u8]], why: &str| {
            let error = decode(&section_of_names(shared, suffixes)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        decode(&section_of_names(&[0, 1], &[b"a", b"b"])).unwrap();
        refused(&[0], &[b""], "not in order");
        refused(&[0, 0], &[b"b", b"a"], "not in order");
        refused(&[0, 1], &[b"a", b""], "not in order");
        refused(&[0], &[b"a\0"], "NUL");
        refused(&[0, 2], &[b"a", b"b"], "shares more");
    }

    #[test]
    fn names_that_grow_out_of_few_bytes_are_refused() {
        // Each name is the one before it and one byte: 20 kB of section, 50 GB of names.
        let long = vec![b'a'; 1 << 20];
        let count = 50_000;
        let mut shared: Vec<u64> = (0..count).map(|index| (1 << 20) + index).collect();
        shared.insert(0, 0);
        let mut suffixes: Vec<&[u8]> = vec![b"a"; count as usize];
        suffixes.insert(0, &long);
        let error = decode(&section_of_names(&shared, &suffixes)).unwrap_err().to_string();
        assert!(error.contains("names are too long"), "{error}");
    }

    #[test]
    fn small_documents_share_a_digest() {
        let mut digester = Digester::default();
        assert_eq!(digester.document(1, &[1], false), None);
        let shared = digester.document(5000, &[2], false);
        let alone = digester.document(5000, &[2], false);
        assert!(shared.is_some() && alone.is_some() && shared != alone);
        assert!(digester.document(0, &[3], true).is_some());
    }

    #[test]
    fn pieces_are_cut_by_length_alone() {
        let text = vec![7; HASHED_PIECE as usize + 100];
        let mut whole = PieceHasher::default();
        whole.update(&text);
        let whole = whole.finish();
        let mut parts = PieceHasher::default();
        text.chunks(1_000_003).for_each(|part| parts.update(part));
        assert_eq!(parts.finish(), whole);
        assert_eq!(whole.len(), 2);
        assert_eq!(PieceHasher::default().finish().len(), 1);
        let mut exact = PieceHasher::default();
        exact.update(&text[..HASHED_PIECE as usize]);
        assert_eq!(exact.finish().len(), 1);
    }
}
