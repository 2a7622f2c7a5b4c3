//! tadoc keeps text compressed and works on the compressed form.
//!
//! A corpus (any number of named documents, of any bytes) becomes an *archive*: one `.tdc` file in which
//! passages that come again are rules of a grammar. Documents come back byte by byte, one or all of them.
//!
//! [`compress()`] makes an archive, [`Corpus`] reads one, [`transcode`] encodes one anew at another
//! [`Level`].
//!
//! ```
//! use std::ops::ControlFlow;
//! use tadoc_engine::{CompressOptions, Corpus, Error, Input, Phase, Source};
//!
//! # fn main() -> tadoc_engine::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("greetings.tdc");
//! // Documents from memory; `Source::File` and `Source::Stream` are the other ways.
//! let inputs = vec![
//!     Input::new("english.txt", Source::Bytes(b"Good morning, good night.\n".to_vec())),
//!     Input::new("german.txt", Source::Bytes("Guten Morgen, gute Nacht.\n".into())),
//! ];
//! // Called now and then while the work goes on.
//! let observer = |phase: Phase, done: u64, total: u64| {
//!     println!("{phase:?}: {done} of {total}");
//!     ControlFlow::Continue(())
//! };
//! let report = tadoc_engine::compress(inputs, &path, &CompressOptions::default(), &observer)?;
//! assert_eq!((report.documents, report.text_bytes), (2, 52));
//!
//! // What is in it? Documents are in byte order of their names.
//! let corpus = Corpus::open(&path)?;
//! let names: Vec<&[u8]> = corpus.documents()?.iter().map(|document| &document.name[..]).collect();
//! assert_eq!(names, [&b"english.txt"[..], b"german.txt"]);
//!
//! // One document, to anything that can be written to. `()` is the observer that lets work go on.
//! let mut text = Vec::new();
//! corpus.write_documents(&[corpus.find(b"german.txt")?], &mut text, &())?;
//! assert_eq!(text, "Guten Morgen, gute Nacht.\n".as_bytes());
//!
//! // Every checksum, and every document against its digest.
//! assert_eq!(corpus.verify(&())?.documents, 2);
//!
//! // An observer that breaks ends the work.
//! let stop = |_: Phase, _: u64, _: u64| ControlFlow::Break(());
//! assert!(matches!(corpus.verify(&stop), Err(Error::Cancelled)));
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! - [`compress`](mod@compress): from inputs to an archive, and from one level to the other.
//! - [`corpus`]: an open archive, its documents, restoring and verifying.
//! - [`access`]: any bytes, lines and words of an archive, without expanding the rest.
//! - [`update`]: editing an archive, and compressing it again.
//! - [`grep`]: lines of an archive that match a regular expression, found on the compressed form.
//! - [`analytics`]: the tasks, what is counted and weighed, and what to write your own on.
//! - [`backend`]: where they run: the processor, a GPU, or a pool.
//! - [`analyzer`]: what turns words into the terms that are counted.
//! - [`view`]: from archives and an analyzer to the grammar over terms that tasks run on.
//! - [`build`]: what compressing is made of: lexers, dictionary, grammar builders.
//! - [`progress`]: observers, which see how far work has come and may end it.
//! - [`error`]: what can go wrong, as facts; advice is up to the program.
//! - [`new_file`]: files that get their name when they are whole.
//! - [`threads`]: pools of threads, where the system may refuse to start them.
//! - [`text`]: names and other bytes as text that can be printed, and back.
//!
//! The grammar itself and the archive's bytes are in the crate `tadoc_core`.
//!
//! # Threads and memory
//!
//! Compressing and transcoding have a thread pool of their own. [`CompressOptions`] bounds threads
//! and memory: text beyond the bound becomes further segments of the same archive. Restoring holds
//! one segment at a time, a view is in memory as a whole; both work in the rayon pool that they are
//! called in, and where there is none, in rayon's global one, which opening an archive starts, as
//! what rayon does itself panics where threads are refused.
//!
//! # Signals
//!
//! Files are written aside and removed when the work fails or is cancelled by its observer. A process that ends
//! itself at a signal, without waiting for the work, calls [`unfinished::remove_all`] first.
//!
//! Archives, views and pools are mapped: if someone truncates one while it is read, the process gets SIGBUS.
//! [`exit_on_truncated_files`] gives a message and an exit code instead.

pub mod access;
pub mod analytics;
pub mod analyzer;
pub mod backend;
pub mod build;
pub mod compress;
pub mod corpus;
pub mod error;
pub mod grep;
mod names;
mod origin;
pub mod progress;
pub mod text;
mod texts;
pub mod threads;
pub mod update;
pub mod view;

#[cfg(feature = "gpu")]
pub use tadoc_gpu as gpu;
#[cfg(feature = "pool")]
pub use tadoc_pool as pool;

pub use analyzer::{Analyzer, Language, StopWords};
pub use backend::Backends;
pub use build::lexer::Lexer;
pub use compress::{
    Builder, CompressEstimate, CompressOptions, CompressReport, Input, Opener, Source, Split,
    compress, transcode, transcode_with,
};
pub use corpus::{
    Corpus, CorpusFile, EditsInfo, Existing, OpenOptions, RestoreReport, SkippedFile, TextDigest,
    VerifyReport,
};
pub use error::{Error, Result};
pub use origin::NamesFrom;
pub use progress::{Observer, Phase};
pub use tadoc_core::archive::exit_on_truncated_files;
pub use tadoc_core::archive::{Document, Info, Level, SectionInfo, SegmentInfo, Timestamp};
pub use tadoc_core::new_file;
pub use tadoc_core::{
    Answered, Limits, Measure, MemoryLimit, Norm, Strategy, Task, TfIdfOptions, View, answer,
    unfinished,
};
pub use update::{Durability, Edit, Editor, Offsets, Transaction};
