//! `--format arrow`: Arrow's IPC file, which readers can map and begin anywhere in; Feather 2 is
//! the same. `--format arrows`: its IPC stream (`application/vnd.apache.arrow.stream`), which
//! readers can begin with before it ends. Both hold the same batches.

use std::mem;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, StringArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use tadoc::{Column, ColumnKind, Value};

use super::Columnar;
use super::batch::{Batch, Values};
use crate::output::Output;

/// A batch has so many rows, or fewer if its text would get longer than this.
const ROWS: u64 = 1 << 15;
const TEXT_BYTES: usize = 64 << 20;

/// The zone of all moments.
const ZONE: &str = "UTC";

pub struct Arrow {
    maker: Maker,
    to: Layout,
}

#[derive(Clone)]
pub struct Maker {
    columns: Arc<[Column]>,
    schema: SchemaRef,
}

impl Maker {
    fn new(columns: &[Column]) -> Self {
        let field = |column: &Column| {
            let kind = match column.kind {
                ColumnKind::Text => DataType::Utf8,
                ColumnKind::Count => DataType::UInt64,
                ColumnKind::Real => DataType::Float64,
                ColumnKind::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some(ZONE.into())),
            };
            Field::new(column.name, kind, column.kind == ColumnKind::Time)
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        Self { columns: columns.into(), schema: Arc::new(schema) }
    }
}

/// The two layouts of the same batches.
enum Layout {
    File(FileWriter<Output>),
    Stream(StreamWriter<Output>),
}

impl Arrow {
    /// A file, which needs no seeking: what tells where batches are stands at its end.
    pub fn file(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let maker = Maker::new(columns);
        let to = Layout::File(FileWriter::try_new(output, &maker.schema).map_err(told)?);
        Ok(Self { maker, to })
    }

    pub fn stream(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let maker = Maker::new(columns);
        let to = Layout::Stream(StreamWriter::try_new(output, &maker.schema).map_err(told)?);
        Ok(Self { maker, to })
    }
}

impl Layout {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::File(to) => to.write(batch),
            Self::Stream(to) => to.write(batch),
        }
    }

    /// Ends it and gives back what it was written to.
    fn into_inner(self) -> Result<Output, ArrowError> {
        match self {
            Self::File(to) => to.into_inner(),
            Self::Stream(to) => to.into_inner(),
        }
    }
}

/// Batches that are ready, and one that takes rows.
pub struct Part {
    maker: Maker,
    ready: Vec<RecordBatch>,
    open: Batch,
}

impl Part {
    /// Makes the open batch ready.
    fn cut(&mut self) -> anyhow::Result<()> {
        let full = mem::replace(&mut self.open, Batch::new(&self.maker.columns, 0));
        let columns = full.columns.into_iter().map(array).collect::<anyhow::Result<Vec<_>>>()?;
        self.ready.push(RecordBatch::try_new(self.maker.schema.clone(), columns)?);
        Ok(())
    }
}

fn array(values: Values) -> anyhow::Result<ArrayRef> {
    Ok(match values {
        Values::Count(values) => Arc::new(UInt64Array::from(values)),
        Values::Real(values) => Arc::new(Float64Array::from(values)),
        Values::Time(values) => {
            Arc::new(TimestampNanosecondArray::from(values).with_timezone(ZONE))
        }
        Values::Text { bytes, offsets } => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            Arc::new(StringArray::try_new(offsets, Buffer::from_vec(bytes), None)?)
        }
    })
}

impl Columnar for Arrow {
    const ROWS: u64 = ROWS;
    type Part = Part;
    type Done = Vec<RecordBatch>;
    type Maker = Maker;

    fn start(maker: &Maker) -> anyhow::Result<Part> {
        let open = Batch::new(&maker.columns, ROWS as usize);
        Ok(Part { maker: maker.clone(), ready: Vec::new(), open })
    }

    fn push(part: &mut Part, values: &[Value<'_>]) -> anyhow::Result<()> {
        part.open.push(values)?;
        if part.open.longest > TEXT_BYTES { part.cut() } else { Ok(()) }
    }

    fn done(mut part: Part) -> anyhow::Result<Vec<RecordBatch>> {
        if part.open.rows > 0 {
            part.cut()?;
        }
        Ok(part.ready)
    }

    fn sides(&mut self) -> (&Maker, impl FnMut(Vec<RecordBatch>) -> anyhow::Result<()> + Send) {
        let to = &mut self.to;
        let write = |batches: Vec<RecordBatch>| {
            batches.iter().try_for_each(|batch| to.write(batch)).map_err(told)
        };
        (&self.maker, write)
    }

    fn finish(self) -> anyhow::Result<()> {
        self.to.into_inner().map_err(told)?.finish(anyhow::Ok(()))
    }
}

/// The output's own error, if it is one.
fn told(error: ArrowError) -> anyhow::Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        other => other.into(),
    }
}
