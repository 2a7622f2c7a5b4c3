//! Documents with their keys and counts.

use std::iter::once;
use std::ops::Range;
use std::sync::Arc;

use tadoc_core::answer::columns::TERM_VECTORS;
use tadoc_core::answer::{Answer, Column, Entries, Labels, Position, Rows, Value};

use super::for_each_run;
use crate::Result;
use crate::entry::{Count, Key};
use crate::vectors::{COUNTS, ENDS, KEYS};
use crate::work::Blocks;

/// Rows that become one part of an answer, at least.
const ROWS_OF_A_PART: u64 = 1 << 20;

/// A block with the keys of documents that follow each other.
#[derive(Debug, Clone)]
pub struct Vectors {
    /// Where it is.
    pub blocks: Blocks,
    /// Which block.
    pub block: usize,
    /// The first document, by place.
    pub first: u32,
}

impl Vectors {
    fn rows(&self) -> u64 {
        self.blocks.section::<u64>(self.block, ENDS).last().copied().unwrap_or(0)
    }
}

/// Documents, each with its keys: by count descending, then key ascending.
pub struct KeysOfDocuments<K> {
    vectors: Vec<Vectors>,
    /// Numbers of documents in the corpus, by place.
    documents: Arc<[u32]>,
    keys: std::marker::PhantomData<K>,
}

impl<K: Key> KeysOfDocuments<K> {
    /// The vectors of all documents, in order.
    pub fn new(vectors: Vec<Vectors>, documents: Arc<[u32]>) -> Self {
        Self { vectors, documents, keys: std::marker::PhantomData }
    }

    fn rows<'a>(&'a self, labels: Labels<'a>, vectors: &'a [Vectors]) -> VectorRows<'a, K> {
        let mut end = 0;
        let ends = vectors.iter().map(|vectors| {
            end += vectors.rows();
            end
        });
        let ends = ends.collect();
        VectorRows { answer: self, labels, vectors, ends }
    }
}

/// The vectors of some blocks.
struct VectorRows<'a, K> {
    answer: &'a KeysOfDocuments<K>,
    labels: Labels<'a>,
    vectors: &'a [Vectors],
    /// Where the rows of each block end.
    ends: Vec<u64>,
}

impl<K: Key> VectorRows<'_, K> {
    /// Calls `each` with the place of a document, the keys of its block, the place of a key among them and its count, for every row of a range.
    fn for_each(&self, rows: Range<u64>, mut each: impl FnMut(usize, &[K], usize, u64)) {
        for_each_run(&self.ends, rows, |place, rows| {
            let vectors = &self.vectors[place];
            let before = self.ends[place] - vectors.rows();
            let ends = vectors.blocks.section::<u64>(vectors.block, ENDS);
            let keys = vectors.blocks.section::<K>(vectors.block, KEYS);
            let counts = vectors.blocks.section::<K::Count>(vectors.block, COUNTS);
            for_each_run(ends, rows.start - before..rows.end - before, |document, rows| {
                let rows = rows.start as usize..rows.end as usize;
                for (place, count) in rows.clone().zip(&counts[rows]) {
                    each(vectors.first as usize + document, keys, place, count.get());
                }
            });
        });
    }
}

impl<K: Key> Rows for VectorRows<'_, K> {
    fn columns(&self) -> &'static [Column] {
        self.answer.columns()
    }

    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        self.for_each(rows, |document, keys, place, count| {
            self.labels.terms.ask_ahead(keys, place, |key| once(key.number()));
            let number = self.answer.documents[document];
            let document = Value::Text(self.labels.documents.get(number));
            let term = Value::Text(self.labels.terms.get(keys[place].number()));
            each(&[document, term, Value::Count(count)]);
        });
    }
}

/// All vectors as a matrix.
struct VectorEntries<'a, K> {
    rows: VectorRows<'a, K>,
    /// The column of every term: those that occur have one, in their order.
    columns: Vec<u32>,
    column_count: u64,
}

impl<'a, K: Key> VectorEntries<'a, K> {
    fn new(rows: VectorRows<'a, K>) -> Self {
        let mut columns = vec![0_u32; rows.labels.terms.len() as usize];
        for vectors in rows.vectors {
            let keys = vectors.blocks.section::<K>(vectors.block, KEYS);
            keys.iter().for_each(|key| columns[key.number() as usize] = 1);
        }
        let mut count = 0;
        for column in &mut columns {
            count += std::mem::replace(column, count);
        }
        Self { rows, columns, column_count: count.into() }
    }
}

impl<K: Key> Rows for VectorEntries<'_, K> {
    fn columns(&self) -> &'static [Column] {
        self.rows.columns()
    }

    fn len(&self) -> u64 {
        self.rows.len()
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        self.rows.visit(rows, each);
    }
}

impl<K: Key> Entries for VectorEntries<'_, K> {
    fn shape(&self) -> (u64, u64) {
        (self.rows.answer.documents.len() as u64, self.column_count)
    }

    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>)) {
        self.rows.for_each(rows, |document, keys, place, count| {
            let column = self.columns[keys[place].number() as usize];
            each(document as u64, column.into(), Value::Count(count));
        });
    }
}

impl<K: Key> Answer for KeysOfDocuments<K> {
    fn columns(&self) -> &'static [Column] {
        TERM_VECTORS
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let [first, ..] = at.state();
        let rest = &self.vectors[self.vectors.len().min(first as usize)..];
        if rest.is_empty() {
            return Ok(None);
        }
        let mut rows = 0;
        let enough = rest.iter().position(|vectors| {
            rows += vectors.rows();
            rows >= ROWS_OF_A_PART
        });
        let some = &rest[..enough.map_or(rest.len(), |last| last + 1)];
        *at = Position::new([first + some.len() as u64, 0, 0, 0]);
        Ok(Some(Box::new(self.rows(labels, some))))
    }

    fn entries<'a>(&'a self, labels: Labels<'a>) -> Option<Result<Box<dyn Entries + 'a>>> {
        Some(Ok(Box::new(VectorEntries::new(self.rows(labels, &self.vectors)))))
    }
}
