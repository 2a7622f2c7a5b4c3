//! Extracts, counts and searches: the launch code of `kernels/access.c`.
//!
//! Requests are brought to the device (`extracts`, `words`), run (`extract`, `count`, `search`) and fetched (`download`). Running waits
//! once for an extract and twice for a search, for the size of the result.

use std::sync::Arc;

use super::load::bits_for;
use super::{ALL, ResidentText};
use crate::device::{Buffer, Device, Kernel, Module, groups_for};
use crate::error::{Error, Result};
use crate::primitives::scan;
use crate::primitives::sort::{Keys, Order, Rows, sort};
use crate::tuning::{EXTRACT_STRETCH, OCCURRENCE_BYTES, SAMPLE_BYTES, WINDOW_BYTES};

/// The kernels.
pub static MODULE: Module = Module {
    name: "access",
    source: concat!(
        include_str!("../../kernels/segment.h"),
        include_str!("../../kernels/access.c")
    ),
};

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

const EXTRACT_SIZES: Kernel = kernel("extract_sizes");
const EXTRACT_BYTES: Kernel = kernel("extract_bytes");
const FIND_WORDS: Kernel = kernel("find_words");
const COUNT_WORDS: Kernel = kernel("count_words");
const PLAN_SEARCHES: Kernel = kernel("plan_searches");
const SEARCH_WORDS: Kernel = kernel("search_words");
const POSITIONS_OF_KEYS: Kernel = kernel("positions_of_keys");

/// One extract: bytes of a document, cut at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extract {
    /// The document's place in the segment.
    pub document: u32,
    /// Where the bytes start.
    pub offset: u32,
    /// How many are asked for.
    pub length: u32,
}

/// Extracts on the device.
#[derive(Debug)]
pub struct Extracts {
    count: usize,
    documents: Buffer<u32>,
    offsets: Buffer<u32>,
    lengths: Buffer<u32>,
}

/// The bytes of extracts, on the device.
#[derive(Debug)]
pub struct Extracted {
    total: usize,
    /// Whole words of 4 bytes, so there may be a few bytes more.
    bytes: Buffer<u8>,
    starts: Buffer<u64>,
}

/// Words on the device that are counted or searched for, each in a document or in all of them.
#[derive(Debug)]
pub struct Words {
    count: usize,
    bytes: Buffer<u8>,
    ends: Buffer<u32>,
    documents: Buffer<u32>,
}

/// How often words occur, on the device; and their numbers, by which searches go on.
#[derive(Debug)]
pub struct Counted {
    words: Buffer<u32>,
    counts: Buffer<u32>,
}

/// Where words are, on the device.
#[derive(Debug)]
pub struct Found {
    positions: Buffer<u32>,
    starts: Buffer<u64>,
}

impl Extracts {
    /// Brings extracts to a device. Documents must be there; whoever asks behind the end of one gets nothing.
    pub fn upload(device: &Arc<Device>, extracts: &[Extract]) -> Result<Self> {
        let column =
            |of: fn(&Extract) -> u32| device.upload(&extracts.iter().map(of).collect::<Vec<u32>>());
        Ok(Self {
            count: extracts.len(),
            documents: column(|extract| extract.document)?,
            offsets: column(|extract| extract.offset)?,
            lengths: column(|extract| extract.length)?,
        })
    }
}

impl Words {
    /// Brings words to a device, each with the place of its document, or [`ALL`].
    pub fn upload<'w>(
        device: &Arc<Device>,
        words: impl Iterator<Item = (&'w [u8], u32)>,
    ) -> Result<Self> {
        let (mut bytes, mut ends, mut documents) = (Vec::new(), Vec::new(), Vec::new());
        for (word, document) in words {
            bytes.extend_from_slice(word);
            let end = u32::try_from(bytes.len());
            ends.push(end.map_err(|_| Error::Unsupported {
                what: "a batch of words that have 4 GiB together".to_owned(),
            })?);
            documents.push(document);
        }
        Ok(Self {
            count: ends.len(),
            bytes: device.upload(&bytes)?,
            ends: device.upload(&ends)?,
            documents: device.upload(&documents)?,
        })
    }
}

impl Extracted {
    /// The bytes of all extracts, and where each starts, with the end behind the last.
    pub fn download(&self) -> Result<(Vec<u8>, Vec<u64>)> {
        let device = self.bytes.device();
        Ok((device.download_part(&self.bytes, 0..self.total)?, device.download(&self.starts)?))
    }
}

impl Counted {
    /// The counts, in the order of the words.
    pub fn download(&self) -> Result<Vec<u32>> {
        self.counts.device().download(&self.counts)
    }
}

impl Found {
    /// The places of all words in the text of the segment, ascending for each of them, and where those of each start, with the end behind
    /// the last.
    pub fn download(&self) -> Result<(Vec<u32>, Vec<u64>)> {
        let device = self.positions.device();
        Ok((device.download(&self.positions)?, device.download(&self.starts)?))
    }
}

impl ResidentText {
    /// The bytes that were asked for, as inserts have left them.
    ///
    /// # Errors
    /// [`Error::TooLittleMemory`] if they do not fit beside the segment.
    pub fn extract(&self, extracts: &Extracts) -> Result<Extracted> {
        let device = &self.device;
        let requests = extracts.count as u32;
        let sizes = device.allocate::<u32>(extracts.count)?;
        device.launch(
            &EXTRACT_SIZES,
            groups_for(extracts.count),
            &[
                (&extracts.documents).into(),
                (&extracts.offsets).into(),
                (&extracts.lengths).into(),
                self.pieces.document_lengths().into(),
                (&sizes).into(),
                requests.into(),
            ],
        )?;
        let starts = scan::starts::<u32, u64>(device, &sizes, extracts.count)?;
        let total = device.value(&starts, extracts.count)?;
        let bytes = device.allocate::<u8>(4 * total.div_ceil(4) as usize)?;
        let pieces = &self.pieces;
        device.launch(
            &EXTRACT_BYTES,
            groups_for(total.div_ceil(EXTRACT_STRETCH.into()) as usize),
            &[
                (&self.token_bytes).into(),
                (&self.token_ends).into(),
                (&self.rule_starts).into(),
                (&self.bodies).into(),
                (&self.body_offsets).into(),
                (&self.root).into(),
                (&self.root_offsets).into(),
                (&self.samples).into(),
                pieces.keys().into(),
                pieces.sources().into(),
                pieces.first_pieces().into(),
                pieces.document_lengths().into(),
                pieces.new_text().into(),
                (&extracts.documents).into(),
                (&extracts.offsets).into(),
                (&starts).into(),
                (&bytes).into(),
                total.into(),
                requests.into(),
                EXTRACT_STRETCH.into(),
                self.tokens.into(),
                self.places.into(),
                SAMPLE_BYTES.into(),
                self.text_bytes.into(),
            ],
        )?;
        Ok(Extracted { total: total as usize, bytes, starts })
    }

    /// How often words occur in the text that was loaded. Nothing waits.
    pub fn count(&self, words: &Words) -> Result<Counted> {
        let device = &self.device;
        let requests = words.count as u32;
        let found = device.allocate::<u32>(words.count)?;
        device.launch(
            &FIND_WORDS,
            groups_for(words.count),
            &[
                (&self.token_bytes).into(),
                (&self.token_ends).into(),
                (&self.word_starts).into(),
                (&self.table).into(),
                (&words.bytes).into(),
                (&words.ends).into(),
                (&found).into(),
                requests.into(),
                self.words.into(),
                (self.table.len() as u32 - 1).into(),
            ],
        )?;
        let counts = device.allocate::<u32>(words.count)?;
        device.launch(
            &COUNT_WORDS,
            groups_for(words.count),
            &[
                (&found).into(),
                (&words.documents).into(),
                (&self.word_starts).into(),
                (&self.weights).into(),
                (&self.posting_starts).into(),
                (&self.posting_documents).into(),
                (&self.posting_counts).into(),
                (&counts).into(),
                requests.into(),
                self.words.into(),
                ALL.into(),
            ],
        )?;
        Ok(Counted { words: found, counts })
    }

    /// Where words are in the text that was loaded, given how often they occur.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if they are in 2^32 places or more, [`Error::TooLittleMemory`] if the places do not fit beside the
    /// segment: ask for fewer at a time.
    pub fn search(&self, words: &Words, counted: &Counted) -> Result<Found> {
        let device = &self.device;
        let requests = words.count as u32;
        let (units, ways) =
            (device.allocate::<u32>(words.count)?, device.allocate::<u32>(words.count)?);
        device.launch(
            &PLAN_SEARCHES,
            groups_for(words.count),
            &[
                (&counted.words).into(),
                (&words.documents).into(),
                (&counted.counts).into(),
                (&self.word_starts).into(),
                (&self.weights).into(),
                (&self.document_offsets).into(),
                (&units).into(),
                (&ways).into(),
                requests.into(),
                ALL.into(),
                WINDOW_BYTES.into(),
                OCCURRENCE_BYTES.into(),
            ],
        )?;
        let starts = scan::starts::<u32, u64>(device, &counted.counts, words.count)?;
        let unit_starts = scan::starts::<u32, u64>(device, &units, words.count)?;
        let total = device.value(&starts, words.count)? as usize;
        let units = device.value(&unit_starts, words.count)?;
        if u32::try_from(total).is_err() {
            return Err(Error::Unsupported { what: format!("a batch that finds {total} places") });
        }
        let position_bits = bits_for(u64::from(self.text_bytes));
        let taken = device.zeroed::<u32>(words.count)?;
        let keys = device.allocate::<u64>(total)?;
        device.launch(
            &SEARCH_WORDS,
            groups_for(units as usize),
            &[
                (&self.token_bytes).into(),
                (&self.token_ends).into(),
                (&self.rule_starts).into(),
                (&self.bodies).into(),
                (&self.body_offsets).into(),
                (&self.owners).into(),
                (&self.root).into(),
                (&self.root_offsets).into(),
                (&self.samples).into(),
                (&self.bytes).into(),
                (&self.marks).into(),
                (&self.use_starts).into(),
                (&self.uses).into(),
                (&self.use_before).into(),
                (&self.document_starts).into(),
                (&self.document_offsets).into(),
                (&self.word_starts).into(),
                (&counted.words).into(),
                (&words.documents).into(),
                (&ways).into(),
                (&unit_starts).into(),
                (&starts).into(),
                (&taken).into(),
                (&keys).into(),
                units.into(),
                requests.into(),
                ALL.into(),
                WINDOW_BYTES.into(),
                self.tokens.into(),
                self.places.into(),
                SAMPLE_BYTES.into(),
                self.body_symbols.into(),
                position_bits.into(),
            ],
        )?;
        let bits = position_bits + bits_for(requests.into());
        let rows = Rows { keys: Keys::Wide(keys), first: None, second: None };
        let keys = sort(device, rows, total, 0..bits, Order::Ascending)?.keys.wide();
        let positions = device.allocate::<u32>(total)?;
        device.launch(
            &POSITIONS_OF_KEYS,
            groups_for(total),
            &[(&keys).into(), (&positions).into(), (total as u64).into(), position_bits.into()],
        )?;
        Ok(Found { positions, starts })
    }
}
