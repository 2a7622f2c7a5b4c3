//! Rows that come in parts, cut into batches.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use rayon::prelude::*;
use tadoc::{Column, Rows};

use crate::columns::ColumnBuilder;
use crate::{Options, Result, schema};

/// A batch ends behind the row with which a column of its text gets longer than this.
const TEXT_BYTES: usize = 64 << 20;

/// Makes batches of rows that come in any number of parts.
///
/// All but the last have as many rows as the options say, wherever parts begin. One whose text
/// passes 64 MiB in a column is cut there; the next one ends where it would have ended.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc_arrow::{BatchBuilder, Options};
///
/// let answer = tadoc::Corpus::open(&path)?.query().sort().run()?;
/// let mut builder = BatchBuilder::new(answer.columns(), Options::new().rows(3));
/// let (mut at, mut batches) = (tadoc::Position::default(), Vec::new());
/// while let Some(part) = answer.next_part(&mut at)? {
///     batches.extend(builder.push(&*part, 0..part.len())?);
/// }
/// batches.extend(builder.finish()?);
/// assert_eq!(batches.iter().map(|batch| batch.num_rows()).collect::<Vec<_>>(), [3, 1]);
/// # Ok(())
/// # }
/// ```
pub struct BatchBuilder {
    maker: Maker,
    /// Rows since a batch began that was not cut early.
    filled: usize,
    open: Option<Open>,
}

/// What batches are made with.
struct Maker {
    columns: &'static [Column],
    options: Options,
    schema: SchemaRef,
}

/// A batch that takes rows.
struct Open {
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

impl BatchBuilder {
    /// One without rows.
    pub fn new(columns: &'static [Column], options: Options) -> Self {
        let schema = schema(columns, &options);
        Self { maker: Maker { columns, options, schema }, filled: 0, open: None }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> SchemaRef {
        self.maker.schema.clone()
    }

    /// Adds rows, and gives the batches that are full then; they are made on all threads. It takes
    /// the memory of these batches, so a range should be no longer than some millions of rows.
    ///
    /// # Errors
    /// If a value has no place in its column. The rows of this call are lost then.
    ///
    /// # Panics
    /// If the range is not within the rows, or they have other columns.
    pub fn push(&mut self, rows: &dyn Rows, range: Range<u64>) -> Result<Vec<RecordBatch>> {
        assert_eq!(rows.columns(), self.maker.columns, "rows have the columns of the batches");
        let whole = self.maker.options.rows as u64;
        let mut pieces = Vec::new();
        let mut start = range.start;
        let mut filled = std::mem::take(&mut self.filled) as u64;
        let mut open = self.open.take();
        while start < range.end {
            let end = range.end.min(start.saturating_add(whole - filled));
            filled += end - start;
            pieces.push((open.take(), start..end, filled == whole));
            filled %= whole;
            start = end;
        }
        let made = pieces.into_par_iter().with_max_len(1);
        let made = made.map(|(open, range, is_last)| self.maker.fill(open, rows, range, is_last));
        let mut batches = Vec::new();
        for (ready, left) in made.collect::<Result<Vec<_>>>()? {
            batches.extend(ready);
            open = left;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "fewer than the rows of a batch, which are an usize"
        )]
        let filled = filled as usize;
        (self.filled, self.open) = (filled, open);
        Ok(batches)
    }

    /// The rows that fill no batch; `None` if there are none.
    ///
    /// # Errors
    /// As [`BatchBuilder::push`].
    pub fn finish(self) -> Result<Option<RecordBatch>> {
        self.open.map(|open| self.maker.finish(open)).transpose()
    }
}

impl Maker {
    /// Adds rows to a batch, or to a new one: those that are ready, and what is left open.
    fn fill(
        &self,
        open: Option<Open>,
        rows: &dyn Rows,
        range: Range<u64>,
        is_last: bool,
    ) -> Result<(Vec<RecordBatch>, Option<Open>)> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most the rows of a batch, which are an usize"
        )]
        let count = (range.end - range.start) as usize;
        let mut ready = Vec::new();
        let mut open = open.unwrap_or_else(|| self.start(count));
        let mut result = Ok(());
        rows.visit(range, &mut |values| {
            if result.is_ok() {
                result = self.push(&mut open, values, &mut ready);
            }
        });
        result?;
        if open.rows == 0 {
            return Ok((ready, None));
        }
        if !is_last {
            return Ok((ready, Some(open)));
        }
        ready.push(self.finish(open)?);
        Ok((ready, None))
    }

    fn start(&self, rows: usize) -> Open {
        let column = |column| ColumnBuilder::new(column, &self.options, rows);
        Open { columns: self.columns.iter().map(column).collect(), rows: 0 }
    }

    /// Adds a row to the open batch, which may be ready then.
    fn push(
        &self,
        open: &mut Open,
        values: &[tadoc::Value<'_>],
        ready: &mut Vec<RecordBatch>,
    ) -> Result<()> {
        let mut longest = 0;
        for (column, value) in open.columns.iter_mut().zip(values) {
            column.push(value)?;
            longest = longest.max(column.text_bytes());
        }
        open.rows += 1;
        if longest > TEXT_BYTES {
            let full = std::mem::replace(open, self.start(0));
            ready.push(self.finish(full)?);
        }
        Ok(())
    }

    fn finish(&self, open: Open) -> Result<RecordBatch> {
        let columns = open.columns.into_iter().map(ColumnBuilder::finish);
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        Ok(batch.expect("columns are as the schema says"))
    }
}

/// Some of the rows as batches; none if there are no rows. It takes the memory of the batches.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::ops::Range;
/// use tadoc::{Column, Rows, Value};
///
/// struct Squares;
///
/// impl Rows for Squares {
///     fn columns(&self) -> &'static [Column] {
///         const { &[Column::count("square")] }
///     }
///
///     fn len(&self) -> u64 {
///         1000
///     }
///
///     fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
///         rows.for_each(|row| each(&[Value::Count(row * row)]));
///     }
/// }
///
/// let batches = tadoc_arrow::batch(&Squares, 10..20, &tadoc_arrow::Options::new())?;
/// assert_eq!((batches.len(), batches[0].num_rows()), (1, 10));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If a value has no place in its column.
///
/// # Panics
/// If the range is not within the rows.
pub fn batch(rows: &dyn Rows, range: Range<u64>, options: &Options) -> Result<Vec<RecordBatch>> {
    let mut builder = BatchBuilder::new(rows.columns(), options.clone());
    let mut batches = builder.push(rows, range)?;
    batches.extend(builder.finish()?);
    Ok(batches)
}
