//! Files and folders, with errors that name the path.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Creates a file and the folders above it.
pub fn create(path: &Path) -> Result<BufWriter<File>> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    Ok(BufWriter::new(file))
}

/// Writes a file and creates the folders above it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)
        .and_then(|()| file.flush())
        .with_context(|| format!("writing {}", path.display()))
}

/// Creates a folder and those above it.
pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("creating the folder {}", path.display()))
}

/// Removes a folder with all that is in it, if it is there.
pub fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing the folder {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Copies a file and creates the folders above the copy.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        create_folder(folder)?;
    }
    fs::copy(from, to)
        .with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// What is under a folder; sockets, pipes and devices are left out.
pub struct Tree {
    /// The plain files under the folder, in order of their paths.
    pub files: Vec<PathBuf>,
    /// The symbolic links under it.
    pub links: Vec<PathBuf>,
}

/// Everything under a folder; links are not followed.
pub fn tree(folder: &Path) -> Result<Tree> {
    let mut tree = Tree { files: Vec::new(), links: Vec::new() };
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let listing =
            fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))?;
        for entry in listing {
            let entry = entry.with_context(|| format!("listing {}", folder.display()))?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_symlink() {
                tree.links.push(entry.path());
            } else if kind.is_file() {
                tree.files.push(entry.path());
            }
        }
    }
    tree.files.sort();
    Ok(tree)
}
