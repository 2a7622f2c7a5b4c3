//! Documents by the names that a person types: exact, escaped as `tadoc list` prints them, or a glob.

use std::ffi::OsStr;

use anyhow::{Context, bail};
use globset::{Candidate, GlobBuilder};
use tadoc::Document;
use tadoc::text::{escape, unescape};

/// All places that any of the arguments asks for, ascending, each once; all documents for no arguments.
pub fn find_all(documents: &[Document], asked: &[impl AsRef<OsStr>]) -> anyhow::Result<Vec<usize>> {
    if asked.is_empty() {
        return Ok((0..documents.len()).collect());
    }
    let mut places = Vec::new();
    for name in asked {
        places.append(&mut find(documents, name.as_ref())?);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// The places in `documents` that an argument asks for, ascending. A glob may match nothing; a
/// name that is not there is an error.
pub fn find(documents: &[Document], asked: &OsStr) -> anyhow::Result<Vec<usize>> {
    let name = asked.as_encoded_bytes();
    let find = |name: &[u8]| documents.binary_search_by(|document| (*document.name).cmp(name)).ok();
    if let Some(place) = find(name) {
        return Ok(vec![place]);
    }
    if let Some(place) = asked.to_str().and_then(unescape).and_then(|unescaped| find(&unescaped)) {
        return Ok(vec![place]);
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
        return Ok(documents
            .iter()
            .enumerate()
            .filter(|(_, document)| glob.is_match_candidate(&Candidate::from_bytes(&document.name)))
            .map(|(place, _)| place)
            .collect());
    }
    let mut folder = name.strip_suffix(b"/").unwrap_or(name).to_vec();
    folder.push(b'/');
    let next = documents.partition_point(|document| *document.name < *folder);
    if documents.get(next).is_some_and(|document| document.name.starts_with(&folder)) {
        bail!(
            "the archive has no document {:?}, but a folder: ask for '{}*'",
            escape(name),
            escape(&folder)
        );
    }
    Err(tadoc::Error::NoSuchDocument { name: name.to_vec() }.into())
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
        find(&documents(), OsStr::new(asked)).map_err(|error| error.to_string())
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
