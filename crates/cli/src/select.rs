//! Documents by the names that a person types: exact, escaped as `tadoc list` prints them, or a glob.
//!
//! They are looked for in one archive or in several, whose documents are numbered one archive after the other.

use std::ffi::OsStr;

use anyhow::{Context, bail};
use globset::{Candidate, GlobBuilder};
use tadoc::Document;
use tadoc::text::{escape, unescape};

/// All places that any of the arguments asks for, ascending, each once; all documents for no arguments.
pub fn find_all(
    archives: &[&[Document]],
    asked: &[impl AsRef<OsStr>],
) -> anyhow::Result<Vec<usize>> {
    if asked.is_empty() {
        return Ok((0..archives.iter().map(|documents| documents.len()).sum()).collect());
    }
    let mut places = Vec::new();
    for name in asked {
        places.append(&mut find(archives, name.as_ref())?);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// The places that an argument asks for, ascending. A glob may match nothing; a name that is in none of the
/// archives is an error.
pub fn find(archives: &[&[Document]], asked: &OsStr) -> anyhow::Result<Vec<usize>> {
    let name = asked.as_encoded_bytes();
    let named = with_name(archives, name);
    if !named.is_empty() {
        return Ok(named);
    }
    if let Some(unescaped) = asked.to_str().and_then(unescape) {
        let named = with_name(archives, &unescaped);
        if !named.is_empty() {
            return Ok(named);
        }
    }
    if name.iter().any(|byte| b"*?[".contains(byte)) {
        let pattern = asked.to_str().context("a glob must be UTF-8")?;
        let glob = GlobBuilder::new(pattern)
            .backslash_escape(true)
            .build()
            .with_context(|| {
                format!("no document is called {:?}, and it is no glob either", escape(name))
            })?
            .compile_matcher();
        return Ok(archives
            .iter()
            .copied()
            .flatten()
            .enumerate()
            .filter(|(_, document)| glob.is_match_candidate(&Candidate::from_bytes(&document.name)))
            .map(|(place, _)| place)
            .collect());
    }
    let mut folder = name.strip_suffix(b"/").unwrap_or(name).to_vec();
    folder.push(b'/');
    let has_folder = |documents: &&[Document]| {
        let next = documents.partition_point(|document| *document.name < *folder);
        documents.get(next).is_some_and(|document| document.name.starts_with(&folder))
    };
    if archives.iter().any(has_folder) {
        bail!(
            "the archive has no document {:?}, but a folder: ask for '{}*'",
            escape(name),
            escape(&folder)
        );
    }
    Err(tadoc::Error::NoSuchDocument { name: name.to_vec() }.into())
}

/// The places of the documents of a name: at most one of each archive.
fn with_name(archives: &[&[Document]], name: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut first = 0;
    for documents in archives {
        if let Ok(place) = documents.binary_search_by(|document| (*document.name).cmp(name)) {
            places.push(first + place);
        }
        first += documents.len();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> Vec<Document> {
        let names: [&[u8]; 6] =
            [b"[a]", b"b\tc", b"logs/1.log", b"logs/old/2.log", b"notes.txt", b"x\xff.log"];
        names
            .into_iter()
            .map(|name| Document { name: name.to_vec(), bytes: 1, modified: None, mode: None })
            .collect()
    }

    fn found(asked: &str) -> Result<Vec<usize>, String> {
        find(&[&documents()], OsStr::new(asked)).map_err(|error| error.to_string())
    }

    #[test]
    fn several_archives_are_one_corpus() {
        let (all, some) = (documents(), &documents()[1..3]);
        let archives: [&[Document]; 2] = [some, &all];
        let found = |asked: &str| find(&archives, OsStr::new(asked)).unwrap();
        assert_eq!(found("b\\tc"), [0, 3]);
        assert_eq!(found("notes.txt"), [6]);
        // A name in one of them is no glob for the others.
        assert_eq!(found("[a]"), [2]);
        assert_eq!(found("*.log"), [1, 4, 5, 7]);
        assert_eq!(find_all(&archives, &["*.log", "[a]", "b\tc"]).unwrap(), [0, 1, 2, 3, 4, 5, 7]);
        assert_eq!(find_all(&archives, &[""; 0]).unwrap().len(), 8);
        assert!(find(&archives, OsStr::new("logs")).unwrap_err().to_string().contains("'logs/*'"));
    }

    #[test]
    fn names_are_exact_first() {
        assert_eq!(found("notes.txt"), Ok(vec![4]));
        assert_eq!(found("[a]"), Ok(vec![0]));
        assert_eq!(found("b\tc"), Ok(vec![1]));
    }

    #[test]
    fn then_escaped() {
        assert_eq!(found("b\\tc"), Ok(vec![1]));
        assert_eq!(found("x\\xff.log"), Ok(vec![5]));
    }

    #[test]
    fn then_globs() {
        assert_eq!(found("*.log"), Ok(vec![2, 3, 5]));
        assert_eq!(found("logs/?.log"), Ok(vec![2]));
        assert_eq!(found("*.pdf"), Ok(vec![]));
        assert!(found("[z").unwrap_err().contains("no glob"));
    }

    #[test]
    fn what_is_not_there() {
        assert!(found("notes").unwrap_err().contains("has no document"));
        assert!(found("logs").unwrap_err().contains("'logs/*'"));
        assert!(found("logs/").unwrap_err().contains("'logs/*'"));
    }
}
