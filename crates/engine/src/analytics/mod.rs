//! The analytics: every [`Task`] on a view, and tasks of your own.
//!
//! [`CpuBackend`] answers them on all threads of the rayon pool that it is called in. An answer gives its
//! rows part by part ([`Answer`](tadoc_core::answer::Answer)); what the rows are, exactly, is said with each task here and is the
//! same on any number of threads, with any strategy, and as of a plain program over the text.
//! [`CustomTask`] is what you write your own on, for memory and pools.
//!
//! | task | rows | in the order of |
//! | --- | --- | --- |
//! | word count | term, occurrences | occurrences descending, then term |
//! | sort | term, occurrences | term |
//! | inverted index | term, document | term, then corpus |
//! | term vector | document, term, occurrences | corpus, then occurrences descending, then term |
//! | sequence count | sequence, occurrences | occurrences descending, then sequence |
//! | … per document | sequence, document, occurrences | corpus, then occurrences descending, then sequence |
//! | ranked inverted index | sequence, document, occurrences | sequence, then occurrences descending, then corpus |
//! | TF-IDF | document, term, weight | corpus, then term (with a limit: weight descending) |
//! | co-occurrence | first, second, occurrences | occurrences descending, then pair |
//! | collocations | first, second, occurrences, scores | a score descending, then pair |
//!
//! A sequence is of `n` terms that follow each other in one document; what the analyzer removed is skipped over.
//! Terms compare by their bytes, sequences and pairs term by term.

use tadoc_core::{Answered, Backend, Limits, Task, View};

use crate::error::Result;

pub use tadoc_core::answer::columns;
pub use tadoc_core::{Measure, TfIdfOptions};
pub use tadoc_tasks::{CpuBackend, CustomTask, Phases, score};

/// Runs a task on a view, on the processor.
pub fn answer(view: &View, task: Task, limits: &Limits) -> Result<Answered> {
    Ok(CpuBackend.answer(view, task, limits)?)
}
