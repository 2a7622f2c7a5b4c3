//! Documents by the names that a person types: exact, escaped as `tadoc list` prints them, or a glob.

use globset::{Candidate, GlobBuilder};
use tadoc_engine::Error;
use tadoc_engine::access::Scope;

use crate::text::unescape;
use crate::{Corpus, DocumentId, Result};

/// Which documents a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Selection {
    #[default]
    All,
    /// Some of them, ascending.
    Some(Vec<DocumentId>),
}

impl Selection {
    /// Their numbers, as a view takes them.
    pub(crate) fn numbers(&self) -> Option<Vec<u32>> {
        match self {
            Self::All => None,
            Self::Some(ids) => Some(ids.iter().map(|id| id.0).collect()),
        }
    }

    /// The documents of each archive.
    pub(crate) fn scopes(&self, corpus: &Corpus) -> Vec<Scope> {
        let parts = corpus.parts();
        let Self::Some(ids) = self else { return parts.iter().map(|_| Scope::All).collect() };
        let mut left = &ids[..];
        let scope = |(number, part): (usize, &crate::corpus::Part)| {
            let end = parts.get(number + 1).map_or(u32::MAX, |next| next.first);
            let (own, later) = left.split_at(left.partition_point(|id| id.0 < end));
            left = later;
            Scope::Documents(own.iter().map(|id| id.0 - part.first).collect())
        };
        parts.iter().enumerate().map(scope).collect()
    }
}

/// The documents that a name or glob stands for, in order. A glob may match none.
///
/// # Errors
/// [`Error::NoSuchDocument`] for a name that no archive has, [`Error::IsFolder`] if it is that of a folder,
/// [`Error::BadGlob`].
pub(crate) fn matching(corpus: &Corpus, asked: &[u8]) -> Result<Vec<DocumentId>> {
    let found = named(corpus, asked)?;
    if !found.is_empty() {
        return Ok(found);
    }
    if asked.iter().any(|byte| b"*?[".contains(byte)) {
        let bad = |reason: String| Error::BadGlob { glob: asked.to_vec(), reason };
        let pattern = str::from_utf8(asked).map_err(|_| bad("it is not UTF-8".into()))?;
        let glob = GlobBuilder::new(pattern)
            .backslash_escape(true)
            .build()
            .map_err(|error| bad(error.kind().to_string()))?
            .compile_matcher();
        let mut found = Vec::new();
        for part in corpus.parts() {
            let documents = part.named(part.archive.documents())?;
            found.extend((part.first..).zip(documents).filter_map(|(number, document)| {
                let is_match = glob.is_match_candidate(&Candidate::from_bytes(&document.name));
                is_match.then_some(DocumentId(number))
            }));
        }
        return Ok(found);
    }
    let mut folder = asked.strip_suffix(b"/").unwrap_or(asked).to_vec();
    folder.push(b'/');
    for part in corpus.parts() {
        let documents = part.named(part.archive.documents())?;
        let next = documents.partition_point(|document| *document.name < *folder);
        if documents.get(next).is_some_and(|document| document.name.starts_with(&folder)) {
            return Err(Error::IsFolder { name: asked.to_vec() });
        }
    }
    Err(Error::NoSuchDocument { name: asked.to_vec() })
}

/// The documents of a name, or of what it is when it is read back from how it is printed: at most one of each
/// archive.
pub(crate) fn named(corpus: &Corpus, name: &[u8]) -> Result<Vec<DocumentId>> {
    let found = with_name(corpus, name)?;
    let unescaped = str::from_utf8(name).ok().and_then(unescape);
    match unescaped {
        Some(unescaped) if found.is_empty() => with_name(corpus, &unescaped),
        _ => Ok(found),
    }
}

fn with_name(corpus: &Corpus, name: &[u8]) -> Result<Vec<DocumentId>> {
    let mut found = Vec::new();
    for part in corpus.parts() {
        let documents = part.named(part.archive.documents())?;
        if let Ok(place) = documents.binary_search_by(|document| (*document.name).cmp(name)) {
            found.push(DocumentId(part.first + place as u32));
        }
    }
    Ok(found)
}
