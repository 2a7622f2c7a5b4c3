//! Where a phrase is, pulled hit by hit.

use std::sync::Arc;
use std::vec;

use tadoc_engine::access::{self, Access, Scope, Search};

use crate::context::{Context, Extent};
use crate::{Analyzer, Corpus, Document, DocumentId, Phrase, Result};

/// The hits of a search: documents in order, offsets ascending. An iterator that searches on only
/// when more is wanted, so that an answer may be of any length.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("plays.tdc");
/// # let text = tadoc::Source::Bytes(b"to be or not to be".to_vec());
/// # let input = tadoc::Input::new("hamlet.txt", text);
/// # tadoc::compress(vec![input], &path, &tadoc::CompressOptions::default(), &())?;
/// let corpus = tadoc::Corpus::open(&path)?;
/// let offsets: Vec<u64> =
///     corpus.search("to be")?.map(|hit| Ok(hit?.offset())).collect::<tadoc::Result<_>>()?;
/// assert_eq!(offsets, [0, 13]);
/// # Ok(())
/// # }
/// ```
pub struct Hits {
    corpus: Corpus,
    /// Each archive's phrase and documents, from the one that is searched on.
    left: vec::IntoIter<InPart>,
    searching: Option<(InPart, Search)>,
    /// Hits that were found and not pulled yet.
    found: Option<(Document, vec::IntoIter<u64>)>,
}

/// What is looked for in one archive.
struct InPart {
    part: usize,
    access: Arc<Access>,
    phrase: Arc<access::Phrase>,
    scope: Scope,
}

/// A place where a phrase is.
#[derive(Debug, Clone)]
pub struct Hit {
    document: Document,
    offset: u64,
    phrase: Arc<access::Phrase>,
}

impl Hits {
    pub(crate) fn new(
        corpus: &Corpus,
        phrase: Phrase,
        analyzer: &Analyzer,
        scopes: Vec<Scope>,
    ) -> Result<Self> {
        let parts = corpus.parts().iter().zip(scopes).enumerate();
        let left = parts.map(|(number, (part, scope))| {
            let access = part.access()?.clone();
            let phrase = phrase.of(&access, analyzer)?;
            Ok(InPart { part: number, access, phrase, scope })
        });
        let left = left.collect::<Result<Vec<InPart>>>()?.into_iter();
        Ok(Self { corpus: corpus.clone(), left, searching: None, found: None })
    }

    /// The next document that has the phrase, with the next of its offsets, at least one; `None` at
    /// the end. A document with many comes several times. For whoever takes many: it costs less
    /// than hit by hit.
    ///
    /// # Errors
    /// What reading the archives gives.
    pub fn next_offsets(&mut self) -> Result<Option<(Document, Vec<u64>)>> {
        if let Some((document, offsets)) = self.found.take() {
            let offsets: Vec<u64> = offsets.collect();
            if !offsets.is_empty() {
                return Ok(Some((document, offsets)));
            }
        }
        loop {
            let Some((at, search)) = &mut self.searching else {
                let Some(next) = self.left.next() else { return Ok(None) };
                let part = &self.corpus.parts()[next.part];
                let search = part.named(Search::new(&next.access, &next.phrase, &next.scope))?;
                self.searching = Some((next, search));
                continue;
            };
            let part = &self.corpus.parts()[at.part];
            match part.named(search.next(&at.access, &at.phrase))? {
                Some((place, offsets)) => {
                    let document = self.corpus.get(DocumentId(part.first + place));
                    return Ok(Some((document.expect("it was searched"), offsets)));
                }
                None => self.searching = None,
            }
        }
    }
}

impl Iterator for Hits {
    type Item = Result<Hit>;

    fn next(&mut self) -> Option<Result<Hit>> {
        loop {
            if let Some((document, offsets)) = &mut self.found
                && let Some(offset) = offsets.next()
            {
                let (at, _) = self.searching.as_ref().expect("hits are of the archive at hand");
                let (document, phrase) = (document.clone(), at.phrase.clone());
                return Some(Ok(Hit { document, offset, phrase }));
            }
            self.found = None;
            match self.next_offsets() {
                Ok(Some((document, offsets))) => self.found = Some((document, offsets.into_iter())),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Hit {
    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Where the phrase starts in it, in bytes from 0.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The line that the phrase starts in, without its newline. O(depth + line).
    ///
    /// # Errors
    /// What reading the archive gives.
    pub fn line(&self) -> Result<Vec<u8>> {
        let line = self.document.line_of(self.offset)?;
        let start = self.document.line_start(line)?;
        let end = self.document.line_start(line + 1)?;
        let mut text = self.document.extract(start, end - start)?;
        if text.last() == Some(&b'\n') {
            text.pop();
        }
        Ok(text)
    }

    /// The phrase as it stands there, and what is around it. It costs the bytes that are shown.
    ///
    /// # Errors
    /// What reading the archive gives.
    pub fn context(&self, extent: Extent) -> Result<Context> {
        let (terms, analyzer) = (self.phrase.terms().len(), self.phrase.analyzer());
        Context::read(&self.document, self.offset, terms, analyzer, extent)
    }
}
