//! What the fuzzers share: a folder for the files of one process.

use std::path::PathBuf;
use std::sync::LazyLock;

/// A path in a folder of this process's own, below the system's folder for temporary files.
pub fn scratch(name: &str) -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("tadoc-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for scratch files");
        folder
    });
    FOLDER.join(name)
}
