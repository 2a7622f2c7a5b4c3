//! The bytes of a stored view, as docs/view.md describes them, in whatever memory they lie: a file of their own, or a part of
//! another one.
//!
//! They are the arrays of a [`View`] as they are in memory. Making them costs a copy and its checksums, opening them one pass over them
//! (checksums and the checks that no array leads out of another), both at the speed of memory, on all threads. They are of one
//! archive, whose fingerprint they have; for another one, or the same after a change, they are not opened.

use crate::usize_of;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use rayon::prelude::*;

use super::container::checksum;
use super::wire::Reader;
use crate::error::{Error, Result};
use crate::spill::Spill;
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

/// A view that is to be written: its length is known before any byte of it is made.
pub struct ViewImage<'v> {
    header: Vec<u8>,
    arrays: [Cow<'v, [u8]>; ARRAYS],
    /// Where the arrays lie.
    ranges: [Range<u64>; ARRAYS],
    /// Where the checksums start.
    end: u64,
}

impl<'v> ViewImage<'v> {
    /// The image of a view that has a root. `root_counts` as for [`Network::root_counts_or`].
    pub fn new(view: &'v View, root_counts: &'v [u32], fingerprint: Fingerprint) -> Self {
        let network = view.network();
        let grammar = network.grammar();
        let parts: Vec<u8> = network
            .parts()
            .iter()
            .flat_map(|part| [part.root.start, part.root.end, part.rules.start, part.rules.end])
            .flat_map(u32::to_ne_bytes)
            .collect();
        let arrays: [Cow<'v, [u8]>; ARRAYS] = [
            view.terms().bytes().into(),
            bytemuck::cast_slice(view.terms().ends()).into(),
            bytemuck::cast_slice(grammar.symbols()).into(),
            bytemuck::cast_slice(grammar.rule_starts()).into(),
            bytemuck::cast_slice(grammar.document_starts()).into(),
            parts.into(),
            bytemuck::cast_slice(root_counts).into(),
        ];
        let mut lengths = [0; ARRAYS];
        for ((length, array), size) in lengths.iter_mut().zip(&arrays).zip(ELEMENT_BYTES) {
            *length = array.len() as u64 / size;
        }
        let (ranges, end) = layout(&lengths).expect("arrays that are in memory fit a file");
        let mut image = Self { header: Vec::new(), arrays, ranges, end };
        image.header = header(image.len(), fingerprint, lengths);
        image
    }

    /// How many bytes it has. Never none, as it has a header.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.end + 8 * self.blocks()
    }

    fn blocks(&self) -> u64 {
        (self.end - ALIGNMENT).div_ceil(BLOCK)
    }

    /// Gives all of it, on all threads: `put` gets where bytes are in it, and the bytes, in any order.
    pub fn write<E: Send>(
        &self,
        put: impl Fn(u64, &[u8]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        put(0, &self.header)?;
        let sums = (0..self.blocks()).into_par_iter().map_init(Vec::new, |block, number| {
            let length = (self.end - ALIGNMENT - number * BLOCK).min(BLOCK);
            block.resize(length as usize, 0);
            let sum = self.fill(number, block);
            put(ALIGNMENT + number * BLOCK, block)?;
            Ok(sum.to_le_bytes())
        });
        put(self.end, &sums.collect::<Result<Vec<[u8; 8]>, E>>()?.concat())
    }

    /// Gives all of it, piece by piece, in order.
    pub(super) fn stream(&self, mut write: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        write(&self.header)?;
        let mut block = vec![0; usize_of(BLOCK.min(self.end - ALIGNMENT))];
        let mut sums = Vec::new();
        for number in 0..self.blocks() {
            let length = (self.end - ALIGNMENT - number * BLOCK).min(BLOCK);
            let block = &mut block[..length as usize];
            sums.extend_from_slice(&self.fill(number, block).to_le_bytes());
            write(block)?;
        }
        write(&sums)
    }

    /// Writes a block; gives its checksum.
    fn fill(&self, number: u64, block: &mut [u8]) -> u64 {
        let start = ALIGNMENT + number * BLOCK;
        let end = start + block.len() as u64;
        block.fill(0);
        for (array, range) in self.arrays.iter().zip(&self.ranges) {
            let shared = range.start.max(start)..range.end.min(end);
            if !shared.is_empty() {
                let within = |of: u64| usize_of(shared.start - of)..usize_of(shared.end - of);
                block[within(start)].copy_from_slice(&array[within(range.start)]);
            }
        }
        checksum(block)
    }
}

fn header(image_bytes: u64, fingerprint: Fingerprint, lengths: [u64; ARRAYS]) -> Vec<u8> {
    let mut header = Vec::with_capacity(usize_of(ALIGNMENT));
    header.extend_from_slice(&MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&0_u32.to_le_bytes());
    for number in [image_bytes].into_iter().chain(fingerprint).chain(lengths) {
        header.extend_from_slice(&number.to_le_bytes());
    }
    header.resize(usize_of(ALIGNMENT) - 8, 0);
    let sum = checksum(&header);
    header.extend_from_slice(&sum.to_le_bytes());
    header
}

/// Opens an image where it lies, at a multiple of 8 bytes in memory. `documents` are the numbers of
/// its documents in the corpus, as [`Network::documents`]. With `counts_only`, the root is not
/// read, and the view has counts instead. Large rows that are derived lie where `spill` says.
pub fn open_image(
    bytes: Array<u8>,
    fingerprint: Fingerprint,
    documents: Vec<u32>,
    counts_only: bool,
    spill: &Spill,
) -> Result<View> {
    let image = bytes.into_shared();
    let bytes = (*image).as_ref();
    if bytes.len() < usize_of(ALIGNMENT) {
        return Err(Error::malformed(format!("{WHAT} is cut short")));
    }
    if bytes.as_ptr().align_offset(8) != 0 {
        return Err(Error::malformed(format!("{WHAT} lies where no numbers can")));
    }
    let lengths = read_header(bytes, fingerprint)?;
    let (ranges, end) = layout(&lengths).expect("checked with the header");
    // The root is the first part of the symbols, and ends where the first rule starts.
    let starts: Array<u32> = slice(&image, &ranges[3]);
    let root_bytes = 4 * u64::from(starts.first().copied().unwrap_or(0));
    let root = ranges[2].start..(ranges[2].start + root_bytes).min(ranges[2].end);
    check_blocks(bytes, end, counts_only.then_some(&root))?;
    if lengths[4].max(1) - 1 != documents.len() as u64 {
        return Err(Error::malformed("it has other documents than the archive"));
    }
    let terms = Terms::new(slice(&image, &ranges[0]), slice(&image, &ranges[1]))?;
    let mut parts: Vec<Part> = slice::<u32>(&image, &ranges[5])
        .chunks_exact(4)
        .map(|part| Part { root: part[0]..part[1], rules: part[2]..part[3] })
        .collect();
    let counts = slice::<u32>(&image, &ranges[6]);
    let network = if counts_only {
        parts.iter_mut().for_each(|part| part.root = 0..0);
        let first = starts.first().copied().unwrap_or(0);
        let starts = spill.collect(starts.iter().map(|start| start.saturating_sub(first)));
        let symbols = slice::<u32>(&image, &(root.end..ranges[2].end));
        let document_starts = vec![0; usize_of(lengths[4])];
        let grammar = Grammar::new(terms.len(), symbols, starts.into_array(), document_starts)?
            .spilling(spill);
        Network::of_counts(grammar, parts, documents, counts)?
    } else {
        let document_starts = slice::<u32>(&image, &ranges[4]);
        let symbols = slice::<u32>(&image, &ranges[2]);
        let grammar = Grammar::new(terms.len(), symbols, starts, document_starts)?.spilling(spill);
        Network::new(grammar, parts, documents)?.with_root_counts(counts)?
    };
    View::new(terms, network)
}

/// Checks the header; gives the lengths of the arrays.
fn read_header(image: &[u8], fingerprint: Fingerprint) -> Result<[u64; ARRAYS]> {
    let (bytes, sum) = image[..usize_of(ALIGNMENT)].split_at(usize_of(ALIGNMENT) - 8);
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
        let (found, supported) = (version, VERSION);
        return Err(Error::UnsupportedVersion { what: WHAT, found, supported });
    }
    reader.u32()?;
    let image_bytes = reader.u64()?;
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
    if whole != Some(image_bytes) || image_bytes != image.len() as u64 || lengths[5] % 4 != 0 {
        return Err(Error::Truncated {
            what: WHAT.into(),
            needed: whole.unwrap_or(u64::MAX),
            available: image.len() as u64,
        });
    }
    Ok(lengths)
}

/// Checks the checksums of all blocks, but those that are wholly in a range to be passed over.
fn check_blocks(image: &[u8], end: u64, passed_over: Option<&Range<u64>>) -> Result<()> {
    let (arrays, sums) = image[usize_of(ALIGNMENT)..].split_at(usize_of(end - ALIGNMENT));
    let blocks = arrays.par_chunks(usize_of(BLOCK)).zip(sums.par_chunks(8)).enumerate();
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

/// A stretch of an image, as numbers.
struct Stretch<T> {
    image: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
    numbers: PhantomData<T>,
}

impl<T: Pod> AsRef<[T]> for Stretch<T> {
    fn as_ref(&self) -> &[T] {
        // Images lie at multiples of 8, and arrays start at multiples of `ALIGNMENT` in them.
        bytemuck::cast_slice(&(*self.image).as_ref()[self.range.clone()])
    }
}

fn slice<T: Pod + Send + Sync>(
    image: &Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: &Range<u64>,
) -> Array<T> {
    let range = usize_of(range.start)..usize_of(range.end);
    Array::Shared(Arc::new(Stretch { image: image.clone(), range, numbers: PhantomData }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINGERPRINT: Fingerprint = [3, 4];

    /// So many times `a b`, as a rule, and then terms enough for several blocks.
    fn view(times: u32) -> View {
        let count = 1 << 18;
        let bytes: Vec<u8> = (0..count).flat_map(u32::to_be_bytes).collect();
        let ends: Vec<u64> = (1..=u64::from(count)).map(|term| 4 * term).collect();
        let terms = Terms::new(bytes, ends).unwrap();
        let mut symbols = vec![count; times as usize];
        symbols.extend([0, 1]);
        let grammar =
            Grammar::new(count, symbols, vec![times, times + 2], vec![0, 1, times]).unwrap();
        let parts = vec![Part { root: 0..times, rules: 0..1 }];
        View::new(terms, Network::new(grammar, parts, vec![5, 9]).unwrap()).unwrap()
    }

    fn counts(view: &View, times: u32) -> Vec<u32> {
        let mut counts = vec![0; view.terms().len() as usize];
        counts.push(times);
        counts
    }

    /// Bytes at a multiple of 8 and so many more.
    struct Shifted(Vec<u64>, usize);

    impl AsRef<[u8]> for Shifted {
        fn as_ref(&self) -> &[u8] {
            &bytemuck::cast_slice(&self.0)[self.1..]
        }
    }

    fn shared(bytes: &[u8], shift: usize) -> Array<u8> {
        let mut room = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut room)[..bytes.len()].copy_from_slice(bytes);
        assert_eq!(bytes.len() % 8, 0);
        Array::Shared(Arc::new(Shifted(room, shift)))
    }

    fn image(times: u32) -> (View, Vec<u8>) {
        let view = view(times);
        let counts = counts(&view, times);
        let image = ViewImage::new(&view, &counts, FINGERPRINT);
        let bytes = std::sync::Mutex::new(vec![1; image.len() as usize]);
        let put = |offset: u64, piece: &[u8]| {
            bytes.lock().unwrap()[offset as usize..][..piece.len()].copy_from_slice(piece);
            Ok::<(), std::convert::Infallible>(())
        };
        image.write(put).unwrap();
        let bytes = bytes.into_inner().unwrap();
        let mut streamed = Vec::new();
        let take = |piece: &[u8]| {
            streamed.extend_from_slice(piece);
            Ok(())
        };
        image.stream(take).unwrap();
        assert!(bytes == streamed);
        (view, bytes)
    }

    #[test]
    fn what_is_written_anywhere_is_opened_there() {
        let (view, bytes) = image(300_000);
        let opened =
            open_image(shared(&bytes, 0), FINGERPRINT, vec![5, 9], false, &Spill::default())
                .unwrap();
        assert_eq!(opened.terms(), view.terms());
        let (network, expected) = (opened.network(), view.network());
        assert_eq!(network.grammar(), expected.grammar());
        assert_eq!((network.parts(), &network.documents()[..]), (expected.parts(), &[5, 9][..]));
        assert_eq!(network.length(), expected.length());
        let counts =
            open_image(shared(&bytes, 0), FINGERPRINT, vec![5, 9], true, &Spill::default())
                .unwrap();
        assert_eq!((counts.network().has_root(), counts.network().length()), (false, 600_000));
    }

    #[test]
    fn what_is_not_this_image_is_refused() {
        let (_, bytes) = image(300_000);
        let open = |bytes: &[u8], shift, fingerprint, documents: &[u32]| {
            open_image(
                shared(bytes, shift),
                fingerprint,
                documents.to_vec(),
                false,
                &Spill::default(),
            )
        };
        assert!(open(&bytes, 0, FINGERPRINT, &[5, 9]).is_ok());
        assert!(open(&bytes, 0, [3, 5], &[5, 9]).is_err());
        assert!(open(&bytes, 0, FINGERPRINT, &[5]).is_err());
        assert!(open(&bytes, 4, FINGERPRINT, &[5, 9]).is_err());
        assert!(open(&bytes[..bytes.len() - 8], 0, FINGERPRINT, &[5, 9]).is_err());
        for at in [20, 300, 1 << 20, 3 << 20, bytes.len() - 1] {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            assert!(open(&wrong, 0, FINGERPRINT, &[5, 9]).is_err(), "byte {at}");
        }
    }
}
