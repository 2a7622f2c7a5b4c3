//! Which documents there are, what they are called and how long they are: all that an edit is checked against.
//!
//! Documents that no edit has touched are looked up in the archive's table, which is shared. Memory is in proportion to the
//! documents that edits have touched, an edit costs a look-up by number, and a name one by hash and one by halves in the
//! table.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use tadoc_core::archive::DocumentTable;
use tadoc_core::archive::journal::{Edit, Journal};

use crate::error::{Error, Result};
use crate::{Document, Timestamp};

const LONGEST_DOCUMENT: u64 = (1 << 48) - 1;
const MOST_TEXT: u64 = i64::MAX as u64;
/// The most numbers that can be given to documents.
const MOST_NUMBERS: usize = u32::MAX as usize;

/// The documents as edits have left them.
///
/// Numbers are those of [`Edit`]. One that was never given makes all questions panic but [`Ledger::is_there`], and is an
/// error in an edit.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    stored: Arc<DocumentTable>,
    /// Stored documents that edits have touched.
    touched: HashMap<u32, Entry, FixedState>,
    /// Documents that edits have added; their numbers follow those of the stored ones.
    added: Vec<Entry>,
    /// Who has the names that are not in the table, or are in it as those of others.
    names: HashMap<Arc<[u8]>, u32, FixedState>,
    documents: usize,
    text_bytes: u64,
}

/// A document that an edit has touched.
#[derive(Debug, Clone)]
struct Entry {
    /// Its name, or the last that it had; `None`: as it is stored.
    name: Option<Arc<[u8]>>,
    bytes: u64,
    modified: Option<Timestamp>,
    mode: Option<u32>,
    there: bool,
}

impl Ledger {
    /// The documents as the archive stores them. O(documents).
    pub(crate) fn new(stored: Arc<DocumentTable>) -> Self {
        Self {
            touched: HashMap::default(),
            added: Vec::new(),
            names: HashMap::default(),
            documents: stored.documents.len(),
            text_bytes: stored.documents.iter().map(|document| document.bytes).sum(),
            stored,
        }
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<u32> {
        if let Some(&number) = self.names.get(name) {
            return Some(number);
        }
        let stored = &self.stored.documents;
        let place = stored.binary_search_by(|document| document.name[..].cmp(name)).ok()?;
        let keeps = |entry: &Entry| entry.there && entry.name.is_none();
        #[expect(clippy::cast_possible_truncation, reason = "documents are numbered in 32 bits")]
        let number = place as u32;
        self.touched.get(&number).is_none_or(keeps).then_some(number)
    }

    /// The name of a document; of one that was removed, the last that it had.
    pub(crate) fn name(&self, document: u32) -> &[u8] {
        match self.entry(document) {
            Some(Entry { name: Some(name), .. }) => name,
            _ => &self.stored.documents[document as usize].name,
        }
    }

    /// The length of a document; of one that was removed, 0.
    pub(crate) fn bytes(&self, document: u32) -> u64 {
        match self.entry(document) {
            Some(entry) => entry.bytes,
            None => self.stored.documents[document as usize].bytes,
        }
    }

    /// When a document's file was last modified: edits do not change it.
    pub(crate) fn modified(&self, document: u32) -> Option<Timestamp> {
        match self.entry(document) {
            Some(entry) => entry.modified,
            None => self.stored.documents[document as usize].modified,
        }
    }

    pub(crate) fn mode(&self, document: u32) -> Option<u32> {
        match self.entry(document) {
            Some(entry) => entry.mode,
            None => self.stored.documents[document as usize].mode,
        }
    }

    /// Whether a number was given to a document, and the document was not removed.
    pub(crate) fn is_there(&self, document: u32) -> bool {
        self.entry(document).map_or((document as usize) < self.stored_count(), |entry| entry.there)
    }

    /// Whether a document is stored, and no edit has changed it.
    #[cfg(test)]
    pub(crate) fn is_untouched(&self, document: u32) -> bool {
        (document as usize) < self.stored_count() && !self.touched.contains_key(&document)
    }

    pub(crate) fn stored(&self) -> &Arc<DocumentTable> {
        &self.stored
    }

    /// How many documents the archive stores: the first number of those that were added.
    pub(crate) fn stored_count(&self) -> usize {
        self.stored.documents.len()
    }

    /// The number that the next document to be added gets: more than all numbers that were given.
    #[expect(clippy::cast_possible_truncation, reason = "documents are numbered in 32 bits")]
    pub(crate) fn next_number(&self) -> u32 {
        (self.stored_count() + self.added.len()) as u32
    }

    pub(crate) fn document_count(&self) -> usize {
        self.documents
    }

    /// All documents that are there, in byte order of their names, and their numbers. O(documents), and sorts the names
    /// that edits have given.
    pub(crate) fn documents(&self) -> Vec<(u32, Document)> {
        let mut named: Vec<(&[u8], u32)> =
            self.names.iter().map(|(name, &number)| (&name[..], number)).collect();
        named.sort_unstable();
        let mut named = named.into_iter().peekable();
        let mut documents = Vec::with_capacity(self.documents);
        let whole = |name: &[u8], number: u32| {
            let (modified, mode) = (self.modified(number), self.mode(number));
            (number, Document { name: name.to_vec(), bytes: self.bytes(number), modified, mode })
        };
        for (number, stored) in (0..).zip(&self.stored.documents) {
            while let Some((name, other)) = named.next_if(|&(name, _)| name <= &stored.name[..]) {
                documents.push(whole(name, other));
            }
            if self.touched.get(&number).is_none_or(|entry| entry.there && entry.name.is_none()) {
                documents.push(whole(&stored.name, number));
            }
        }
        documents.extend(named.map(|(name, number)| whole(name, number)));
        documents
    }

    /// Whether an edit is possible; what is wrong if not.
    pub(crate) fn check(&self, edit: &Edit<'_>) -> Result<()> {
        match *edit {
            Edit::Insert { document, offset, text } => {
                let bytes = self.check_range(document, offset, 0)?;
                self.check_growth(document, bytes, 0, text)
            }
            Edit::Append { document, text } => {
                let bytes = self.bytes_there(document)?;
                self.check_growth(document, bytes, 0, text)
            }
            Edit::Delete { document, offset, length } => {
                self.check_range(document, offset, length).map(|_| ())
            }
            Edit::Replace { document, offset, length, text } => {
                let bytes = self.check_range(document, offset, length)?;
                self.check_growth(document, bytes, length, text)
            }
            Edit::Add { name, text, .. } => {
                self.check_new_name(name, None)?;
                edit.check()?;
                if self.stored_count() + self.added.len() >= MOST_NUMBERS {
                    return Err(Error::CorpusFull { what: "documents", most: MOST_NUMBERS as u64 });
                }
                check_lengths(|| name, 0, self.text_bytes, text)
            }
            Edit::Remove { document } => self.bytes_there(document).map(|_| ()),
            Edit::Rename { document, name } => {
                self.bytes_there(document)?;
                self.check_new_name(name, Some(document))
            }
        }
    }

    /// Gives edits of text back if they are possible together, where each is by itself; those of a
    /// document follow each other.
    pub(crate) fn check_growths<'t>(&self, edits: Vec<Edit<'t>>) -> Result<Vec<Edit<'t>>> {
        let (mut last, mut bytes, mut corpus) = (None, 0, self.text_bytes);
        for edit in &edits {
            let (document, gone) = match *edit {
                Edit::Insert { document, .. } | Edit::Append { document, .. } => (document, 0),
                Edit::Delete { document, length, .. } | Edit::Replace { document, length, .. } => {
                    (document, length)
                }
                Edit::Add { .. } | Edit::Remove { .. } | Edit::Rename { .. } => continue,
            };
            if last.replace(document) != Some(document) {
                bytes = self.bytes(document);
            }
            (bytes, corpus) = (bytes - gone, corpus - gone);
            check_lengths(|| self.name(document), bytes, corpus, edit.text())?;
            let more = edit.text().len() as u64;
            (bytes, corpus) = (bytes + more, corpus + more);
        }
        Ok(edits)
    }

    /// Takes an edit that is possible; what is wrong if it is not, and then nothing has changed. Gives the number of a
    /// document that was added.
    pub(crate) fn apply(&mut self, edit: &Edit<'_>) -> Result<Option<u32>> {
        self.check(edit)?;
        match *edit {
            Edit::Insert { document, text, .. } | Edit::Append { document, text } => {
                self.change_bytes(document, 0, text);
            }
            Edit::Delete { document, length, .. } => self.change_bytes(document, length, &[]),
            Edit::Replace { document, length, text, .. } => {
                self.change_bytes(document, length, text);
            }
            Edit::Add { name, modified, mode, text } => {
                let number = self.next_number();
                let name: Arc<[u8]> = name.into();
                self.names.insert(name.clone(), number);
                let bytes = text.len() as u64;
                self.added.push(Entry { name: Some(name), bytes, modified, mode, there: true });
                self.documents += 1;
                self.text_bytes += bytes;
                return Ok(Some(number));
            }
            Edit::Remove { document } => {
                let entry = self.entry_mut(document);
                entry.there = false;
                let gone = std::mem::take(&mut entry.bytes);
                let name = entry.name.clone();
                self.text_bytes -= gone;
                self.documents -= 1;
                self.free_name(name);
            }
            Edit::Rename { document, name } => self.rename(document, name),
        }
        Ok(None)
    }

    /// Takes the edits of a journal.
    pub(crate) fn replay(&mut self, journal: &Journal) -> Result<()> {
        // The text of the edits is not kept, so neither is what it would take.
        journal.replay(|edit| self.apply(&edit).map(|_| ()).map_err(super::impossible)).map(drop)
    }

    fn rename(&mut self, document: u32, name: &[u8]) {
        if self.name(document) == name {
            return;
        }
        let stored = self.stored.documents.get(document as usize);
        let new: Option<Arc<[u8]>> =
            if stored.is_some_and(|stored| stored.name == name) { None } else { Some(name.into()) };
        let old = std::mem::replace(&mut self.entry_mut(document).name, new.clone());
        self.free_name(old);
        self.names.extend(new.map(|name| (name, document)));
    }

    /// A name that was not the stored one is no longer used.
    fn free_name(&mut self, name: Option<Arc<[u8]>>) {
        if let Some(name) = name {
            self.names.remove(&name);
        }
    }

    fn entry(&self, document: u32) -> Option<&Entry> {
        match (document as usize).checked_sub(self.stored_count()) {
            None => self.touched.get(&document),
            Some(place) => self.added.get(place),
        }
    }

    /// The entry of a document that is there; from now on it counts as touched.
    fn entry_mut(&mut self, document: u32) -> &mut Entry {
        let place = document as usize;
        match place.checked_sub(self.stored.documents.len()) {
            None => self.touched.entry(document).or_insert_with(|| {
                let Document { bytes, modified, mode, .. } = self.stored.documents[place];
                Entry { name: None, bytes, modified, mode, there: true }
            }),
            Some(place) => &mut self.added[place],
        }
    }

    fn change_bytes(&mut self, document: u32, gone: u64, text: &[u8]) {
        let more = text.len() as u64;
        // An edit that changes nothing touches nothing.
        if gone > 0 || more > 0 {
            let entry = self.entry_mut(document);
            entry.bytes = entry.bytes - gone + more;
            self.text_bytes = self.text_bytes - gone + more;
        }
    }

    /// The length of a document that has to be there.
    fn bytes_there(&self, document: u32) -> Result<u64> {
        match self.entry(document) {
            Some(entry) if entry.there => Ok(entry.bytes),
            Some(_) => Err(Error::NoSuchDocument { name: self.name(document).to_vec() }),
            None => match self.stored.documents.get(document as usize) {
                Some(stored) => Ok(stored.bytes),
                None => Err(Error::NoSuchNumber { number: document, next: self.next_number() }),
            },
        }
    }

    /// Whether a range is in a document; gives the document's length.
    fn check_range(&self, document: u32, offset: u64, length: u64) -> Result<u64> {
        let bytes = self.bytes_there(document)?;
        match bytes.checked_sub(offset) {
            Some(left) if length <= left => Ok(bytes),
            found => {
                let name = self.name(document).to_vec();
                Err(match found {
                    Some(left) => Error::RangePastEnd { name, offset, length, left },
                    None => Error::OffsetPastEnd { name, offset, bytes },
                })
            }
        }
    }

    /// Whether a document of so many bytes may lose some and get others.
    fn check_growth(&self, document: u32, bytes: u64, gone: u64, text: &[u8]) -> Result<()> {
        check_lengths(|| self.name(document), bytes - gone, self.text_bytes - gone, text)
    }

    /// Whether a document can be called so, which may be the one that is called so already.
    fn check_new_name(&self, name: &[u8], document: Option<u32>) -> Result<()> {
        // What the format asks for; who makes edits asks for more (`names`).
        let reason = match name {
            [] => Some("is empty"),
            name if name.contains(&0) => Some("has a NUL in it"),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(Error::BadName { name: name.to_vec(), reason });
        }
        match self.find(name) {
            Some(other) if Some(other) != document => {
                Err(Error::DocumentExists { name: name.to_vec() })
            }
            _ => Ok(()),
        }
    }
}

/// Whether there is room for more text in a document and in the corpus.
fn check_lengths<'n>(
    name: impl Fn() -> &'n [u8],
    document: u64,
    corpus: u64,
    text: &[u8],
) -> Result<()> {
    let more = text.len() as u64;
    if more > LONGEST_DOCUMENT.saturating_sub(document) {
        return Err(Error::DocumentTooLong { name: name().to_vec(), most: LONGEST_DOCUMENT });
    }
    if more > MOST_TEXT.saturating_sub(corpus) {
        return Err(Error::CorpusFull { what: "bytes", most: MOST_TEXT });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(documents: &[(&str, u64)]) -> Arc<DocumentTable> {
        let documents = documents.iter().map(|&(name, bytes)| Document {
            name: name.into(),
            bytes,
            modified: Some(Timestamp { seconds: 5, nanoseconds: 6 }),
            mode: Some(0o640),
        });
        Arc::new(DocumentTable { documents: documents.collect(), digests: Vec::new() })
    }

    fn ledger() -> Ledger {
        Ledger::new(table(&[("a", 10), ("b", 20), ("c", 0)]))
    }

    fn add<'t>(name: &'t str, text: &'t [u8]) -> Edit<'t> {
        Edit::Add { name: name.as_bytes(), modified: None, mode: Some(0o600), text }
    }

    fn rename(document: u32, name: &str) -> Edit<'_> {
        Edit::Rename { document, name: name.as_bytes() }
    }

    /// Numbers, names and lengths in order, which all other questions agree with.
    fn listed(ledger: &Ledger) -> Vec<(u32, String, u64)> {
        let documents = ledger.documents();
        assert_eq!(documents.len(), ledger.document_count());
        let total: u64 = documents.iter().map(|(_, document)| document.bytes).sum();
        assert_eq!(total, ledger.text_bytes);
        for (number, document) in &documents {
            assert!(ledger.is_there(*number) && *number < ledger.next_number());
            assert_eq!(ledger.find(&document.name), Some(*number));
            assert_eq!(ledger.name(*number), document.name);
            assert_eq!(ledger.bytes(*number), document.bytes);
            assert_eq!(ledger.modified(*number), document.modified);
            assert_eq!(ledger.mode(*number), document.mode);
        }
        let there = (0..ledger.next_number()).filter(|&number| ledger.is_there(number));
        assert_eq!(there.count(), documents.len());
        let name = |document: &Document| String::from_utf8(document.name.clone()).unwrap();
        documents
            .iter()
            .map(|(number, document)| (*number, name(document), document.bytes))
            .collect()
    }

    fn row(number: u32, name: &str, bytes: u64) -> (u32, String, u64) {
        (number, name.into(), bytes)
    }

    #[test]
    fn lengths_follow_edits_of_text() {
        let mut ledger = ledger();
        let edits = [
            Edit::Insert { document: 0, offset: 10, text: b"12345" },
            Edit::Append { document: 2, text: b"123" },
            Edit::Delete { document: 0, offset: 3, length: 12 },
            Edit::Replace { document: 2, offset: 1, length: 2, text: b"four" },
        ];
        for edit in &edits {
            assert_eq!(ledger.apply(edit).unwrap(), None);
        }
        assert_eq!(listed(&ledger), [row(0, "a", 3), row(1, "b", 20), row(2, "c", 5)]);
        assert!(ledger.is_untouched(1) && !ledger.is_untouched(0) && !ledger.is_untouched(3));
        // Nothing came and nothing went.
        ledger.apply(&Edit::Insert { document: 1, offset: 20, text: b"" }).unwrap();
        ledger.apply(&Edit::Delete { document: 1, offset: 20, length: 0 }).unwrap();
        ledger.apply(&rename(1, "b")).unwrap();
        assert!(ledger.is_untouched(1));
    }

    #[test]
    fn names_can_go_round() {
        let mut ledger = ledger();
        for (document, name) in [(0, "z"), (1, "a"), (0, "b"), (2, "0"), (2, "c")] {
            ledger.apply(&rename(document, name)).unwrap();
        }
        assert_eq!(listed(&ledger), [row(1, "a", 20), row(0, "b", 10), row(2, "c", 0)]);
        assert_eq!((ledger.find(b"z"), ledger.find(b"0")), (None, None));
        assert_eq!(ledger.names.len(), 2);
        // A removed document's name is free, and its number stays gone.
        ledger.apply(&Edit::Remove { document: 1 }).unwrap();
        ledger.apply(&rename(0, "a")).unwrap();
        assert_eq!(listed(&ledger), [row(0, "a", 10), row(2, "c", 0)]);
        assert!(ledger.names.is_empty() && !ledger.is_there(1));
    }

    /// What an edit is refused with; nothing has changed by it.
    fn refused(ledger: &mut Ledger, edit: Edit<'_>) -> String {
        let (rows, next) = (listed(ledger), ledger.next_number());
        let error = ledger.apply(&edit).unwrap_err();
        assert_eq!((listed(ledger), ledger.next_number()), (rows, next));
        error.to_string()
    }

    #[test]
    fn there_is_a_longest_document_and_a_largest_corpus() {
        let full = MOST_TEXT - LONGEST_DOCUMENT;
        let mut ledger = Ledger::new(table(&[("all", full), ("long", LONGEST_DOCUMENT - 2)]));
        ledger.apply(&Edit::Append { document: 1, text: b"1" }).unwrap();
        let expected = "“long” would become too long for a document: at most 281474976710655 bytes \
                        are supported";
        assert_eq!(refused(&mut ledger, Edit::Append { document: 1, text: b"12" }), expected);
        let edit = Edit::Replace { document: 1, offset: 0, length: 1, text: b"123" };
        assert_eq!(refused(&mut ledger, edit), expected);
        let expected =
            "the corpus would have too many bytes: at most 9223372036854775807 are supported";
        assert_eq!(refused(&mut ledger, add("new", b"12")), expected);
        ledger.apply(&Edit::Replace { document: 1, offset: 0, length: 1, text: b"12" }).unwrap();
        assert_eq!(refused(&mut ledger, add("new", b"1")), expected);
        ledger.apply(&Edit::Delete { document: 1, offset: 9, length: 1 }).unwrap();
        ledger.apply(&add("new", b"1")).unwrap();
        assert_eq!(ledger.text_bytes, MOST_TEXT);
    }
}
