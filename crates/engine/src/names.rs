//! Names of documents: which of them can be the path of a file below some folder.
//!
//! One check for all who give names (compressing, adding, renaming) and for restoring, so that what
//! can be stored can be restored. Archives of other programs may have any names; they can be read,
//! and restoring passes over them.

#![cfg_attr(
    not(test),
    warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

use crate::error::{Error, Result};

/// Why no file below a folder can have this name, in words that follow "it" or "its name"; `Ok` if
/// one can.
pub(crate) fn check(name: &[u8]) -> std::result::Result<(), &'static str> {
    match name {
        [] => return Err("is empty"),
        [b'/', ..] => return Err("is absolute"),
        _ if name.contains(&0) => return Err("has a NUL in it"),
        _ => {}
    }
    let mut parts = name.split(|&byte| byte == b'/');
    match parts.clone().find(|part| matches!(*part, b"" | b"." | b"..")) {
        Some(b"..") => Err("leads out of the folder"),
        Some(_) => Err("has an empty part"),
        None if parts.next_back().is_some_and(is_aside) => {
            Err("is one that restoring gives to files on their way")
        }
        None => Ok(()),
    }
}

/// The same as an error, for who gives names.
pub(crate) fn check_new(name: &[u8]) -> Result<()> {
    check(name).map_err(|reason| Error::BadName { name: name.to_vec(), reason })
}

/// What a file is called while it is restored, by the process and the number of the attempt.
pub(crate) fn aside(process: u32, attempt: u32) -> Vec<u8> {
    format!(".tadoc-{process}-{attempt}").into_bytes()
}

/// Whether a file's name is one of [`aside`].
pub(crate) fn is_aside(name: &[u8]) -> bool {
    let numbers = |name: &[u8]| {
        let numbers = std::str::from_utf8(name.strip_prefix(b".tadoc-")?).ok()?;
        let (process, attempt) = numbers.split_once('-')?;
        Some(aside(process.parse().ok()?, attempt.parse().ok()?))
    };
    numbers(name).is_some_and(|aside| aside == name)
}

/// The folders that a document is in, outermost first: `a` and `a/b` for `a/b/c`.
pub(crate) fn folders(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'/', name).map(|at| &name[..at])
}

/// Fails if a name is also a folder that another one is in. The names are in byte order. O(names ·
/// log names), and less where names share their folders.
pub(crate) fn check_no_file_is_a_folder<'n>(names: &[&'n [u8]]) -> Result<()> {
    let mut before: &'n [u8] = &[];
    for &name in names {
        let shared = name.iter().zip(before).take_while(|(left, right)| left == right).count();
        // Folders that the name before is in, too, were looked up for that one.
        let new = folders(name).filter(|folder| folder.len() >= shared);
        for folder in new {
            if names.binary_search(&folder).is_ok() {
                return Err(Error::FileAndFolder { name: folder.to_vec(), below: name.to_vec() });
            }
        }
        before = name;
    }
    Ok(())
}
