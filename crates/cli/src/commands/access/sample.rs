//! `tadoc sample`: words drawn at random.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

use clap::Args;
use tadoc::{Column, Rows, Sampled, Value};

use super::arguments::AccessArguments;
use crate::arguments::examples;
use crate::commands::archives::{ArchiveArguments, DocumentArguments, WithArchive};
use crate::failure::{Outcome, print_error, print_line};
use crate::rows::{FormatArguments, RowWriter};
use crate::units::usize_of;

/// Draw words at random, with the places where they stand
///
/// Columns: document, offset (in bytes, from 0), word; in the order drawn. Each word occurrence is as likely as
/// any other, and may be drawn more than once. The same seed draws the same words.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc sample corpus.tdc -k 10"
    "tadoc sample corpus.tdc -k 1000 --seed 42 -d 'notes/*' -o words.csv"
    "tadoc sample 2023.tdc 2024.tdc -k 10 --with-archive"
))]
pub struct Sample {
    #[command(flatten)]
    archives: ArchiveArguments,

    /// How many words to draw
    #[arg(short = 'k', long, value_name = "N", default_value_t = 10)]
    count: u64,

    /// Draw the same words again for the same seed [default: a random one, told on standard error]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    #[command(flatten)]
    documents: DocumentArguments,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    reading: AccessArguments,
}

const COLUMNS: &[Column] =
    &[Column::text("document"), Column::count("offset"), Column::text("word")];

impl Sample {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        self.reading.open(&self.archives.archives, quiet, |corpus| {
            let Some(query) = self.documents.of(corpus.query())? else {
                return Ok(Outcome::Negative);
            };
            let seed = self.seed.unwrap_or_else(|| {
                let seed = RandomState::new().build_hasher().finish();
                if !quiet {
                    print_line(&format!("drawn with --seed {seed}"));
                }
                seed
            });
            let columns = self.with_archive.columns(COLUMNS);
            let mut writer = RowWriter::open(&self.format, columns)?;
            writer.show_all();
            let mut drawn = 0;
            for words in query.sample(self.count, seed)? {
                let words = words?;
                drawn += words.len();
                let archive_of = |row: u64| words[usize_of(row)].document.archive().0;
                let write = |rows: &dyn Rows| writer.write(rows);
                self.with_archive.write(columns, &Words(&words), &archive_of, write)?;
            }
            writer.finish()?;
            if drawn == 0 && self.count > 0 {
                print_error("there is no word to draw");
                return Ok(Outcome::Negative);
            }
            Ok(Outcome::Done)
        })
    }
}

/// Drawn words as rows.
struct Words<'w>(&'w [Sampled]);

impl Rows for Words<'_> {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for drawn in &self.0[usize_of(rows.start)..usize_of(rows.end)] {
            let name = Value::Text(drawn.document.name());
            each(&[name, Value::Count(drawn.offset), Value::Text(&drawn.word)]);
        }
    }
}
