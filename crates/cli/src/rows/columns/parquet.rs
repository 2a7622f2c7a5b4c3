//! `--format parquet`: Parquet with Zstandard, in row groups that are encoded on all threads; 100 to 170 ns a row.
//!
//! Pages are made of the columns themselves and not by way of Arrow, whose half of the crate takes as long to
//! build as the other.
//!
//! A billion rows have some thousand row groups, whose places are kept for the end of the file: that is
//! about a kilobyte each, and the one thing here that grows with the answer.

use std::io;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};
use tadoc::{Column, ColumnKind, Value};

use super::Columnar;
use super::batch::{Batch, Values};
use crate::output::Output;

/// Rows of a row group. Readers work on row groups in parallel, and DuckDB makes them half as long.
const ROWS: u64 = 1 << 18;
/// A row group has fewer rows if a column of its text would get longer than this.
const TEXT_BYTES: usize = 64 << 20;
/// Values that are encoded at a time.
const VALUES_AT_ONCE: usize = 1 << 13;

pub struct Parquet {
    maker: Maker,
    to: SerializedFileWriter<Output>,
}

#[derive(Clone)]
pub struct Maker {
    columns: Arc<[Column]>,
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
        let maker = Maker { columns: columns.into(), schema, properties };
        Ok(Self { maker, to: to.map_err(told)? })
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

/// Row groups that are ready, and one that takes rows.
pub struct Groups {
    maker: Maker,
    ready: Vec<Vec<Chunk>>,
    open: Batch,
}

impl Groups {
    /// Makes the open row group ready.
    fn cut(&mut self) -> anyhow::Result<()> {
        let full = mem::replace(&mut self.open, Batch::new(&self.maker.columns, 0));
        let columns = full.columns.into_iter().enumerate();
        let chunks = columns.map(|(column, values)| self.maker.chunk(column, values));
        self.ready.push(chunks.collect::<Result<_, ParquetError>>()?);
        Ok(())
    }
}

impl Maker {
    /// Encodes a column of a row group.
    fn chunk(&self, column: usize, values: Values) -> Result<Chunk, ParquetError> {
        let mut pages = TrackedWrite::new(Vec::new());
        let to = Box::new(SerializedPageWriter::new(&mut pages));
        let mut to = get_column_writer(self.schema.column(column), self.properties.clone(), to);
        match (&mut to, values) {
            (ColumnWriter::Int64ColumnWriter(to), Values::Count(values)) => {
                for values in values.chunks(VALUES_AT_ONCE) {
                    // As many bits; what they are is told by the logical type.
                    let values: Vec<i64> = values.iter().map(|value| value.cast_signed()).collect();
                    to.write_batch(&values, None, None)?;
                }
            }
            (ColumnWriter::DoubleColumnWriter(to), Values::Real(values)) => {
                to.write_batch(&values, None, None)?;
            }
            (ColumnWriter::Int64ColumnWriter(to), Values::Time(values)) => {
                for values in values.chunks(VALUES_AT_ONCE) {
                    let there: Vec<i16> =
                        values.iter().map(|value| i16::from(value.is_some())).collect();
                    let known: Vec<i64> = values.iter().flatten().copied().collect();
                    to.write_batch(&known, Some(&there), None)?;
                }
            }
            (ColumnWriter::ByteArrayColumnWriter(to), Values::Text { bytes, offsets }) => {
                let bytes = Bytes::from(bytes);
                let text =
                    |ends: &[i32]| ByteArray::from(bytes.slice(ends[0] as usize..ends[1] as usize));
                let texts = offsets.windows(2).map(text);
                let texts: Vec<ByteArray> = texts.collect();
                for texts in texts.chunks(VALUES_AT_ONCE) {
                    to.write_batch(texts, None, None)?;
                }
            }
            _ => unreachable!("values fit their columns"),
        }
        let closed = to.close()?;
        Ok((Bytes::from(pages.into_inner()?), closed))
    }
}

impl Columnar for Parquet {
    const ROWS: u64 = ROWS;
    type Part = Groups;
    type Done = Vec<Vec<Chunk>>;
    type Maker = Maker;

    fn start(maker: &Maker) -> anyhow::Result<Groups> {
        let open = Batch::new(&maker.columns, ROWS as usize);
        Ok(Groups { maker: maker.clone(), ready: Vec::new(), open })
    }

    fn push(groups: &mut Groups, values: &[Value<'_>]) -> anyhow::Result<()> {
        groups.open.push(values)?;
        if groups.open.longest > TEXT_BYTES { groups.cut() } else { Ok(()) }
    }

    fn done(mut groups: Groups) -> anyhow::Result<Vec<Vec<Chunk>>> {
        if groups.open.rows > 0 {
            groups.cut()?;
        }
        Ok(groups.ready)
    }

    fn sides(&mut self) -> (&Maker, impl FnMut(Vec<Vec<Chunk>>) -> anyhow::Result<()> + Send) {
        let to = &mut self.to;
        let write = |groups: Vec<Vec<Chunk>>| {
            for chunks in groups {
                let mut group = to.next_row_group().map_err(told)?;
                for (pages, closed) in chunks {
                    group.append_column(&pages, closed).map_err(told)?;
                }
                group.close().map_err(told)?;
            }
            Ok(())
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
