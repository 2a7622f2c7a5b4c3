//! `tadoc list`: the documents of archives.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use clap::Args;
use tadoc_engine::Document;
use tadoc_engine::access::Scope;
use tadoc_engine::answer::{Column, Rows, Value};

use super::archives::{ArchiveArguments, Archives, DocumentArguments, ReadArguments, WithArchive};
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::rows::{Format, FormatArguments, RowWriter};
use crate::screen::{self, Limit};
use crate::units;

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

/// Documents as rows; a mode or time that is not known is empty.
struct Listing<'d> {
    documents: &'d [&'d Document],
    columns: &'static [Column],
}

impl<'d> Listing<'d> {
    fn new(documents: &'d [&'d Document], long: bool) -> Self {
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
        for document in &self.documents[rows.start as usize..rows.end as usize] {
            let (name, bytes) = (Value::Text(&document.name), Value::Count(document.bytes));
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
        self.reading.open(&self.archives.archives, |archives| self.list(&archives))
    }

    fn list(&self, archives: &Archives) -> anyhow::Result<Outcome> {
        let tables = archives.tables()?;
        let Some(chosen) = self.documents.choose(&tables)? else { return Ok(Outcome::Negative) };
        let scopes = chosen.scopes(tables.iter().map(|documents| documents.len()));
        let listed: Vec<(&Path, Vec<&Document>)> = archives
            .iter()
            .zip(tables.iter().zip(scopes))
            .map(|(archive, (documents, scope))| (&*archive.path, chosen_of(documents, scope)))
            .collect();
        if self.format.format() == Format::Table {
            let mut output = self.format.open()?;
            let limit = self.format.limit(&output);
            let with_archive = self.with_archive.with_archive;
            let result = table(&listed, with_archive, self.long, limit, &mut output);
            output.finish(result)?;
        } else {
            let columns = self.with_archive.columns(Listing::new(&[], self.long).columns);
            let mut writer = RowWriter::open(&self.format, columns)?;
            for (archive, documents) in &listed {
                let listing = Listing::new(documents, self.long);
                let write = |rows: &dyn Rows| writer.write(rows);
                self.with_archive.write(columns, &listing, &|_| *archive, write)?;
            }
            writer.finish()?;
        }
        Ok(Outcome::Done)
    }
}

/// The documents of a scope.
fn chosen_of(documents: &[Document], scope: Scope) -> Vec<&Document> {
    match scope {
        Scope::All => documents.iter().collect(),
        Scope::Documents(numbers) => {
            numbers.into_iter().map(|number| &documents[number as usize]).collect()
        }
    }
}

fn mode(document: &Document) -> Option<String> {
    document.mode.map(units::mode)
}

/// Sizes for people, names last so that long ones disturb nothing, and a line of totals: what
/// people know from `ls`, and not the table that other answers have. The totals are of all
/// documents, shown or not.
pub fn table(
    archives: &[(&Path, Vec<&Document>)],
    with_archive: bool,
    long: bool,
    mut limit: Limit,
    to: &mut dyn Write,
) -> io::Result<()> {
    let documents = archives
        .iter()
        .flat_map(|(archive, documents)| documents.iter().map(move |document| (archive, document)));
    let shown = limit.take(documents.clone().count() as u64) as usize;
    for (archive, document) in documents.clone().take(shown) {
        write!(to, "{:>10}  ", units::size(document.bytes))?;
        if long {
            // To the second; the other formats have the rest.
            let modified = document.modified.map(units::moment_for_people).unwrap_or_default();
            write!(to, "{:>4}  {modified:<23}  ", mode(document).unwrap_or_default())?;
        }
        if with_archive {
            write!(to, "{}:", screen::path(archive))?;
        }
        writeln!(to, "{}", screen::name(&document.name))?;
    }
    to.write_all(limit.last_line("document").as_bytes())?;
    let total = documents.clone().map(|(_, document)| document.bytes).sum();
    writeln!(
        to,
        "{:>10}  in {}",
        units::size(total),
        units::counted(documents.count() as u64, "document")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tadoc_engine::Timestamp;

    fn documents() -> Vec<Document> {
        let time = Timestamp { seconds: 0, nanoseconds: 7 };
        vec![
            Document { name: b"a,b\t".to_vec(), bytes: 5, modified: Some(time), mode: Some(0o644) },
            Document { name: b"\x1b\xff".to_vec(), bytes: 2048, modified: None, mode: None },
        ]
    }

    #[test]
    fn the_table() {
        let mut bytes = Vec::new();
        let documents = documents();
        let listed = [(Path::new("c.tdc"), documents.iter().collect())];
        table(&listed, false, true, Limit::none(), &mut bytes).unwrap();
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
            let documents: Vec<&Document> = documents.iter().collect();
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
