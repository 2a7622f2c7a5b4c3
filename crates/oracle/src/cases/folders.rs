//! The cases that are files: each folder of `testdata/cases`, and `testdata/sample`. Reading them
//! costs one pass over the files.

use std::fs;
use std::path::{Path, PathBuf};

use super::Case;
use crate::Document;

pub(super) fn cases() -> Vec<Case> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut cases: Vec<Case> = entries(&testdata.join("cases"))
        .into_iter()
        .filter(|(_, path)| path.is_dir())
        .map(|(name, path)| Case { name, documents: documents(&path) })
        .collect();
    cases.push(Case::new("sample", documents(&testdata.join("sample"))));
    cases
}

/// The files under a folder, named by their path relative to it, in byte order of these names.
fn documents(folder: &Path) -> Vec<Document> {
    let mut documents = Vec::new();
    collect(folder, "", &mut documents);
    documents.sort();
    documents
}

fn collect(folder: &Path, prefix: &str, documents: &mut Vec<Document>) {
    for (name, path) in entries(folder) {
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), documents);
        } else {
            let bytes = fs::read(&path)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
            documents.push((format!("{prefix}{name}"), bytes));
        }
    }
}

/// What is in a folder, in byte order of the names.
fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let listing = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut entries: Vec<(String, PathBuf)> = listing
        .map(|entry| {
            let entry = entry.expect("an entry of a folder of testdata");
            let name = entry.file_name().into_string().expect("names in testdata are UTF-8");
            (name, entry.path())
        })
        .collect();
    entries.sort();
    entries
}
