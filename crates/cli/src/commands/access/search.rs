//! `tadoc search` and `tadoc count`: where words are, and how often.

use std::io::Write;
use std::ops::Range;

use clap::Args;
use tadoc::Document;
use tadoc::answer::{Column, Rows, Value};

use super::arguments::{PhraseArguments, ReadArguments, ScopeArguments};
use super::places::{self, Places, for_each_batch};
use crate::arguments::examples;
use crate::commands::terms::AnalyzerArguments;
use crate::failure::Outcome;
use crate::rows::{Format, FormatArguments, RowWriter};
use crate::{interrupt, units};

/// So many rows are written at a time.
const BATCH: usize = 1 << 14;

/// Find where a word or phrase occurs
///
/// Columns: document, offset (in bytes, from 0). Documents are in the order of the corpus, offsets ascend.
/// Words are found whole, and those of a phrase in a row, whatever stands between them.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc search corpus.tdc gauge"
    "tadoc search corpus.tdc 'not to be' --ignore-case"
    "tadoc search corpus.tdc connection --stem english --document 'notes/*' --max-count 100"
    "tadoc search corpus.tdc error --format jsonl | jq .offset"
))]
pub struct Search {
    #[command(flatten)]
    phrase: PhraseArguments,

    #[command(flatten)]
    scope: ScopeArguments,

    /// End after N occurrences
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_count: Option<u64>,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    terms: AnalyzerArguments,

    #[command(flatten)]
    reading: ReadArguments,
}

/// Count how often a word or phrase occurs
///
/// Columns: count; with --per-document document, count, for the documents in which it occurs.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc count corpus.tdc gauge"
    "tadoc count corpus.tdc 'not to be' --ignore-case --per-document"
    "tadoc count corpus.tdc error --document 'logs/*'"
))]
pub struct Count {
    #[command(flatten)]
    phrase: PhraseArguments,

    #[command(flatten)]
    scope: ScopeArguments,

    /// Count in each document by itself
    #[arg(long)]
    per_document: bool,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    terms: AnalyzerArguments,

    #[command(flatten)]
    reading: ReadArguments,
}

impl Search {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let analyzer = self.terms.analyzer()?;
        self.reading.open(&self.phrase.archive, quiet, |opened| {
            let phrase = opened.access.phrase(self.phrase.bytes(), &analyzer)?;
            let Some(scope) = self.scope.scope(opened)? else { return Ok(Outcome::Negative) };
            let mut writer = RowWriter::open(&self.format, places::COLUMNS)?;
            let at_once = interrupt::at_once()?;
            let most = self.max_count;
            if most.is_some() {
                writer.show_all();
            }
            let found = for_each_batch(opened, &phrase, &scope, most, BATCH, &mut |places| {
                writer.write(&Places { documents: opened.documents, places })
            })?;
            drop(at_once);
            writer.finish()?;
            Ok(if found > 0 { Outcome::Done } else { Outcome::Negative })
        })
    }
}

const COUNT: &[Column] = &[Column::count("count")];
const COUNTS: &[Column] = &[Column::text("document"), Column::count("count")];

impl Count {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let analyzer = self.terms.analyzer()?;
        self.reading.open(&self.phrase.archive, quiet, |opened| {
            let phrase = opened.access.phrase(self.phrase.bytes(), &analyzer)?;
            let Some(scope) = self.scope.scope(opened)? else { return Ok(Outcome::Negative) };
            let columns = if self.per_document { COUNTS } else { COUNT };
            // A number alone needs no table around it.
            let bare = !self.per_document && self.format.format() == Format::Table;
            let (mut writer, mut output) = match bare {
                true => (None, Some(self.format.open()?)),
                false => (Some(RowWriter::open(&self.format, columns)?), None),
            };
            let at_once = interrupt::at_once()?;
            let counts = match self.per_document {
                true => opened.told(opened.access.count_by_document(&phrase, &scope))?,
                false => vec![(0, opened.told(opened.access.count(&phrase, &scope))?)],
            };
            if let Some(writer) = &mut writer {
                writer.write(&Counts { documents: opened.documents, columns, counts: &counts })?;
            }
            if let Some(output) = &mut output {
                writeln!(output, "{}", units::count(counts[0].1))?;
            }
            drop(at_once);
            writer.map_or(Ok(()), RowWriter::finish)?;
            output.map_or(Ok(()), |output| output.finish(anyhow::Ok(())))?;
            let found = counts.iter().any(|&(_, count)| count > 0);
            Ok(if found { Outcome::Done } else { Outcome::Negative })
        })
    }
}

/// Counts of documents, or one of all of them.
struct Counts<'c> {
    documents: &'c [Document],
    columns: &'static [Column],
    counts: &'c [(u32, u64)],
}

impl Rows for Counts<'_> {
    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> u64 {
        self.counts.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for &(document, count) in &self.counts[rows.start as usize..rows.end as usize] {
            match self.columns.len() {
                1 => each(&[Value::Count(count)]),
                _ => each(&[
                    Value::Text(&self.documents[document as usize].name),
                    Value::Count(count),
                ]),
            }
        }
    }
}
