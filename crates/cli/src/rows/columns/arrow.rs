//! `--format arrow`: Arrow's IPC file, which readers can map and begin anywhere in; Feather 2 is
//! the same. `--format arrows`: its IPC stream (`application/vnd.apache.arrow.stream`), which
//! readers can begin with before it ends. Both hold the same batches.

use std::mem;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use tadoc::answer::{Column, Value};

use super::Columnar;
use super::batch::{Batch, schema};
use crate::output::Output;

/// A batch has so many rows, or fewer if its text would get longer than this.
const ROWS: u64 = 1 << 15;
const TEXT_BYTES: usize = 64 << 20;

pub struct Arrow {
    schema: SchemaRef,
    to: Layout,
}

/// The two layouts of the same batches.
enum Layout {
    File(FileWriter<Output>),
    Stream(StreamWriter<Output>),
}

impl Arrow {
    /// A file, which needs no seeking: what tells where batches are stands at its end.
    pub fn file(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let schema = schema(columns);
        let to = Layout::File(FileWriter::try_new(output, &schema).map_err(told)?);
        Ok(Self { schema, to })
    }

    pub fn stream(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let schema = schema(columns);
        let to = Layout::Stream(StreamWriter::try_new(output, &schema).map_err(told)?);
        Ok(Self { schema, to })
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
    ready: Vec<RecordBatch>,
    schema: SchemaRef,
    open: Batch,
}

impl Columnar for Arrow {
    const ROWS: u64 = ROWS;
    type Part = Part;
    type Done = Vec<RecordBatch>;
    type Maker = SchemaRef;

    fn start(schema: &SchemaRef) -> anyhow::Result<Part> {
        let open = Batch::new(schema, ROWS as usize);
        Ok(Part { ready: Vec::new(), schema: schema.clone(), open })
    }

    fn push(part: &mut Part, values: &[Value<'_>]) -> anyhow::Result<()> {
        part.open.push(values)?;
        if part.open.longest > TEXT_BYTES {
            let full = mem::replace(&mut part.open, Batch::new(&part.schema, 0));
            part.ready.push(full.done()?);
        }
        Ok(())
    }

    fn done(mut part: Part) -> anyhow::Result<Vec<RecordBatch>> {
        if part.open.rows > 0 {
            part.ready.push(part.open.done()?);
        }
        Ok(part.ready)
    }

    fn sides(&mut self) -> (&SchemaRef, impl FnMut(Vec<RecordBatch>) -> anyhow::Result<()> + Send) {
        let to = &mut self.to;
        let write = |batches: Vec<RecordBatch>| {
            batches.iter().try_for_each(|batch| to.write(batch)).map_err(told)
        };
        (&self.schema, write)
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
