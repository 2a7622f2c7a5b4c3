//! `--format arrow`: Arrow's IPC file, which readers can map and begin anywhere in; Feather 2 is
//! the same. `--format arrows`: its IPC stream (`application/vnd.apache.arrow.stream`), which
//! readers can begin with before it ends. Both hold the same batches.

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::ArrowError;
use tadoc::Column;
use tadoc_arrow::{Options, schema};

use super::Columnar;
use crate::output::Output;

/// The two layouts of the same batches.
pub enum Arrow {
    File(FileWriter<Output>),
    Stream(StreamWriter<Output>),
}

impl Arrow {
    /// A file, which needs no seeking: what tells where batches are stands at its end.
    pub fn file(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let schema = schema(columns, &Options::new());
        Ok(Self::File(FileWriter::try_new(output, &schema).map_err(told)?))
    }

    pub fn stream(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let schema = schema(columns, &Options::new());
        Ok(Self::Stream(StreamWriter::try_new(output, &schema).map_err(told)?))
    }
}

impl Columnar for Arrow {
    const ROWS: usize = 1 << 15;
    type Encoded = RecordBatch;
    type Encoder = ();

    fn encode((): &(), batch: RecordBatch) -> anyhow::Result<RecordBatch> {
        Ok(batch)
    }

    fn sides(&mut self) -> (&(), impl FnMut(RecordBatch) -> anyhow::Result<()> + Send) {
        let write = |batch: RecordBatch| {
            let written = match self {
                Self::File(to) => to.write(&batch),
                Self::Stream(to) => to.write(&batch),
            };
            written.map_err(told)
        };
        (&(), write)
    }

    fn finish(self) -> anyhow::Result<()> {
        let output = match self {
            Self::File(to) => to.into_inner(),
            Self::Stream(to) => to.into_inner(),
        };
        output.map_err(told)?.finish(anyhow::Ok(()))
    }
}

/// The output's own error, if it is one.
fn told(error: ArrowError) -> anyhow::Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        other => other.into(),
    }
}
