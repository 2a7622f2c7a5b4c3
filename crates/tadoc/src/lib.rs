//! tadoc keeps text compressed, and answers on the compressed form.
//!
//! [`compress`] makes an archive: one `.tdc` file in which passages that come again are rules of a grammar. [`Corpus`]
//! opens one or several, and answers: analytics ([`Query`]), search ([`Hits`]), lines ([`Grep`]), any bytes
//! ([`Document`]). [`Archive`] restores and verifies one, [`edit::Editor`] edits it. Nothing unpacks the text to do so.
//!
//! ```
//! use tadoc::{CompressOptions, Corpus, Input, Source};
//!
//! # fn main() -> tadoc::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("mail.tdc");
//! let inputs = vec![
//!     Input::new("2024/1.eml", Source::Bytes(b"The tide gauge is broken.".to_vec())),
//!     Input::new("2024/2.eml", Source::Bytes(b"The battery of the gauge is low.".to_vec())),
//! ];
//! tadoc::compress(inputs, &path, &CompressOptions::default(), &())?;
//!
//! let corpus = Corpus::open(&path)?;
//! let words = corpus.query().ignore_case().documents("2024/*")?;
//! for row in words.word_count().top(2).run()?.rows() {
//!     let row = row?;
//!     println!("{} {}", row.text("term").unwrap().escape_ascii(), row.count("count").unwrap());
//! }
//! for hit in corpus.search("tide gauge")? {
//!     let hit = hit?;
//!     assert_eq!((hit.document().name(), hit.offset()), (&b"2024/1.eml"[..], 4));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Threads, memory and signals
//!
//! Handles are `Send` and `Sync`, own what they need, and are cheap to clone. Work runs on the rayon pool that it is
//! called in ([`Threads`] makes one where the system may refuse threads); compressing has a pool of its own. What is
//! decoded of an archive is bounded by [`OpenOptions::memory`], what a task takes by [`TaskQuery::memory`].
//!
//! Files are written aside and get their names when they are whole. A process that ends itself at a signal calls
//! [`NewFile::remove_all_unfinished`] first. Archives are mapped: if one is truncated while it is read, the process gets SIGBUS;
//! [`exit_on_truncated_files`] makes a message and an exit code of that.
//!
//! # Features
//!
//! `gpu` runs tasks and batches on GPUs, whose drivers are looked for at run time; `pool` runs them in a file instead
//! of memory.

mod answer;
mod batch;
mod context;
mod corpus;
mod documents;
mod find;
mod grep;
#[cfg(doctest)]
mod guides;
mod hits;
mod new_file;
mod phrase;
mod query;
mod select;
mod threads;

pub use answer::{Answer, Explanation, Row};
pub use batch::{Batches, Read, ReadResult, Sampled};
pub use context::{Context, Extent};
pub use corpus::{Corpus, OpenOptions};
pub use documents::{Document, DocumentId};
pub use find::{Found, Snippet};
pub use grep::{Grep, GrepLine, GrepSink};
pub use hits::{Hit, Hits};
pub use new_file::NewFile;
pub use phrase::Phrase;
pub use query::{Query, TaskQuery};
pub use select::match_names;
pub use threads::Threads;

pub use tadoc_core::answer::{Column, ColumnKind, Entries, Position, Rows, Value};
pub use tadoc_core::archive::{Info, Level, SectionInfo, SegmentInfo, Timestamp};
pub use tadoc_core::{Error as ArchiveError, Measure, Norm, Strategy, Task, TfIdfOptions};
pub use tadoc_engine::access::{Bm25, Index, Query as SearchQuery};
pub use tadoc_engine::backend::{Choice as Backend, PoolReport};
pub use tadoc_engine::compress::compress;
#[cfg(feature = "gpu")]
pub use tadoc_engine::gpu::{DeviceInfo, Error as GpuError, Measured, device::Api as DeviceApi};
pub use tadoc_engine::grep::{
    Binary, Case, Line, Options as GrepOptions, Pattern, Summary, Syntax, Want,
};
#[cfg(feature = "pool")]
pub use tadoc_engine::pool::{Error as PoolError, Patience, Persist};
pub use tadoc_engine::view::Origin;
pub use tadoc_engine::{
    Analyzer, Builder, CompressOptions, CompressReport, Corpus as Archive, CorpusFile as File,
    Document as DocumentInfo, EditsInfo, Error, Existing, Input, Language, Lexer, MemoryLimit,
    NamesFrom, Observer, Phase, RestoreReport, Result, SkippedFile, Source, Split, StopWords,
    TextDigest, VerifyReport,
};
pub use tadoc_engine::{exit_on_truncated_files, text};

/// What a task of your own is written with: [`Query::run_custom`](crate::Query::run_custom) has an example.
pub mod custom {
    // What phases hand out, such as the grammar of a view, is in `tadoc_core` and `tadoc_tasks`.
    pub use tadoc_core::Array;
    pub use tadoc_engine::analytics::{CustomTask, Phases};
}

/// Edits: transactions, batches, and compressing again.
pub mod edit {
    pub use tadoc_engine::update::{
        BatchOptions, Durability, Edit, Editor, Offsets, Operation, Outcome, RecompressOptions,
        RecompressReport, Transaction, Transactions,
    };
}
