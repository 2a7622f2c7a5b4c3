//! Inserts all at once: the launch code of `kernels/pieces.c`.
//!
//! Inserts are sorted by document and offset, those in one place in the order given; then the pieces of all documents are made
//! anew, cut where something was inserted. Cost: a sort of the inserts, and a pass over them, the pieces and the documents.

use std::sync::Arc;

use super::ResidentText;
use super::load::bits_for;
use crate::device::{Buffer, Device, Kernel, Module, groups_for};
use crate::error::{Error, Result};
use crate::primitives::scan;
use crate::primitives::sort::{Keys, Order, Rows, sort};

/// The kernels.
pub static MODULE: Module =
    Module { name: "pieces", source: include_str!("../../kernels/pieces.c") };

const fn kernel(name: &'static str) -> Kernel {
    Kernel { module: &MODULE, name }
}

const INSERT_KEYS: Kernel = kernel("insert_keys");
const INSERT_LENGTHS: Kernel = kernel("insert_lengths");
const PIECE_EVENTS: Kernel = kernel("piece_events");
const COUNT_PIECES: Kernel = kernel("count_pieces");
const FILL_PIECES: Kernel = kernel("fill_pieces");
const PIECE_DOCUMENTS: Kernel = kernel("piece_documents");
const STORED_PIECES: Kernel = kernel("stored_pieces");
const STORED_LENGTHS: Kernel = kernel("stored_lengths");

/// Stands for the end of a document.
const AT_END: u32 = u32::MAX;

/// One insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Insert<'t> {
    /// The document's place in the segment.
    pub document: u32,
    /// Before which byte, or `None` for the end of the document.
    pub offset: Option<u32>,
    /// What is inserted.
    pub text: &'t [u8],
}

/// Where inserts go, on the device, and how long they are.
#[derive(Debug)]
pub struct InsertPlaces {
    count: usize,
    documents: Buffer<u32>,
    offsets: Buffer<u32>,
    text_ends: Buffer<u32>,
}

/// Inserts on the device.
#[derive(Debug)]
pub struct Inserts {
    places: InsertPlaces,
    text: Buffer<u8>,
}

impl InsertPlaces {
    /// Brings to a device where inserts go. Documents and offsets must be there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if their texts have 4 GiB or more together.
    pub fn upload(device: &Arc<Device>, inserts: &[Insert<'_>]) -> Result<Self> {
        let documents: Vec<u32> = inserts.iter().map(|insert| insert.document).collect();
        let offsets: Vec<u32> =
            inserts.iter().map(|insert| insert.offset.unwrap_or(AT_END)).collect();
        let (mut end, mut ends) = (0_u32, Vec::with_capacity(inserts.len()));
        for insert in inserts {
            let length = u32::try_from(insert.text.len()).ok();
            end = length.and_then(|length| end.checked_add(length)).ok_or_else(too_long)?;
            ends.push(end);
        }
        Ok(Self {
            count: inserts.len(),
            documents: device.upload(&documents)?,
            offsets: device.upload(&offsets)?,
            text_ends: device.upload(&ends)?,
        })
    }
}

impl Inserts {
    /// Brings inserts to a device.
    ///
    /// # Errors
    /// As [`InsertPlaces::upload`].
    pub fn upload(device: &Arc<Device>, inserts: &[Insert<'_>]) -> Result<Self> {
        let places = InsertPlaces::upload(device, inserts)?;
        let texts: Vec<&[u8]> = inserts.iter().map(|insert| insert.text).collect();
        Ok(Self { places, text: device.upload(&texts.concat())? })
    }
}

fn too_long() -> Error {
    Error::Unsupported { what: "a segment of 4 GiB of text with what was inserted".to_owned() }
}

/// What documents are made of.
#[derive(Debug)]
pub(super) struct Pieces {
    count: usize,
    keys: Buffer<u64>,
    sources: Buffer<u32>,
    first_pieces: Buffer<u32>,
    document_lengths: Buffer<u32>,
    /// No document is longer.
    longest: u64,
    new_text: Buffer<u8>,
}

impl Pieces {
    /// One piece for each document that has text.
    pub(super) fn stored(
        device: &Arc<Device>,
        document_offsets: &Buffer<u32>,
        documents: u32,
    ) -> Result<Self> {
        let count = documents as usize;
        let (document_lengths, has_piece) =
            (device.allocate::<u32>(count)?, device.allocate::<u32>(count)?);
        device.launch(
            &STORED_LENGTHS,
            groups_for(count),
            &[
                document_offsets.into(),
                (&document_lengths).into(),
                (&has_piece).into(),
                documents.into(),
            ],
        )?;
        let first_pieces = scan::starts::<u32, u32>(device, &has_piece, count)?;
        let pieces = device.value(&first_pieces, count)? as usize;
        let (keys, sources) = (device.allocate(pieces)?, device.allocate(pieces)?);
        device.launch(
            &STORED_PIECES,
            groups_for(count),
            &[
                document_offsets.into(),
                (&first_pieces).into(),
                (&keys).into(),
                (&sources).into(),
                documents.into(),
            ],
        )?;
        let lengths = device.download(&document_lengths)?;
        let longest = lengths.into_iter().max().unwrap_or(0).into();
        let new_text = device.allocate(0)?;
        Ok(Self { count: pieces, keys, sources, first_pieces, document_lengths, longest, new_text })
    }

    pub(super) fn keys(&self) -> &Buffer<u64> {
        &self.keys
    }

    pub(super) fn sources(&self) -> &Buffer<u32> {
        &self.sources
    }

    pub(super) fn first_pieces(&self) -> &Buffer<u32> {
        &self.first_pieces
    }

    pub(super) fn document_lengths(&self) -> &Buffer<u32> {
        &self.document_lengths
    }

    pub(super) fn new_text(&self) -> &Buffer<u8> {
        &self.new_text
    }

    pub(super) fn memory(&self) -> u64 {
        let narrow = self.sources.len() + self.first_pieces.len() + self.document_lengths.len();
        (8 * self.keys.len() + 4 * narrow + self.new_text.len()) as u64
    }
}

/// What becomes of inserts, before they are made.
#[derive(Debug)]
pub struct Inserted(Pieces);

/// Inserts in order: by document, then by offset, then as they were given.
#[derive(Debug)]
pub struct Ordered {
    keys: Buffer<u64>,
    numbers: Buffer<u32>,
    /// Bytes inserted by those before each, and by all behind the last.
    before: Buffer<u32>,
}

impl Ordered {
    /// The places of the inserts in the order given, and bytes that are inserted before each of them, with all behind the last.
    pub fn download(&self) -> Result<(Vec<u32>, Vec<u32>)> {
        let device = self.keys.device();
        Ok((device.download(&self.numbers)?, device.download(&self.before)?))
    }
}

/// Puts inserts in order, given the lengths of documents, which must be below 4 GiB. Nothing waits.
///
/// `longest` is at least as long as the longest document: where it is short, there is less to sort by.
pub fn order(
    inserts: &InsertPlaces,
    document_lengths: &Buffer<u32>,
    longest: u64,
) -> Result<Ordered> {
    let device = inserts.documents.device();
    let (count, groups) = (inserts.count as u32, groups_for(inserts.count));
    let (keys, numbers) = (device.allocate(inserts.count)?, device.allocate(inserts.count)?);
    device.launch(
        &INSERT_KEYS,
        groups,
        &[
            (&inserts.documents).into(),
            (&inserts.offsets).into(),
            document_lengths.into(),
            (&keys).into(),
            (&numbers).into(),
            count.into(),
            AT_END.into(),
        ],
    )?;
    let mut sorted = Rows { keys: Keys::Wide(keys), first: Some(numbers), second: None };
    let offsets = 0..bits_for(longest + 1).min(32);
    let documents = 32..32 + bits_for(document_lengths.len() as u64);
    for bits in [offsets, documents] {
        sorted = sort(device, sorted, inserts.count, bits, Order::Ascending)?;
    }
    let (keys, numbers) = (sorted.keys.wide(), sorted.first.expect("it was given"));
    let lengths = device.allocate::<u32>(inserts.count)?;
    device.launch(
        &INSERT_LENGTHS,
        groups,
        &[(&numbers).into(), (&inserts.text_ends).into(), (&lengths).into(), count.into()],
    )?;
    let before = scan::starts(device, &lengths, inserts.count)?;
    Ok(Ordered { keys, numbers, before })
}

impl ResidentText {
    /// Makes inserts: [`ResidentText::inserted`] taken at once. If it fails, nothing is changed.
    ///
    /// # Errors
    /// As [`ResidentText::inserted`].
    pub fn insert(&mut self, inserts: &Inserts) -> Result<()> {
        let inserted = self.inserted(inserts)?;
        self.take(inserted);
        Ok(())
    }

    /// Extracts from now on see what was made of this text and inserts, and of nothing else in between.
    pub fn take(&mut self, inserted: Inserted) {
        self.pieces = inserted.0;
    }

    /// What becomes of inserts whose offsets all mean the text before them, for [`ResidentText::take`]. Those in one place come in the order
    /// given, and what is put at the end of a document is one of those there. Counts and searches do not see them; they need the segment
    /// loaded anew. Waits once.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if text and inserts have 4 GiB or more.
    pub fn inserted(&self, inserts: &Inserts) -> Result<Inserted> {
        let Inserts { places: inserts, text } = inserts;
        let device = &self.device;
        let old = &self.pieces;
        let text_start = self.text_bytes as usize + old.new_text.len();
        if text_start + text.len() >= AT_END as usize {
            return Err(too_long());
        }
        let ordered = order(inserts, &old.document_lengths, old.longest)?;
        let (count, pieces) = (inserts.count as u32, old.count as u32);
        let rows = inserts.count + old.count;
        let events = device.allocate::<u32>(rows)?;
        device.launch(
            &PIECE_EVENTS,
            groups_for(rows),
            &[
                (&ordered.keys).into(),
                (&old.keys).into(),
                (&events).into(),
                count.into(),
                pieces.into(),
            ],
        )?;
        let counts = device.allocate::<u32>(rows)?;
        device.launch(
            &COUNT_PIECES,
            groups_for(rows),
            &[
                (&ordered.keys).into(),
                (&ordered.before).into(),
                (&old.keys).into(),
                (&events).into(),
                (&old.document_lengths).into(),
                (&counts).into(),
                count.into(),
                pieces.into(),
            ],
        )?;
        let before = scan::starts::<u32, u32>(device, &counts, rows)?;
        let new_pieces = device.value(&before, rows)?;
        let new_text = device.allocate(old.new_text.len() + text.len())?;
        let (keys, sources) =
            (device.allocate(new_pieces as usize)?, device.allocate(new_pieces as usize)?);
        device.copy(&old.new_text, 0, &new_text, 0, old.new_text.len())?;
        device.copy(text, 0, &new_text, old.new_text.len(), text.len())?;
        device.launch(
            &FILL_PIECES,
            groups_for(rows),
            &[
                (&ordered.keys).into(),
                (&ordered.numbers).into(),
                (&inserts.text_ends).into(),
                (&ordered.before).into(),
                (&old.keys).into(),
                (&old.sources).into(),
                (&events).into(),
                (&before).into(),
                (&keys).into(),
                (&sources).into(),
                count.into(),
                pieces.into(),
                (text_start as u32).into(),
            ],
        )?;
        let first_pieces = device.allocate(old.first_pieces.len())?;
        let lengths = &old.document_lengths;
        let document_lengths = device.allocate(lengths.len())?;
        device.copy(lengths, 0, &document_lengths, 0, lengths.len())?;
        device.launch(
            &PIECE_DOCUMENTS,
            groups_for(self.documents as usize + 1),
            &[
                (&ordered.keys).into(),
                (&ordered.before).into(),
                (&keys).into(),
                (&first_pieces).into(),
                (&document_lengths).into(),
                count.into(),
                new_pieces.into(),
                self.documents.into(),
            ],
        )?;
        Ok(Inserted(Pieces {
            count: new_pieces as usize,
            keys,
            sources,
            first_pieces,
            document_lengths,
            longest: old.longest + text.len() as u64,
            new_text,
        }))
    }

    /// Whether anything was inserted since it was loaded.
    pub fn is_edited(&self) -> bool {
        !self.pieces.new_text.is_empty()
    }
}
