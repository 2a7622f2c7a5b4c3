//! Random access gives what the plain program gives: every operation, lexer, builder and index, on any number of
//! threads.
//!
//! - `cases`: all corpora that the oracle has.
//! - `texts`: random texts.
//! - `segments`: archives of several segments, and documents that go on from one to the next.
//! - `analyzers`: searching for terms, and documents ranked by them.
//! - `batches`: many operations at once.
//! - `device`: many operations on a GPU.
//! - `device_faults`: the same on one that fails, or that is small.
//! - `pool`: pools that were there before, whole, damaged or left by a crash.
//! - `samples`: what is drawn, and how often.
//! - `errors`: what must be refused, and how.
//! - `lone`: questions asked one by one, again and again.

mod analyzers;
mod batches;
mod cases;
#[cfg(feature = "gpu")]
mod device;
#[cfg(feature = "gpu")]
mod device_faults;
mod errors;
mod lone;
#[cfg(feature = "pool")]
mod pool;
mod samples;
mod segments;
mod support;
mod texts;
