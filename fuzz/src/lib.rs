//! What the fuzzers share: a folder for the files of one process, and an archive for what belongs to one.

use std::path::PathBuf;
use std::sync::LazyLock;

use tadoc_engine::Corpus;
use tadoc_testing::archives::{compress_with, one_thread};
use tadoc_testing::numbered;

/// A path in a folder of this process's own, below the system's folder for temporary files.
pub fn scratch(name: &str) -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("tadoc-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for scratch files");
        folder
    });
    FOLDER.join(name)
}

/// Documents of [`corpus`].
pub const DOCUMENTS: usize = 3;

/// A small archive that is made below the folder, with rules and a few words.
pub fn corpus(name: &str) -> Corpus {
    let text = "the cat sat on the mat and The dog ran after the cat; the cats sat on mats.\n";
    let texts = (0..DOCUMENTS).map(|number| text.repeat(2 + number).into_bytes());
    let path = scratch(name);
    compress_with(&numbered(texts), &path, &one_thread());
    Corpus::open(&path).expect("it was just made")
}
