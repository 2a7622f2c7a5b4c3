//! Answers as Arrow record batches, for whatever reads Arrow: Python, SQL, Spark, a server.
//!
//! [`batches`] reads an [`Answer`] as an [`arrow_array::RecordBatchReader`], [`batch`] converts
//! any [`Rows`], and [`BatchBuilder`] takes rows that come in parts. Batches are made on all
//! threads of the rayon pool that they are asked for in, at about 30 ns for a row of a term and a
//! count. Where they begin depends on the rows alone, and not on how many come at a time or on the
//! number of threads.
//!
//! | column | type | null |
//! | --- | --- | --- |
//! | text | `Utf8`, or `Dictionary(Int32, Utf8)` | never |
//! | count | `UInt64`, or `Int64` | never |
//! | real | `Float64` | never |
//! | time | `Timestamp(Nanosecond, "UTC")` | where it is not known |
//!
//! Text is UTF-8 as [`tadoc::text::as_utf8`] has it, and [`tadoc::text::unescape_utf8`] gives its
//! bytes back. Terms of a sequence are joined by one space.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("plays.tdc");
//! # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
//! # let input = tadoc::Input::new("hamlet.txt", text);
//! # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Int64Type;
//!
//! let answer = tadoc::Corpus::open(&path)?.query().sort().run()?;
//! let options = tadoc_arrow::Options::new().signed_counts(true);
//! for batch in tadoc_arrow::batches(&answer, options) {
//!     let batch = batch?;
//!     assert_eq!(batch["term"].as_string::<i32>().value(0), "be");
//!     assert_eq!(batch["count"].as_primitive::<Int64Type>().value(0), 2);
//! }
//! # Ok(())
//! # }
//! ```

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod batches;
mod builder;
mod columns;
mod error;
mod options;

pub use batches::{Batches, batches};
pub use builder::{BatchBuilder, batch};
pub use error::{Error, Result};
pub use options::{Options, schema};

#[cfg(doc)]
use tadoc::{Answer, Rows};
