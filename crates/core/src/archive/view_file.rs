//! A view stored beside its archive: the bytes of docs/view.md as a file of their own, mapped and not decoded.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::Archive;
use super::view_image::{ViewImage, open_image};
use crate::error::{Error, Result};
use crate::new_file::NewFile;
use crate::{Array, View};

/// Where the view of an archive is stored: the archive's path and `.view`.
pub fn view_path(archive: &Path) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push(".view");
    path.into()
}

/// Writes the view of all words and documents of an archive to its place, with the archive's permissions; gives the length of the file.
/// `root_counts` as for [`crate::Network::root_counts_or`].
pub fn write_view(view: &View, root_counts: &[u32], archive: &Archive) -> Result<u64> {
    let image = ViewImage::new(view, root_counts, archive.fingerprint());
    let path = view_path(archive.path());
    let mut file = NewFile::create_like(&path, archive.permissions()?)?;
    image.stream(|bytes| file.write_all(bytes).map_err(|error| Error::io(&path, error)))?;
    file.finish(true)?;
    Ok(image.len())
}

/// Opens the view of so many documents that is stored beside an archive; `None` if there is none. With `counts_only`, the root is not read, and
/// the view has counts instead. Whatever is wrong with it is an [`Error::StoredView`].
pub fn open_view(archive: &Archive, documents: u64, counts_only: bool) -> Result<Option<View>> {
    let path = view_path(archive.path());
    open(&path, archive, documents, counts_only)
        .map_err(|error| Error::StoredView { path, source: Box::new(error) })
}

fn open(path: &Path, archive: &Archive, documents: u64, counts_only: bool) -> Result<Option<View>> {
    let io = |error| Error::io(path, error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let length = file.metadata().map_err(io)?.len();
    // A document has four bytes in the view: of so many that they cannot be in it, no numbers are made.
    if documents.saturating_mul(4) > length {
        return Err(Error::malformed("it has other documents than the archive"));
    }
    let Ok(count) = u32::try_from(documents) else {
        return Err(Error::malformed("its archive has more documents than a view can number"));
    };
    let map = super::mapping::map(&file, length).map_err(io)?;
    let numbers = (0..count).collect();
    let bytes = Array::Shared(Arc::new(map));
    let spill = archive.budget().spill();
    open_image(bytes, archive.fingerprint(), numbers, counts_only, spill).map(Some)
}
