//! What `compress` and `add` are given: paths, folders, lists and standard input, made into the library's inputs.
//!
//! Folders are walked in byte order of their names. Inside them symbolic links and what is neither file
//! nor folder are left out (so a loop of links is harmless), and so is the archive being written. What
//! was left out is told, never lost silently. Cost: a look at each file, and it is opened once to see that
//! it can be.

pub mod arguments;
#[cfg(feature = "decompress")]
mod decompress;
mod list;
mod name;

use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tadoc::{Input, NamesFrom, NewFile, Source, Timestamp};

use crate::units;

use self::name::Name;
#[cfg(feature = "decompress")]
use decompress::Compression;

/// What to collect.
#[derive(Debug, Default)]
pub struct Request {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Standard input, as a document of this name.
    pub standard_input: Option<Vec<u8>>,
    /// Take compressed files as their content.
    pub decompress: bool,
    /// Leave out what cannot be read, where it would be an error.
    pub skip_unreadable: bool,
    /// Take paths relative to this folder, and name documents by them.
    pub directory: Option<PathBuf>,
    /// What to put before all names; `None`: nothing, or what the archive's own names have.
    pub prefix: Option<Vec<u8>>,
    /// How the files of an archive were named that these are added to.
    pub names_from: Option<NamesFrom>,
    /// The archive to be written or added to.
    pub output: PathBuf,
}

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    SymbolicLink,
    Special,
    Unfinished,
    Unreadable,
}

impl Reason {
    /// One word, for JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::SymbolicLink => "symbolic-link",
            Self::Special => "special",
            Self::Unfinished => "unfinished",
            Self::Unreadable => "unreadable",
        }
    }

    /// That many of such things.
    pub fn counted(self, count: u64) -> String {
        match self {
            Self::SymbolicLink => units::counted(count, "symbolic link"),
            Self::Special => units::counted(count, "special file"),
            Self::Unfinished => units::counted(count, "unfinished file of a restore"),
            Self::Unreadable => units::counted(count, "unreadable file"),
        }
    }
}

/// Something that was left out.
#[derive(Debug, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: Reason,
    /// What the system said, where it said something.
    pub error: Option<String>,
}

/// What was found.
#[derive(Default)]
pub struct Collected {
    pub inputs: Vec<Input>,
    /// Bytes of those that are files, as they were when they were found.
    pub file_bytes: u64,
    pub skipped: Vec<Skipped>,
    /// Files that are compressed and taken as they are: how, and how many.
    pub compressed: Vec<(&'static str, u64)>,
    /// Where the names come from, if all come from one folder.
    pub names_from: Option<NamesFrom>,
}

/// Finds everything that `request` asks for. `found` is called with the number of inputs so far.
pub fn collect(request: &Request, found: &mut dyn FnMut(u64)) -> anyhow::Result<Collected> {
    let mut collector = Collector {
        request,
        output: resolved_output(&request.output),
        collected: Collected::default(),
        found,
    };
    let only_path = request.paths.len() == 1 && request.standard_input.is_none();
    for path in &request.paths {
        collector.path(path, only_path)?;
    }
    if let Some(name) = &request.standard_input {
        let prefix = request.prefix.clone().unwrap_or_default();
        let name = Name { prefix, path: name.clone() };
        collector.stream(name, "standard input".into(), || Ok(Box::new(io::stdin())));
    }
    let mut collected = collector.collected;
    collected.names_from = names_from(request);
    if collected.inputs.is_empty() {
        let places: Vec<String> =
            request.paths.iter().take(3).map(|path| path.display().to_string()).collect();
        let more = if request.paths.len() > 3 { " and elsewhere" } else { "" };
        if places.is_empty() {
            bail!("the list of files is empty; there is nothing to take");
        }
        bail!("there are no files in {}{more}", places.join(", "));
    }
    Ok(collected)
}

/// The folder that all names are relative to, if there is one.
fn names_from(request: &Request) -> Option<NamesFrom> {
    let here = Path::new(".");
    let folder = match (&request.directory, &request.paths[..]) {
        (_, []) => return None,
        (Some(directory), _) => directory,
        (None, [only]) if only.is_dir() && request.standard_input.is_none() => only,
        (None, paths) if paths.iter().all(|path| name::stays_below(path)) => here,
        (None, paths) if paths.iter().all(|path| path.is_absolute()) => Path::new("/"),
        _ => return None,
    };
    let prefix = request.prefix.clone().unwrap_or_default();
    Some(NamesFrom::new(folder.canonicalize().ok()?, prefix))
}

/// The path that the output will have, with every link resolved.
fn resolved_output(output: &Path) -> Option<PathBuf> {
    let output = NewFile::destination(output, true).ok()?.unwrap_or_else(|| output.to_owned());
    let parent = match output.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    Some(fs::canonicalize(parent).ok()?.join(output.file_name()?))
}

struct Collector<'r> {
    request: &'r Request,
    output: Option<PathBuf>,
    collected: Collected,
    found: &'r mut dyn FnMut(u64),
}

impl Collector<'_> {
    /// A path that was given. Links are followed here.
    fn path(&mut self, given: &Path, only: bool) -> anyhow::Result<()> {
        let path = &match &self.request.directory {
            Some(directory) => directory.join(given),
            None => given.to_owned(),
        };
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.unreadable(path, error),
        };
        if metadata.is_dir() {
            let prefix = self.name(given, only)?;
            // A folder that has no resolved path cannot be read either: the walk will tell.
            let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            self.folder(path, &resolved, &prefix)
        } else if metadata.is_file() {
            if self.output.is_some() && fs::canonicalize(path).ok() == self.output {
                bail!(
                    "{} is both an input and the archive to be written; give another name",
                    path.display()
                );
            }
            self.file(path, self.name(given, false)?, &metadata)
        } else {
            // A pipe, as of `<(command)`, or a device.
            let from = path.to_owned();
            self.stream(self.name(given, false)?, path.to_owned(), move || {
                Ok(Box::new(File::open(from)?))
            });
            Ok(())
        }
    }

    /// What a path that was given is called, without what stands before all names: as the archive's
    /// own files, or else by the path as given. Of the only folder it is empty.
    fn name(&self, given: &Path, only_folder: bool) -> anyhow::Result<Name> {
        let prefix = self.request.prefix.clone();
        if let Some(directory) = &self.request.directory {
            if !name::stays_below(given) {
                bail!("{} is not below {}, the folder of -C", given.display(), directory.display());
            }
            return Ok(Name { prefix: prefix.unwrap_or_default(), path: name::of_path(given) });
        }
        let named = self.request.names_from.as_ref().and_then(|from| {
            let path = name::absolute(given)?;
            Some((from.prefix().to_vec(), name::of_path(from.relative(&path)?)))
        });
        Ok(match named {
            Some((recorded, path)) => Name { prefix: prefix.unwrap_or(recorded), path },
            None => Name {
                prefix: prefix.unwrap_or_default(),
                path: if only_folder { Vec::new() } else { name::of_path(given) },
            },
        })
    }

    /// All that is in a folder. `resolved` is its path without links, `name` what it is called.
    fn folder(&mut self, path: &Path, resolved: &Path, name: &Name) -> anyhow::Result<()> {
        let entries = fs::read_dir(path)
            .and_then(|entries| entries.collect::<io::Result<Vec<fs::DirEntry>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(path, error),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(error) => {
                    self.unreadable(&path, error)?;
                    continue;
                }
            };
            let name = name.joined(&entry.file_name());
            let resolved = resolved.join(entry.file_name());
            if metadata.is_dir() {
                self.folder(&path, &resolved, &name)?;
            } else if self.output.as_ref() == Some(&resolved) {
                // The archive that is being replaced.
            } else if NewFile::is_unfinished(entry.file_name().as_encoded_bytes()) {
                self.skip(path, Reason::Unfinished, None);
            } else if metadata.is_file() {
                self.file(&path, name, &metadata)?;
            } else {
                self.skip(path, reason(metadata.file_type()), None);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: Name, metadata: &Metadata) -> anyhow::Result<()> {
        let opened = match File::open(path) {
            Ok(opened) => opened,
            Err(error) => return self.unreadable(path, error),
        };
        let (name, source) = match self.source(path, name.whole(), opened) {
            Ok(found) => found,
            Err(error) => return self.unreadable(path, error),
        };
        if matches!(source, Source::File(_)) {
            self.collected.file_bytes += metadata.len();
        }
        self.add(Input { name, source, modified: modified(metadata), mode: mode(metadata) });
        Ok(())
    }

    #[cfg(feature = "decompress")]
    fn source(
        &mut self,
        path: &Path,
        name: Vec<u8>,
        opened: File,
    ) -> io::Result<(Vec<u8>, Source)> {
        match Compression::of_name(&name) {
            Some((compression, content)) if self.request.decompress => {
                compression.check(opened)?;
                let content = content.to_vec();
                let from = path.to_owned();
                let whole = self.request.skip_unreadable;
                let open = move || {
                    let content = compression.reader(Box::new(File::open(from)?))?;
                    // What fails in the middle can be left out only if nothing of it was taken.
                    if whole { decompress::read_whole(content) } else { Ok(content) }
                };
                Ok((content, Source::stream(path, open)))
            }
            Some((compression, _)) => {
                if compression.check(opened).is_ok() {
                    let method = compression.title();
                    let counts = &mut self.collected.compressed;
                    match counts.iter_mut().find(|(counted, _)| *counted == method) {
                        Some((_, count)) => *count += 1,
                        None => counts.push((method, 1)),
                    }
                }
                Ok((name, Source::File(path.to_owned())))
            }
            None => Ok((name, Source::File(path.to_owned()))),
        }
    }

    #[cfg(not(feature = "decompress"))]
    fn source(&mut self, path: &Path, name: Vec<u8>, _: File) -> io::Result<(Vec<u8>, Source)> {
        Ok((name, Source::File(path.to_owned())))
    }

    /// What can only be read from start to end, and may keep us waiting.
    fn stream<O>(&mut self, name: Name, path: PathBuf, open: O)
    where
        O: FnOnce() -> io::Result<Box<dyn io::Read + Send>> + Send + 'static,
    {
        let decompress = self.request.decompress;
        let source = Source::stream(path, move || detected(open()?, decompress));
        self.add(Input { name: name.whole(), source, modified: None, mode: None });
    }

    fn add(&mut self, input: Input) {
        self.collected.inputs.push(input);
        (self.found)(self.collected.inputs.len() as u64);
    }

    fn skip(&mut self, path: PathBuf, reason: Reason, error: Option<String>) {
        self.collected.skipped.push(Skipped { path, reason, error });
    }

    fn unreadable(&mut self, path: &Path, error: io::Error) -> anyhow::Result<()> {
        if self.request.skip_unreadable {
            self.skip(path.to_owned(), Reason::Unreadable, Some(error.to_string()));
            return Ok(());
        }
        Err(error).with_context(|| {
            format!("cannot read {} (--skip-unreadable leaves such files out)", path.display())
        })
    }
}

#[cfg(feature = "decompress")]
fn detected(
    reader: Box<dyn io::Read + Send>,
    decompress: bool,
) -> io::Result<Box<dyn io::Read + Send>> {
    if decompress { Compression::detect(reader) } else { Ok(reader) }
}

#[cfg(not(feature = "decompress"))]
fn detected(reader: Box<dyn io::Read + Send>, _: bool) -> io::Result<Box<dyn io::Read + Send>> {
    Ok(reader)
}

fn reason(kind: FileType) -> Reason {
    if kind.is_symlink() { Reason::SymbolicLink } else { Reason::Special }
}

#[cfg(unix)]
fn modified(metadata: &Metadata) -> Option<Timestamp> {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = u32::try_from(metadata.mtime_nsec()).ok()?;
    Some(Timestamp { seconds: metadata.mtime(), nanoseconds })
}

#[cfg(not(unix))]
fn modified(metadata: &Metadata) -> Option<Timestamp> {
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let seconds = i64::try_from(since.as_secs()).ok()?;
    Some(Timestamp { seconds, nanoseconds: since.subsec_nanos() })
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(metadata.mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(all(test, unix))]
mod tests;
