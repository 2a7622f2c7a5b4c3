//! Compiled kernels on disk, so that only the first start of a version waits for a compiler.
//!
//! A file is named by a digest of everything that it depends on: the source, the device and its driver. It starts with a digest of
//! the rest, and is written aside and renamed; what does not fit is compiled anew. `TADOC_KERNEL_CACHE` names another folder, or, if
//! it is empty, none.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tadoc_core::new_file::NewFile;
use xxhash_rust::xxh64::{Xxh64, xxh64};

/// The folder, if there is to be one.
fn folder() -> Option<PathBuf> {
    folder_of(|name| env::var_os(name))
}

fn folder_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(named) = variable("TADOC_KERNEL_CACHE") {
        return (!named.is_empty()).then(|| named.into());
    }
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .or_else(|| absolute("LOCALAPPDATA"))?;
    Some(base.join("tadoc").join("kernels"))
}

/// What was kept for a module and these keys, or else what `make` gives, which is then kept. A cache that cannot be read or
/// written is as good as an empty one.
pub(super) fn get_or<E>(
    module: &str,
    keys: &[&str],
    make: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let path = folder().map(|folder| folder.join(file_name(module, keys)));
    if let Some(code) = path.as_deref().and_then(read) {
        return Ok(code);
    }
    let code = make()?;
    if let Some(path) = path {
        // Without a cache, the next start compiles again: not worth an error.
        let _ = write(&path, &code);
    }
    Ok(code)
}

fn file_name(module: &str, keys: &[&str]) -> String {
    let mut digest = Xxh64::new(0);
    for key in keys.iter().copied().chain([env!("CARGO_PKG_VERSION")]) {
        digest.update(&(key.len() as u64).to_le_bytes());
        digest.update(key.as_bytes());
    }
    format!("{module}-{:016x}.bin", digest.digest())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let kept = fs::read(path).ok()?;
    let (digest, code) = kept.split_first_chunk::<8>()?;
    (u64::from_le_bytes(*digest) == xxh64(code, 0)).then(|| code.to_vec())
}

fn write(path: &Path, code: &[u8]) -> tadoc_core::Result<()> {
    let failed = |error| tadoc_core::Error::io(path, error);
    fs::create_dir_all(path.parent().expect("it is in a folder")).map_err(failed)?;
    let mut file = NewFile::create(path)?;
    file.write_all(&xxh64(code, 0).to_le_bytes()).map_err(failed)?;
    file.write_all(code).map_err(failed)?;
    file.finish_unsynced(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_damaged_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernels").join("scan.bin");
        write(&path, b"code").unwrap();
        assert_eq!(read(&path).unwrap(), b"code");
        let mut kept = fs::read(&path).unwrap();
        *kept.last_mut().unwrap() ^= 1;
        fs::write(&path, &kept).unwrap();
        assert_eq!(read(&path), None);
        fs::write(&path, b"short").unwrap();
        assert_eq!(read(&path), None);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn names_depend_on_every_key() {
        let names = [
            file_name("scan", &["a", "b"]),
            file_name("scan", &["ab", ""]),
            file_name("scan", &["a", "c"]),
            file_name("sort", &["a", "b"]),
        ];
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name));
        }
    }

    #[test]
    fn the_folder_is_where_the_user_has_it() {
        let with = |values: &[(&str, &str)]| {
            let value = |name: &str| {
                let found = values.iter().find(|(key, _)| *key == name)?;
                Some(OsString::from(found.1))
            };
            folder_of(value).map(|path| path.to_str().unwrap().to_owned())
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("HOME", "/u")]).unwrap(), "/u/.cache/tadoc/kernels");
        assert_eq!(with(&[("HOME", "/u"), ("XDG_CACHE_HOME", "/c")]).unwrap(), "/c/tadoc/kernels");
        assert_eq!(with(&[("HOME", "/u"), ("TADOC_KERNEL_CACHE", "")]), None);
        assert_eq!(with(&[("HOME", "/u"), ("TADOC_KERNEL_CACHE", "k")]).unwrap(), "k");
    }
}
