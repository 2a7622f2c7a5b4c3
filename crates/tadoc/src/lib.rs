//! tadoc keeps text compressed, and answers on the compressed form.
//!
//! [`compress`] makes an archive: one `.tdc` file in which passages that come again are rules of a
//! grammar. [`Corpus`] opens one or several, and answers: analytics ([`Query`]), search ([`Hits`]),
//! lines ([`Grep`]), any bytes ([`Document`]). [`Archive`] restores and verifies one,
//! [`edit::Editor`] edits it. Nothing unpacks the text to do so.
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
//! # Search and random access
//!
//! ```
//! # fn main() -> tadoc::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("plays.tdc");
//! # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
//! # let input = tadoc::Input::new("hamlet.txt", text);
//! # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
//! use tadoc::{
//!     Bm25, Context, Corpus, Document, DocumentId, Extent, Found, Hit, Sampled, SearchQuery,
//!     Snippet,
//! };
//!
//! let corpus = Corpus::open(&path)?;
//! let document: Document = corpus.document("hamlet.txt")?;
//! let id: DocumentId = document.id();
//! let hits = corpus.search("to be")?.collect::<tadoc::Result<Vec<Hit>>>()?;
//! assert_eq!(hits.iter().map(Hit::offset).collect::<Vec<_>>(), [0, 13]);
//! let Context { left, keyword, .. } = hits[1].context(Extent::Words(1))?;
//! assert_eq!((&left[..], &keyword[..]), (&b"not "[..], &b"to be"[..]));
//!
//! let query = corpus.query().only([id]);
//! let ranking = Bm25::new(1.2, 0.75)?;
//! let wanted = SearchQuery { words: b"not".to_vec(), bm25: ranking, ..SearchQuery::default() };
//! let found: Vec<Found> = query.find(&wanted, 10)?;
//! let Snippet { text, marked, .. } = found[0].snippet()?;
//! assert_eq!(&text[marked[0].clone()], b"not");
//!
//! for words in query.sample(3, 7)? {
//!     for Sampled { document, offset, word, .. } in words? {
//!         assert_eq!(document.extract(offset, word.len() as u64)?, word);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Threads, memory and signals
//!
//! Handles are `Send` and `Sync`, own what they need, and are cheap to clone. Work runs on the
//! rayon pool that it is called in ([`Threads`] makes one where the system may refuse threads);
//! compressing has a pool of its own. What is decoded of an archive is bounded by
//! [`OpenOptions::memory`], what a task takes by [`TaskQuery::memory`].
//!
//! Files are written aside and get their names when they are whole. A process that ends itself at a
//! signal calls [`NewFile::remove_all_unfinished`] first. Archives are mapped: if one is truncated
//! while it is read, the process gets SIGBUS; [`exit_on_truncated_files`] makes a message and an
//! exit code of that.
//!
//! # Features
//!
//! `gpu` runs tasks and batches on GPUs, whose drivers are looked for at run time; `pool` runs them
//! in a file instead of memory.

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

/// What [`Query::task`] runs.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{
///     Column, ColumnKind, Corpus, Explanation, Measure, Norm, Origin, Step, Strategy, Task,
///     TfIdfOptions,
/// };
///
/// let query = Corpus::open(&path)?.query();
/// let answer = query.task(Task::SequenceCount { n: 2 }).strategy(Strategy::TopDown).run()?;
/// assert_eq!(answer.columns(), [Column::text("sequence"), Column::count("count")]);
/// assert_eq!(answer.columns()[1].kind, ColumnKind::Count);
/// let explanation: &Explanation = answer.explanation();
/// assert_eq!((explanation.strategy, explanation.words), (Strategy::TopDown, 6));
/// assert!(matches!(explanation.origin, Origin::Archive));
/// let longest: Option<&Step> = explanation.steps[0].iter().max_by_key(|step| step.wall);
/// assert!(longest.is_some_and(|step| step.wall <= explanation.reading));
///
/// let unscaled = TfIdfOptions { norm: Norm::None, smooth_idf: false, ..TfIdfOptions::default() };
/// for task in [Task::TfIdf(unscaled), Task::Collocations { window: 2, measure: Measure::Pmi }] {
///     assert!(query.task(task).run()?.rows().count() > 0);
/// }
/// # Ok(())
/// # }
/// ```
pub use tadoc_core::Task;
/// What [`Answer::matrix`] gives.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{Corpus, Entries, Value};
///
/// let answer = Corpus::open(&path)?.query().term_vector().run()?;
/// let matrix: Box<dyn Entries> = answer.matrix().expect("documents by terms")?;
/// assert_eq!(matrix.shape(), (1, 4));
/// let mut sum = 0;
/// matrix.visit_entries(0..matrix.len(), &mut |_document, _term, value| {
///     let Value::Count(count) = value else { unreachable!() };
///     sum += count;
/// });
/// assert_eq!(sum, 6);
/// # Ok(())
/// # }
/// ```
pub use tadoc_core::answer::Entries;
/// What [`Answer::next_part`] gives.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// use std::ops::Range;
/// use tadoc::{Column, Rows, Value};
///
/// /// Rows of your own, for what takes those of answers.
/// struct Numbers(u64);
///
/// impl Rows for Numbers {
///     fn columns(&self) -> &'static [Column] {
///         const COLUMNS: &[Column] = &[Column::count("number")];
///         COLUMNS
///     }
///
///     fn len(&self) -> u64 {
///         self.0
///     }
///
///     fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
///         rows.for_each(|row| each(&[Value::Count(row)]));
///     }
/// }
///
/// let mut numbers = Vec::new();
/// Numbers(3).visit(1..3, &mut |row| {
///     let [Value::Count(number)] = row else { unreachable!() };
///     numbers.push(*number);
/// });
/// assert_eq!(numbers, [1, 2]);
/// # Ok(())
/// # }
/// ```
pub use tadoc_core::answer::Rows;
pub use tadoc_core::answer::{Column, ColumnKind, Position, Value};
pub use tadoc_core::archive::{Info, Level, SectionInfo, SegmentInfo, Timestamp};
pub use tadoc_core::{Error as ArchiveError, Measure, Norm, Step, Strategy, TfIdfOptions};
/// How [`Query::analyzer`] makes terms of words.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"The gauges of the tide gauge".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{Analyzer, Language, StopWords};
///
/// let stop_words = StopWords::of(Language::English)?.and(StopWords::from_lines(b"hamlet\n"));
/// let analyzer =
///     Analyzer::new().fold_case(true).stem(Some(Language::English)).stop_words(stop_words);
/// assert_eq!(analyzer.term(b"Gauges").as_deref(), Some(&b"gaug"[..]));
/// assert_eq!((analyzer.term(b"The"), analyzer.term(b"Hamlet")), (None, None));
///
/// let corpus = tadoc::Corpus::open(&path)?;
/// let answer = corpus.query().analyzer(analyzer).sort().run()?;
/// assert_eq!(answer.rows().next().expect("a row")?.to_string(), "gaug\t2");
/// # Ok(())
/// # }
/// ```
pub use tadoc_engine::Analyzer;
/// How [`compress`] makes an archive.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("notes.tdc");
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tadoc::{
///     Builder, CompressEstimate, CompressOptions, CompressReport, Input, Level, Lexer, NamesFrom,
///     Observer, Phase, Source, Split, Timestamp,
/// };
///
/// /// How many bytes were compressed so far.
/// struct Progress(AtomicU64);
///
/// impl Observer for Progress {
///     fn step(&self, phase: Phase, done: u64, _total: u64) -> ControlFlow<()> {
///         if phase == Phase::Compressing {
///             self.0.store(done, Ordering::Relaxed);
///         }
///         ControlFlow::Continue(())
///     }
/// }
///
/// let mut note = Input::new("notes/1", Source::Bytes(b"To be or not to be.\n".to_vec()));
/// note.modified = Some(Timestamp { seconds: 1_700_000_000, nanoseconds: 0 });
/// let log = Input::new("notes/log", Source::stream("log", || Ok(&b"no news\n"[..])));
/// let options = CompressOptions {
///     lexer: Lexer::Words,
///     builder: Builder::RePair,
///     level: Level::Dense,
///     split: Split::Files,
///     names_from: Some(NamesFrom::new("/home/me", "")),
///     ..CompressOptions::default()
/// };
/// let estimate: CompressEstimate = options.estimate(28)?;
/// assert_eq!(estimate.segments, 1);
/// let progress = Progress(AtomicU64::new(0));
/// let report: CompressReport = tadoc::compress(vec![note, log], &path, &options, &progress)?;
/// assert_eq!((report.documents, report.text_bytes), (2, 28));
/// assert!(progress.0.load(Ordering::Relaxed) <= 28);
/// # Ok(())
/// # }
/// ```
pub use tadoc_engine::CompressOptions;
/// One archive, to be described, restored and verified; [`Corpus`] answers.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{
///     Archive, DocumentInfo, Error, Existing, File, Info, RestoreReport, SectionInfo, SegmentInfo,
///     SkippedFile, VerifyReport,
/// };
///
/// let archive = Archive::open(&path)?;
/// let info: Info = archive.info();
/// let segment: &SegmentInfo = &info.segments[0];
/// assert_eq!((info.documents, segment.documents), (1, 1));
/// let bytes = info.sections.iter().map(|section: &SectionInfo| section.bytes);
/// assert!(bytes.sum::<u64>() < info.archive_bytes);
/// let document: &DocumentInfo = &archive.documents()?[0];
/// assert_eq!((&document.name[..], document.bytes), (&b"hamlet.txt"[..], 18));
///
/// let verified: VerifyReport = archive.verify(&())?;
/// assert_eq!(verified.documents, 1);
///
/// let files: Vec<File> = archive.files(false)?;
/// let copy = folder.path().join("copy");
/// let restored: RestoreReport = archive.restore(&files, &copy, Existing::Refuse, &())?;
/// assert_eq!((restored.files, restored.bytes), (1, 18));
/// // A file that is there already is left alone.
/// let again = archive.restore(&files, &copy, Existing::Refuse, &())?;
/// let SkippedFile { name, error } = &again.skipped[0];
/// assert!(name == b"hamlet.txt" && matches!(error, Error::Exists { .. }));
/// # Ok(())
/// # }
/// ```
pub use tadoc_engine::Corpus as Archive;
/// A text that [`Archive::find_copies`] looks for.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{Archive, TextDigest};
///
/// let mut digest = TextDigest::default();
/// digest.update(b"to be or ");
/// digest.update(b"not to be");
/// let copies = Archive::open(&path)?.find_copies(&[digest, TextDigest::default()], |_| true)?;
/// assert_eq!(copies, [Some(0), None]);
/// # Ok(())
/// # }
/// ```
pub use tadoc_engine::TextDigest;
pub use tadoc_engine::access::{Bm25, Index, Query as SearchQuery};
/// Where [`OpenOptions::backend`] has tasks and batches run.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::{Backend, Corpus, Index, Level, MemoryLimit, OpenOptions};
///
/// let memory = MemoryLimit::AtLeast(512 << 20);
/// let options = OpenOptions::new().memory_limit(memory).index(Index::Fast).backend(Backend::Cpu);
/// options.store_index(&path, Index::Small, &())?;
/// options.store_view(&path, &())?;
/// let dense = folder.path().join("dense.tdc");
/// options.transcode(&path, &dense, Level::Dense, false, &())?;
///
/// let corpus: Corpus = options.open(&[&path, &dense])?;
/// assert_eq!((corpus.archives().len(), corpus.count("to be")?), (2, 4));
/// let answer = corpus.query().word_count().run()?;
/// assert_eq!(answer.explanation().backend, Backend::Cpu);
/// # Ok(())
/// # }
/// ```
pub use tadoc_engine::backend::Choice as Backend;
pub use tadoc_engine::backend::PoolReport;
pub use tadoc_engine::compress::compress;
/// Ends the process with a message where a mapped file is truncated.
///
/// ```standalone_crate
/// let handled = tadoc::exit_on_truncated_files("a file was truncated while it was read\n");
/// assert!(handled.is_ok());
/// ```
pub use tadoc_engine::exit_on_truncated_files;
/// A device that [`OpenOptions::device`] can choose.
///
/// ```
/// use tadoc::{DeviceApi, DeviceInfo, GpuError, Measured};
///
/// let (devices, problems) = DeviceInfo::list();
/// assert!(problems.len() <= 2);
/// for device in devices.iter().filter(|device| device.api == DeviceApi::Cuda) {
///     assert!(device.selector().starts_with("cuda:"));
///     let measured: Result<Measured, GpuError> = device.measure();
///     assert!(measured.is_err() || device.unusable.is_none());
/// }
/// ```
#[cfg(feature = "gpu")]
pub use tadoc_engine::gpu::DeviceInfo;
#[cfg(feature = "gpu")]
pub use tadoc_engine::gpu::{Error as GpuError, Measured, device::Api as DeviceApi};
/// What [`Query::grep`] looks for.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use std::io;
/// use std::ops::ControlFlow;
/// use tadoc::{
///     Binary, Case, Corpus, Document, Grep, GrepLine, GrepMethod, GrepOptions, GrepReport,
///     GrepSink, Line, Pattern, Summary, Syntax, Want,
/// };
///
/// /// Counts documents that match, up to a number.
/// struct Count { found: usize, most: usize }
///
/// impl GrepSink for Count {
///     fn line(&mut self, _: &Document, _: &Line<'_>) -> io::Result<()> {
///         Ok(())
///     }
///
///     fn end(&mut self, _: &Document, summary: &Summary) -> io::Result<ControlFlow<()>> {
///         self.found += usize::from(summary.lines > 0);
///         Ok(match self.found < self.most {
///             true => ControlFlow::Continue(()),
///             false => ControlFlow::Break(()),
///         })
///     }
/// }
///
/// let syntax = Syntax { case: Case::Smart, whole_words: true, ..Syntax::default() };
/// let grep: Grep = Corpus::open(&path)?.query().grep(Pattern::new(&["o[rf]", "not"], syntax)?);
/// let options = GrepOptions { want: Want::Count, binary: Binary::Text, ..GrepOptions::default() };
/// let mut count = Count { found: 0, most: 1 };
/// let method = Some(GrepMethod::Expansion);
/// let options = GrepOptions { method, ..options };
/// let report: GrepReport = grep.clone().options(options).visit(&mut count)?;
/// assert_eq!((count.found, report.expanded), (1, 18));
/// let lines: Vec<GrepLine> = grep.lines()?;
/// assert_eq!(lines[0].text, b"to be or not to be");
/// # Ok(())
/// # }
/// ```
pub use tadoc_engine::grep::Pattern;
pub use tadoc_engine::grep::{Binary, Case, Line, Options as GrepOptions, Summary, Syntax, Want};
pub use tadoc_engine::grep::{Method as GrepMethod, Report as GrepReport};
#[cfg(feature = "pool")]
pub use tadoc_engine::pool::{Error as PoolError, Patience, Persist};
pub use tadoc_engine::view::Origin;
pub use tadoc_engine::{
    Builder, CompressEstimate, CompressReport, CorpusFile as File, Document as DocumentInfo,
    EditsInfo, Error, Existing, Input, Language, Lexer, MemoryLimit, NamesFrom, Observer, Phase,
    RestoreReport, Result, SkippedFile, Source, Split, StopWords, VerifyReport,
};

/// What a task of your own is written with: [`Query::run_custom`](crate::Query::run_custom) has an
/// example.
pub mod custom {
    // What phases hand out, such as the grammar of a view, is in `tadoc_core` and `tadoc_tasks`.
    pub use tadoc_core::Array;
    pub use tadoc_engine::analytics::{CustomTask, Phases};
}

/// Bytes as text that can be printed, and back.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// use tadoc::text::{as_utf8, escape, unescape, unescape_utf8};
///
/// let name = b"a\tb\xff";
/// assert_eq!(escape(name).to_string(), r"a\tb\xff");
/// assert_eq!(unescape(r"a\tb\xff").as_deref(), Some(&name[..]));
/// // Only what is not UTF-8 is escaped.
/// assert_eq!(as_utf8(name), "a\tb\\xff");
/// assert_eq!(unescape_utf8("a\tb\\xff"), name);
/// # Ok(())
/// # }
/// ```
pub mod text {
    pub use tadoc_engine::text::{as_utf8, escape, unescape, unescape_utf8};
}

/// Edits: transactions, batches, and compressing again.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// use tadoc::EditsInfo;
/// use tadoc::edit::{
///     BatchOptions, Durability, Edit, Editor, Offsets, Operation, Outcome, RecompressOptions,
///     RecompressReport, Transaction, Transactions,
/// };
///
/// let editor = Editor::open(&path)?;
/// let mut transaction: Transaction = editor.begin()?;
/// transaction.append("hamlet.txt", b", that is")?;
/// let document = transaction.find(b"hamlet.txt")?;
/// transaction.edit(&Edit::Insert { document, offset: 0, text: b"Hm: " })?;
/// let pending: EditsInfo = transaction.pending();
/// assert_eq!((pending.edits, pending.transactions), (2, 0));
/// transaction.commit(Durability::Sync)?;
///
/// // Batches of reads and edits; one that fails does not stop the others.
/// let (document, text) = (b"hamlet.txt".to_vec(), b" the question".to_vec());
/// let append = Operation::Append { document, text };
/// let count = Operation::Count { document: None, phrase: b"the question".to_vec() };
/// let mut batches = vec![vec![append, count]].into_iter();
/// let options = BatchOptions {
///     offsets: Offsets::Sequence,
///     durability: Durability::None,
///     transactions: Transactions::Batch,
/// };
/// let mut outcomes = Vec::new();
/// editor.run(&mut || Ok(batches.next()), options, &mut |some| {
///     outcomes.extend(some);
///     Ok(())
/// })?;
/// assert!(matches!(outcomes[..], [Ok(Outcome::Done), Ok(Outcome::Count(1))]));
///
/// let report: RecompressReport = editor.recompress(&RecompressOptions::default(), &())?;
/// assert_eq!((report.edits, report.text_bytes), (3, 44));
/// # Ok(())
/// # }
/// ```
pub mod edit {
    pub use tadoc_engine::update::{
        BatchOptions, Durability, Edit, Editor, Offsets, Operation, Outcome, RecompressOptions,
        RecompressReport, Transaction, Transactions,
    };
}
