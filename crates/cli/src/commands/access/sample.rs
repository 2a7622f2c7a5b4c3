//! `tadoc sample`: words drawn at random.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use tadoc::Document;
use tadoc::access::Sampled;
use tadoc::answer::{Column, Rows, Value};

use super::arguments::{ReadArguments, ScopeArguments};
use crate::arguments::examples;
use crate::failure::{Outcome, print_error};
use crate::interrupt;
use crate::rows::{FormatArguments, RowWriter};

/// Draw words at random, with the places where they stand
///
/// Columns: document, offset (in bytes, from 0), word; in the order drawn. Each word occurrence is as likely as
/// any other, and may be drawn more than once. The same seed draws the same words.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc sample corpus.tdc -k 10"
    "tadoc sample corpus.tdc -k 1000 --seed 42 --document 'notes/*' -o words.csv"
))]
pub struct Sample {
    /// The archive
    #[arg(value_name = "CORPUS", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// How many words to draw
    #[arg(short = 'k', long, value_name = "N", default_value_t = 10)]
    count: u64,

    /// Draw the same words again for the same seed [default: a random one, told on standard error]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    #[command(flatten)]
    scope: ScopeArguments,

    #[command(flatten)]
    format: FormatArguments,

    #[command(flatten)]
    reading: ReadArguments,
}

const COLUMNS: &[Column] =
    &[Column::text("document"), Column::count("offset"), Column::text("word")];

impl Sample {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        self.reading.open(&self.archive, quiet, |opened| {
            let Some(scope) = self.scope.scope(opened)? else { return Ok(Outcome::Negative) };
            let seed = self.seed.unwrap_or_else(|| {
                let seed = RandomState::new().build_hasher().finish();
                if !quiet {
                    eprintln!("drawn with --seed {seed}");
                }
                seed
            });
            let mut writer = RowWriter::open(&self.format, COLUMNS)?;
            writer.show_all();
            let at_once = interrupt::at_once()?;
            let words = opened.told(opened.access.sample(self.count, seed, &scope))?;
            writer.write(&Words { documents: opened.documents, words: &words })?;
            drop(at_once);
            writer.finish()?;
            if words.is_empty() && self.count > 0 {
                print_error("there is no word to draw");
                return Ok(Outcome::Negative);
            }
            Ok(Outcome::Done)
        })
    }
}

/// Drawn words as rows.
struct Words<'w> {
    documents: &'w [Document],
    words: &'w [Sampled],
}

impl Rows for Words<'_> {
    fn columns(&self) -> &'static [Column] {
        COLUMNS
    }

    fn len(&self) -> u64 {
        self.words.len() as u64
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        for drawn in &self.words[rows.start as usize..rows.end as usize] {
            let name = Value::Text(&self.documents[drawn.document as usize].name);
            each(&[name, Value::Count(drawn.offset), Value::Text(&drawn.word)]);
        }
    }
}
