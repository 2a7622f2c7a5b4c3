//! The golden archives of `testdata/golden/v2`, good and bad: what every reader of format version 2, of
//! whatever version of tadoc and in whatever language, must restore or refuse. Those of version 1 beside
//! them stay as they are.
//!
//! They are committed and made anew only when the format changes: readers are tested against what was
//! written once, not against what would be written now.

mod bad;
pub mod coder;
pub mod container;
mod good;
pub mod journal;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
pub use good::table_of;
use tadoc_engine::{CompressOptions, Input, Source, Timestamp};

use crate::files;

/// No archive may be larger, and all together not either.
const LARGEST: usize = 64 * 1024;
const LARGEST_TOTAL: usize = 400 * 1024;

/// Makes all archives and their manifests.
pub fn run() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("testdata/golden/v2");
    let work = tempfile::tempdir()?;
    for part in ["good", "bad"] {
        files::remove_folder(&folder.join(part))?;
    }
    let mut total = 0;
    let mut write = |part: &str, name: &str, bytes: &[u8]| -> Result<()> {
        ensure!(bytes.len() <= LARGEST, "{name} has {} bytes", bytes.len());
        total += bytes.len();
        files::write(&folder.join(part).join(format!("{name}.tdc")), bytes)
    };

    let mut manifest =
        String::from("archive\tdocument\tbytes\txxh64\tseconds\tnanoseconds\tmode\n");
    for archive in good::all(&root.join("testdata/sample"), work.path())? {
        for document in &archive.documents {
            manifest.push_str(&document.row(archive.name));
        }
        write("good", archive.name, &archive.bytes)?;
    }
    files::write(&folder.join("good.tsv"), manifest.as_bytes())?;

    let mut manifest = String::from("archive\terror\n");
    for (name, error, bytes) in bad::all(work.path())? {
        manifest.push_str(&format!("{name}\t{error}\n"));
        write("bad", &name, &bytes)?;
    }
    files::write(&folder.join("bad.tsv"), manifest.as_bytes())?;
    ensure!(total <= LARGEST_TOTAL, "the archives have {total} bytes together");
    println!("{total} bytes of archives in testdata/golden/v2");
    Ok(())
}

/// A document and what it must be restored to.
#[derive(Clone)]
pub struct Expected {
    name: Vec<u8>,
    bytes: Vec<u8>,
    modified: Option<Timestamp>,
    mode: Option<u32>,
}

impl Expected {
    pub fn new(name: impl Into<Vec<u8>>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), modified: None, mode: None }
    }

    fn input(&self) -> Input {
        let source = Source::Bytes(self.bytes.clone());
        Input { modified: self.modified, mode: self.mode, ..Input::new(self.name.clone(), source) }
    }

    fn row(&self, archive: &str) -> String {
        let name = tadoc_engine::text::escape(&self.name);
        let hash = xxhash_rust::xxh64::xxh64(&self.bytes, 0);
        let dash = || "-".to_owned();
        let seconds = self.modified.map_or_else(dash, |time| time.seconds.to_string());
        let nanoseconds = self.modified.map_or_else(dash, |time| time.nanoseconds.to_string());
        let mode = self.mode.map_or_else(dash, |mode| format!("{mode:04o}"));
        let bytes = self.bytes.len();
        format!("{archive}\t{name}\t{bytes}\t{hash:016x}\t{seconds}\t{nanoseconds}\t{mode}\n")
    }
}

/// Compresses documents; gives the path of the archive.
pub fn compress(
    folder: &Path,
    name: &str,
    documents: &[Expected],
    options: &CompressOptions,
) -> Result<PathBuf> {
    let path = folder.join(format!("{name}.tdc"));
    let options = CompressOptions { threads: Some(1), force: true, ..options.clone() };
    let inputs = documents.iter().map(Expected::input).collect();
    tadoc_engine::compress(inputs, &path, &options, &())
        .with_context(|| format!("making {name}"))?;
    Ok(path)
}
