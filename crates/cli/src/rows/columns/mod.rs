//! The formats of columns: Arrow and Parquet, of the batches that `tadoc-arrow` makes.
//!
//! Text columns are UTF-8 as [`as_utf8`](tadoc::text::as_utf8) has it, counts are unsigned and
//! reals are floating-point numbers of 64 bits, moments are timestamps in nanoseconds (UTC), null
//! where they are not known; nothing else is null. A batch (in Parquet a row group) has a fixed
//! number of rows; batches are made and encoded on all threads and written in order. Where they
//! begin depends on the rows alone, and not on how many come at a time or on the number of threads.
//! At most two batches a thread are in memory, and two that are not full yet.

mod arrow;
mod parquet;

pub use arrow::Arrow;
pub use parquet::Parquet;

use anyhow::anyhow;
use arrow_array::RecordBatch;
use rayon::prelude::*;
use tadoc::{Column, Rows};
use tadoc_arrow::{BatchBuilder, Error, Options};

use super::parallel::in_waves;

/// A format: how batches are encoded, and where they go.
pub trait Columnar {
    /// How many rows a batch has, other than the last.
    const ROWS: usize;
    /// A batch that is ready to be written.
    type Encoded: Send;
    /// What batches are encoded with, apart from what they are written to.
    type Encoder: Sync;

    fn encode(encoder: &Self::Encoder, batch: RecordBatch) -> anyhow::Result<Self::Encoded>;

    /// The two sides of the writer.
    fn sides(&mut self)
    -> (&Self::Encoder, impl FnMut(Self::Encoded) -> anyhow::Result<()> + Send);

    /// Ends the file.
    fn finish(self) -> anyhow::Result<()>;
}

/// Rows on their way out as columns.
pub struct Columns<F: Columnar> {
    format: F,
    builder: BatchBuilder,
}

impl<F: Columnar> Columns<F> {
    pub fn new(format: F, columns: &'static [Column]) -> Self {
        Self { format, builder: BatchBuilder::new(columns, Options::new().rows(F::ROWS)) }
    }

    pub fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        let wave = (F::ROWS * rayon::current_num_threads()) as u64;
        let (encoder, write) = self.format.sides();
        let builder = &mut self.builder;
        let mut start = 0;
        let make = || {
            let range = start..rows.len().min(start + wave);
            start = range.end;
            if range.is_empty() {
                return None;
            }
            let batches = builder.push(rows, range).map_err(advised);
            let encode = |batch| F::encode(encoder, batch);
            let encoded = batches.map(|batches| {
                batches.into_par_iter().with_max_len(1).map(encode).collect::<Vec<_>>()
            });
            Some(encoded.and_then(|encoded| encoded.into_iter().collect()))
        };
        in_waves(make, write)
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        if let Some(batch) = self.builder.finish().map_err(advised)? {
            let (encoder, mut write) = self.format.sides();
            write(F::encode(encoder, batch)?)?;
        }
        self.format.finish()
    }
}

/// The error with the format that can hold what this one cannot.
fn advised(error: Error) -> anyhow::Error {
    match error {
        Error::TextTooLong { .. } => anyhow!("{error}; try --format tsv"),
        Error::TimeOutOfRange { .. } => anyhow!("{error}; try --format csv or jsonl"),
        other => other.into(),
    }
}
