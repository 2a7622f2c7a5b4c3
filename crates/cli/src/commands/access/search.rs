//! `tadoc search` and `tadoc count`: where words are, and how often.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use tadoc::{Column, Corpus, Document, Phrase, Query, Rows, Value};

use super::arguments::AccessArguments;
use super::phrase::PhraseArguments;
use crate::arguments::examples;
use crate::commands::archives::{DocumentArguments, WithArchive};
use crate::commands::terms::AnalyzerArguments;
use crate::failure::Outcome;
use crate::rows::{Format, FormatArguments, RowWriter};
use crate::units::{self, usize_of};

/// So many rows are written at a time.
const BATCH: u64 = 1 << 14;

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
        self.reading.open(&sought.archives, quiet, |corpus| {
            let Some(query) = sought.query(corpus, &self.documents)? else {
                return Ok(Outcome::Negative);
            };
            let mut hits = sought.told(corpus, query.search(sought.phrase()))?;
            let columns = self.with_archive.columns(PLACES);
            let mut writer = RowWriter::open(&self.format, columns)?;
            if self.max_count.is_some() {
                writer.show_all();
            }
            let (mut left, mut batch) = (self.max_count.unwrap_or(u64::MAX), Places::default());
            let mut found = false;
            while left > 0 {
                let more = hits.next_offsets()?;
                if batch.rows >= BATCH || more.is_none() {
                    let archive_of = |row: u64| batch.document(row).archive().0;
                    let write = |rows: &dyn Rows| writer.write(rows);
                    self.with_archive.write(columns, &batch, &archive_of, write)?;
                    batch = Places::default();
                }
                let Some((document, mut offsets)) = more else { break };
                found = true;
                offsets.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                left -= offsets.len() as u64;
                batch.push(document, offsets);
            }
            if batch.rows > 0 {
                let archive_of = |row: u64| batch.document(row).archive().0;
                let write = |rows: &dyn Rows| writer.write(rows);
                self.with_archive.write(columns, &batch, &archive_of, write)?;
            }
            writer.finish()?;
            Ok(if found { Outcome::Done } else { Outcome::Negative })
        })
    }
}

/// The columns of places.
const PLACES: &[Column] = &[Column::text("document"), Column::count("offset")];

/// Places as rows: documents with their offsets.
#[derive(Default)]
struct Places {
    documents: Vec<(Document, Vec<u64>)>,
    /// Where the rows of each document end.
    ends: Vec<u64>,
    rows: u64,
}

impl Places {
    fn push(&mut self, document: Document, offsets: Vec<u64>) {
        self.rows += offsets.len() as u64;
        self.ends.push(self.rows);
        self.documents.push((document, offsets));
    }

    fn document(&self, row: u64) -> &Document {
        &self.documents[self.ends.partition_point(|&end| end <= row)].0
    }
}

impl Rows for Places {
    fn columns(&self) -> &'static [Column] {
        PLACES
    }

    fn len(&self) -> u64 {
        self.rows
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let first = self.ends.partition_point(|&end| end <= rows.start);
        let mut at = rows.start;
        for ((document, offsets), &end) in self.documents.iter().zip(&self.ends).skip(first) {
            if at >= rows.end {
                break;
            }
            let name = document.name();
            let before = end - offsets.len() as u64;
            let own = usize_of(at - before)..usize_of(rows.end.min(end) - before);
            offsets[own]
                .iter()
                .for_each(|&offset| each(&[Value::Text(name), Value::Count(offset)]));
            at = end;
        }
    }
}

const COUNT: &[Column] = &[Column::count("count")];
const COUNTS: &[Column] = &[Column::text("document"), Column::count("count")];

impl Count {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let sought = self.phrase.sought("count", &self.terms)?;
        self.reading.open(&sought.archives, quiet, |corpus| {
            let Some(query) = sought.query(corpus, &self.documents)? else {
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
            let counts = sought.told(corpus, self.counts(corpus, &query, &sought.phrase()))?;
            if let Some(writer) = &mut writer {
                let rows = Counts { counts: &counts };
                let archive_of = |row: u64| &*counts[usize_of(row)].archive;
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
    fn counts(
        &self,
        corpus: &Corpus,
        query: &Query,
        phrase: &Phrase,
    ) -> tadoc::Result<Vec<Counted>> {
        if !self.per_document && !self.with_archive.with_archive {
            let count = query.count(phrase.clone())?;
            return Ok(vec![Counted { archive: PathBuf::new(), document: None, count }]);
        }
        let mut counts: Vec<Counted> = Vec::new();
        for (id, count) in query.count_by_document(phrase.clone())? {
            let document = corpus.get(id).expect("the phrase is in it");
            let archive = document.archive().0;
            match counts.last_mut().filter(|row| !self.per_document && row.archive == archive) {
                Some(row) => row.count = row.count.saturating_add(count),
                None => counts.push(Counted {
                    archive: archive.to_owned(),
                    document: self.per_document.then(|| document.clone()),
                    count,
                }),
            }
        }
        Ok(counts)
    }
}

/// A row of counts.
struct Counted {
    archive: PathBuf,
    /// `None` if it is of all documents.
    document: Option<Document>,
    count: u64,
}

/// Counts of documents, of archives, or one of all of them.
struct Counts<'c> {
    counts: &'c [Counted],
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
        for row in &self.counts[usize_of(rows.start)..usize_of(rows.end)] {
            match &row.document {
                None => each(&[Value::Count(row.count)]),
                Some(of) => each(&[Value::Text(of.name()), Value::Count(row.count)]),
            }
        }
    }
}
