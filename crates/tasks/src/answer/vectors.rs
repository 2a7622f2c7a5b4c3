//! Documents with their keys, and a number of each: counts, or weights.

use std::iter::once;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use tadoc_core::answer::columns::{TERM_VECTORS, TERM_WEIGHTS};
use tadoc_core::answer::{
    Answer, Column, Entries, Labels, Position, Rows, Value, for_each_run, matrix_columns,
};

use crate::Result;
use crate::entry::Key;
use crate::vectors::{CELLS, ENDS, KEYS};
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
    /// How many entries it has.
    pub fn rows(&self) -> u64 {
        self.section::<u64>(ENDS).last().copied().unwrap_or(0)
    }

    /// A section of it.
    pub fn section<T: Pod>(&self, section: usize) -> &[T] {
        self.blocks.section(self.block, section)
    }
}

/// What there is of a key in a document.
pub trait Cell: Pod + Send + Sync {
    /// The columns of rows with it.
    const COLUMNS: &'static [Column];

    /// How it is shown.
    fn value(self) -> Value<'static>;
}

impl Cell for u32 {
    const COLUMNS: &'static [Column] = TERM_VECTORS;

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Count(self.into())
    }
}

impl Cell for u64 {
    const COLUMNS: &'static [Column] = TERM_VECTORS;

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Count(self)
    }
}

impl Cell for f64 {
    const COLUMNS: &'static [Column] = TERM_WEIGHTS;

    #[inline]
    fn value(self) -> Value<'static> {
        Value::Real(self)
    }
}

/// Documents, each with its keys, in the order in which they were put.
pub struct KeysOfDocuments<K, C> {
    vectors: Vec<Vectors>,
    /// Numbers of documents in the corpus, by place.
    documents: Arc<[u32]>,
    kind: PhantomData<(K, C)>,
}

impl<K: Key, C: Cell> KeysOfDocuments<K, C> {
    /// The vectors of all documents, in order.
    pub fn new(vectors: Vec<Vectors>, documents: Arc<[u32]>) -> Self {
        Self { vectors, documents, kind: PhantomData }
    }

    fn rows<'a>(&'a self, labels: Labels<'a>, vectors: &'a [Vectors]) -> VectorRows<'a, K, C> {
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
struct VectorRows<'a, K, C> {
    answer: &'a KeysOfDocuments<K, C>,
    labels: Labels<'a>,
    vectors: &'a [Vectors],
    /// Where the rows of each block end.
    ends: Vec<u64>,
}

impl<K: Key, C: Cell> VectorRows<'_, K, C> {
    /// Calls `each` with the place of a document, the keys of its block, the place of a key among them and what there is of it, for every row of a range.
    fn for_each(&self, rows: Range<u64>, mut each: impl FnMut(usize, &[K], usize, Value<'static>)) {
        for_each_run(&self.ends, rows, |place, rows| {
            let vectors = &self.vectors[place];
            let before = self.ends[place] - vectors.rows();
            let rows = rows.start as u64 - before..rows.end as u64 - before;
            let ends = vectors.section::<u64>(ENDS);
            let keys = vectors.section::<K>(KEYS);
            let cells = vectors.section::<C>(CELLS);
            for_each_run(ends, rows, |document, rows| {
                for (place, cell) in rows.clone().zip(&cells[rows]) {
                    each(vectors.first as usize + document, keys, place, cell.value());
                }
            });
        });
    }
}

impl<K: Key, C: Cell> Rows for VectorRows<'_, K, C> {
    fn columns(&self) -> &'static [Column] {
        self.answer.columns()
    }

    fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        self.for_each(rows, |document, keys, place, value| {
            self.labels.terms.ask_ahead(keys, place, |key| once(key.number()));
            let number = self.answer.documents[document];
            let document = Value::Text(self.labels.documents.get(number));
            let term = Value::Text(self.labels.terms.get(keys[place].number()));
            each(&[document, term, value]);
        });
    }
}

/// All vectors as a matrix.
struct VectorEntries<'a, K, C> {
    rows: VectorRows<'a, K, C>,
    /// The column of every term: those that occur have one, in their order.
    columns: Vec<u32>,
    column_count: u64,
}

impl<'a, K: Key, C: Cell> VectorEntries<'a, K, C> {
    fn new(rows: VectorRows<'a, K, C>) -> Self {
        let terms = rows.vectors.iter().flat_map(|vectors| vectors.section::<K>(KEYS));
        let terms = terms.map(|key| key.number());
        let (columns, column_count) = matrix_columns(rows.labels.terms.len(), terms);
        Self { rows, columns, column_count }
    }
}

impl<K: Key, C: Cell> Rows for VectorEntries<'_, K, C> {
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

impl<K: Key, C: Cell> Entries for VectorEntries<'_, K, C> {
    fn shape(&self) -> (u64, u64) {
        (self.rows.answer.documents.len() as u64, self.column_count)
    }

    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>)) {
        self.rows.for_each(rows, |document, keys, place, value| {
            let column = self.columns[keys[place].number() as usize];
            each(document as u64, column.into(), value);
        });
    }
}

impl<K: Key, C: Cell> Answer for KeysOfDocuments<K, C> {
    fn columns(&self) -> &'static [Column] {
        C::COLUMNS
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
