//! From files to an archive.
//!
//! Inputs are cut into batches (`feed`), which all threads read and lex (`lex`) until the memory allowed
//! is used up. What was lexed is paired then and becomes a part (`segment`), several times smaller than its tokens,
//! and lexing goes on. When no more parts can be united in the memory allowed, they become a segment, which
//! is encoded and written, and the next one begins. So a corpus of any length is compressed in bounded memory.

mod feed;
mod lex;
mod segment;
mod watch;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use tadoc_core::archive::{
    Archive, ArchiveLock, ArchiveWriter, Base, Digester, DocumentTable, EncodedDictionary,
    EncodedSegment, Origin, Summary,
};

use tadoc_core::new_file::{Destination, Found};

use self::feed::Feed;
pub(crate) use self::lex::Budget;
use self::lex::{Lexed, Piece, lex};
use self::segment::Part;
pub(crate) use self::segment::figures;
pub(crate) use self::watch::Watch;
use crate::build::builder::CancelFlag;
use crate::build::lexer::Lexer;
use crate::corpus::files::LINE_DIGITS;
use crate::error::{Error, Result};
use crate::origin::{self, NamesFrom};
use crate::progress::Observer;
use crate::{Document, Level, OpenOptions, SegmentInfo, Timestamp, names, threads};

pub use tadoc_core::archive::Split;

/// Which method finds the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Builder {
    /// Re-Pair: offline, the smallest grammars, on all threads.
    #[default]
    RePair,
    /// Sequitur: online, the papers' method, one thread a segment.
    Sequitur,
}

/// How to compress.
#[derive(Debug, Clone, Default)]
pub struct CompressOptions {
    /// Which bytes are words.
    pub lexer: Lexer,
    /// Which method finds the repetitions.
    pub builder: Builder,
    /// How the archive is encoded.
    pub level: Level,
    /// How files become documents.
    pub split: Split,
    /// The most memory to use, in bytes; what cannot be paired in it as a whole becomes further segments. `None`: half of what the
    /// machine has free, at most 8 GiB.
    pub memory: Option<u64>,
    /// Threads to use; `None`: as many as the machine has cores.
    pub threads: Option<usize>,
    /// Where the names of the inputs come from, to be recorded for those who add further files.
    pub names_from: Option<NamesFrom>,
    /// Leave out inputs that cannot be opened, rather than fail.
    pub skip_unreadable: bool,
    /// Replace the output if it exists.
    pub force: bool,
}

/// What compressing is going to take, about.
///
/// ```
/// let options = tadoc_engine::CompressOptions { threads: Some(2), ..Default::default() };
/// assert_eq!(options.estimate(1 << 20)?.segments, 1);
/// # Ok::<(), tadoc_engine::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompressEstimate {
    /// Bytes of memory, at the most.
    pub memory: u64,
    /// How many segments there will be.
    pub segments: u64,
}

impl CompressOptions {
    /// What text of so many bytes is going to take, known before it is read.
    ///
    /// # Errors
    /// [`Error::TooLittleMemory`] if the memory allowed is not enough for any text.
    pub fn estimate(&self, text_bytes: u64) -> Result<CompressEstimate> {
        let budget = Budget::new(self.memory, self.threads)?;
        let is_united = self.builder == Builder::RePair;
        let (memory, segments) = budget.estimate(text_bytes, is_united);
        Ok(CompressEstimate { memory, segments })
    }
}

/// One file to compress.
pub struct Input {
    /// The document's name, `/` between folders.
    pub name: Vec<u8>,
    /// Where its bytes come from.
    pub source: Source,
    /// When it was last modified.
    pub modified: Option<Timestamp>,
    /// Its permission bits.
    pub mode: Option<u32>,
}

impl Input {
    /// An input of this name and source, without time and mode.
    pub fn new(name: impl Into<Vec<u8>>, source: Source) -> Self {
        Self { name: name.into(), source, modified: None, mode: None }
    }
}

/// Opens a stream when its turn has come.
pub type Opener = Box<dyn FnOnce() -> std::io::Result<Box<dyn Read + Send>> + Send>;

/// Where the bytes of an input come from.
pub enum Source {
    /// A file, read up to the length that it has when it is opened.
    File(PathBuf),
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// Anything that can be read, opened when its turn has come and read to its end. The path is for
    /// error messages.
    Stream(PathBuf, Opener),
}

impl Source {
    /// [`Source::Stream`] of a function that opens a reader.
    pub fn stream<R: Read + Send + 'static>(
        path: impl Into<PathBuf>,
        open: impl FnOnce() -> std::io::Result<R> + Send + 'static,
    ) -> Self {
        let open = move || Ok(Box::new(open()?) as Box<dyn Read + Send>);
        Self::Stream(path.into(), Box::new(open))
    }
}

/// What came of compressing.
#[expect(missing_docs, reason = "figures of the archive say what they are")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressReport {
    pub documents: u64,
    pub text_bytes: u64,
    pub archive_bytes: u64,
    /// About what the archive would take at the level `fast`; at that level, what it takes.
    pub fast_bytes: u64,
    pub segments: u64,
    /// Files that grew while they were read; what was there when they were opened is in the archive.
    pub grown: Vec<PathBuf>,
    /// Inputs that could not be opened and were left out, and why.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// What wrote the archive, in its own words.
pub(crate) const WRITTEN_BY: &str = concat!("tadoc ", env!("CARGO_PKG_VERSION"));

/// Compresses `inputs` into a new archive at `output`.
///
/// The archive appears under its name only when it is whole: it is written aside, synced and renamed. A link
/// is followed; a pipe or device is written into.
/// Documents are stored in byte order of their names.
pub fn compress(
    inputs: Vec<Input>,
    output: &Path,
    options: &CompressOptions,
    observer: &dyn Observer,
) -> Result<CompressReport> {
    Destination::to_write(output, options.force)?;
    let budget = Budget::new(options.memory, options.threads)?;
    let inputs = sorted_by_name(inputs, options.split)?;
    // Told before the work, and held at its end.
    drop(lock_to_replace(output, options.force)?);
    let pool = threads::pool(Some(budget.threads))?;
    let watch = Watch::of_inputs(observer, &inputs, options.level, &pool);
    watch.check()?;
    let mut documents = Documents::new(&inputs, options.split);
    let longest_line = budget.longest_line();
    let skip = options.skip_unreadable;
    let feed = Mutex::new(Feed::new(inputs, options.lexer, options.split, longest_line, skip));
    let mut writer = ArchiveWriter::create(output)?;
    let mut segments: Vec<SegmentInfo> = Vec::new();
    let mut grown = Vec::new();
    let mut write = |made: (EncodedSegment, SegmentInfo)| -> Result<()> {
        writer.add_segment(&made.0)?;
        segments.push(made.1);
        Ok(())
    };
    let mut parts = Parts::new(budget, options.level, &pool, &watch);
    while let Some(mut lexed) =
        lex(&feed, options.lexer, options.split, budget, parts.memory(), &watch)?
    {
        let range = documents.add(&lexed.pieces);
        grown.append(&mut lexed.grown);
        // Sequitur makes a segment of what fits, Re-Pair of as many parts as fit when they are paired.
        if options.builder == Builder::RePair && (lexed.full || !parts.is_empty()) {
            let made = parts.add(lexed, range)?;
            made.map(&mut write).transpose()?;
        } else {
            let (encoded, info) = watch.during(1, |cancel| {
                pool.install(|| segment::build(lexed, options.builder, options.level, cancel))
            })??;
            let (first_document, documents) = range;
            write((encoded, SegmentInfo { first_document, documents, ..info }))?;
        }
        watch.built();
    }
    parts.unite()?.map(&mut write).transpose()?;
    let unreadable = feed.into_inner().expect("no thread panics with the lock").unreadable;
    let left_out: Vec<usize> = unreadable.iter().map(|left_out| left_out.input).collect();
    let origin = documents.origin(&left_out, options.names_from.as_ref(), output);
    let table = documents.finish()?;
    let summary = Summary {
        written_by: WRITTEN_BY.into(),
        lexer: options.lexer.name().into(),
        builder: options.builder.name().into(),
        level: options.level,
        documents: table.documents.len() as u64,
        text_bytes: table.documents.iter().map(|document| document.bytes).sum(),
        segments,
        origin,
    };
    let _lock = lock_to_replace(output, options.force)?;
    let [symbols, fast_symbols] = writer.symbol_bytes();
    let archive_bytes = writer.finish(&table, &summary, options.force)?;
    grown.sort();
    grown.dedup();
    Ok(CompressReport {
        documents: summary.documents,
        text_bytes: summary.text_bytes,
        archive_bytes,
        fast_bytes: (archive_bytes + fast_symbols).saturating_sub(symbols),
        segments: summary.segments.len() as u64,
        grown,
        unreadable: unreadable.into_iter().map(|left_out| (left_out.path, left_out.why)).collect(),
    })
}

/// The parts of the segment that is being built.
struct Parts<'c, 'o> {
    parts: Vec<Part>,
    budget: Budget,
    level: Level,
    pool: &'c ThreadPool,
    watch: &'c Watch<'o>,
}

impl<'c, 'o> Parts<'c, 'o> {
    fn new(budget: Budget, level: Level, pool: &'c ThreadPool, watch: &'c Watch<'o>) -> Self {
        Self { parts: Vec::new(), budget, level, pool, watch }
    }

    fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Bytes of memory held.
    fn memory(&self) -> u64 {
        self.parts.iter().map(Part::memory).sum()
    }

    /// Adds what was lexed. If it fits no more, gives the segment of the parts before.
    fn add(
        &mut self,
        lexed: Lexed,
        documents: (u64, u64),
    ) -> Result<Option<(EncodedSegment, SegmentInfo)>> {
        let part = self
            .watch
            .during(1, |cancel| self.pool.install(|| Part::new(lexed, documents, cancel)))??;
        let all = || self.parts.iter().chain([&part]);
        let symbols = all().map(Part::symbols).sum();
        let dictionaries = all().map(Part::dictionary).sum();
        let made = match self.budget.can_unite(symbols, dictionaries) {
            true => None,
            false => self.unite()?,
        };
        self.parts.push(part);
        Ok(made)
    }

    /// The segment of all parts, if there are any.
    fn unite(&mut self) -> Result<Option<(EncodedSegment, SegmentInfo)>> {
        let parts = std::mem::take(&mut self.parts);
        if parts.is_empty() {
            return Ok(None);
        }
        let made = self.watch.during(1, |cancel| {
            self.pool.install(|| segment::unite(parts, self.level, cancel))
        })??;
        Ok(Some(made))
    }
}

impl Builder {
    /// The builder of a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::RePair, Self::Sequitur].into_iter().find(|builder| builder.name() == name)
    }

    /// The name that the command and the archive use.
    pub fn name(self) -> &'static str {
        match self {
            Self::RePair => "repair",
            Self::Sequitur => "sequitur",
        }
    }
}

/// Half of what the machine has free, or `most` if that is less or not known.
fn available_memory(most: u64) -> u64 {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    available.map_or(most, |kibibytes| (kibibytes * 1024 / 2).min(most))
}

/// Checks the names, and puts the inputs in their order.
fn sorted_by_name(mut inputs: Vec<Input>, split: Split) -> Result<Vec<Input>> {
    for input in &inputs {
        names::check_new(&input.name)?;
    }
    inputs.sort_by(|left, right| left.name.cmp(&right.name));
    let all: Vec<&[u8]> = inputs.iter().map(|input| &input.name[..]).collect();
    names::check_no_file_is_a_folder(&all)?;
    match split {
        Split::Files => {}
        // The names of lines go on with a colon, which may come before or behind what other names have.
        Split::Lines => inputs.sort_by(|left, right| {
            let with_colon = |input: &Input| [&input.name[..], b":"].concat();
            with_colon(left).cmp(&with_colon(right))
        }),
    }
    match inputs.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(Error::DuplicateName { name: pair[0].name.clone() }),
        None => Ok(inputs),
    }
}

/// The documents as they come out of the lexer.
struct Documents {
    /// What is known of each input before it is read.
    inputs: Vec<(Vec<u8>, Option<Timestamp>, Option<u32>)>,
    split: Split,
    documents: Vec<Document>,
    /// Number of a document, and the hash of a piece of it; in order.
    hashes: Vec<(u32, u64)>,
    /// The last document goes on.
    open: bool,
    /// An input, and how many lines of it came by.
    lines: (usize, u64),
    /// Whether each input has a document.
    has_document: Vec<bool>,
}

impl Documents {
    fn new(inputs: &[Input], split: Split) -> Self {
        let known = inputs.iter().map(|input| (input.name.clone(), input.modified, input.mode));
        Self {
            inputs: known.collect(),
            split,
            documents: Vec::new(),
            hashes: Vec::new(),
            open: false,
            lines: (usize::MAX, 0),
            has_document: vec![false; inputs.len()],
        }
    }

    /// Adds the pieces of a segment; gives its first document and how many it has pieces of.
    fn add(&mut self, pieces: &[Piece]) -> (u64, u64) {
        let first = self.documents.len() as u64 - u64::from(self.open);
        for piece in pieces {
            self.has_document[piece.input] = true;
            if !self.open {
                let name = self.next_name(piece.input);
                let (_, modified, mode) = self.inputs[piece.input];
                self.documents.push(Document { name, bytes: 0, modified, mode });
            }
            let number = self.documents.len() as u32 - 1;
            self.documents[number as usize].bytes += piece.bytes;
            self.hashes.extend(piece.hash.map(|hash| (number, hash)));
            self.open = !piece.ends;
        }
        (first, self.documents.len() as u64 - first)
    }

    fn next_name(&mut self, input: usize) -> Vec<u8> {
        let name = &self.inputs[input].0;
        match self.split {
            Split::Files => name.clone(),
            Split::Lines => {
                if self.lines.0 != input {
                    self.lines = (input, 0);
                }
                self.lines.1 += 1;
                let number = format!(":{:0width$}", self.lines.1, width = LINE_DIGITS);
                [name, number.as_bytes()].concat()
            }
        }
    }

    /// How the documents were made of files, if there is something to record. `left_out` are inputs
    /// that could not be opened.
    fn origin(
        &self,
        left_out: &[usize],
        names_from: Option<&NamesFrom>,
        archive: &Path,
    ) -> Option<Origin> {
        let split = self.split;
        if split == Split::Files && names_from.is_none() {
            return None;
        }
        let without =
            |&input: &usize| !self.has_document[input] && left_out.binary_search(&input).is_err();
        let mut empty: Vec<Document> = (0..self.inputs.len())
            .filter(without)
            .map(|input| {
                let (name, modified, mode) = self.inputs[input].clone();
                Document { name, bytes: 0, modified, mode }
            })
            .collect();
        empty.sort_by(|left, right| left.name.cmp(&right.name));
        let base = names_from.map_or(Base::Unknown, |from| from.base(archive));
        let prefix = names_from.map_or_else(Vec::new, |from| from.prefix().to_vec());
        Some(Origin { split, base, prefix, empty })
    }

    /// The table, in byte order of names. An input called as a line of another one can be out of order.
    fn finish(self) -> Result<DocumentTable> {
        if let Some(pair) = self.documents.windows(2).find(|pair| pair[0].name >= pair[1].name) {
            let reason = "looks like the name of a line of another input";
            return Err(Error::BadName { name: pair[0].name.clone(), reason });
        }
        let mut digester = Digester::default();
        let mut digests = Vec::new();
        let mut hashes = self.hashes.chunk_by(|left, right| left.0 == right.0);
        for (number, document) in self.documents.iter().enumerate() {
            let own: Vec<u64> =
                hashes.next().into_iter().flatten().map(|&(_, hash)| hash).collect();
            let last = number + 1 == self.documents.len();
            digests.extend(digester.document(document.bytes, &own, last));
        }
        Ok(DocumentTable { documents: self.documents, digests })
    }
}

/// So long is waited for another process that replaces the same file, and holds its lock while it gives a name.
const PATIENCE: Duration = Duration::from_secs(2);

/// The lock of an archive that is to be replaced, so that nobody edits it meanwhile. `None` where there is nothing that anybody
/// could edit.
fn lock_to_replace(path: &Path, replace: bool) -> Result<Option<ArchiveLock>> {
    if !replace || Destination::of(path)?.found != Found::File {
        return Ok(None);
    }
    let start = Instant::now();
    loop {
        match ArchiveLock::acquire(path) {
            Err(error @ tadoc_core::Error::Locked { .. }) if start.elapsed() >= PATIENCE => {
                return Err(error.into());
            }
            Err(tadoc_core::Error::Locked { .. }) => sleep(Duration::from_millis(10)),
            // What cannot be opened can be replaced all the same, and it may be gone by now.
            lock => return Ok(lock.ok()),
        }
    }
}

/// Encodes the archive at `from` anew at `level` into `to`; grammars, documents and answers stay as they
/// are. One with edits is refused. Nobody may read the new one who may not read the old one.
pub fn transcode(
    from: &Path,
    to: &Path,
    level: Level,
    force: bool,
    observer: &dyn Observer,
) -> Result<CompressReport> {
    transcode_with(from, &OpenOptions::new(), to, level, force, observer)
}

/// The same; `options` say how the archive at `from` is opened.
pub fn transcode_with(
    from: &Path,
    options: &OpenOptions,
    to: &Path,
    level: Level,
    force: bool,
    observer: &dyn Observer,
) -> Result<CompressReport> {
    Destination::to_write(to, force)?;
    let _lock = lock_to_replace(to, force)?;
    let archive = Archive::open_within(from, options.memory)?;
    let edits = archive.journal()?.edit_count();
    if edits > 0 {
        return Err(Error::HasEdits { path: from.to_owned(), edits });
    }
    let table = archive.documents()?;
    let origin = archive.summary().origin.as_ref();
    let summary = Summary {
        level,
        written_by: WRITTEN_BY.into(),
        origin: origin.map(|origin| origin::moved(origin, from, to)),
        ..archive.summary().clone()
    };
    let mut writer = ArchiveWriter::create_from(to, &archive)?;
    let pool = threads::pool(None)?;
    let levels = [archive.summary().level, level];
    let watch = Watch::of_transcoding(observer, summary.text_bytes, levels);
    for number in 0..summary.segments.len() {
        let transcode = |cancel: &CancelFlag| -> Result<EncodedSegment> {
            let (grammar, dictionary) = archive.segment_unless(number, cancel)?;
            let entries = dictionary.entries(summary.segments[number].text_bytes)?;
            let (words, separators) = (entries.words(), entries.separators());
            let dictionary = EncodedDictionary::new(&words, &separators, level, cancel)?;
            Ok(EncodedSegment::with_dictionary(dictionary, &grammar, level, cancel)?)
        };
        watch.check()?;
        watch.lexed(summary.segments[number].text_bytes);
        let encoded = watch.during(1, |cancel| pool.install(|| transcode(cancel)))?;
        writer.add_segment(&encoded?)?;
        watch.built();
    }
    let [symbols, fast_symbols] = writer.symbol_bytes();
    let archive_bytes = writer.finish(&table, &summary, force)?;
    Ok(CompressReport {
        documents: summary.documents,
        text_bytes: summary.text_bytes,
        archive_bytes,
        fast_bytes: (archive_bytes + fast_symbols).saturating_sub(symbols),
        segments: summary.segments.len() as u64,
        grown: Vec::new(),
        unreadable: Vec::new(),
    })
}
