//! The golden archives: what was written once is restored for ever, and what is wrong is refused.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tadoc_engine::text::unescape;
use tadoc_engine::{Corpus, Existing};

/// The versions of the format.
const VERSIONS: [&str; 2] = ["v1", "v2"];

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden").join(version)
}

/// The rows of a manifest, without its header.
fn manifest(version: &str, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder(version).join(name)).unwrap();
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The archives of a folder, by name.
fn archives(version: &str, part: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder(version).join(part)).unwrap();
    entries
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn path(version: &str, part: &str, name: &str) -> PathBuf {
    folder(version).join(part).join(format!("{name}.tdc"))
}

#[test]
fn good_archives_are_restored() {
    VERSIONS.into_iter().for_each(good_archives_of);
}

fn good_archives_of(version: &str) {
    let rows = manifest(version, "good.tsv");
    for name in archives(version, "good") {
        let corpus = Corpus::open(path(version, "good", &name)).unwrap();
        corpus.verify(&()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let documents = corpus.documents().unwrap();
        let expected: Vec<_> = rows.iter().filter(|row| row[0] == name).collect();
        assert_eq!(documents.len(), expected.len(), "{name}");
        for (number, (document, row)) in documents.iter().zip(expected).enumerate() {
            let mut bytes = Vec::new();
            corpus.write_documents(&[number], &mut bytes, &()).unwrap();
            let dash = || "-".to_owned();
            let time = document.modified;
            let found = [
                name.clone(),
                row[1].clone(),
                bytes.len().to_string(),
                format!("{:016x}", xxhash_rust::xxh64::xxh64(&bytes, 0)),
                time.map_or_else(dash, |time| time.seconds.to_string()),
                time.map_or_else(dash, |time| time.nanoseconds.to_string()),
                document.mode.map_or_else(dash, |mode| format!("{mode:04o}")),
            ];
            assert_eq!(document.name, unescape(&row[1]).unwrap(), "{name}");
            assert_eq!(&found[..], &row[..], "{name}");
        }
    }
}

/// Reads all that an archive has; the first error, in words.
fn read_everything(path: &Path) -> Option<String> {
    let read = || -> tadoc_engine::Result<()> {
        let corpus = Corpus::open(path)?;
        corpus.verify(&())?;
        let target = tempfile::tempdir().unwrap();
        let files = corpus.files(false)?;
        let report = corpus.restore(&files, target.path(), Existing::Refuse, &())?;
        report.skipped.into_iter().next().map_or(Ok(()), |skipped| Err(skipped.error))
    };
    read().err().map(|error| error.to_string())
}

#[test]
fn bad_archives_are_refused_for_the_reason_given() {
    VERSIONS.into_iter().for_each(bad_archives_of);
}

fn bad_archives_of(version: &str) {
    let rows = manifest(version, "bad.tsv");
    let described: BTreeSet<String> = rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(described, archives(version, "bad"));
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| match read_everything(&path(version, "bad", &row[0])) {
            Some(error) if error.contains(&row[1]) => None,
            other => Some(format!("{}: expected {:?}, got {other:?}", row[0], row[1])),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
