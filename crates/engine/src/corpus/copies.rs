//! Documents that have the same bytes as some text: what adding a file under another name would
//! count twice.
//!
//! Documents of another length are not looked at. Of the others, those with a digest of their own
//! are compared by that without being read; the rest is expanded, all of them in one pass.

use hashbrown::HashMap;
use tadoc_core::archive::{Digester, PieceHasher};

use super::Corpus;
use super::digests::runs;
use crate::error::Result;

/// A text by its length and the hashes of its pieces: XXH64, so that no two texts are taken for one
/// by chance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDigest {
    bytes: u64,
    hashes: Vec<u64>,
}

/// Makes the digest of a text that comes in pieces.
#[derive(Default)]
pub struct TextDigester {
    bytes: u64,
    hasher: PieceHasher,
}

impl TextDigester {
    /// The next bytes of the text.
    pub fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hasher.update(bytes);
    }

    /// The text ends.
    pub fn finish(mut self) -> TextDigest {
        TextDigest { bytes: self.bytes, hashes: self.hasher.finish() }
    }
}

impl Corpus {
    /// For each text the first document that has its bytes, by its place, if one of `among` does.
    /// Texts without bytes have none.
    pub fn find_copies(
        &self,
        texts: &[TextDigest],
        among: impl Fn(usize) -> bool,
    ) -> Result<Vec<Option<usize>>> {
        let mut of_length: HashMap<u64, Vec<u32>> = HashMap::new();
        for text in texts.iter().filter(|text| text.bytes > 0) {
            let mut digester = Digester::default();
            let digest = digester.document(text.bytes, &text.hashes, true);
            of_length.entry(text.bytes).or_default().extend(digest);
        }
        let digests = self.digests_of_single_documents()?;
        let documents = self.documents()?;
        let may_be_one = |&place: &usize| {
            let Some(wanted) = of_length.get(&documents[place].bytes) else { return false };
            digests.get(&place).is_none_or(|digest| wanted.contains(digest)) && among(place)
        };
        let candidates: Vec<usize> = (0..documents.len()).filter(may_be_one).collect();
        let hashes = self.hash_documents(&candidates, &())?;
        let mut found: HashMap<(u64, &[u64]), usize> = HashMap::new();
        for (&place, hashes) in candidates.iter().zip(&hashes) {
            found.entry((documents[place].bytes, &hashes[..])).or_insert(place);
        }
        let of_text = |text: &TextDigest| found.get(&(text.bytes, &text.hashes[..])).copied();
        Ok(texts.iter().map(of_text).collect())
    }

    /// The digests of documents that share theirs with no other, by their places.
    fn digests_of_single_documents(&self) -> Result<HashMap<usize, u32>> {
        let table = self.table()?;
        let runs = runs(table.documents.iter().map(|document| document.bytes));
        let single = runs.iter().zip(&table.digests).filter(|(run, _)| run.len() == 1);
        let of_stored = single.map(|(run, &digest)| (run.start, digest));
        let Some(edited) = self.edited() else { return Ok(of_stored.collect()) };
        let of_stored: HashMap<usize, u32> = of_stored.collect();
        let places = edited.as_stored().iter().enumerate();
        let digest = |number: u32| of_stored.get(&(number as usize)).copied();
        Ok(places.filter_map(|(place, number)| Some((place, digest((*number)?)?))).collect())
    }
}
