//! The formats of columns: Arrow and Parquet.
//!
//! Text columns are UTF-8 as [`as_utf8`](super::utf8::as_utf8) has it, counts are unsigned and
//! reals are floating-point numbers of 64 bits, moments are timestamps in nanoseconds (UTC), null
//! where they are not known; nothing else is null. Rows go into parts of a fixed number of rows (a
//! batch, a row group), which are made on all threads and written in order. Where parts begin
//! depends on the rows alone, and not on how many come at a time or on the number of threads. At
//! most two parts a thread are in memory, and one that is not full yet.

mod arrow;
mod batch;
mod parquet;

pub use arrow::Arrow;
pub use parquet::Parquet;

use tadoc::{Rows, Value};

use super::parallel::in_order;

/// A format: how rows become parts, and where parts go.
pub trait Columnar {
    /// How many rows a part has, other than the last.
    const ROWS: u64;
    /// A part that takes rows.
    type Part: Send;
    /// A part that is ready to be written.
    type Done: Send;
    /// What parts are made with, apart from what they are written to.
    type Maker: Sync;

    fn start(maker: &Self::Maker) -> anyhow::Result<Self::Part>;
    fn push(part: &mut Self::Part, values: &[Value<'_>]) -> anyhow::Result<()>;
    fn done(part: Self::Part) -> anyhow::Result<Self::Done>;

    /// The two sides of the writer.
    fn sides(&mut self) -> (&Self::Maker, impl FnMut(Self::Done) -> anyhow::Result<()> + Send);

    /// Ends the file.
    fn finish(self) -> anyhow::Result<()>;
}

/// Rows on their way out as columns.
pub struct Columns<F: Columnar> {
    format: F,
    /// The part that is not full yet, and how many rows it has.
    open: Option<(F::Part, u64)>,
}

impl<F: Columnar> Columns<F> {
    pub fn new(format: F) -> Self {
        Self { format, open: None }
    }

    pub fn write(&mut self, rows: &dyn Rows) -> anyhow::Result<()> {
        let count = rows.len();
        let (maker, mut write) = self.format.sides();
        let mut start = 0;
        if let Some((mut part, filled)) = self.open.take() {
            start = count.min(F::ROWS - filled);
            part = fill::<F>(part, rows, 0..start)?;
            if filled + start < F::ROWS {
                self.open = Some((part, filled + start));
                return Ok(());
            }
            write(F::done(part)?)?;
        }
        let whole = start + (count - start) / F::ROWS * F::ROWS;
        let ranges = (start..whole).step_by(F::ROWS as usize).map(|first| first..first + F::ROWS);
        let make =
            |range| F::start(maker).and_then(|part| fill::<F>(part, rows, range)).and_then(F::done);
        in_order(ranges, 1, make, |part| write(part?))?;
        if whole < count {
            let part = fill::<F>(F::start(maker)?, rows, whole..count)?;
            self.open = Some((part, count - whole));
        }
        Ok(())
    }

    pub fn finish(mut self) -> anyhow::Result<()> {
        if let Some((part, _)) = self.open.take() {
            self.format.sides().1(F::done(part)?)?;
        }
        self.format.finish()
    }
}

fn fill<F: Columnar>(
    mut part: F::Part,
    rows: &dyn Rows,
    range: std::ops::Range<u64>,
) -> anyhow::Result<F::Part> {
    let mut result = Ok(());
    rows.visit(range, &mut |values| {
        if result.is_ok() {
            result = F::push(&mut part, values);
        }
    });
    result.map(|()| part)
}
