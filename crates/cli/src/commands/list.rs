//! `tadoc list`: the documents of an archive.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde::Serialize;
use tadoc::Document;
use tadoc::text::escape;

use super::{documents, open};
use crate::arguments::examples;
use crate::failure::{Outcome, printable};
use crate::output::{Format, Output, name_text, write_csv_field};
use crate::units;

/// List the documents of an archive
///
/// Columns: document, bytes; with --long also mode and modified. In TSV a backslash, tab, line feed and
/// carriage return in a name are \\ \t \n \r, and bytes that are not UTF-8 are \xHH.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc list corpus.tdc"
    "tadoc list corpus.tdc --long"
    "tadoc list corpus.tdc | sort -t '\t' -k 2 -n | tail -3     the largest"
    "tadoc list corpus.tdc --format json | jq .bytes"
))]
pub struct List {
    /// The archive
    #[arg(value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// Modes and modification times too
    #[arg(short, long)]
    long: bool,

    /// How to print [default: table on a terminal, tsv elsewhere]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Serialize)]
struct Row<'d> {
    document: &'d str,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<Option<String>>,
}

impl List {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let corpus = open(&self.archive)?;
        let documents = documents(&corpus, &self.archive)?;
        let mut output = Output::new();
        let result = match Format::or_default(self.format) {
            Format::Table => table(documents, self.long, &mut output).map_err(Into::into),
            Format::Tsv => tsv(documents, self.long, &mut output).map_err(Into::into),
            Format::Csv => csv(documents, self.long, &mut output).map_err(Into::into),
            Format::Json => json(documents, self.long, &mut output),
        };
        output.finish(result)?;
        Ok(Outcome::Done)
    }
}

fn mode(document: &Document) -> Option<String> {
    document.mode.map(units::mode)
}

fn modified(document: &Document) -> Option<String> {
    document.modified.map(units::moment)
}

/// Sizes for people, names last so that long ones disturb nothing, and a line of totals.
pub fn table(documents: &[Document], long: bool, to: &mut dyn Write) -> io::Result<()> {
    for document in documents {
        write!(to, "{:>10}  ", units::size(document.bytes))?;
        if long {
            let modified = modified(document).unwrap_or_default();
            // To the second; the other formats have the rest.
            let modified = modified.split(['.', 'Z']).next().unwrap_or_default().replace('T', " ");
            write!(to, "{:>4}  {modified:<19}  ", mode(document).unwrap_or_default())?;
        }
        writeln!(to, "{}", printable(&escape(&document.name).to_string()))?;
    }
    let total = documents.iter().map(|document| document.bytes).sum();
    writeln!(
        to,
        "{:>10}  in {}",
        units::size(total),
        units::counted(documents.len() as u64, "document")
    )
}

fn tsv(documents: &[Document], long: bool, to: &mut dyn Write) -> io::Result<()> {
    for document in documents {
        write!(to, "{}\t{}", escape(&document.name), document.bytes)?;
        if long {
            let mode = mode(document).unwrap_or_default();
            write!(to, "\t{mode}\t{}", modified(document).unwrap_or_default())?;
        }
        writeln!(to)?;
    }
    Ok(())
}

fn csv(documents: &[Document], long: bool, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "document,bytes{}", if long { ",mode,modified" } else { "" })?;
    for document in documents {
        write_csv_field(to, &name_text(&document.name))?;
        write!(to, ",{}", document.bytes)?;
        if long {
            let mode = mode(document).unwrap_or_default();
            write!(to, ",{mode},{}", modified(document).unwrap_or_default())?;
        }
        writeln!(to)?;
    }
    Ok(())
}

fn json(documents: &[Document], long: bool, to: &mut Output) -> anyhow::Result<()> {
    for document in documents {
        to.json(&Row {
            document: &name_text(&document.name),
            bytes: document.bytes,
            mode: long.then(|| mode(document)),
            modified: long.then(|| modified(document)),
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tadoc::Timestamp;

    fn documents() -> Vec<Document> {
        let time = Timestamp { seconds: 0, nanoseconds: 7 };
        vec![
            Document { name: b"a,b\t".to_vec(), bytes: 5, modified: Some(time), mode: Some(0o644) },
            Document { name: b"\x1b\xff".to_vec(), bytes: 2048, modified: None, mode: None },
        ]
    }

    fn printed(
        print: fn(&[Document], bool, &mut dyn Write) -> io::Result<()>,
        long: bool,
    ) -> String {
        let mut bytes = Vec::new();
        print(&documents(), long, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn rows_in_each_format() {
        assert_eq!(printed(tsv, false), "a,b\\t\t5\n\x1b\\xff\t2048\n");
        assert_eq!(
            printed(tsv, true),
            "a,b\\t\t5\t0644\t1970-01-01T00:00:00.000000007Z\n\x1b\\xff\t2048\t\t\n"
        );
        assert_eq!(printed(csv, false), "document,bytes\n\"a,b\t\",5\n\x1b\\xff,2048\n");
        assert_eq!(
            printed(table, true),
            "       5 B  0644  1970-01-01 00:00:00  a,b\\t
   2.0 KiB                             \\x1b\\xff
   2.0 KiB  in 2 documents\n"
        );
    }
}
