//! An answer as a reader of batches.

use std::collections::VecDeque;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use tadoc::{Answer, Position};

use crate::{BatchBuilder, Options, Result};

/// Rows of a part that become batches at a time: more than parts have that need work. A longer part
/// is pulled again.
const ROWS_AT_ONCE: u64 = 1 << 22;

/// The batches of an answer: an owned iterator, which keeps a handle to the answer.
///
/// The batches of a part are made when the first of them is asked for, on all threads of the rayon
/// pool that it is asked in. At most four million rows are in memory as batches, and one batch.
/// After an error there are no more.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use arrow_array::RecordBatchReader;
/// use tadoc_arrow::{Batches, Options};
///
/// let answer = tadoc::Corpus::open(&path)?.query().word_count().run()?;
/// let batches: Batches = tadoc_arrow::batches(&answer, Options::new().dictionary(true));
/// assert_eq!(batches.schema().field(1).name(), "count");
/// // Whatever takes a reader takes it, on any thread.
/// let mut reader: Box<dyn RecordBatchReader + Send> = Box::new(batches);
/// assert_eq!(reader.next().unwrap()?.num_rows(), 4);
/// assert!(reader.next().is_none());
/// # Ok(())
/// # }
/// ```
pub struct Batches {
    answer: Answer,
    schema: SchemaRef,
    /// `None` behind the last part.
    builder: Option<BatchBuilder>,
    /// The part at hand, and how many rows from its beginning were taken.
    at: Position,
    taken: u64,
    ready: VecDeque<RecordBatch>,
}

/// The batches of an answer. O(1): nothing is made before it is asked for.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let answer = tadoc::Corpus::open(&path)?.query().sort().run()?;
/// let options = tadoc_arrow::Options::new().rows(3);
/// let batches = tadoc_arrow::batches(&answer, options).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(batches.iter().map(|batch| batch.num_rows()).collect::<Vec<_>>(), [3, 1]);
/// # Ok(())
/// # }
/// ```
pub fn batches(answer: &Answer, options: Options) -> Batches {
    let builder = BatchBuilder::new(answer.columns(), options);
    Batches {
        answer: answer.clone(),
        schema: builder.schema(),
        builder: Some(builder),
        at: Position::default(),
        taken: 0,
        ready: VecDeque::new(),
    }
}

impl Batches {
    /// Makes the next batches; there may be none yet. The builder is given back unless it ended.
    fn pull(&mut self, mut builder: BatchBuilder) -> Result<()> {
        let mut behind = self.at;
        let Some(part) = self.answer.next_part(&mut behind)? else {
            self.ready.extend(builder.finish()?);
            return Ok(());
        };
        // A part that is pulled again on other threads may be a shorter one.
        let length = part.len();
        let end = length.min(self.taken.saturating_add(ROWS_AT_ONCE));
        if self.taken < end {
            self.ready.extend(builder.push(&*part, self.taken..end)?);
            self.taken = end;
        }
        if self.taken >= length {
            self.taken -= length;
            self.at = behind;
        }
        self.builder = Some(builder);
        Ok(())
    }
}

impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Some(Ok(batch));
            }
            let builder = self.builder.take()?;
            if let Err(error) = self.pull(builder) {
                return Some(Err(error.into()));
            }
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
