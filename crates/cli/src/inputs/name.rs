//! Documents' names from paths: the path as given, with `/`, without what leads elsewhere.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The name of a document, in two parts.
#[derive(Debug, Clone)]
pub struct Name {
    /// What stands before all names, as it is.
    pub prefix: Vec<u8>,
    /// A path, with `/`.
    pub path: Vec<u8>,
}

impl Name {
    /// The name of something in a folder of this name.
    pub fn joined(&self, component: &OsStr) -> Self {
        Self { prefix: self.prefix.clone(), path: joined(&self.path, component) }
    }

    /// Both parts.
    pub fn whole(self) -> Vec<u8> {
        [self.prefix, self.path].concat()
    }
}

/// Whether a path leads to something below the folder that it is relative to, whatever links there
/// are.
pub fn stays_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The absolute path of what is at `path`, by its letters where that is certain, and otherwise
/// without links.
pub fn absolute(path: &Path) -> Option<PathBuf> {
    if path.components().all(|part| part != Component::ParentDir) {
        let here = Path::new(".").canonicalize().ok()?;
        return Some(here.join(path).components().collect());
    }
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    match path.file_name() {
        Some(name) => Some(parent.unwrap_or(Path::new(".")).canonicalize().ok()?.join(name)),
        None => path.canonicalize().ok(),
    }
}

/// The name of a file that was given as `path`: without a leading `/`, `./` or `../`, and with every `..`
/// on the way resolved by its letters (`a/../b` is `b`). It may be empty for a folder such as `.`.
pub fn of_path(path: &Path) -> Vec<u8> {
    let mut components: Vec<&OsStr> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(component) => components.push(component),
            Component::ParentDir => {
                components.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    components.iter().fold(Vec::new(), |name, component| joined(&name, component))
}

/// The name of `component` in a folder called `prefix`.
pub fn joined(prefix: &[u8], component: &OsStr) -> Vec<u8> {
    let mut name = Vec::with_capacity(prefix.len() + 1 + component.len());
    name.extend_from_slice(prefix);
    if !prefix.is_empty() {
        name.push(b'/');
    }
    name.extend_from_slice(component.as_encoded_bytes());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_given_without_what_leads_elsewhere() {
        for (path, name) in [
            ("a.txt", "a.txt"),
            ("./a.txt", "a.txt"),
            ("././a.txt", "a.txt"),
            ("/var/log/a", "var/log/a"),
            ("//var//log/./a/", "var/log/a"),
            ("../a", "a"),
            ("../../x/a", "x/a"),
            ("a/../b", "b"),
            ("a/b/../../../c", "c"),
            ("/../a", "a"),
            (".", ""),
            ("..", ""),
            ("/", ""),
            (".hidden", ".hidden"),
            ("..a/b..", "..a/b.."),
        ] {
            assert_eq!(String::from_utf8(of_path(Path::new(path))).unwrap(), name, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_not_utf_8_are_kept() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(of_path(Path::new(OsStr::from_bytes(b"./a\xff/b"))), b"a\xff/b");
    }
}
