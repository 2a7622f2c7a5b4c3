//! Keys with the documents that have them.

use std::ops::Range;
use std::sync::Arc;

use tadoc_core::answer::columns::TERM_DOCUMENTS;
use tadoc_core::answer::{Answer, Column, Labels, Position, Rows, Value, for_each_run};

use super::next_block;
use crate::Result;
use crate::check::are_ends;
use crate::entry::Key;
use crate::transpose::Postings;
use crate::work::{Block, BlockBuilder, Blocks};

/// Sections of a block: keys, where the documents of each end, and the documents.
const KEYS: usize = 0;
const ENDS: usize = 1;
const DOCUMENTS: usize = 2;

/// Keys ascending, each with its documents.
pub struct DocumentsOfKeys<K> {
    blocks: Blocks,
    /// Numbers of documents in the corpus, by place.
    documents: Arc<[u32]>,
    keys: std::marker::PhantomData<K>,
}

impl<K: Key> DocumentsOfKeys<K> {
    /// Blocks that were [put](Self::put).
    pub fn new(blocks: Blocks, documents: Arc<[u32]>) -> Self {
        Self { blocks, documents, keys: std::marker::PhantomData }
    }

    /// Whether a block has rows of so many terms and documents; nothing if it lacks a section.
    pub fn are_in(block: Block<'_>, terms: u32, documents: usize) -> Option<bool> {
        let keys = block.section::<K>(KEYS)?;
        let ends = block.section::<u64>(ENDS)?;
        let places = block.section::<u32>(DOCUMENTS)?;
        Some(
            ends.len() == keys.len()
                && are_ends(ends.iter().copied(), places.len())
                && keys.iter().all(|key| key.number() < terms)
                && places.iter().all(|&place| (place as usize) < documents),
        )
    }

    /// Puts postings into a block, in the order that they have.
    pub fn put(postings: &Postings<K>, block: &mut BlockBuilder<'_>) {
        block.put(&postings.keys);
        block.put(&postings.ends);
        block.put(&postings.documents);
    }
}

/// The keys of a block.
struct IndexRows<'a, K> {
    labels: Labels<'a>,
    /// Numbers of documents in the corpus, by place.
    numbers: &'a [u32],
    keys: &'a [K],
    ends: &'a [u64],
    documents: &'a [u32],
}

impl<K: Key> Rows for IndexRows<'_, K> {
    fn columns(&self) -> &'static [Column] {
        TERM_DOCUMENTS
    }

    fn len(&self) -> u64 {
        self.documents.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for_each_run(self.ends, rows, |place, rows| {
            let term = Value::Text(self.labels.terms.get(self.keys[place].number()));
            for &document in &self.documents[rows] {
                let number = self.numbers[document as usize];
                each(&[term, Value::Text(self.labels.documents.get(number))]);
            }
        });
    }
}

impl<K: Key> Answer for DocumentsOfKeys<K> {
    fn columns(&self) -> &'static [Column] {
        TERM_DOCUMENTS
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let Some(block) = next_block(at, self.blocks.len()) else { return Ok(None) };
        Ok(Some(Box::new(IndexRows::<K> {
            labels,
            numbers: &self.documents,
            keys: self.blocks.section(block, KEYS),
            ends: self.blocks.section(block, ENDS),
            documents: self.blocks.section(block, DOCUMENTS),
        })))
    }
}
