//! How the documents were made of files: the section `ORIG` of docs/format.md. Optional; a few
//! dozen bytes, and the names of files without a document.
//!
//! A reader needs it to name further files as those of the archive were named, and to put files
//! together again that were cut into lines. No answer depends on it.

use super::documents::MOST_MODE;
use super::types::{Document, Timestamp};
use super::wire::{Reader, put_varint, unzigzag, zigzag};
use crate::error::Result;

/// How files become documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Split {
    /// A file is a document.
    #[default]
    Files,
    /// A line, with its line feed, is a document: `NAME:0000000001` and so on.
    Lines,
}

/// The folder that names are relative to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Base {
    /// Not recorded.
    #[default]
    Unknown,
    /// A path from the archive's own folder: either folders below it, or `..` one or several times,
    /// or nothing.
    Relative(Vec<u8>),
    /// XXH64 of the absolute path. (A person's folders are not told to whoever gets the archive.)
    Hashed(u64),
}

/// The fields of the section.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// How files became documents.
    pub split: Split,
    /// The folder that names are relative to.
    pub base: Base,
    /// What stands before those relative paths in all names.
    pub prefix: Vec<u8>,
    /// Files that have no document, as they have no line; in byte order of their names. Their
    /// lengths are 0.
    pub empty: Vec<Document>,
}

/// Which attributes a file has; as those of an added document in a journal.
const HAS_TIME: u8 = 1;
const HAS_MODE: u8 = 2;

fn put_bytes(section: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(section, bytes.len() as u64);
    section.extend_from_slice(bytes);
}

pub(super) fn encode(origin: &Origin) -> Vec<u8> {
    let mut section = Vec::new();
    put_varint(
        &mut section,
        match origin.split {
            Split::Files => 0,
            Split::Lines => 1,
        },
    );
    match &origin.base {
        Base::Unknown => put_varint(&mut section, 0),
        Base::Relative(path) => {
            put_varint(&mut section, 1);
            put_bytes(&mut section, path);
        }
        Base::Hashed(hash) => {
            put_varint(&mut section, 2);
            section.extend_from_slice(&hash.to_le_bytes());
        }
    }
    put_bytes(&mut section, &origin.prefix);
    put_varint(&mut section, origin.empty.len() as u64);
    for Document { name, modified, mode, .. } in &origin.empty {
        put_bytes(&mut section, name);
        let time = if modified.is_some() { HAS_TIME } else { 0 };
        section.push(time | if mode.is_some() { HAS_MODE } else { 0 });
        if let Some(time) = modified {
            put_varint(&mut section, zigzag(time.seconds));
            put_varint(&mut section, time.nanoseconds.into());
        }
        if let Some(mode) = mode {
            put_varint(&mut section, (*mode).into());
        }
    }
    section
}

pub(super) fn decode(section: &[u8]) -> Result<Origin> {
    let mut reader = Reader::new(section, "section ORIG");
    let bytes = |reader: &mut Reader<'_>| -> Result<Vec<u8>> {
        let length = reader.varint()?;
        Ok(reader.take(length)?.to_vec())
    };
    let split = match reader.varint()? {
        0 => Split::Files,
        1 => Split::Lines,
        other => return Err(reader.malformed(format!("{other} is no way to cut files"))),
    };
    let base = match reader.varint()? {
        0 => Base::Unknown,
        1 => Base::Relative(bytes(&mut reader)?),
        2 => Base::Hashed(reader.u64()?),
        other => return Err(reader.malformed(format!("{other} is no kind of base"))),
    };
    if let Base::Relative(path) = &base
        && !is_relative(path)
    {
        return Err(reader.malformed("the base is no path from the archive's folder"));
    }
    let prefix = bytes(&mut reader)?;
    if prefix.contains(&0) {
        return Err(reader.malformed("the prefix has a NUL in it"));
    }
    let count = reader.varint()?;
    let mut empty: Vec<Document> = Vec::new();
    for _ in 0..count {
        let name = bytes(&mut reader)?;
        let (modified, mode) = decode_attributes(&mut reader)?;
        if name.contains(&0) {
            return Err(reader.malformed("a name has a NUL in it"));
        }
        // No name is empty: every one comes behind the empty name before the first.
        if name[..] <= *empty.last().map_or(&[][..], |last| &last.name) {
            return Err(reader.malformed("the names are not in order"));
        }
        empty.push(Document { name, bytes: 0, modified, mode });
    }
    reader.finish()?;
    Ok(Origin { split, base, prefix, empty })
}

fn decode_attributes(reader: &mut Reader<'_>) -> Result<(Option<Timestamp>, Option<u32>)> {
    let attributes = reader.take(1)?[0];
    if attributes & !(HAS_TIME | HAS_MODE) != 0 {
        return Err(reader.malformed("a file has unknown attributes"));
    }
    let mut modified = None;
    if attributes & HAS_TIME != 0 {
        let seconds = unzigzag(reader.varint()?);
        let nanoseconds = reader.bounded_u32(999_999_999, "nanoseconds")?;
        modified = Some(Timestamp { seconds, nanoseconds });
    }
    let mut mode = None;
    if attributes & HAS_MODE != 0 {
        mode = Some(reader.bounded_u32(MOST_MODE, "is a mode")?);
    }
    Ok((modified, mode))
}

/// Whether a path only goes down from the archive's folder, or only up.
fn is_relative(path: &[u8]) -> bool {
    let mut parts = path.split(|&byte| byte == b'/');
    path.is_empty()
        || parts.clone().all(|part| part == b"..")
        || parts.all(|part| !matches!(part, b"" | b"." | b"..") && !part.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(name: &str, seconds: Option<i64>, mode: Option<u32>) -> Document {
        let modified = seconds.map(|seconds| Timestamp { seconds, nanoseconds: 999_999_999 });
        Document { name: name.into(), bytes: 0, modified, mode }
    }

    #[test]
    fn origins_round_trip() {
        let files = vec![empty("a", None, None), empty("b/c", Some(-1), Some(0o7777))];
        for (split, base, prefix, empty) in [
            (Split::Files, Base::Unknown, "", vec![]),
            (Split::Files, Base::Relative("".into()), "host/", vec![]),
            (Split::Lines, Base::Relative("../..".into()), "", files.clone()),
            (Split::Lines, Base::Relative("logs/old".into()), "x-", files),
            (Split::Files, Base::Hashed(u64::MAX), "\u{e9}", vec![]),
        ] {
            let origin = Origin { split, base, prefix: prefix.into(), empty };
            let section = encode(&origin);
            assert_eq!(decode(&section).unwrap(), origin);
            for length in 0..section.len() {
                assert!(decode(&section[..length]).is_err());
            }
        }
    }

    #[test]
    fn what_no_writer_gives_is_refused() {
        let refused = |section: &[u8], why: &str| {
            let error = decode(section).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        refused(&[2, 0, 0, 0], "no way to cut");
        refused(&[0, 3, 0, 0], "no kind of base");
        for path in ["/a", "a/../b", "../a", "a//b", "./a", "a\0"] {
            let bad = Origin { base: Base::Relative(path.into()), ..Origin::default() };
            refused(&encode(&bad), "no path from the archive's folder");
        }
        let twice = Origin { empty: vec![empty("a", None, None); 2], ..Origin::default() };
        refused(&encode(&twice), "not in order");
        let unnamed = Origin { empty: vec![empty("", None, None)], ..Origin::default() };
        refused(&encode(&unnamed), "not in order");
        let nul = Origin { empty: vec![empty("a\0", None, None)], ..Origin::default() };
        refused(&encode(&nul), "NUL");
        let nul = Origin { prefix: b"\0".to_vec(), ..Origin::default() };
        refused(&encode(&nul), "NUL");
        let mode = Origin { empty: vec![empty("a", None, Some(0o10000))], ..Origin::default() };
        refused(&encode(&mode), "is a mode");
        refused(&[0, 0, 0, 1, 1, b'a', 4], "unknown attributes");
        refused(&[0, 0, 0, 0, 0], "follow its end");
    }
}
