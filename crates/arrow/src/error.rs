//! What rows may hold and Arrow's types do not.

use arrow_schema::ArrowError;
use tadoc::Timestamp;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why rows are no batches.
///
/// Where Arrow's own error is asked for, as of a reader, it is an
/// [`ArrowError::ExternalError`] that holds this one.
///
/// ```
/// use arrow_schema::ArrowError;
///
/// let error = tadoc_arrow::Error::CountTooLarge { column: "count", count: u64::MAX };
/// assert!(error.to_string().contains("18446744073709551615"));
/// let ArrowError::ExternalError(cause) = error.into() else { unreachable!() };
/// assert!(cause.is::<tadoc_arrow::Error>());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A count above `i64::MAX`, where counts are signed.
    #[error("column {column}: {count} is no signed number of 64 bits")]
    CountTooLarge {
        /// The column's name.
        column: &'static str,
        /// The count.
        count: u64,
    },
    /// A text that takes a column beyond 2 GiB, where offsets end.
    #[error(
        "column {column}: a text of {bytes} bytes is too long for a column, which ends at 2 GiB"
    )]
    TextTooLong {
        /// The column's name.
        column: &'static str,
        /// How long the text is, as UTF-8.
        bytes: u64,
    },
    /// A moment that nanoseconds since 1970 do not reach in 64 bits.
    #[error("column {column}: {time} is no timestamp of 64 bits (1677 to 2262)")]
    TimeOutOfRange {
        /// The column's name.
        column: &'static str,
        /// The moment.
        time: Timestamp,
    },
    /// The answer's rows cannot be read.
    #[error(transparent)]
    Answer(#[from] tadoc::Error),
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::from_external_error(Box::new(error))
    }
}
