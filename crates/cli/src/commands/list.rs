//! `tadoc list`: the documents of archives.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use clap::Args;
use tadoc::{Column, Corpus, Document, OpenOptions, Rows, Timestamp, Value};

use super::archives::{ArchiveArguments, DocumentArguments, ReadArguments, WithArchive};
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::memory;
use crate::rows::{Format, FormatArguments, RowWriter};
use crate::screen::{self, Limit};
use crate::units::{self, usize_of};

/// List the documents of archives
///
/// Columns: document, bytes; with --long also mode and modified, which are empty where they are not
/// known; with --with-archive the archive first.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc list corpus.tdc"
    "tadoc list corpus.tdc --long -d '*.log'"
    "tadoc list 2023.tdc 2024.tdc --with-archive"
    "tadoc list corpus.tdc | sort -t '\t' -k 2 -n | tail -3     the largest"
    "tadoc list corpus.tdc --format jsonl | jq .bytes"
))]
pub struct List {
    #[command(flatten)]
    archives: ArchiveArguments,

    #[command(flatten)]
    documents: DocumentArguments,

    /// Modes and modification times too
    #[arg(short, long)]
    long: bool,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    reading: ReadArguments,
}

const COLUMNS: &[Column] = &[
    Column::text("document"),
    Column::count("bytes"),
    Column::text("mode"),
    Column::time("modified"),
];

/// A document as it is listed.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'d> {
    archive: &'d Path,
    name: &'d [u8],
    bytes: u64,
    modified: Option<Timestamp>,
    mode: Option<u32>,
}

impl<'d> Listed<'d> {
    pub fn of(document: &'d Document) -> Self {
        Self {
            archive: document.archive().0,
            name: document.name(),
            bytes: document.bytes(),
            modified: document.modified(),
            mode: document.mode(),
        }
    }
}

/// Documents as rows; a mode or time that is not known is empty.
struct Listing<'d> {
    documents: &'d [Listed<'d>],
    columns: &'static [Column],
}

impl<'d> Listing<'d> {
    fn new(documents: &'d [Listed<'d>], long: bool) -> Self {
        Self { documents, columns: if long { COLUMNS } else { &COLUMNS[..2] } }
    }
}

impl Rows for Listing<'_> {
    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> u64 {
        self.documents.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for document in &self.documents[usize_of(rows.start)..usize_of(rows.end)] {
            let (name, bytes) = (Value::Text(document.name), Value::Count(document.bytes));
            if self.columns.len() == 2 {
                each(&[name, bytes]);
            } else {
                let mode = mode(document).unwrap_or_default();
                let (mode, modified) =
                    (Value::Text(mode.as_bytes()), Value::Time(document.modified));
                each(&[name, bytes, mode, modified]);
            }
        }
    }
}

impl List {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let options = memory::limit(OpenOptions::new());
        self.reading.open(&self.archives.archives, options, |corpus| self.list(&corpus))
    }

    fn list(&self, corpus: &Corpus) -> anyhow::Result<Outcome> {
        let Some(chosen) = self.documents.of(corpus.query())? else { return Ok(Outcome::Negative) };
        let documents: Vec<Document> = match chosen.selected() {
            Some(ids) => ids.iter().filter_map(|&id| corpus.get(id)).collect(),
            None => corpus.documents()?.collect(),
        };
        let listed: Vec<Listed<'_>> = documents.iter().map(Listed::of).collect();
        if self.format.format() == Format::Table {
            let mut output = self.format.open()?;
            let limit = self.format.limit(&output);
            let with_archive = self.with_archive.with_archive;
            let result = table(&listed, with_archive, self.long, limit, &mut output);
            output.finish(result)?;
        } else {
            let listing = Listing::new(&listed, self.long);
            let columns = self.with_archive.columns(listing.columns);
            let mut writer = RowWriter::open(&self.format, columns)?;
            let archive_of = |row: u64| listed[usize_of(row)].archive;
            let write = |rows: &dyn Rows| writer.write(rows);
            self.with_archive.write(columns, &listing, &archive_of, write)?;
            writer.finish()?;
        }
        Ok(Outcome::Done)
    }
}

fn mode(document: &Listed<'_>) -> Option<String> {
    document.mode.map(units::mode)
}

/// Sizes for people, names last so that long ones disturb nothing, and a line of totals: what
/// people know from `ls`, and not the table that other answers have. The totals are of all
/// documents, shown or not.
pub fn table(
    documents: &[Listed<'_>],
    with_archive: bool,
    long: bool,
    mut limit: Limit,
    to: &mut dyn Write,
) -> io::Result<()> {
    let shown = usize_of(limit.take(documents.len() as u64));
    for document in &documents[..shown] {
        write!(to, "{:>10}  ", units::size(document.bytes))?;
        if long {
            // To the second; the other formats have the rest.
            let modified = document.modified.map(units::moment_for_people).unwrap_or_default();
            write!(to, "{:>4}  {modified:<23}  ", mode(document).unwrap_or_default())?;
        }
        if with_archive {
            write!(to, "{}:", screen::path(document.archive))?;
        }
        writeln!(to, "{}", screen::name(document.name))?;
    }
    to.write_all(limit.last_line("document").as_bytes())?;
    let total = documents.iter().map(|document| document.bytes).sum();
    writeln!(
        to,
        "{:>10}  in {}",
        units::size(total),
        units::counted(documents.len() as u64, "document")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> [Listed<'static>; 2] {
        let time = Timestamp { seconds: 0, nanoseconds: 7 };
        let archive = Path::new("c.tdc");
        let (modified, mode) = (Some(time), Some(0o644));
        [
            Listed { archive, name: b"a,b\t", bytes: 5, modified, mode },
            Listed { archive, name: b"\x1b\xff", bytes: 2048, modified: None, mode: None },
        ]
    }

    #[test]
    fn the_table() {
        let mut bytes = Vec::new();
        table(&documents(), false, true, Limit::none(), &mut bytes).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "       5 B  0644  1970-01-01 00:00:00 UTC  a,b\\t
   2.0 KiB                                 \\x1b\\xff
   2.0 KiB  in 2 documents\n"
        );
    }

    #[test]
    fn rows_in_each_format() {
        let folder = tempfile::tempdir().unwrap();
        let printed = |format: &str, long| {
            let output = folder.path().join(format!("list.{format}"));
            let output_only = FormatArguments::default();
            let arguments =
                FormatArguments { output: Some(output.clone()), force: true, ..output_only };
            let documents = documents();
            let listing = Listing::new(&documents, long);
            let mut writer = RowWriter::open(&arguments, listing.columns).unwrap();
            writer.write(&listing).unwrap();
            writer.finish().unwrap();
            std::fs::read_to_string(output).unwrap()
        };
        assert_eq!(printed("tsv", false), "a,b\\t\t5\n\x1b\\xff\t2048\n");
        assert_eq!(
            printed("tsv", true),
            "a,b\\t\t5\t0644\t1970-01-01T00:00:00.000000007Z\n\x1b\\xff\t2048\t\t\n"
        );
        assert_eq!(printed("csv", false), "document,bytes\n\"a,b\t\",5\n\x1b\\xff,2048\n");
        assert_eq!(
            printed("jsonl", false),
            "{\"document\":\"a,b\\t\",\"bytes\":5}\n{\"document_base64\":\"G/8=\",\"bytes\":2048}\n"
        );
    }
}
