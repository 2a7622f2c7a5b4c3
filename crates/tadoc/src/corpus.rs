//! One or several open archives as one corpus.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tadoc_engine::access::{Access, Index};
use tadoc_engine::backend::{Backends, Choice};
#[cfg(feature = "pool")]
use tadoc_engine::backend::{PoolFile, notes};
#[cfg(feature = "pool")]
use tadoc_engine::pool::{Patience, Persist};
use tadoc_engine::{Error, MemoryLimit};

use crate::edit::{Editor, Transaction};
use crate::{
    Archive, CompressReport, Document, DocumentId, Hits, Level, Observer, Phrase, Query, Result,
};

/// One or several archives, opened for reading as one corpus.
///
/// Opening reads the summary of each archive; everything else is read when it is first needed, and
/// then kept. A clone is another handle to the same corpus, and costs nothing; a corpus can be
/// shared by any number of threads. It shows the edits that were committed when it was opened, and
/// no later ones.
///
/// Documents are in byte order of their names within an archive, and archives in the order given.
/// Two archives may have documents of the same name.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let corpus = tadoc::Corpus::open(&path)?;
/// assert_eq!(corpus.document_count(), 1);
/// assert_eq!(corpus.document("hamlet.txt")?.read()?, b"to be or not to be");
/// assert_eq!(corpus.count("to be")?, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Corpus {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Vec<Part>,
    backends: Backends,
}

/// An archive of a corpus.
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    pub(crate) archive: Archive,
    /// The number of its first document in the corpus.
    pub(crate) first: u32,
    options: OpenOptions,
    access: OnceLock<Arc<Access>>,
    /// What a pool had of it, a line each.
    #[cfg(feature = "pool")]
    found: OnceLock<Vec<String>>,
}

/// What random access reads.
#[derive(Clone)]
enum ReadFrom {
    /// The archive, and of an index in it no more than this.
    Archive(Index),
    #[cfg(feature = "pool")]
    Pool { path: PathBuf, persist: Persist, patience: Patience },
}

impl Part {
    /// The archive opened for random access; the first call opens it.
    pub(crate) fn access(&self) -> Result<&Arc<Access>> {
        if let Some(access) = self.access.get() {
            return Ok(access);
        }
        let access = match &self.options.place {
            ReadFrom::Archive(most) => Access::open(&self.archive, *most),
            #[cfg(feature = "pool")]
            ReadFrom::Pool { path, persist, patience } => {
                let opened = Access::in_pool(&self.archive, path, *persist, *patience);
                opened.map(|(access, found)| {
                    // That everything was there is expected of the second question.
                    if !(found.made.is_empty() && found.discarded.is_empty()) {
                        let _ = self.found.set(notes(&[found]));
                    }
                    access
                })
            }
        };
        let access = self.named(access)?;
        Ok(self.access.get_or_init(|| Arc::new(access)))
    }

    /// Adds the archive's path to an error that does not name a file.
    pub(crate) fn named<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.of_archive(&self.path))
    }
}

/// How archives are opened.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let corpus = tadoc::OpenOptions::new().memory(512 << 20).open(&[&path])?;
/// assert_eq!(corpus.archives().count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenOptions {
    archive: tadoc_engine::OpenOptions,
    backend: Choice,
    device: Option<String>,
    place: ReadFrom,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            archive: tadoc_engine::OpenOptions::new(),
            backend: Choice::Auto,
            device: None,
            place: ReadFrom::Archive(Index::Fast),
        }
    }
}

impl OpenOptions {
    /// The defaults: the memory that the archive's length suggests, the whole index, the backend
    /// that an estimate prefers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that everything decoded of an archive may take together. The default is 64 times the
    /// length of the file, at least 320 MiB and at most half of the machine's memory.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { archive: self.archive.memory(bytes), ..self }
    }

    /// The same as a limit of any kind.
    #[must_use]
    pub fn memory_limit(self, memory: MemoryLimit) -> Self {
        Self { archive: self.archive.memory_limit(memory), ..self }
    }

    /// The most that is used of a stored index. Answers are the same with any.
    #[must_use]
    pub fn index(self, most: Index) -> Self {
        Self { place: ReadFrom::Archive(most), ..self }
    }

    /// Where tasks and batches run. Answers are the same with any.
    #[must_use]
    pub fn backend(self, backend: Choice) -> Self {
        Self { backend, ..self }
    }

    /// The GPU to use: a `DeviceInfo::selector`, or a part of its name.
    #[must_use]
    pub fn device(self, name: impl Into<String>) -> Self {
        Self { device: Some(name.into()), ..self }
    }

    /// Reads and answers in this file instead of memory: for a corpus larger than memory, and work
    /// that may be interrupted. The file is made if it is not there, and belongs to the archives; a
    /// pool that another process has is waited for as `patience` says. Random access in a pool is
    /// of one archive.
    ///
    /// ```
    /// # fn main() -> tadoc::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("plays.tdc");
    /// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
    /// # let input = tadoc::Input::new("hamlet.txt", text);
    /// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
    /// # let pool = folder.path().join("plays.pool");
    /// use std::time::Duration;
    /// use tadoc::{Backend, Error, OpenOptions, Patience, Persist, PoolError, PoolReport};
    ///
    /// let patience = Patience { most: Duration::ZERO, ..Patience::default() };
    /// let options = OpenOptions::new().pool(&pool, Persist::Phase, patience);
    /// let answer = options.open(&[&path])?.query().word_count().run()?;
    /// assert_eq!(answer.explanation().backend, Backend::Pool);
    /// let report: &PoolReport = answer.explanation().pool.as_ref().expect("it ran in a pool");
    /// assert!(report.bytes > 0);
    ///
    /// // The answer is read from the pool, which nobody else can have meanwhile.
    /// let refused = options.open(&[&path])?.query().word_count().run().unwrap_err();
    /// assert!(matches!(refused.innermost(), Error::Pool(PoolError::InUse { .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "pool")]
    #[must_use]
    pub fn pool(self, path: impl Into<PathBuf>, persist: Persist, patience: Patience) -> Self {
        let place = ReadFrom::Pool { path: path.into(), persist, patience };
        Self { backend: Choice::Pool, place, ..self }
    }

    /// Opens one archive, to be restored, verified or described.
    ///
    /// # Errors
    /// What is wrong with it, with its path.
    pub fn archive(&self, path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        let options = match &self.place {
            ReadFrom::Archive(_) => self.archive.clone(),
            #[cfg(feature = "pool")]
            ReadFrom::Pool { path, .. } => self.archive.clone().spill_beside(path),
        };
        Archive::open_with(path, &options).map_err(|error| error.of_archive(path))
    }

    /// Opens an archive for editing. Nobody else can edit it until the editor is dropped. Batches
    /// of edits run on the backend, if that is a GPU.
    ///
    /// # Errors
    /// [`Error::Archive`] if somebody else edits it, and what is wrong with it.
    pub fn edit(&self, path: impl AsRef<Path>) -> Result<Editor> {
        let path = path.as_ref();
        let opened = Editor::open_with(path, &self.archive);
        #[cfg_attr(not(feature = "gpu"), expect(unused_mut, reason = "there are no devices"))]
        let mut editor = opened.map_err(|error| error.of_archive(path))?;
        // What batches of edits cost is hardly a matter of the device, so that none is chosen by
        // itself.
        #[cfg(feature = "gpu")]
        if self.device.is_some() || matches!(self.backend, Choice::Gpu | Choice::Pool) {
            let backends = Backends::new(self.backend, self.device.clone());
            editor.set_device(backends.device_for_batches(0, 0)?, self.backend);
        }
        #[cfg(not(feature = "gpu"))]
        match self.backend {
            Choice::Gpu => return Err(Error::NoGpuBackend),
            Choice::Pool => return Err(Error::NoReadsInPool),
            Choice::Auto | Choice::Cpu => {}
        }
        Ok(editor)
    }

    /// Encodes an archive anew, at another level. Documents, grammars and answers stay as they are.
    ///
    /// # Errors
    /// What reading and writing give; [`Error::Exists`] if the output is there and not to be
    /// replaced.
    pub fn transcode(
        &self,
        from: impl AsRef<Path>,
        to: impl AsRef<Path>,
        level: Level,
        replace: bool,
        observer: &dyn Observer,
    ) -> Result<CompressReport> {
        let (from, to) = (from.as_ref(), to.as_ref());
        tadoc_engine::transcode_with(from, &self.archive, to, level, replace, observer)
            .map_err(|error| error.of_archive(from))
    }

    /// Adds an index for random access to an archive, in the place of the one that it has; tells
    /// how long the archive is then.
    ///
    /// # Errors
    /// What reading and writing give.
    pub fn store_index(
        &self,
        path: impl AsRef<Path>,
        index: Index,
        observer: &dyn Observer,
    ) -> Result<u64> {
        let path = path.as_ref();
        tadoc_engine::access::store_with(path, &self.archive, index, observer)
            .map_err(|error| error.of_archive(path))
    }

    /// Stores the grammar over words beside an archive, in a file of its name and `.view`, from
    /// which analytics start without decoding; tells how long that file is.
    ///
    /// # Errors
    /// What reading and writing give.
    pub fn store_view(&self, path: impl AsRef<Path>, observer: &dyn Observer) -> Result<u64> {
        let path = path.as_ref();
        let archive = self.archive(path)?;
        tadoc_engine::view::store(&archive, observer).map_err(|error| error.of_archive(path))
    }

    /// Opens archives as one corpus.
    ///
    /// # Errors
    /// What is wrong with an archive, with its path.
    pub fn open(&self, paths: &[impl AsRef<Path>]) -> Result<Corpus> {
        let mut parts = Vec::with_capacity(paths.len());
        let mut first = 0_u64;
        for path in paths {
            let path = path.as_ref();
            let archive = self.archive(path)?;
            let next = first + archive.info().documents;
            let number = u32::try_from(first)
                .ok()
                .filter(|_| next <= u32::MAX.into())
                .ok_or(Error::TooMany { what: "documents", most: u32::MAX.into() })?;
            parts.push(Part {
                path: path.to_owned(),
                archive,
                first: number,
                options: self.clone(),
                access: OnceLock::new(),
                #[cfg(feature = "pool")]
                found: OnceLock::new(),
            });
            first = next;
        }
        let backends = match &self.place {
            ReadFrom::Archive(_) => Backends::new(self.backend, self.device.clone()),
            #[cfg(feature = "pool")]
            ReadFrom::Pool { path, persist, patience } => {
                Backends::with_pool(PoolFile::new(path, *persist).with_patience(*patience))
            }
        };
        Ok(Corpus { inner: Arc::new(Inner { parts, backends }) })
    }
}

impl Corpus {
    /// Opens one archive.
    ///
    /// # Errors
    /// What is wrong with the archive, with its path.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(&[path])
    }

    /// The archives with their paths, in order.
    pub fn archives(&self) -> impl ExactSizeIterator<Item = (&Path, &Archive)> + Clone {
        self.inner.parts.iter().map(|part| (&*part.path, &part.archive))
    }

    /// How many documents there are. O(archives).
    pub fn document_count(&self) -> u64 {
        self.archives().map(|(_, archive)| archive.info().documents).sum()
    }

    /// All documents, in order. The first call reads their names: O(documents).
    ///
    /// # Errors
    /// What reading the archives gives.
    pub fn documents(&self) -> Result<impl Iterator<Item = Document> + use<>> {
        let mut count = 0;
        for part in self.parts() {
            count += part.named(part.archive.documents())?.len() as u32;
        }
        let corpus = self.clone();
        Ok((0..count).map(move |number| corpus.get(DocumentId(number)).expect("it was counted")))
    }

    /// A document by its place in [`Corpus::documents`]; `None` if there are fewer.
    pub fn get(&self, id: DocumentId) -> Option<Document> {
        let part = self.inner.parts.partition_point(|part| part.first <= id.0).checked_sub(1)?;
        let place = id.0 - self.inner.parts[part].first;
        let documents = self.inner.parts[part].archive.documents().ok()?;
        documents.get(place as usize)?;
        Some(Document { corpus: self.clone(), part, place })
    }

    /// The document of a name: exact, or escaped as `tadoc list` prints it. O(log documents) for
    /// each archive.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`]; [`Error::Ambiguous`] if several archives have one of that name.
    pub fn document(&self, name: impl AsRef<[u8]>) -> Result<Document> {
        let name = name.as_ref();
        match &crate::select::named(self, name)?[..] {
            [] => Err(Error::NoSuchDocument { name: name.to_vec() }),
            [only] => Ok(self.get(*only).expect("it was just found")),
            several => {
                let archives = several.iter().filter_map(|id| self.get(*id));
                let archives = archives.map(|document| document.archive().0.to_owned()).collect();
                Err(Error::Ambiguous { name: name.to_vec(), archives })
            }
        }
    }

    /// A question about all documents and all words as they stand in the text; its methods narrow
    /// it.
    pub fn query(&self) -> Query {
        Query::new(self.clone())
    }

    /// Where a word or phrase is: [`Query::search`] in all documents.
    ///
    /// # Errors
    /// As [`Query::search`].
    pub fn search(&self, phrase: impl Into<Phrase>) -> Result<Hits> {
        self.query().search(phrase)
    }

    /// How often a word or phrase occurs: [`Query::count`] in all documents.
    ///
    /// # Errors
    /// As [`Query::count`].
    pub fn count(&self, phrase: impl Into<Phrase>) -> Result<u64> {
        self.query().count(phrase)
    }

    /// Writes whole documents one after the other, and compares them with their digests, unless
    /// they were edited. A damaged one is written all the same, and `damaged` gets the error. Tells
    /// how many bytes were written.
    ///
    /// # Errors
    /// What reading the archives and the writer give.
    pub fn write_documents(
        &self,
        documents: &[DocumentId],
        to: &mut (dyn Write + Send),
        damaged: &mut dyn FnMut(Error),
    ) -> Result<u64> {
        let documents: Vec<Document> = documents
            .iter()
            .map(|&id| {
                let documents = self.document_count();
                self.get(id).ok_or(Error::BadChoice { number: id.0, documents })
            })
            .collect::<Result<_>>()?;
        let is_run =
            |one: &Document, next: &Document| one.part == next.part && one.place < next.place;
        let mut written = 0;
        for run in documents.chunk_by(is_run) {
            let part = run[0].part();
            let places: Vec<usize> = run.iter().map(|document| document.place as usize).collect();
            let access = part.access()?;
            let result = part.named(match access.index() {
                // One segment after the other is decoded, and none is kept.
                Index::None => part.archive.write_documents(&places, to, &()),
                _ => access.write_documents(&places, to),
            });
            match result {
                Ok(bytes) => written += bytes,
                Err(error) if matches!(error.innermost(), Error::WrongDigest { .. }) => {
                    written += run.iter().map(Document::bytes).sum::<u64>();
                    damaged(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Begins edits of the archive, which the value that is given back makes together or not at
    /// all. Nobody else can edit the archive until that is committed, rolled back or dropped. This
    /// corpus stays as it is; one that is opened after the commit sees the edits.
    ///
    /// ```
    /// # fn main() -> tadoc::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("plays.tdc");
    /// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
    /// # let input = tadoc::Input::new("hamlet.txt", text);
    /// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
    /// use tadoc::{Corpus, edit::Durability};
    ///
    /// let corpus = Corpus::open(&path)?;
    /// let mut edit = corpus.edit()?;
    /// edit.append("hamlet.txt", b", that is the question")?;
    /// edit.commit(Durability::Sync)?;
    /// assert_eq!(Corpus::open(&path)?.count("question")?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::SeveralArchives`] if the corpus has several; else as [`OpenOptions::edit`].
    pub fn edit(&self) -> Result<Transaction> {
        let [part] = self.parts() else {
            return Err(Error::SeveralArchives { archives: self.parts().len() });
        };
        part.named(part.options.edit(&part.path)?.begin())
    }

    /// Decodes all that random access reads, so that later reads are as fast as they can be.
    ///
    /// # Errors
    /// What reading the archives gives.
    pub fn load(&self) -> Result<()> {
        self.parts().iter().try_for_each(|part| part.named(part.access()?.load()))
    }

    /// What a pool found, resumed and made again so far, a line each; nothing without a pool.
    pub fn notes(&self) -> Vec<String> {
        #[cfg_attr(not(feature = "pool"), expect(unused_mut, reason = "there are no pools"))]
        let mut notes = self.inner.backends.notes();
        #[cfg(feature = "pool")]
        for part in self.parts() {
            notes.extend(part.found.get().into_iter().flatten().cloned());
            let again = part.access.get().map_or(Vec::new(), |access| access.made_again());
            notes.extend(again.into_iter().map(|segment| {
                format!("made again: segment {segment} in the pool, which was damaged")
            }));
        }
        notes
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.inner.parts
    }

    pub(crate) fn backends(&self) -> &Backends {
        &self.inner.backends
    }
}

impl fmt::Debug for Corpus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let archives: Vec<&Path> = self.archives().map(|(path, _)| path).collect();
        formatter.debug_struct("Corpus").field("archives", &archives).finish_non_exhaustive()
    }
}
