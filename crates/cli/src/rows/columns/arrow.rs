//! `--format arrow`: Arrow's IPC stream (`application/vnd.apache.arrow.stream`), which readers can begin with
//! before it ends.

use std::mem;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
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
    to: StreamWriter<Output>,
}

impl Arrow {
    pub fn new(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let schema = schema(columns);
        let to = StreamWriter::try_new(output, &schema).map_err(told)?;
        Ok(Self { schema, to })
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
