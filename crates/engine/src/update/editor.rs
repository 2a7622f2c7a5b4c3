//! Editing an archive: one writer at a time, edits that are there for good once they are committed.
//!
//! An edit is checked against names and lengths and put into the journal behind the archive; no grammar is looked at. Cost: well below a
//! microsecond and the bytes of the edit; a commit is one write, and one sync if that is asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tadoc_core::MemoryLimit;
use tadoc_core::archive::Archive;
use tadoc_core::archive::journal::{Edit, Journal, JournalWriter};

use super::folders::Folders;
use super::offsets::sequence_of;
use super::{EditedText, Ledger, replay};
use crate::Document;
use crate::access::Access;
#[cfg(feature = "gpu")]
use crate::backend::Choice;
use crate::backend::Reads;
use crate::corpus::{Corpus, OpenOptions};
use crate::error::{Error, Result};
use crate::names;
use crate::origin::Naming;

/// When edits are there for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// Each of them, before the next one is made.
    Operation,
    /// All of a batch, at its end.
    #[default]
    Batch,
    /// When the system gets to it: a crash of the program loses nothing that was committed, one of the machine may.
    None,
}

/// What the offsets of a batch mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Offsets {
    /// The text as the edits before have left it.
    #[default]
    Sequence,
    /// The text before the batch: all edits are made together.
    Snapshot,
}

/// An archive opened for editing. While it is open, nobody else can edit the archive; readers see what was committed when they opened it.
///
/// ```
/// use tadoc_engine::{Corpus, Edit, Editor};
/// # fn main() -> tadoc_engine::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("corpus.tdc");
/// # let input = tadoc_engine::Input::new("hamlet.txt", tadoc_engine::Source::Bytes(b"to be or to be".to_vec()));
/// # tadoc_engine::compress(vec![input], &path, &tadoc_engine::CompressOptions::default(), &())?;
/// let mut editor = Editor::open(&path)?;
/// let document = editor.find(b"hamlet.txt")?;
/// editor.edit(&Edit::Insert { document, offset: 9, text: b"not " })?;
/// editor.commit(true)?;
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
    memory: MemoryLimit,
    archive: Archive,
    journal: JournalWriter,
    ledger: Ledger,
    /// What documents are made of, once somebody reads.
    text: Option<EditedText>,
    /// The folders that documents are in, once a name is given.
    folders: Option<Folders>,
    pending: Pending,
    /// Whether a commit has failed after edits were taken: what is in memory is not what is on disk.
    has_failed: bool,
    /// Where batches are run, if not by the processor.
    #[cfg(feature = "gpu")]
    device: Option<Arc<tadoc_gpu::Device>>,
    /// Whether the processor does what the device fails at.
    #[cfg(feature = "gpu")]
    choice: Choice,
}

/// What the journal has, and what it will have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pending {
    /// Edits since the archive was last compressed.
    pub edits: u64,
    /// Bytes of text in them.
    pub text_bytes: u64,
    /// Bytes that the journal takes in the file.
    pub journal_bytes: u64,
}

impl Editor {
    /// Opens an archive for editing. Reads its documents, and the edits that are behind it; cuts off what a crash has left of one that was
    /// never committed. O(documents + edits).
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
        let path = path.as_ref().to_owned();
        let memory = options.memory;
        let (archive, journal, writer) = JournalWriter::open_within(&path, memory)?;
        let mut ledger = Ledger::new(Arc::new(archive.documents()?));
        ledger.replay(&journal)?;
        let pending = Pending {
            edits: journal.edit_count(),
            text_bytes: journal.text_bytes(),
            journal_bytes: journal.bytes(),
        };
        Ok(Self {
            path,
            memory,
            archive,
            journal: writer,
            ledger,
            text: None,
            folders: None,
            pending,
            has_failed: false,
            #[cfg(feature = "gpu")]
            device: None,
            #[cfg(feature = "gpu")]
            choice: Choice::Cpu,
        })
    }

    /// Runs batches on a device from now on, or by the processor again. What comes of them is the same, and the same is journaled. With
    /// [`Choice::Auto`], the processor does what the device fails at; else that is an error.
    #[cfg(feature = "gpu")]
    pub fn set_device(&mut self, device: Option<Arc<tadoc_gpu::Device>>, choice: Choice) {
        (self.device, self.choice) = (device, choice);
    }

    /// Where an archive that is edited is read.
    ///
    /// # Errors
    /// [`Error::Gpu`] if a device that is asked for fails.
    pub(super) fn reads(&self, access: Arc<Access>) -> Result<Reads> {
        #[cfg(feature = "gpu")]
        return Reads::on(access, self.device.clone(), self.choice);
        #[cfg(not(feature = "gpu"))]
        Ok(Reads::on_processor(access))
    }

    /// The edits in sequence that do what edits mean as a snapshot.
    pub(super) fn sequence<'t>(&self, edits: &[Edit<'t>]) -> Result<Vec<Edit<'t>>> {
        #[cfg(feature = "gpu")]
        if let Some(device) = &self.device {
            match super::device::sequence_of(edits, &self.ledger, device) {
                Err(Error::Gpu(_)) if self.choice == Choice::Auto => {}
                sequence => return sequence,
            }
        }
        sequence_of(edits, &self.ledger)
    }

    /// The number of the document of a name; it keeps it while it is there, whatever is added, removed and renamed.
    pub fn find(&self, name: &[u8]) -> Result<u32> {
        self.ledger.find(name).ok_or_else(|| Error::NoSuchDocument { name: name.to_vec() })
    }

    /// The name of a document.
    ///
    /// # Panics
    /// If no document ever had that number.
    pub fn name(&self, document: u32) -> &[u8] {
        self.ledger.name(document)
    }

    /// The length of a document.
    ///
    /// # Panics
    /// If no document ever had that number.
    pub fn bytes(&self, document: u32) -> u64 {
        self.ledger.bytes(document)
    }

    /// The documents, in byte order of their names. O(documents).
    pub fn documents(&self) -> Vec<Document> {
        self.ledger.documents().into_iter().map(|(_, document)| document).collect()
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.ledger.document_count()
    }

    /// What has been edited since the archive was last compressed.
    pub fn pending(&self) -> Pending {
        Pending { journal_bytes: self.journal.bytes(), ..self.pending }
    }

    /// Bytes of the archive without the edits behind it.
    pub fn stored_bytes(&self) -> u64 {
        self.archive.stored_bytes()
    }

    /// How the files of the archive were named, where that is recorded.
    pub fn naming(&self) -> Option<Naming> {
        Naming::of(self.archive.summary().origin.as_ref()?, &self.path)
    }

    /// Makes an edit, which [`Editor::commit`] makes last; gives the number of a document that was added. One that is not possible changes nothing.
    ///
    /// # Errors
    /// [`Error::BadName`] and [`Error::FileAndFolder`] of a name under which no document could be
    /// restored; what else the documents do not allow.
    pub fn edit(&mut self, edit: &Edit<'_>) -> Result<Option<u32>> {
        self.check()?;
        self.check_name(edit)?;
        let old = match (edit, &self.folders) {
            (Edit::Remove { document } | Edit::Rename { document, .. }, Some(_))
                if self.ledger.is_there(*document) =>
            {
                Some(self.ledger.name(*document).to_vec())
            }
            _ => None,
        };
        let added = self.ledger.apply(edit)?;
        if let Some(folders) = &mut self.folders {
            old.iter().for_each(|name| folders.remove(name));
            if let Edit::Add { name, .. } | Edit::Rename { name, .. } = edit {
                folders.add(name);
            }
        }
        if let Some(text) = &mut self.text {
            text.apply(edit, &self.ledger);
        }
        self.pending.edits += 1;
        self.pending.text_bytes += edit.text().len() as u64;
        self.journal.push(edit).inspect_err(|_| self.has_failed = true)?;
        Ok(added)
    }

    /// Whether a document could be restored under the name that an edit gives it.
    fn check_name(&mut self, edit: &Edit<'_>) -> Result<()> {
        let (name, document) = match *edit {
            Edit::Add { name, .. } => (name, None),
            Edit::Rename { document, name } => (name, Some(document)),
            _ => return Ok(()),
        };
        names::check_new(name)?;
        // What else is wrong is told first.
        self.ledger.check(edit)?;
        let folders = self.folders.get_or_insert_with(|| Folders::of(&self.ledger));
        folders.check(name, document, &self.ledger)
    }

    /// Makes edits whose offsets all mean the text before them, together. If one of them is not possible, none is made.
    pub fn edit_together(&mut self, edits: &[Edit<'_>]) -> Result<()> {
        self.check()?;
        for edit in self.sequence(edits)? {
            self.edit(&edit)?;
        }
        Ok(())
    }

    /// Ends a transaction: after a crash, all its edits are there or none. When this returns, readers that open the archive see them; with
    /// `sync`, they are on disk.
    pub fn commit(&mut self, sync: bool) -> Result<()> {
        self.check()?;
        Ok(self.journal.commit(sync).inspect_err(|_| self.has_failed = true)?)
    }

    /// The corpus as it is now, with edits that are not committed.
    pub fn corpus(&mut self) -> Result<Corpus> {
        self.load_text()?;
        let text = self.text.clone().expect("just loaded");
        let stored = Corpus::stored(self.archive.try_clone()?);
        stored.with_edits(&self.ledger, Arc::new(text))
    }

    /// Reads the text of the edits, for reading; from then on it is kept.
    pub(super) fn load_text(&mut self) -> Result<()> {
        if self.text.is_none() {
            self.commit(false)?;
            let journal = self.written()?;
            self.text = Some(replay(self.ledger.stored().clone(), &journal)?.1);
        }
        Ok(())
    }

    /// The journal as it is in the file.
    fn written(&self) -> Result<Journal> {
        Ok(Archive::open_within(&self.path, self.memory)?.journal()?)
    }

    /// The archive that is edited.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `Replaced` if the path no longer means the archive that is edited.
    pub(super) fn check_lock(&self) -> Result<()> {
        Ok(self.journal.check_lock()?)
    }

    /// Goes on with what `open` gives, when the lock of the old archive was given up.
    pub(super) fn start_again(&mut self, open: impl FnOnce() -> Result<Self>) -> Result<()> {
        self.journal.release();
        // Until it is open again, nothing can be edited.
        self.has_failed = true;
        #[cfg(feature = "gpu")]
        let (device, choice) = (self.device.take(), self.choice);
        *self = open()?;
        #[cfg(feature = "gpu")]
        self.set_device(device, choice);
        Ok(())
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.has_failed {
            return Err(Error::EditorFailed { path: self.path.clone() });
        }
        Ok(())
    }
}
