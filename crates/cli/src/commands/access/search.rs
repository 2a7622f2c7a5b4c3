//! `tadoc search` and `tadoc count`: where words are, and how often.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use clap::Args;
use tadoc_engine::answer::{Column, Rows, Value};

use super::arguments::AccessArguments;
use super::phrase::{Asked, PhraseArguments};
use super::places::{self, Places, for_each_batch};
use crate::arguments::examples;
use crate::commands::archives::{DocumentArguments, WithArchive};
use crate::commands::terms::AnalyzerArguments;
use crate::failure::Outcome;
use crate::rows::{Format, FormatArguments, RowWriter};
use crate::units;

/// So many rows are written at a time.
const BATCH: usize = 1 << 14;

/// Find where a word or phrase occurs
///
/// Columns: document, offset (in bytes, from 0). Archives are in the order given, documents in the order of
/// the corpus, offsets ascend. Words are found whole, and those of a phrase in a row, whatever stands between
/// them.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc search [OPTIONS] ARCHIVE... 'WORD or PHRASE'\n       \
                      tadoc search [OPTIONS] --match REGEX ARCHIVE...",
    after_help = examples!(
        "tadoc search corpus.tdc gauge"
        "tadoc search 2023.tdc 2024.tdc 'not to be' --ignore-case --with-archive"
        "tadoc search corpus.tdc connection --stem english -d 'notes/*' --max-count 100"
        "tadoc search corpus.tdc --match '^colou?r'"
        "tadoc search corpus.tdc error --format jsonl | jq .offset"
    )
)]
pub struct Search {
    #[command(flatten)]
    phrase: PhraseArguments,

    #[command(flatten)]
    documents: DocumentArguments,

    /// End after N occurrences
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_count: Option<u64>,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    terms: AnalyzerArguments,

    #[command(flatten)]
    reading: AccessArguments,
}

/// Count how often a word or phrase occurs
///
/// Columns: count; with --per-document document, count, for the documents in which it occurs; with
/// --with-archive the archive first, for the archives in which it occurs.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc count [OPTIONS] ARCHIVE... 'WORD or PHRASE'\n       \
                      tadoc count [OPTIONS] --match REGEX ARCHIVE...",
    after_help = examples!(
        "tadoc count corpus.tdc gauge"
        "tadoc count corpus.tdc 'not to be' --ignore-case --per-document"
        "tadoc count 2023.tdc 2024.tdc error -d 'logs/*' --with-archive"
        "tadoc count corpus.tdc --match '^heart'"
    )
)]
pub struct Count {
    #[command(flatten)]
    phrase: PhraseArguments,

    #[command(flatten)]
    documents: DocumentArguments,

    /// Count in each document by itself
    #[arg(long)]
    per_document: bool,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    terms: AnalyzerArguments,

    #[command(flatten)]
    reading: AccessArguments,
}

impl Search {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let sought = self.phrase.sought("search", &self.terms)?;
        self.reading.open(&sought.archives, quiet, |opened| {
            let Some(asked) = sought.asked(opened, &self.documents)? else {
                return Ok(Outcome::Negative);
            };
            let columns = self.with_archive.columns(places::COLUMNS);
            let mut writer = RowWriter::open(&self.format, columns)?;
            if self.max_count.is_some() {
                writer.show_all();
            }
            let found = for_each_batch(&asked, self.max_count, BATCH, &mut |opened, places| {
                let rows = Places { documents: opened.documents, places };
                let write = |rows: &dyn Rows| writer.write(rows);
                self.with_archive.write(columns, &rows, &|_| opened.path(), write)
            })?;
            writer.finish()?;
            Ok(if found > 0 { Outcome::Done } else { Outcome::Negative })
        })
    }
}

const COUNT: &[Column] = &[Column::count("count")];
const COUNTS: &[Column] = &[Column::text("document"), Column::count("count")];

impl Count {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let sought = self.phrase.sought("count", &self.terms)?;
        self.reading.open(&sought.archives, quiet, |opened| {
            let Some(asked) = sought.asked(opened, &self.documents)? else {
                return Ok(Outcome::Negative);
            };
            let columns = if self.per_document { COUNTS } else { COUNT };
            let columns = self.with_archive.columns(columns);
            // A number alone needs no table around it.
            let bare = columns == COUNT && self.format.format() == Format::Table;
            let (mut writer, mut output) = match bare {
                true => (None, Some(self.format.open()?)),
                false => (Some(RowWriter::open(&self.format, columns)?), None),
            };
            let counts = self.counts(&asked)?;
            if let Some(writer) = &mut writer {
                let rows = Counts { counts: &counts };
                let archive_of = |row: u64| counts[row as usize].archive;
                let write = |rows: &dyn Rows| writer.write(rows);
                self.with_archive.write(columns, &rows, &archive_of, write)?;
            }
            if let Some(output) = &mut output {
                writeln!(output, "{}", units::count(counts[0].count))?;
            }
            writer.map_or(Ok(()), RowWriter::finish)?;
            output.map_or(Ok(()), |output| output.finish(anyhow::Ok(())))?;
            let found = counts.iter().any(|row| row.count > 0);
            Ok(if found { Outcome::Done } else { Outcome::Negative })
        })
    }

    /// A count for each document, each archive, or one for all of them.
    fn counts<'o>(&self, asked: &'o [Asked<'_, '_>]) -> anyhow::Result<Vec<Counted<'o>>> {
        let mut counts = Vec::new();
        for Asked { opened, phrase, scope } in asked {
            let archive = opened.path();
            if self.per_document {
                let own = opened.told(opened.access.count_by_document(phrase, scope))?;
                counts.extend(own.into_iter().map(|(document, count)| {
                    let document = Some(opened.name(document));
                    Counted { archive, document, count }
                }));
            } else {
                let count = opened.told(opened.access.count(phrase, scope))?;
                counts.push(Counted { archive, document: None, count });
            }
        }
        if !self.per_document {
            if self.with_archive.with_archive {
                counts.retain(|row| row.count > 0);
            } else {
                let sum = counts.iter().fold(0, |sum: u64, row| sum.saturating_add(row.count));
                counts.truncate(1);
                counts[0].count = sum;
            }
        }
        Ok(counts)
    }
}

/// A row of counts.
struct Counted<'c> {
    archive: &'c Path,
    /// `None` if it is of all documents.
    document: Option<&'c [u8]>,
    count: u64,
}

/// Counts of documents, of archives, or one of all of them.
struct Counts<'c> {
    counts: &'c [Counted<'c>],
}

impl Rows for Counts<'_> {
    fn columns(&self) -> &'static [Column] {
        match self.counts.first() {
            Some(Counted { document: None, .. }) => COUNT,
            _ => COUNTS,
        }
    }

    fn len(&self) -> u64 {
        self.counts.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for row in &self.counts[rows.start as usize..rows.end as usize] {
            match row.document {
                None => each(&[Value::Count(row.count)]),
                Some(name) => each(&[Value::Text(name), Value::Count(row.count)]),
            }
        }
    }
}
