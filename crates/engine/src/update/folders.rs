//! The folders that documents are in: what a new name is checked against, so that no document is a
//! file where a folder of others has to be when the corpus is restored.
//!
//! Cost: O(documents) when the first name is given, then O(folders of a name).

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Ledger;
use crate::error::{Error, Result};
use crate::names;

/// How many documents are in each folder, and in those below it.
#[derive(Debug, Default)]
pub(super) struct Folders {
    counts: HashMap<Vec<u8>, u32, FixedState>,
}

impl Folders {
    pub(super) fn of(ledger: &Ledger) -> Self {
        let mut folders = Self::default();
        ledger.documents().iter().for_each(|(_, document)| folders.add(&document.name));
        folders
    }

    pub(super) fn add(&mut self, name: &[u8]) {
        for folder in names::folders(name) {
            *self.counts.entry_ref(folder).or_insert(0) += 1;
        }
    }

    pub(super) fn remove(&mut self, name: &[u8]) {
        for folder in names::folders(name) {
            if let Some(count) = self.counts.get_mut(folder) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(folder);
                }
            }
        }
    }

    /// Whether a document can be called so beside the others; `but` is one that gives up its name
    /// for it.
    pub(super) fn check(&self, name: &[u8], but: Option<u32>, ledger: &Ledger) -> Result<()> {
        let own = but.map(|document| ledger.name(document));
        let below_own = |folder: &[u8]| own.is_some_and(|own| is_below(own, folder));
        if self.counts.get(name).is_some_and(|&count| count > u32::from(below_own(name))) {
            let documents = ledger.documents();
            let below = documents
                .iter()
                .find(|(number, document)| Some(*number) != but && is_below(&document.name, name));
            let below = below.map_or_else(Vec::new, |(_, document)| document.name.clone());
            return Err(Error::FileAndFolder { name: name.to_vec(), below });
        }
        let is_document =
            |folder: &&[u8]| ledger.find(folder).is_some_and(|found| Some(found) != but);
        match names::folders(name).find(is_document) {
            Some(folder) => {
                Err(Error::FileAndFolder { name: folder.to_vec(), below: name.to_vec() })
            }
            None => Ok(()),
        }
    }
}

fn is_below(name: &[u8], folder: &[u8]) -> bool {
    name.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}
