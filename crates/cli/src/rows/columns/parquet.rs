//! `--format parquet`: Parquet with Zstandard, in row groups that are encoded on all threads; 100 to 170 ns a row.
//!
//! A billion rows have some thousand row groups, whose places are kept for the end of the file: that is
//! about a kilobyte each, and the one thing here that grows with the answer.

use std::io;
use std::mem;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use tadoc::answer::{Column, Value};

use super::Columnar;
use super::batch::{Batch, schema};
use crate::output::Output;

/// Rows of a row group. Readers work on row groups in parallel, and DuckDB makes them half as long.
const ROWS: u64 = 1 << 18;
/// So many rows, or so much text, are encoded at a time.
const BATCH_ROWS: usize = 1 << 13;
const BATCH_BYTES: usize = 8 << 20;

pub struct Parquet {
    maker: Maker,
    to: SerializedFileWriter<Output>,
}

pub struct Maker {
    schema: SchemaRef,
    groups: ArrowRowGroupWriterFactory,
}

impl Parquet {
    pub fn new(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let schema = schema(columns);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(concat!("tadoc version ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let described = ArrowSchemaConverter::new().convert(&schema)?;
        let to =
            SerializedFileWriter::new(output, described.root_schema_ptr(), Arc::new(properties))
                .map_err(told)?;
        let groups = ArrowRowGroupWriterFactory::new(&to, schema.clone());
        Ok(Self { maker: Maker { schema, groups }, to })
    }
}

/// A row group that takes rows.
pub struct Group {
    schema: SchemaRef,
    columns: Vec<ArrowColumnWriter>,
    open: Batch,
}

impl Group {
    fn encode(&mut self) -> anyhow::Result<()> {
        let batch = mem::replace(&mut self.open, Batch::new(&self.schema, BATCH_ROWS)).done()?;
        let fields = self.schema.fields().iter();
        for ((field, array), column) in fields.zip(batch.columns()).zip(&mut self.columns) {
            for leaf in compute_leaves(field, array)? {
                column.write(&leaf)?;
            }
        }
        Ok(())
    }
}

impl Columnar for Parquet {
    const ROWS: u64 = ROWS;
    type Part = Group;
    type Done = Vec<ArrowColumnChunk>;
    type Maker = Maker;

    fn start(maker: &Maker) -> anyhow::Result<Group> {
        // The number is for files that are encrypted.
        let columns = maker.groups.create_column_writers(0)?;
        let open = Batch::new(&maker.schema, BATCH_ROWS);
        Ok(Group { schema: maker.schema.clone(), columns, open })
    }

    fn push(group: &mut Group, values: &[Value<'_>]) -> anyhow::Result<()> {
        group.open.push(values)?;
        if group.open.rows == BATCH_ROWS || group.open.longest > BATCH_BYTES {
            group.encode()?;
        }
        Ok(())
    }

    fn done(mut group: Group) -> anyhow::Result<Vec<ArrowColumnChunk>> {
        if group.open.rows > 0 {
            group.encode()?;
        }
        let chunks = group.columns.into_iter().map(ArrowColumnWriter::close);
        Ok(chunks.collect::<Result<_, _>>()?)
    }

    fn sides(
        &mut self,
    ) -> (&Maker, impl FnMut(Vec<ArrowColumnChunk>) -> anyhow::Result<()> + Send) {
        let to = &mut self.to;
        let write = |chunks: Vec<ArrowColumnChunk>| {
            let mut group = to.next_row_group().map_err(told)?;
            for chunk in chunks {
                chunk.append_to_row_group(&mut group).map_err(told)?;
            }
            group.close().map(drop).map_err(told)
        };
        (&self.maker, write)
    }

    fn finish(self) -> anyhow::Result<()> {
        self.to.into_inner().map_err(told)?.finish(anyhow::Ok(()))
    }
}

/// The output's own error, if it is one.
fn told(error: ParquetError) -> anyhow::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => (*error).into(),
            Err(other) => anyhow::anyhow!(other),
        },
        other => other.into(),
    }
}
