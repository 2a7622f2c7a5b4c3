//! The digests of an edited corpus. Those of documents that no edit has touched are known; others are hashed, which needs their text.

use std::ops::Range;

use crate::corpus::Corpus;
use crate::corpus::digests::runs;
use crate::error::Result;
use crate::progress::Observer;
use tadoc_core::archive::{Digester, DocumentTable};

/// The documents of a corpus with their digests. `numbers` are those of documents that are stored as they are. Cost: O(documents), and expanding those whose digests are
/// not known.
pub(super) fn digests(
    corpus: &Corpus,
    numbers: &[Option<u32>],
    observer: &dyn Observer,
) -> Result<DocumentTable> {
    let now = corpus.documents()?.to_vec();
    let stored = corpus.table()?;
    let of_stored = runs(stored.documents.iter().map(|document| document.bytes));
    let of_now = runs(now.iter().map(|document| document.bytes));
    // For each group of now its digest, if it is one of the stored groups.
    let known = |group: &Range<usize>| {
        let first = numbers[group.start]?;
        let at = of_stored.binary_search_by_key(&(first as usize), |group| group.start).ok()?;
        let mut expected = (first..).zip(&numbers[group.clone()]);
        let is_same = of_stored[at].len() == group.len()
            && expected.all(|(number, found)| *found == Some(number));
        is_same.then(|| stored.digests[at])
    };
    let known: Vec<Option<u32>> = of_now.iter().map(known).collect();
    let unknown: Vec<usize> = of_now
        .iter()
        .zip(&known)
        .filter(|(_, known)| known.is_none())
        .flat_map(|(group, _)| group.clone())
        .collect();
    let hashes = corpus.hash_documents(&unknown, observer)?;
    let mut hashes = hashes.into_iter();
    let mut digests = Vec::with_capacity(of_now.len());
    for (group, known) in of_now.into_iter().zip(known) {
        if let Some(digest) = known {
            digests.push(digest);
            continue;
        }
        let mut digester = Digester::default();
        let last = group.end - 1;
        for document in group {
            let hashes = hashes.next().expect("a document was hashed");
            digests.extend(digester.document(now[document].bytes, &hashes, document == last));
        }
    }
    Ok(DocumentTable { documents: now, digests })
}
