//! Edits that are made together, or not at all.
//!
//! An edit is checked against names and lengths and put into the journal behind the archive; no
//! grammar is looked at. Cost: well below a microsecond and the bytes of the edit; a commit is one
//! write, and one sync if that is asked for. Memory is bounded however many edits there are: the
//! journal takes them a record at a time, and they count from the record that commits them. A
//! rollback cuts them off; what they have changed in memory is read again by the next transaction.

use std::sync::{Arc, Mutex};

use tadoc_core::archive::journal::Edit;

use super::editor::{Durability, OpenArchive, Place, lock};
use super::folders::Folders;
use super::offsets::sequence_of;
use super::{EditedText, Ledger, replay};
use crate::Document;
use crate::access::Access;
#[cfg(feature = "gpu")]
use crate::backend::Choice;
use crate::backend::Reads;
use crate::corpus::{Corpus, EditsInfo};
use crate::error::{Error, Result};
use crate::names;
use crate::origin::NamesFrom;
use crate::threads;

/// Edits of an archive that are made together, by [`Transaction::commit`], or not at all. Dropped,
/// it is rolled back. It sees its own edits; readers of the archive do not before it is committed.
///
/// ```
/// use tadoc_engine::{Durability, Editor};
/// # fn main() -> tadoc_engine::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("corpus.tdc");
/// # let input = tadoc_engine::Input::new("log", tadoc_engine::Source::Bytes(b"one".to_vec()));
/// # tadoc_engine::compress(vec![input], &path, &tadoc_engine::CompressOptions::default(), &())?;
/// let mut transaction = Editor::open(&path)?.begin()?;
/// transaction.append("log", b" two")?;
/// assert_eq!(transaction.corpus()?.documents()?[0].bytes, 7);
/// transaction.commit(Durability::Sync)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Transaction {
    /// Until it is dropped.
    open: Option<Box<OpenArchive>>,
    /// Where that goes then.
    place: Arc<Mutex<Place>>,
    /// Whether writing has failed: what is in memory is not what is on disk.
    has_failed: bool,
    #[cfg(feature = "gpu")]
    device: Option<(Arc<tadoc_gpu::Device>, Choice)>,
}

impl Transaction {
    pub(super) fn new(
        open: Box<OpenArchive>,
        place: Arc<Mutex<Place>>,
        #[cfg(feature = "gpu")] device: Option<(Arc<tadoc_gpu::Device>, Choice)>,
    ) -> Result<Self> {
        let mut transaction = Self {
            open: Some(open),
            place,
            has_failed: false,
            #[cfg(feature = "gpu")]
            device,
        };
        transaction.writing(OpenArchive::refresh)?;
        Ok(transaction)
    }

    fn open(&self) -> &OpenArchive {
        self.open.as_deref().expect("it has the archive until it is dropped")
    }

    fn open_mut(&mut self) -> &mut OpenArchive {
        self.open.as_deref_mut().expect("it has the archive until it is dropped")
    }

    /// Does what must not fail halfway; nothing can be done once it has.
    fn writing<T>(&mut self, write: impl FnOnce(&mut OpenArchive) -> Result<T>) -> Result<T> {
        self.check()?;
        let written = write(self.open_mut());
        self.has_failed = written.is_err();
        written
    }

    /// The number of the document of a name. A document keeps its number, whatever is added,
    /// removed and renamed, until the archive is compressed again.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`] if there is none.
    pub fn find(&self, name: &[u8]) -> Result<u32> {
        self.ledger().find(name).ok_or_else(|| Error::NoSuchDocument { name: name.to_vec() })
    }

    /// The name of a document.
    ///
    /// # Panics
    /// If no document ever had that number.
    pub fn name(&self, document: u32) -> &[u8] {
        self.ledger().name(document)
    }

    /// The length of a document.
    ///
    /// # Panics
    /// If no document ever had that number.
    pub fn bytes(&self, document: u32) -> u64 {
        self.ledger().bytes(document)
    }

    /// The documents, in byte order of their names. O(documents).
    pub fn documents(&self) -> Vec<Document> {
        self.ledger().documents().into_iter().map(|(_, document)| document).collect()
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.ledger().document_count()
    }

    /// What has been edited since the archive was last compressed, this transaction's edits included.
    /// It is itself counted as a transaction once it is committed.
    pub fn pending(&self) -> EditsInfo {
        let OpenArchive { journal, pending, .. } = self.open();
        EditsInfo { journal_bytes: journal.bytes(), ..*pending }
    }

    /// Bytes of the archive without the edits behind it.
    pub fn stored_bytes(&self) -> u64 {
        self.open().archive.stored_bytes()
    }

    /// How the files of the archive were named, where that is recorded.
    pub fn names_from(&self) -> Option<NamesFrom> {
        let archive = &self.open().archive;
        NamesFrom::of(archive.summary().origin.as_ref()?, archive.path())
    }

    /// Makes an edit; gives the number of a document that was added. One that is not possible
    /// changes nothing, and the transaction goes on.
    ///
    /// # Errors
    /// [`Error::BadName`] and [`Error::FileAndFolder`] of a name under which no document could be
    /// restored; what else the documents do not allow. [`Error::EditorFailed`] after writing has
    /// failed.
    pub fn edit(&mut self, edit: &Edit<'_>) -> Result<Option<u32>> {
        self.check()?;
        let open = self.open_mut();
        open.check_name(edit)?;
        let old = match (edit, &open.folders) {
            (Edit::Remove { document } | Edit::Rename { document, .. }, Some(_))
                if open.ledger.is_there(*document) =>
            {
                Some(open.ledger.name(*document).to_vec())
            }
            _ => None,
        };
        let added = open.ledger.apply(edit)?;
        if let Some(folders) = &mut open.folders {
            old.iter().for_each(|name| folders.remove(name));
            if let Edit::Add { name, .. } | Edit::Rename { name, .. } = edit {
                folders.add(name);
            }
        }
        if let Some(text) = &mut open.text {
            Arc::make_mut(text).apply(edit, &open.ledger);
        }
        open.pending.edits += 1;
        open.pending.text_bytes += edit.text().len() as u64;
        self.writing(|open| Ok(open.journal.push(edit)?))?;
        Ok(added)
    }

    /// Puts bytes into a document, before the byte at `offset`; the document's length is its end.
    ///
    /// # Errors
    /// As [`Transaction::edit`], and [`Error::NoSuchDocument`].
    pub fn insert(&mut self, name: impl AsRef<[u8]>, offset: u64, text: &[u8]) -> Result<()> {
        let document = self.find(name.as_ref())?;
        self.edit(&Edit::Insert { document, offset, text }).map(drop)
    }

    /// Puts bytes at the end of a document.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub fn append(&mut self, name: impl AsRef<[u8]>, text: &[u8]) -> Result<()> {
        let document = self.find(name.as_ref())?;
        self.edit(&Edit::Append { document, text }).map(drop)
    }

    /// Takes bytes out of a document; all of them have to be there.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub fn delete(&mut self, name: impl AsRef<[u8]>, offset: u64, length: u64) -> Result<()> {
        let document = self.find(name.as_ref())?;
        self.edit(&Edit::Delete { document, offset, length }).map(drop)
    }

    /// Puts bytes in the place of others, all of which have to be there.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub fn replace(
        &mut self,
        name: impl AsRef<[u8]>,
        offset: u64,
        length: u64,
        text: &[u8],
    ) -> Result<()> {
        let document = self.find(name.as_ref())?;
        self.edit(&Edit::Replace { document, offset, length, text }).map(drop)
    }

    /// Adds a document, without time and mode.
    ///
    /// # Errors
    /// As [`Transaction::edit`].
    pub fn add(&mut self, name: impl AsRef<[u8]>, text: &[u8]) -> Result<()> {
        let add = Edit::Add { name: name.as_ref(), modified: None, mode: None, text };
        self.edit(&add).map(drop)
    }

    /// Takes a document away.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub fn remove(&mut self, name: impl AsRef<[u8]>) -> Result<()> {
        let document = self.find(name.as_ref())?;
        self.edit(&Edit::Remove { document }).map(drop)
    }

    /// Gives a document another name.
    ///
    /// # Errors
    /// As [`Transaction::insert`].
    pub fn rename(&mut self, name: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Result<()> {
        let document = self.find(name.as_ref())?;
        self.edit(&Edit::Rename { document, name: to.as_ref() }).map(drop)
    }

    /// Makes edits whose offsets all mean the text before them, together. If one of them is not
    /// possible, or all of them are not possible together, none is made.
    ///
    /// # Errors
    /// As [`Transaction::edit`]; [`Error::NotInSnapshot`] of edits that do not change text.
    pub fn edit_together(&mut self, edits: &[Edit<'_>]) -> Result<()> {
        self.check()?;
        for edit in self.sequence(edits)? {
            self.edit(&edit)?;
        }
        Ok(())
    }

    /// The edits in sequence that do what edits mean as a snapshot; each is possible then.
    pub(super) fn sequence<'t>(&self, edits: &[Edit<'t>]) -> Result<Vec<Edit<'t>>> {
        let ledger = self.ledger();
        #[cfg(feature = "gpu")]
        if let Some((device, choice)) = &self.device {
            match super::device::sequence_of(edits, ledger, device) {
                Err(Error::Gpu(_)) if *choice == Choice::Auto => {}
                sequence => return sequence.and_then(|sequence| ledger.check_growths(sequence)),
            }
        }
        ledger.check_growths(sequence_of(edits, ledger)?)
    }

    /// The corpus as it is now, with the edits of this transaction, which is not committed by that.
    /// The first call reads the edits that are behind the archive: O(edits).
    ///
    /// # Errors
    /// As [`Corpus::open`].
    pub fn corpus(&mut self) -> Result<Corpus> {
        threads::ready()?;
        let text = self.text()?;
        let OpenArchive { archive, ledger, .. } = self.open();
        Corpus::stored(archive.try_clone()?).with_edits(ledger, text)
    }

    /// What documents are made of; from then on it is kept.
    fn text(&mut self) -> Result<Arc<EditedText>> {
        if let Some(text) = &self.open().text {
            return Ok(text.clone());
        }
        let journal = self.writing(|open| Ok(open.journal.journal(open.archive.budget())?))?;
        let text = replay(self.ledger().stored().clone(), &journal)?.1;
        Ok(self.open_mut().text.insert(Arc::new(text)).clone())
    }

    /// Ends the transaction: after a crash, all its edits are there or none. When this returns,
    /// readers that open the archive see them.
    ///
    /// # Errors
    /// `Replaced` if the archive was replaced meanwhile; what writing gives. Then no edit is made,
    /// and the editor is to be opened again.
    pub fn commit(mut self, durability: Durability) -> Result<()> {
        self.commit_and_go_on(durability)
    }

    /// The same, and begins another one.
    pub(super) fn commit_and_go_on(&mut self, durability: Durability) -> Result<()> {
        self.writing(|open| {
            open.journal.commit(durability == Durability::Sync)?;
            open.pending.transactions += u64::from(open.pending != open.committed);
            open.committed = open.pending;
            Ok(())
        })
    }

    /// Ends the transaction without its edits.
    pub fn rollback(self) {}

    /// Where the archive as it is now is read.
    ///
    /// # Errors
    /// [`Error::Gpu`] if a device that is asked for fails.
    pub(super) fn reads(&self, access: Arc<Access>) -> Result<Reads> {
        #[cfg(feature = "gpu")]
        {
            let (device, choice) = self.device.clone().unzip();
            Reads::on(access, device, choice.unwrap_or(Choice::Cpu))
        }
        #[cfg(not(feature = "gpu"))]
        Ok(Reads::on_processor(access))
    }

    /// `Replaced` if the path no longer means the archive that is edited.
    pub(super) fn check_lock(&self) -> Result<()> {
        Ok(self.open().journal.check_lock()?)
    }

    /// Gives up the lock of the archive, and goes on with what `open` gives.
    pub(super) fn start_again(&mut self, open: impl FnOnce() -> Result<OpenArchive>) -> Result<()> {
        self.writing(|old| {
            old.journal.release();
            *old = open()?;
            Ok(())
        })
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.open().ledger
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.has_failed {
            let path = self.open().archive.path().to_owned();
            return Err(Error::EditorFailed { path });
        }
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(mut open) = self.open.take() {
            open.roll_back();
            let place = if self.has_failed { Place::Failed } else { Place::Here(open) };
            *lock(&self.place) = place;
        }
    }
}

impl OpenArchive {
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
}
