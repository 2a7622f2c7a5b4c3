//! How columns become Arrow's, and the schema that follows.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use tadoc::{Column, ColumnKind};

/// Rows of a batch by default: about a megabyte.
const ROWS: usize = 1 << 15;

/// The zone of all moments.
pub(crate) const ZONE: &str = "UTC";

/// How rows become batches. The defaults are what the command `tadoc` writes: plain text, unsigned
/// counts, 32,768 rows a batch.
///
/// ```
/// use tadoc_arrow::Options;
///
/// let options = Options::new().dictionary(true).signed_counts(true).rows(1000);
/// assert_ne!(options, Options::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    pub(crate) dictionary: bool,
    pub(crate) signed_counts: bool,
    pub(crate) rows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { dictionary: false, signed_counts: false, rows: ROWS }
    }
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether columns of text are dictionary-encoded, with keys of 32 bits: smaller where values
    /// come again. Each batch has a dictionary of its own, in the order in which values first
    /// occur; Arrow's IPC stream can hold several such batches, its IPC file only one.
    #[must_use]
    pub fn dictionary(self, dictionary: bool) -> Self {
        Self { dictionary, ..self }
    }

    /// Whether counts are signed, for readers that have no unsigned numbers, such as Spark. A count
    /// above `i64::MAX` is then [`Error::CountTooLarge`](crate::Error::CountTooLarge).
    #[must_use]
    pub fn signed_counts(self, signed_counts: bool) -> Self {
        Self { signed_counts, ..self }
    }

    /// Rows of a batch, at least 1. The last batch has fewer, and so has one whose text passes
    /// 64 MiB in a column.
    #[must_use]
    pub fn rows(self, rows: usize) -> Self {
        Self { rows: rows.max(1), ..self }
    }
}

/// The schema of the batches that rows of these columns become.
///
/// ```
/// use arrow_schema::DataType;
/// use tadoc::Column;
/// use tadoc_arrow::Options;
///
/// let columns = [Column::text("term"), Column::count("count")];
/// let schema = tadoc_arrow::schema(&columns, &Options::new());
/// assert_eq!(schema.field(0).data_type(), &DataType::Utf8);
/// assert_eq!(schema.field(1).data_type(), &DataType::UInt64);
/// ```
pub fn schema(columns: &[Column], options: &Options) -> SchemaRef {
    let field = |column: &Column| {
        let kind = match column.kind {
            ColumnKind::Text if options.dictionary => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
            ColumnKind::Text => DataType::Utf8,
            ColumnKind::Count if options.signed_counts => DataType::Int64,
            ColumnKind::Count => DataType::UInt64,
            ColumnKind::Real => DataType::Float64,
            ColumnKind::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some(ZONE.into())),
        };
        Field::new(column.name, kind, column.kind == ColumnKind::Time)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}
