//! An archive that is open for editing: one writer at a time, whose edits are transactions.
//!
//! An [`Editor`] holds the lock of the archive. [`Editor::begin`] lends what it has open to a
//! [`Transaction`], which gives it back when it ends. Cost: opening reads the documents and the
//! journal; beginning and ending a transaction costs nothing beside its edits.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tadoc_core::MemoryLimit;
use tadoc_core::archive::Archive;
use tadoc_core::archive::journal::JournalWriter;

use super::folders::Folders;
use super::transaction::Transaction;
use super::{EditedText, Ledger};
#[cfg(feature = "gpu")]
use crate::backend::Choice;
use crate::corpus::{EditsInfo, OpenOptions};
use crate::error::{Error, Result};

/// What a commit promises when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// The edits are on disk: they survive a crash of the machine.
    #[default]
    Sync,
    /// The edits are written: they survive the end of the program, but perhaps not a crash of the
    /// machine.
    None,
}

/// What the offsets of edits mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Offsets {
    /// The text as the edits before have left it.
    #[default]
    Sequence,
    /// The text before the batch: all edits are made together.
    Snapshot,
}

/// An archive opened for editing. While it is open, nobody else can edit the archive; readers see
/// what was committed when they opened it.
///
/// ```
/// use tadoc_engine::{Corpus, Durability, Edit, Editor};
/// # fn main() -> tadoc_engine::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("corpus.tdc");
/// # let input = tadoc_engine::Input::new("hamlet.txt", tadoc_engine::Source::Bytes(b"to be or to be".to_vec()));
/// # tadoc_engine::compress(vec![input], &path, &tadoc_engine::CompressOptions::default(), &())?;
/// let editor = Editor::open(&path)?;
/// let mut transaction = editor.begin()?;
/// let document = transaction.find(b"hamlet.txt")?;
/// transaction.edit(&Edit::Insert { document, offset: 9, text: b"not " })?;
/// transaction.commit(Durability::Sync)?;
///
/// let mut transaction = editor.begin()?;
/// transaction.edit(&Edit::Remove { document })?;
/// transaction.rollback();
///
/// let corpus = Corpus::open(&path)?;
/// let mut text = Vec::new();
/// corpus.write_documents(&[0], &mut text, &())?;
/// assert_eq!(text, b"to be or not to be");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Editor {
    path: PathBuf,
    pub(super) memory: MemoryLimit,
    place: Arc<Mutex<Place>>,
    /// Where batches are run, if not by the processor, and whether that does what the device fails
    /// at.
    #[cfg(feature = "gpu")]
    device: Option<(Arc<tadoc_gpu::Device>, Choice)>,
}

/// Where the open archive is.
#[derive(Debug)]
pub(super) enum Place {
    /// Here, until a transaction begins.
    Here(Box<OpenArchive>),
    /// In a transaction.
    Lent,
    /// Nowhere: writing has failed.
    Failed,
}

/// What an editor has open, and lends to its transactions.
#[derive(Debug)]
pub(super) struct OpenArchive {
    pub(super) archive: Archive,
    pub(super) journal: JournalWriter,
    pub(super) ledger: Ledger,
    /// What documents are made of, once somebody reads.
    pub(super) text: Option<Arc<EditedText>>,
    /// The folders that documents are in, once a name is given.
    pub(super) folders: Option<Folders>,
    /// With those of the open transaction, which itself is not counted.
    pub(super) pending: EditsInfo,
    /// What was pending when the last transaction was committed.
    pub(super) committed: EditsInfo,
    /// Whether `ledger` has edits that were rolled back.
    pub(super) is_stale: bool,
}

impl Editor {
    /// Opens an archive for editing. Reads its documents, and the edits that are behind it; cuts
    /// off what a crash has left of one that was never committed. O(documents + edits).
    ///
    /// # Errors
    /// `Locked` if somebody else edits it; what opening gives.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::new())
    }

    /// The same, with options.
    ///
    /// # Errors
    /// As [`Editor::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let (path, memory) = (path.as_ref().to_owned(), options.memory);
        let open = Box::new(OpenArchive::new(&path, memory)?);
        Ok(Self {
            path,
            memory,
            place: Arc::new(Mutex::new(Place::Here(open))),
            #[cfg(feature = "gpu")]
            device: None,
        })
    }

    /// Runs batches on a device from now on, or by the processor again. What comes of them is the
    /// same, and the same is journaled. With [`Choice::Auto`], the processor does what the device
    /// fails at; else that is an error.
    #[cfg(feature = "gpu")]
    pub fn set_device(&mut self, device: Option<Arc<tadoc_gpu::Device>>, choice: Choice) {
        self.device = device.map(|device| (device, choice));
    }

    /// Begins a transaction. It costs nothing, unless the one before was rolled back: then the
    /// journal is read again, O(edits).
    ///
    /// # Errors
    /// [`Error::TransactionOpen`] while another one is open, [`Error::EditorFailed`] after writing
    /// has failed.
    pub fn begin(&self) -> Result<Transaction> {
        let open = {
            let mut place = lock(&self.place);
            match mem::replace(&mut *place, Place::Lent) {
                Place::Here(open) => open,
                Place::Lent => return Err(Error::TransactionOpen { path: self.path.clone() }),
                Place::Failed => {
                    *place = Place::Failed;
                    return Err(Error::EditorFailed { path: self.path.clone() });
                }
            }
        };
        #[cfg(feature = "gpu")]
        let device = self.device.clone();
        Transaction::new(
            open,
            self.place.clone(),
            #[cfg(feature = "gpu")]
            device,
        )
    }

    /// The archive that is edited.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Panics leave no place half changed.
pub(super) fn lock(place: &Mutex<Place>) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenArchive {
    pub(super) fn new(path: &Path, memory: MemoryLimit) -> Result<Self> {
        let (archive, journal, writer) = JournalWriter::open_within(path, memory)?;
        let mut ledger = Ledger::new(Arc::new(archive.documents()?));
        ledger.replay(&journal)?;
        let pending = EditsInfo { torn_bytes: 0, ..EditsInfo::of(&journal) };
        Ok(Self {
            archive,
            journal: writer,
            ledger,
            text: None,
            folders: None,
            pending,
            committed: pending,
            is_stale: false,
        })
    }

    /// Forgets the edits that are not committed. What they have changed in memory is read again
    /// when it is needed.
    pub(super) fn roll_back(&mut self) {
        self.journal.abandon();
        if self.pending != self.committed {
            self.pending = self.committed;
            (self.text, self.folders, self.is_stale) = (None, None, true);
        }
    }

    /// Reads the documents again after edits were rolled back.
    pub(super) fn refresh(&mut self) -> Result<()> {
        if self.is_stale {
            let mut ledger = Ledger::new(self.ledger.stored().clone());
            ledger.replay(&self.journal.journal(self.archive.budget())?)?;
            (self.ledger, self.is_stale) = (ledger, false);
        }
        Ok(())
    }
}
