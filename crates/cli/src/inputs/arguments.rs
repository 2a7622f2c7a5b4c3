//! The inputs of `compress` and `add` on the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{ArgGroup, Args, ValueHint};

use super::{Collected, Reason, Request, list};
use crate::failure::print_warning;
use crate::units;

/// Files, folders, lists and standard input.
#[derive(Debug, Args)]
#[command(group(
    ArgGroup::new("input").args(["paths", "from", "from0"]).required(true).multiple(true)
))]
pub struct InputArguments {
    /// Files and folders, and - for standard input
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,

    /// Take the paths in FILE too, one a line (- is standard input)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,

    /// Take the paths in FILE too, each ended by a NUL as of find -print0 (- is standard input)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    from0: Option<PathBuf>,

    /// Take paths relative to DIR, and name documents by them
    ///
    /// Paths in lists too, but not those of archives and lists themselves. Paths that lead out of
    /// DIR are refused.
    #[arg(short = 'C', long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,

    /// Put TEXT before the names of all documents
    ///
    /// It is taken as it is: end it with / to put documents into a folder.
    #[arg(long, value_name = "TEXT")]
    prefix: Option<OsString>,

    /// Name of the document that standard input becomes [default: stdin]
    #[arg(long)]
    name: Option<OsString>,

    /// Take .gz, .zst, .xz and .bz2 files as their content, named without that suffix
    #[cfg(feature = "decompress")]
    #[arg(short = 'z', long)]
    decompress: bool,

    /// Leave out what cannot be read, with a warning, rather than fail
    ///
    /// With -z also files that are cut short or damaged: each is decompressed to a temporary file
    /// first.
    #[arg(long)]
    skip_unreadable: bool,
}

impl InputArguments {
    /// What to collect for an archive. Reads the lists.
    pub fn request(&self, archive: &Path) -> anyhow::Result<Request> {
        let is_dash = |path: &PathBuf| path.as_os_str() == "-";
        let (dashes, mut paths): (Vec<PathBuf>, Vec<PathBuf>) =
            self.paths.iter().cloned().partition(is_dash);
        let lists = [&self.from, &self.from0];
        let dash_lists = lists.iter().filter(|list| list.as_ref().is_some_and(is_dash)).count();
        if dashes.len() + dash_lists > 1 {
            bail!("standard input can be read once; give - only once");
        }
        if self.name.is_some() && dashes.is_empty() {
            bail!("--name names standard input; give - as a PATH too");
        }
        if let Some(list) = &self.from {
            paths.append(&mut list::read(list, b'\n')?);
        }
        if let Some(list) = &self.from0 {
            paths.append(&mut list::read(list, 0)?);
        }
        let name = self.name.as_ref().map_or(&b"stdin"[..], |name| name.as_encoded_bytes());
        Ok(Request {
            paths,
            standard_input: (!dashes.is_empty()).then(|| name.to_vec()),
            #[cfg(feature = "decompress")]
            decompress: self.decompress,
            #[cfg(not(feature = "decompress"))]
            decompress: false,
            skip_unreadable: self.skip_unreadable,
            directory: self.directory.clone(),
            prefix: self.prefix.as_ref().map(|prefix| prefix.as_encoded_bytes().to_vec()),
            names_from: None,
            output: archive.to_owned(),
        })
    }
}

/// Says what was left out: a line for each reason, with a few of the paths; every unreadable file
/// has its own. And says if compressed files were taken as they are.
pub fn warn_of(collected: &Collected) {
    for skipped in &collected.skipped {
        if let Some(error) = &skipped.error {
            warn_of_unreadable(&skipped.path, error);
        }
    }
    for reason in [Reason::SymbolicLink, Reason::Special, Reason::Unfinished] {
        let paths: Vec<&PathBuf> = collected
            .skipped
            .iter()
            .filter(|skipped| skipped.reason == reason)
            .map(|skipped| &skipped.path)
            .collect();
        if paths.is_empty() {
            continue;
        }
        let some: Vec<String> =
            paths.iter().take(3).map(|path| path.display().to_string()).collect();
        let more = if paths.len() > some.len() { ", …" } else { "" };
        print_warning(&format!(
            "left out {}: {}{more}",
            reason.counted(paths.len() as u64),
            some.join(", ")
        ));
    }
    if let Some(told) = compressed_as_they_are(collected) {
        print_warning(&told);
    }
}

/// Says that a file was left out.
pub fn warn_of_unreadable(path: &Path, error: &str) {
    print_warning(&format!("left out {}: {error}", path.display()));
}

fn compressed_as_they_are(collected: &Collected) -> Option<String> {
    let count: u64 = collected.compressed.iter().map(|(_, count)| count).sum();
    let methods: Vec<&str> = collected.compressed.iter().map(|(method, _)| *method).collect();
    let (subject, are, their) = match count {
        0 => return None,
        1 => ("1 file".to_owned(), "is", "it is; -z takes its"),
        _ => (units::counted(count, "file"), "are", "they are; -z takes their"),
    };
    let stored = if count == 1 { "is stored" } else { "are stored" };
    let methods = methods.join("-, ");
    Some(format!("{subject} {are} {methods}-compressed and {stored} as {their} content"))
}
