//! `--with-archive`: rows that tell the archive of each document.
//!
//! The library labels documents with whatever it is given, so it is given their numbers; what it answers gets
//! archive and name in place of these. O(1) a row, and O(log archives) to find the archive.

use std::ops::Range;

use tadoc_engine::answer::{Column, Rows, Value};

use crate::commands::archives::{Archives, MOST_COLUMNS};

/// The documents of archives, by number.
pub struct Numbered<'a> {
    archives: &'a Archives,
    /// The number of the first document behind each archive.
    ends: Vec<usize>,
    names: Vec<&'a [u8]>,
}

impl<'a> Numbered<'a> {
    pub fn new(archives: &'a Archives) -> anyhow::Result<Self> {
        let (mut names, mut ends) = (Vec::new(), Vec::new());
        for documents in archives.tables()? {
            names.extend(documents.iter().map(|document| &document.name[..]));
            ends.push(names.len());
        }
        Ok(Self { archives, ends, names })
    }

    /// What the library is given as names of documents.
    pub fn labels(&self) -> Vec<[u8; 4]> {
        (0..self.names.len() as u32).map(u32::to_le_bytes).collect()
    }

    /// Rows that were labelled so, with archive and name; `columns` has `archive` first.
    pub fn rows<'r>(&'r self, columns: &'static [Column], rows: &'r dyn Rows) -> impl Rows + 'r {
        let document = columns.iter().position(|column| column.name == "document");
        let document = document.expect("asked only of answers by document") - 1;
        ByArchive { numbered: self, columns, document, rows }
    }
}

struct ByArchive<'r> {
    numbered: &'r Numbered<'r>,
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
        let Numbered { archives, ends, names, .. } = self.numbered;
        self.rows.visit(rows, &mut |values| {
            let Value::Text(&[a, b, c, d]) = values[self.document] else {
                unreachable!("a document is labelled with four bytes")
            };
            let number = u32::from_le_bytes([a, b, c, d]) as usize;
            let archive = &archives[ends.partition_point(|&end| end <= number)];
            let mut all = [Value::Count(0); MOST_COLUMNS];
            all[0] = Value::Text(archive.path.as_os_str().as_encoded_bytes());
            all[1..=values.len()].copy_from_slice(values);
            all[1 + self.document] = Value::Text(names[number]);
            each(&all[..=values.len()]);
        });
    }
}
