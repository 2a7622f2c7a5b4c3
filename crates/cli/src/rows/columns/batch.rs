//! A record batch in the making: about 30 ns for a row of a term and a number, and the bytes of its values in
//! memory.

use std::sync::Arc;

use anyhow::{Context, ensure};
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, StringArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use tadoc::Timestamp;
use tadoc::answer::{Column, ColumnKind, Value};

use crate::rows::scan::is_plain;
use crate::rows::utf8::as_utf8;
use crate::units;

/// The zone of all moments.
const ZONE: &str = "UTC";

/// Arrow's word for the columns.
pub fn schema(columns: &[Column]) -> SchemaRef {
    let field = |column: &Column| {
        let kind = match column.kind {
            ColumnKind::Text => DataType::Utf8,
            ColumnKind::Count => DataType::UInt64,
            ColumnKind::Real => DataType::Float64,
            ColumnKind::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some(ZONE.into())),
        };
        Field::new(column.name, kind, column.kind == ColumnKind::Time)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Values by column, not yet of Arrow's kind.
enum Values {
    Text { bytes: Vec<u8>, offsets: Vec<i32> },
    Count(Vec<u64>),
    Real(Vec<f64>),
    Time(Vec<Option<i64>>),
}

pub struct Batch {
    schema: SchemaRef,
    columns: Vec<Values>,
    pub rows: usize,
    /// Bytes of the longest text column.
    pub longest: usize,
}

impl Batch {
    /// An empty one with room for `rows`.
    pub fn new(schema: &SchemaRef, rows: usize) -> Self {
        let values = |field: &Arc<Field>| match field.data_type() {
            DataType::UInt64 => Values::Count(Vec::with_capacity(rows)),
            DataType::Float64 => Values::Real(Vec::with_capacity(rows)),
            DataType::Timestamp(..) => Values::Time(Vec::with_capacity(rows)),
            _ => {
                let mut offsets = Vec::with_capacity(rows + 1);
                offsets.push(0);
                Values::Text { bytes: Vec::with_capacity(rows * 8), offsets }
            }
        };
        let columns = schema.fields().iter().map(values).collect();
        Self { schema: schema.clone(), columns, rows: 0, longest: 0 }
    }

    pub fn push(&mut self, values: &[Value<'_>]) -> anyhow::Result<()> {
        for (column, value) in self.columns.iter_mut().zip(values) {
            match (column, value) {
                (Values::Count(column), Value::Count(value)) => column.push(*value),
                (Values::Real(column), Value::Real(value)) => column.push(*value),
                (Values::Time(column), Value::Time(time)) => {
                    column.push(time.map(nanoseconds).transpose()?);
                }
                (Values::Text { bytes, offsets }, value) => {
                    match value {
                        Value::Text(text) => push_text(text, bytes),
                        Value::Terms(terms) => {
                            for (place, term) in terms.iter().enumerate() {
                                if place > 0 {
                                    bytes.push(b' ');
                                }
                                push_text(term, bytes);
                            }
                        }
                        Value::Count(_) | Value::Real(_) | Value::Time(_) => {
                            unreachable!("values fit their columns")
                        }
                    }
                    let end = i32::try_from(bytes.len())
                        .context("a text of 2 GiB is too long for a column; try --format tsv")?;
                    offsets.push(end);
                    self.longest = self.longest.max(bytes.len());
                }
                _ => unreachable!("values fit their columns"),
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub fn done(self) -> anyhow::Result<RecordBatch> {
        let array = |values| -> anyhow::Result<ArrayRef> {
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
        };
        let columns = self.columns.into_iter().map(array).collect::<anyhow::Result<Vec<_>>>()?;
        ensure!(!columns.is_empty(), "an answer has columns");
        Ok(RecordBatch::try_new(self.schema, columns)?)
    }
}

/// Nanoseconds since 1970, which reach from 1677 to 2262.
fn nanoseconds(time: Timestamp) -> anyhow::Result<i64> {
    let whole = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
    i64::try_from(whole).with_context(|| {
        let time = units::moment(time);
        format!("{time} is no timestamp of 64 bits (1677 to 2262); try --format csv or jsonl")
    })
}

fn push_text(text: &[u8], to: &mut Vec<u8>) {
    if is_plain::<0, b'\\', b'\\', b'\\'>(text) {
        to.extend_from_slice(text);
    } else {
        to.extend_from_slice(as_utf8(text).as_bytes());
    }
}
