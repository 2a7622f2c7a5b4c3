//! Documents by the names that a person types: exact, escaped as `tadoc list` prints them, or a
//! glob.

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

/// Names in byte order, wherever they lie.
struct Table<'t> {
    length: usize,
    name: &'t dyn Fn(usize) -> &'t [u8],
}

/// The places of sorted names that a name or glob stands for, ascending: a name that is there, else
/// one that is there when it is read back from how `tadoc list` prints it, else a glob. A glob may
/// match none.
///
/// # Errors
/// [`Error::NoSuchDocument`], [`Error::IsFolder`] if names begin with it and a `/`,
/// [`Error::BadGlob`].
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// let names = ["logs/1", "logs/2", "notes"];
/// assert_eq!(tadoc::match_names(&names, b"logs/*")?, [0, 1]);
/// assert!(matches!(tadoc::match_names(&names, b"logs"), Err(tadoc::Error::IsFolder { .. })));
/// # Ok(())
/// # }
/// ```
pub fn match_names(names: &[impl AsRef<[u8]>], asked: &[u8]) -> Result<Vec<usize>> {
    find(&[Table { length: names.len(), name: &|place| names[place].as_ref() }], asked)
}

/// The documents of a corpus that a name or glob stands for.
pub(crate) fn matching(corpus: &Corpus, asked: &[u8]) -> Result<Vec<DocumentId>> {
    with_tables(corpus, |tables| find(tables, asked))
}

/// The documents of a name, or of what it is when it is read back from how it is printed: at most
/// one of each archive.
pub(crate) fn named(corpus: &Corpus, name: &[u8]) -> Result<Vec<DocumentId>> {
    with_tables(corpus, |tables| Ok(exact(tables, name)))
}

fn with_tables(
    corpus: &Corpus,
    find: impl FnOnce(&[Table<'_>]) -> Result<Vec<usize>>,
) -> Result<Vec<DocumentId>> {
    let documents = corpus.parts().iter().map(|part| part.named(part.archive.documents()));
    let documents = documents.collect::<Result<Vec<_>>>()?;
    let names: Vec<_> =
        documents.iter().map(|documents| |place: usize| &*documents[place].name).collect();
    let tables = documents.iter().zip(&names);
    let tables: Vec<Table<'_>> =
        tables.map(|(documents, name)| Table { length: documents.len(), name }).collect();
    Ok(find(&tables)?.into_iter().map(|number| DocumentId(number as u32)).collect())
}

fn find(tables: &[Table<'_>], asked: &[u8]) -> Result<Vec<usize>> {
    let found = exact(tables, asked);
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
        let names =
            tables.iter().flat_map(|table| (0..table.length).map(|place| (table.name)(place)));
        let matches = names
            .enumerate()
            .filter(|(_, name)| glob.is_match_candidate(&Candidate::from_bytes(name)));
        return Ok(matches.map(|(number, _)| number).collect());
    }
    let mut folder = asked.strip_suffix(b"/").unwrap_or(asked).to_vec();
    folder.push(b'/');
    let is_folder = tables.iter().any(|table| {
        let next = lower_bound(table, &folder);
        next < table.length && (table.name)(next).starts_with(&folder)
    });
    let name = asked.to_vec();
    Err(if is_folder { Error::IsFolder { name } } else { Error::NoSuchDocument { name } })
}

fn exact(tables: &[Table<'_>], name: &[u8]) -> Vec<usize> {
    let found = with_name(tables, name);
    match str::from_utf8(name).ok().and_then(unescape) {
        Some(unescaped) if found.is_empty() => with_name(tables, &unescaped),
        _ => found,
    }
}

fn with_name(tables: &[Table<'_>], name: &[u8]) -> Vec<usize> {
    let (mut found, mut first) = (Vec::new(), 0);
    for table in tables {
        let place = lower_bound(table, name);
        if place < table.length && (table.name)(place) == name {
            found.push(first + place);
        }
        first += table.length;
    }
    found
}

/// How many names of a table are before another. O(log names).
fn lower_bound(table: &Table<'_>, name: &[u8]) -> usize {
    let (mut low, mut high) = (0, table.length);
    while low < high {
        let middle = low + (high - low) / 2;
        match (table.name)(middle) < name {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&[u8]; 6] =
        [b"[a]", b"b\tc", b"logs/1.log", b"logs/old/2.log", b"notes.txt", b"x\xff.log"];

    fn found(asked: &str) -> Vec<usize> {
        match_names(&NAMES, asked.as_bytes()).unwrap()
    }

    #[test]
    fn several_archives_are_one_corpus() {
        let some = &NAMES[1..3];
        let tables = [
            Table { length: some.len(), name: &|place| some[place] },
            Table { length: NAMES.len(), name: &|place| NAMES[place] },
        ];
        let found = |asked: &str| find(&tables, asked.as_bytes()).unwrap();
        assert_eq!(found("b\\tc"), [0, 3]);
        assert_eq!(found("notes.txt"), [6]);
        // A name in one of them is no glob for the others.
        assert_eq!(found("[a]"), [2]);
        assert_eq!(found("*.log"), [1, 4, 5, 7]);
        assert!(matches!(find(&tables, b"logs"), Err(Error::IsFolder { .. })));
    }

    #[test]
    fn names_are_exact_first_then_escaped_then_globs() {
        assert_eq!(found("notes.txt"), [4]);
        assert_eq!(found("[a]"), [0]);
        assert_eq!(found("b\tc"), [1]);
        assert_eq!(found("b\\tc"), [1]);
        assert_eq!(found("x\\xff.log"), [5]);
        assert_eq!(found("*.log"), [2, 3, 5]);
        assert_eq!(found("logs/?.log"), [2]);
        assert_eq!(found("*.pdf"), []);
        assert!(matches!(match_names(&NAMES, b"[z"), Err(Error::BadGlob { .. })));
    }

    #[test]
    fn what_is_not_there() {
        let error = |asked: &str| match_names(&NAMES, asked.as_bytes()).unwrap_err();
        assert!(matches!(error("notes"), Error::NoSuchDocument { .. }));
        assert!(matches!(error("logs"), Error::IsFolder { .. }));
        assert!(matches!(error("logs/"), Error::IsFolder { .. }));
    }
}
