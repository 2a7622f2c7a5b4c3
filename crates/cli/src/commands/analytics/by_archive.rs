//! `--with-archive`: rows that tell the archive of each document.
//!
//! The library shows documents by whatever names it is given, so it is given their numbers; what it answers gets
//! archive and name in place of these. O(1) a row.

use std::ops::Range;

use tadoc::{Column, Corpus, Document, Rows, Value};

use crate::commands::archives::MOST_COLUMNS;

/// The documents of archives, by number.
pub struct Numbered {
    documents: Vec<Document>,
}

impl Numbered {
    pub fn new(corpus: &Corpus) -> tadoc::Result<Self> {
        Ok(Self { documents: corpus.documents()?.collect() })
    }

    /// What the library is given as names of documents.
    pub fn labels(&self) -> impl Iterator<Item = [u8; 4]> {
        (0..=u32::MAX).zip(&self.documents).map(|(number, _)| number.to_le_bytes())
    }

    /// Rows that were labelled so, with archive and name; `columns` has `archive` first.
    pub fn rows<'r>(&'r self, columns: &'static [Column], rows: &'r dyn Rows) -> impl Rows + 'r {
        let document = columns.iter().position(|column| column.name == "document");
        let document = document.expect("asked only of answers by document") - 1;
        ByArchive { documents: &self.documents, columns, document, rows }
    }
}

struct ByArchive<'r> {
    documents: &'r [Document],
    columns: &'static [Column],
    /// Which of the library's columns has the label.
    document: usize,
    rows: &'r dyn Rows,
}

impl Rows for ByArchive<'_> {
    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> u64 {
        self.rows.len()
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        self.rows.visit(rows, &mut |values| {
            let Value::Text(&[a, b, c, d]) = values[self.document] else {
                unreachable!("a document is labelled with four bytes")
            };
            let document = &self.documents[u32::from_le_bytes([a, b, c, d]) as usize];
            let mut all = [Value::Count(0); MOST_COLUMNS];
            all[0] = Value::Text(document.archive().0.as_os_str().as_encoded_bytes());
            all[1..=values.len()].copy_from_slice(values);
            all[1 + self.document] = Value::Text(document.name());
            each(&all[..=values.len()]);
        });
    }
}
