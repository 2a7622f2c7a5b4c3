//! Compiled kernels and the figures of devices on disk, so that only the first start of a version
//! waits for a compiler and for measuring.
//!
//! A file is named by a digest of everything that it depends on: the source, the device and its
//! driver. It starts with a digest of the rest, and is written aside and renamed; what does not fit
//! is made anew. `TADOC_KERNEL_CACHE` names another folder, or, if it is empty, none.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tadoc_core::new_file::NewFile;
use xxhash_rust::xxh64::{Xxh64, xxh64};

/// The folder, if there is to be one.
pub(crate) fn folder() -> Option<PathBuf> {
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

/// What was kept for a module and these keys, or else what `make` gives, which is then kept.
pub(super) fn get_or<E>(
    module: &str,
    keys: &[&str],
    make: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let folder = folder();
    if let Some(code) = read(folder.as_deref(), module, keys) {
        return Ok(code);
    }
    let code = make()?;
    write(folder.as_deref(), module, keys, &code);
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

/// What was kept under a name and these keys; `None` if it is damaged.
pub(crate) fn read(folder: Option<&Path>, name: &str, keys: &[&str]) -> Option<Vec<u8>> {
    let kept = fs::read(folder?.join(file_name(name, keys))).ok()?;
    let (digest, bytes) = kept.split_first_chunk::<8>()?;
    (u64::from_le_bytes(*digest) == xxh64(bytes, 0)).then(|| bytes.to_vec())
}

/// Keeps bytes under a name and these keys. A folder that cannot be written is as good as none: the
/// next start makes them again, which is not worth an error.
pub(crate) fn write(folder: Option<&Path>, name: &str, keys: &[&str], bytes: &[u8]) {
    let Some(folder) = folder else { return };
    let write = || {
        fs::create_dir_all(folder).ok()?;
        let mut file = NewFile::create(&folder.join(file_name(name, keys))).ok()?;
        file.write_all(&xxh64(bytes, 0).to_le_bytes()).ok()?;
        file.write_all(bytes).ok()?;
        file.finish_unsynced(true).ok()
    };
    write();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_damaged_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let kernels = folder.path().join("kernels");
        let read = || read(Some(&kernels), "scan", &["source"]);
        write(Some(&kernels), "scan", &["source"], b"code");
        assert_eq!(read().unwrap(), b"code");
        let path = kernels.join(file_name("scan", &["source"]));
        let mut kept = fs::read(&path).unwrap();
        *kept.last_mut().unwrap() ^= 1;
        fs::write(&path, &kept).unwrap();
        assert_eq!(read(), None);
        fs::write(&path, b"short").unwrap();
        assert_eq!(read(), None);
        assert_eq!(fs::read_dir(&kernels).unwrap().count(), 1);
        // A folder that cannot be made keeps nothing.
        write(Some(&path.join("below a file")), "scan", &["source"], b"code");
        assert_eq!(fs::read(&path).unwrap(), b"short");
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
