//! `--format parquet`: Parquet with Zstandard, in row groups that are encoded on all threads; 100 to 170 ns a row.
//!
//! Pages are made of the columns of record batches here: the half of the crate that does so takes as long to build
//! as the other.
//!
//! A billion rows have some thousand row groups, whose places are kept for the end of the file: that is
//! about a kilobyte each, and the one thing here that grows with the answer.

use std::io;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use tadoc::{Column, ColumnKind};

use super::Columnar;
use crate::output::Output;

/// Values that are encoded at a time.
const VALUES_AT_ONCE: usize = 1 << 13;

pub struct Parquet {
    encoder: Encoder,
    to: SerializedFileWriter<Output>,
}

pub struct Encoder {
    schema: SchemaDescPtr,
    properties: WriterPropertiesPtr,
}

impl Parquet {
    pub fn new(output: Output, columns: &[Column]) -> anyhow::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(concat!("tadoc version ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let properties = Arc::new(properties);
        let schema = Arc::new(schema(columns)?);
        let to = SerializedFileWriter::new(output, schema.clone(), properties.clone());
        let schema = Arc::new(SchemaDescriptor::new(schema));
        let encoder = Encoder { schema, properties };
        Ok(Self { encoder, to: to.map_err(told)? })
    }
}

/// Parquet's word for the columns.
fn schema(columns: &[Column]) -> Result<Type, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnKind::Count => (Physical::INT64, Some(LogicalType::integer(64, false))),
            ColumnKind::Real => (Physical::DOUBLE, None),
            ColumnKind::Time => {
                (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::NANOS)))
            }
        };
        let repetition = match column.kind {
            ColumnKind::Time => Repetition::OPTIONAL,
            ColumnKind::Text | ColumnKind::Count | ColumnKind::Real => Repetition::REQUIRED,
        };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("schema").with_fields(fields).build()
}

/// A column of a row group: its pages, and what is known of them.
type Chunk = (Bytes, ColumnCloseResult);

impl Encoder {
    /// Encodes a column of a row group.
    fn chunk(&self, column: usize, values: &ArrayRef) -> Result<Chunk, ParquetError> {
        let mut pages = TrackedWrite::new(Vec::new());
        let to = Box::new(SerializedPageWriter::new(&mut pages));
        let mut to = get_column_writer(self.schema.column(column), self.properties.clone(), to);
        match &mut to {
            ColumnWriter::Int64ColumnWriter(to) => {
                if let Some(counts) = values.as_primitive_opt::<UInt64Type>() {
                    for counts in counts.values().chunks(VALUES_AT_ONCE) {
                        // As many bits; what they are is told by the logical type.
                        let counts: Vec<i64> =
                            counts.iter().map(|count| count.cast_signed()).collect();
                        to.write_batch(&counts, None, None)?;
                    }
                } else {
                    let times = values.as_primitive::<TimestampNanosecondType>();
                    let there: Vec<i16> =
                        times.iter().map(|time| i16::from(time.is_some())).collect();
                    let known: Vec<i64> = times.iter().flatten().collect();
                    to.write_batch(&known, Some(&there), None)?;
                }
            }
            ColumnWriter::DoubleColumnWriter(to) => {
                to.write_batch(values.as_primitive::<Float64Type>().values(), None, None)?;
            }
            ColumnWriter::ByteArrayColumnWriter(to) => {
                let texts = values.as_string::<i32>();
                let bytes = Bytes::from_owner(texts.values().clone());
                #[expect(clippy::cast_sign_loss, reason = "an array has no offsets below 0")]
                let text =
                    |ends: &[i32]| ByteArray::from(bytes.slice(ends[0] as usize..ends[1] as usize));
                let texts: Vec<ByteArray> = texts.value_offsets().windows(2).map(text).collect();
                for texts in texts.chunks(VALUES_AT_ONCE) {
                    to.write_batch(texts, None, None)?;
                }
            }
            _ => unreachable!("the schema has no other columns"),
        }
        let closed = to.close()?;
        Ok((Bytes::from(pages.into_inner()?), closed))
    }
}

impl Columnar for Parquet {
    /// Readers work on row groups in parallel, and DuckDB makes them half as long.
    const ROWS: usize = 1 << 18;
    type Encoded = Vec<Chunk>;
    type Encoder = Encoder;

    fn encode(encoder: &Encoder, batch: RecordBatch) -> anyhow::Result<Vec<Chunk>> {
        let columns = batch.columns().iter().enumerate();
        let chunks = columns.map(|(column, values)| encoder.chunk(column, values));
        Ok(chunks.collect::<Result<_, ParquetError>>()?)
    }

    fn sides(&mut self) -> (&Encoder, impl FnMut(Vec<Chunk>) -> anyhow::Result<()> + Send) {
        let to = &mut self.to;
        let write = |chunks: Vec<Chunk>| {
            let mut group = to.next_row_group().map_err(told)?;
            for (pages, closed) in chunks {
                group.append_column(&pages, closed).map_err(told)?;
            }
            group.close().map_err(told)?;
            Ok(())
        };
        (&self.encoder, write)
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
