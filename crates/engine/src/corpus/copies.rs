//! Documents that have the same bytes as some text: what adding a file under another name would
//! count twice.
//!
//! Documents of another length are not looked at. Of the others, those with a digest of their own
//! are compared by that without being read; the rest is expanded, all of them in one pass.

use std::fmt;

use hashbrown::HashMap;
use tadoc_core::archive::{Digester, PieceHasher};

use super::Corpus;
use super::digests::runs;
use crate::error::Result;

/// A text by its length and the hashes of its pieces: XXH64, so that no two texts are taken for one
/// by chance. The default is the empty text.
#[derive(Clone, Default)]
pub struct TextDigest {
    bytes: u64,
    hasher: PieceHasher,
}

impl TextDigest {
    /// The next bytes of the text.
    pub fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hasher.update(bytes);
    }
}

impl fmt::Debug for TextDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TextDigest").field("bytes", &self.bytes).finish_non_exhaustive()
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
        let texts: Vec<(u64, Vec<u64>)> =
            texts.iter().map(|text| (text.bytes, text.hasher.clone().finish())).collect();
        let mut of_length: HashMap<u64, Vec<u32>> = HashMap::new();
        for (bytes, hashes) in texts.iter().filter(|(bytes, _)| *bytes > 0) {
            let mut digester = Digester::default();
            let digest = digester.document(*bytes, hashes, true);
            of_length.entry(*bytes).or_default().extend(digest);
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
        Ok(texts.iter().map(|(bytes, hashes)| found.get(&(*bytes, &hashes[..])).copied()).collect())
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
