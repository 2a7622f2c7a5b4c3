//! Keys with the documents that have them.

use std::io;
use std::ops::Range;

use tadoc_core::answer::columns::{SEQUENCE_DOCUMENTS, TERM_DOCUMENTS};
use tadoc_core::answer::{Answer, Column, Labels, Rows, Value};

use super::{Names, for_each_run};
use crate::entry::{Count, Key};
use crate::transpose::Postings;
use crate::work::{BlockBuilder, Blocks};

/// Sections of a block: keys, where the documents of each end, the documents, and counts where they are shown.
const KEYS: usize = 0;
const ENDS: usize = 1;
const DOCUMENTS: usize = 2;
const COUNTS: usize = 3;

/// Keys ascending, each with its documents; with counts if keys are sequences.
pub struct DocumentsOfKeys<'v, K, N> {
    blocks: Blocks,
    names: N,
    /// Numbers of documents in the corpus, by place.
    documents: &'v [u32],
    keys: std::marker::PhantomData<K>,
}

impl<'v, K: Key, N: Names<K>> DocumentsOfKeys<'v, K, N> {
    /// Blocks that were [put](Self::put).
    pub fn new(blocks: Blocks, names: N, documents: &'v [u32]) -> Self {
        Self { blocks, names, documents, keys: std::marker::PhantomData }
    }

    /// Puts postings into a block, in the order that they have.
    pub fn put(postings: &Postings<K>, block: &mut BlockBuilder) {
        block.put(&postings.keys);
        block.put(&postings.ends);
        block.put(&postings.documents);
        block.put(&postings.counts);
    }
}

/// The keys of a block.
struct IndexRows<'a, K: Key, N> {
    labels: Labels<'a>,
    names: &'a N,
    /// Numbers of documents in the corpus, by place.
    numbers: &'a [u32],
    keys: &'a [K],
    ends: &'a [u64],
    documents: &'a [u32],
    counts: &'a [K::Count],
}

impl<K: Key, N: Names<K>> Rows for IndexRows<'_, K, N> {
    fn columns(&self) -> &'static [Column] {
        if N::SEQUENCES { SEQUENCE_DOCUMENTS } else { TERM_DOCUMENTS }
    }

    fn len(&self) -> u64 {
        self.documents.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for_each_run(self.ends, rows, |place, rows| {
            self.names.show(self.labels, self.keys[place], |name| {
                for row in rows.start as usize..rows.end as usize {
                    let number = self.numbers[self.documents[row] as usize];
                    let document = Value::Text(self.labels.documents[number as usize]);
                    if N::SEQUENCES {
                        each(&[name, document, Value::Count(self.counts[row].get())]);
                    } else {
                        each(&[name, document]);
                    }
                }
            });
        });
    }
}

impl<K: Key, N: Names<K>> Answer for DocumentsOfKeys<'_, K, N> {
    fn columns(&self) -> &'static [Column] {
        if N::SEQUENCES { SEQUENCE_DOCUMENTS } else { TERM_DOCUMENTS }
    }

    fn for_each_part(
        &self,
        labels: Labels<'_>,
        each: &mut dyn FnMut(&dyn Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        for block in 0..self.blocks.len() {
            each(&IndexRows::<K, N> {
                labels,
                names: &self.names,
                numbers: self.documents,
                keys: self.blocks.section(block, KEYS),
                ends: self.blocks.section(block, ENDS),
                documents: self.blocks.section(block, DOCUMENTS),
                counts: self.blocks.section(block, COUNTS),
            })?;
        }
        Ok(())
    }
}
