//! Answers as plain arrays: what a backend gives that makes an answer whole and has no form of its own for it.
//!
//! A table has numbers alone: terms and sequences of them, and documents by their places in
//! [`Network::documents`](crate::Network::documents). [`TableAnswer`] is a table with what its documents are called, and
//! shows the rows that the processor's answer to the same task has. A term is 4 bytes, a sequence 8 or 16, a count of a
//! whole corpus 8 and one in a document 4. A visit finds its first row by binary search and reads on from there.

use std::ops::Range;
use std::sync::Arc;

use super::columns::{
    SEQUENCE_COUNTS, SEQUENCE_DOCUMENTS, TERM_COUNTS, TERM_DOCUMENTS, TERM_VECTORS,
};
use super::{Answer, Column, Entries, Labels, Position, Rows, Value, for_each_run, matrix_columns};
use crate::{Packing, Result, usize_of};

/// Sequences of terms, each packed into an integer of 128 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequences {
    /// How they are packed.
    pub packing: Packing,
    /// The lower 64 bits of each.
    pub low: Vec<u64>,
    /// The higher 64 bits of each; none where 64 are enough.
    pub high: Vec<u64>,
}

impl Sequences {
    /// None yet.
    pub fn new(packing: Packing) -> Self {
        Self { packing, low: Vec::new(), high: Vec::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// One of them, packed: packed sequences compare as the sequences do.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    pub fn packed(&self, place: usize) -> u128 {
        let high = self.high.get(place).copied().unwrap_or(0);
        u128::from(high) << 64 | u128::from(self.low[place])
    }

    /// Appends one that is packed in the same way.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "each half is pushed on its own")]
    pub fn push(&mut self, packed: u128) {
        self.low.push(packed as u64);
        if self.packing.key_bits() > 64 {
            self.high.push((packed >> 64) as u64);
        }
    }

    /// Keeps the first `length` only.
    pub fn truncate(&mut self, length: usize) {
        self.low.truncate(length);
        self.high.truncate(length);
    }

    #[inline]
    fn show(&self, labels: Labels<'_>, place: usize, each: impl FnOnce(Value<'_>)) {
        let packed = self.packed(place);
        #[expect(clippy::cast_possible_truncation, reason = "the bits of one term, at most 32")]
        let digit = |shift, bits| (packed >> shift & ((1_u128 << bits) - 1)) as u32;
        self.packing.show(labels, self.packing.terms(digit), |terms| each(Value::Terms(terms)));
    }
}

/// What the rows of a table are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Terms.
    Terms(Vec<u32>),
    /// Sequences of terms.
    Sequences(Sequences),
}

impl Keys {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Terms(terms) => terms.len(),
            Self::Sequences(sequences) => sequences.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them as an integer: keys compare as these do.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    pub fn packed(&self, place: usize) -> u128 {
        match self {
            Self::Terms(terms) => terms[place].into(),
            Self::Sequences(sequences) => sequences.packed(place),
        }
    }

    /// Appends one that is packed in the same way.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the key is a term")]
    pub fn push(&mut self, packed: u128) {
        match self {
            Self::Terms(terms) => terms.push(packed as u32),
            Self::Sequences(sequences) => sequences.push(packed),
        }
    }

    /// Keeps the first `length` only.
    pub fn truncate(&mut self, length: usize) {
        match self {
            Self::Terms(terms) => terms.truncate(length),
            Self::Sequences(sequences) => sequences.truncate(length),
        }
    }

    #[inline]
    fn show(&self, labels: Labels<'_>, place: usize, each: impl FnOnce(Value<'_>)) {
        match self {
            Self::Terms(terms) => each(Value::Text(labels.terms.get(terms[place]))),
            Self::Sequences(sequences) => sequences.show(labels, place, each),
        }
    }
}

/// Keys with their occurrences, in the order of the answer: word count, sort and sequence count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountTable {
    /// The keys.
    pub keys: Keys,
    /// The occurrences of each.
    pub counts: Vec<u64>,
}

/// Keys with their documents, in the order of the answer: inverted index, and ranked inverted index with counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentTable {
    /// The keys.
    pub keys: Keys,
    /// Where the documents of each key end.
    pub ends: Vec<u64>,
    /// Documents, by place.
    pub documents: Vec<u32>,
    /// The occurrences in each document, where the answer shows them.
    pub counts: Option<Vec<u32>>,
}

/// Documents with their items, in the order of the answer: term vector, and sequence count per document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorTable {
    /// Where the items of each document end; one for every place.
    pub ends: Vec<u64>,
    /// Terms, or places in `sequences`.
    pub items: Vec<u32>,
    /// The occurrences of each item in its document.
    pub counts: Vec<u32>,
    /// The sequences, if items are sequences.
    pub sequences: Option<Sequences>,
}

/// An answer in arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Table {
    /// Keys with their occurrences.
    Counts(CountTable),
    /// Keys with their documents.
    Documents(DocumentTable),
    /// Documents with their items.
    Vectors(VectorTable),
}

impl Table {
    /// The columns of its rows.
    pub fn columns(&self) -> &'static [Column] {
        match self {
            Self::Counts(CountTable { keys: Keys::Terms(_), .. }) => TERM_COUNTS,
            Self::Counts(CountTable { keys: Keys::Sequences(_), .. }) => SEQUENCE_COUNTS,
            Self::Documents(DocumentTable { counts: None, .. }) => TERM_DOCUMENTS,
            Self::Documents(DocumentTable { counts: Some(_), .. }) => SEQUENCE_DOCUMENTS,
            Self::Vectors(VectorTable { sequences: None, .. }) => TERM_VECTORS,
            Self::Vectors(VectorTable { sequences: Some(_), .. }) => SEQUENCE_DOCUMENTS,
        }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        match self {
            Self::Counts(table) => table.counts.len(),
            Self::Documents(table) => table.documents.len(),
            Self::Vectors(table) => table.items.len(),
        }
    }
}

/// A table as an answer.
#[derive(Debug, Clone)]
pub struct TableAnswer {
    table: Table,
    /// The number of every document in the corpus, by place.
    documents: Arc<[u32]>,
}

impl TableAnswer {
    /// The answer that a table is for a network with these [documents](crate::Network::documents).
    ///
    /// # Panics
    /// If the arrays of the table do not fit each other or the documents.
    pub fn new(table: Table, documents: Arc<[u32]>) -> Self {
        let ends_fit = |ends: &[u64], keys: usize, entries: usize| {
            ends.len() == keys && ends.last().copied().unwrap_or(0) == entries as u64
        };
        let fits = match &table {
            Table::Counts(table) => table.keys.len() == table.counts.len(),
            Table::Documents(table) => {
                let counts = table.counts.as_ref().map_or(table.documents.len(), Vec::len);
                counts == table.documents.len()
                    && ends_fit(&table.ends, table.keys.len(), table.documents.len())
            }
            Table::Vectors(table) => {
                table.counts.len() == table.items.len()
                    && ends_fit(&table.ends, documents.len(), table.items.len())
            }
        };
        assert!(fits, "the arrays of a table do not fit each other");
        Self { table, documents }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

/// All rows of a table, with what its numbers stand for.
struct TableRows<'a> {
    answer: &'a TableAnswer,
    labels: Labels<'a>,
}

impl TableRows<'_> {
    fn name_of(&self, place: u32) -> Value<'_> {
        Value::Text(self.labels.documents.get(self.answer.documents[place as usize]))
    }
}

impl Rows for TableRows<'_> {
    fn columns(&self) -> &'static [Column] {
        self.answer.table.columns()
    }

    fn len(&self) -> u64 {
        self.answer.table.rows() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let labels = self.labels;
        match &self.answer.table {
            Table::Counts(table) => {
                for row in usize_of(rows.start)..usize_of(rows.end) {
                    let count = Value::Count(table.counts[row]);
                    table.keys.show(labels, row, |key| each(&[key, count]));
                }
            }
            Table::Documents(table) => for_each_run(&table.ends, rows, |place, entries| {
                table.keys.show(labels, place, |key| {
                    for entry in entries {
                        let name = self.name_of(table.documents[entry]);
                        match &table.counts {
                            None => each(&[key, name]),
                            Some(counts) => each(&[key, name, Value::Count(counts[entry].into())]),
                        }
                    }
                });
            }),
            Table::Vectors(table) => for_each_run(&table.ends, rows, |place, entries| {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "documents are numbered in 32 bits"
                )]
                let name = self.name_of(place as u32);
                for entry in entries {
                    let (item, count) =
                        (table.items[entry], Value::Count(table.counts[entry].into()));
                    match &table.sequences {
                        None => each(&[name, Value::Text(labels.terms.get(item)), count]),
                        Some(sequences) => sequences
                            .show(labels, item as usize, |sequence| each(&[sequence, name, count])),
                    }
                }
            }),
        }
    }
}

/// Term vectors as a matrix.
struct TableEntries<'a> {
    rows: TableRows<'a>,
    vectors: &'a VectorTable,
    /// The column of every term: those that occur have one, in their order.
    columns: Vec<u32>,
    column_count: u64,
}

impl<'a> TableEntries<'a> {
    fn new(rows: TableRows<'a>, vectors: &'a VectorTable) -> Self {
        let terms = vectors.items.iter().copied();
        let (columns, column_count) = matrix_columns(rows.labels.terms.len(), terms);
        Self { rows, vectors, columns, column_count }
    }
}

impl Rows for TableEntries<'_> {
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

impl Entries for TableEntries<'_> {
    fn shape(&self) -> (u64, u64) {
        (self.vectors.ends.len() as u64, self.column_count)
    }

    fn visit_entries(&self, rows: Range<u64>, each: &mut dyn FnMut(u64, u64, Value<'_>)) {
        for_each_run(&self.vectors.ends, rows, |place, entries| {
            for entry in entries {
                let column = self.columns[self.vectors.items[entry] as usize];
                let count = Value::Count(self.vectors.counts[entry].into());
                each(place as u64, column.into(), count);
            }
        });
    }
}

impl Answer for TableAnswer {
    fn columns(&self) -> &'static [Column] {
        self.table.columns()
    }

    fn next_part<'a>(
        &'a self,
        at: &mut Position,
        labels: Labels<'a>,
    ) -> Result<Option<Box<dyn Rows + 'a>>> {
        let given = std::mem::replace(at, Position::new([1, 0, 0, 0])) != Position::default();
        Ok((!given).then(|| Box::new(TableRows { answer: self, labels }) as Box<dyn Rows>))
    }

    fn entries<'a>(&'a self, labels: Labels<'a>) -> Option<Result<Box<dyn Entries + 'a>>> {
        match &self.table {
            Table::Vectors(vectors) if vectors.sequences.is_none() => {
                let rows = TableRows { answer: self, labels };
                Some(Ok(Box::new(TableEntries::new(rows, vectors))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Terms;
    use crate::answer::Names;

    /// Documents 1 and 3 of the corpus were asked, and one between them that is empty.
    const ASKED: &[u32] = &[1, 2, 3];

    fn shown(values: &[Value<'_>]) -> String {
        let one = |value: &Value<'_>| match value {
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Value::Terms(terms) => String::from_utf8(terms.join(&b' ')).unwrap(),
            Value::Count(count) => count.to_string(),
            Value::Real(real) => real.to_string(),
            Value::Time(_) => panic!("no times here"),
        };
        values.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// The rows of a table, visited at once; and by every other range of rows, which must give the same.
    fn rows(table: Table) -> Vec<String> {
        let terms = Terms::new(b"abcd".to_vec(), vec![1, 2, 3, 4]).unwrap();
        let names = Names::from_iter(["x0", "x1", "x2", "x3"]);
        let labels = Labels { terms: terms.texts(), documents: names.texts() };
        let answer = TableAnswer::new(table, ASKED.into());
        let mut all = Vec::new();
        let columns = answer.columns();
        let mut at = Position::default();
        while let Some(rows) = answer.next_part(&mut at, labels).unwrap() {
            assert_eq!(rows.columns(), columns);
            rows.visit(0..rows.len(), &mut |values| {
                assert_eq!(values.len(), columns.len());
                all.push(shown(values));
            });
            assert_eq!(rows.len(), all.len() as u64);
            for start in 0..=rows.len() {
                for end in start..=rows.len() {
                    let mut part = Vec::new();
                    rows.visit(start..end, &mut |values| part.push(shown(values)));
                    assert_eq!(part, all[start as usize..end as usize]);
                }
            }
        }
        all
    }

    fn sequences(bits: u32, rows: &[&[u128]]) -> Sequences {
        let packing = Packing::new(rows[0].len(), 1 << (bits - 1) | 1);
        assert_eq!(packing.bits, bits);
        let mut sequences = Sequences::new(packing);
        for row in rows {
            sequences.push(row.iter().fold(0, |packed, term| packed << bits | term));
        }
        sequences
    }

    #[test]
    fn counts() {
        let keys = Keys::Terms(vec![3, 0]);
        assert_eq!(
            rows(Table::Counts(CountTable { keys, counts: vec![u64::MAX, 1] })),
            ["d,18446744073709551615", "a,1"]
        );
        // In 64 bits, and in both planes.
        for bits in [2, 32] {
            let keys = Keys::Sequences(sequences(bits, &[&[1, 2, 3], &[3, 0, 0]]));
            let table = Table::Counts(CountTable { keys, counts: vec![2, 1] });
            assert_eq!(rows(table), ["b c d,2", "d a a,1"]);
        }
        let wide: &[u128] = &[0, 1, 2, 3, 3, 2];
        let keys = Keys::Sequences(sequences(20, &[wide]));
        assert_eq!(rows(Table::Counts(CountTable { keys, counts: vec![7] })), ["a b c d d c,7"]);
        let keys = Keys::Terms(Vec::new());
        assert!(rows(Table::Counts(CountTable { keys, counts: Vec::new() })).is_empty());
    }

    #[test]
    fn documents() {
        let (ends, documents) = (vec![2, 2, 3], vec![0, 2, 2]);
        let keys = Keys::Terms(vec![0, 1, 3]);
        let table =
            DocumentTable { keys, ends: ends.clone(), documents: documents.clone(), counts: None };
        assert_eq!(rows(Table::Documents(table)), ["a,x1", "a,x3", "d,x3"]);
        let keys = Keys::Sequences(sequences(2, &[&[0, 0], &[0, 1], &[2, 1]]));
        let table = DocumentTable { keys, ends, documents, counts: Some(vec![9, 8, 7]) };
        assert_eq!(rows(Table::Documents(table)), ["a a,x1,9", "a a,x3,8", "c b,x3,7"]);
    }

    #[test]
    fn vectors() {
        let mut table = VectorTable {
            ends: vec![2, 2, 3],
            items: vec![3, 1, 1],
            counts: vec![5, 1, 2],
            sequences: None,
        };
        assert_eq!(rows(Table::Vectors(table.clone())), ["x1,d,5", "x1,b,1", "x3,b,2"]);
        table.sequences = Some(sequences(2, &[&[0, 0], &[0, 1], &[1, 0], &[2, 1]]));
        assert_eq!(rows(Table::Vectors(table)), ["c b,x1,5", "a b,x1,1", "a b,x3,2"]);
    }

    #[test]
    fn a_matrix_numbers_the_terms_that_occur() {
        let terms = Terms::new(b"abcd".to_vec(), vec![1, 2, 3, 4]).unwrap();
        let labels = Labels { terms: terms.texts(), documents: Default::default() };
        let table = VectorTable {
            ends: vec![2, 2, 3],
            items: vec![3, 1, 1],
            counts: vec![5, 1, 2],
            sequences: None,
        };
        let answer = TableAnswer::new(Table::Vectors(table), ASKED.into());
        let mut entries = Vec::new();
        let matrix = answer.entries(labels).expect("a matrix").unwrap();
        assert_eq!((matrix.shape(), matrix.len()), ((3, 2), 3));
        matrix.visit_entries(1..3, &mut |document, term, count| {
            entries.push((document, term, shown(&[count])));
        });
        assert_eq!(entries, [(0, 0, "1".to_owned()), (2, 0, "2".to_owned())]);
        let counts = CountTable { keys: Keys::Terms(vec![0]), counts: vec![1] };
        let answer = TableAnswer::new(Table::Counts(counts), ASKED.into());
        assert!(answer.entries(labels).is_none());
    }

    #[test]
    #[should_panic(expected = "do not fit")]
    fn arrays_of_other_lengths_are_refused() {
        let keys = Keys::Terms(vec![0, 1]);
        TableAnswer::new(Table::Counts(CountTable { keys, counts: vec![1] }), ASKED.into());
    }
}
