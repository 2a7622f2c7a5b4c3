//! Where results go: standard output or a file, with a writer that keeps what went wrong; and JSON reports.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use serde::Serialize;
use tadoc::NewFile;

use crate::closed;
use crate::encode::{Compression, Encoder};
use crate::screen::{self, Notation};

/// Where results go, buffered. What went wrong in writing is kept apart from what the library makes of it,
/// so that the message names the right place.
pub struct Output {
    to: Encoder<Target>,
    name: String,
    error: Option<io::Error>,
}

enum Target {
    Standard(io::Stdout),
    /// What cannot be half-written or replaced: a device, a pipe with a name.
    Special(File),
    /// A file that gets its name when it is complete. Dropped before, it is removed.
    New(NewFile),
}

impl Output {
    /// Standard output.
    pub fn new() -> Self {
        Self::to(Target::Standard(io::stdout()), "standard output".into())
    }

    /// A file that will be at `path` when the output is finished. One that is there already is replaced
    /// only if `replace` says so, and then not before the new one is complete.
    ///
    /// Unlike an archive it is not synced: an answer can be asked for again.
    pub fn create(path: &Path, replace: bool) -> anyhow::Result<Self> {
        let cannot = || format!("cannot write {}", path.display());
        if path.as_os_str() == "-" {
            bail!("-o takes the name of a file; without it, standard output is written to");
        }
        let name = path.display().to_string();
        if NewFile::destination(path, replace).map_err(cannot_write)?.is_none() {
            let opened = File::options().write(true).truncate(true).open(path);
            return Ok(Self::to(Target::Special(opened.with_context(cannot)?), name));
        }
        let file = NewFile::create(path, replace).map_err(cannot_write)?;
        Ok(Self::to(Target::New(file), name))
    }

    fn to(target: Target, name: String) -> Self {
        let to = Encoder::new(BufWriter::with_capacity(1 << 16, target));
        Self { to, name, error: None }
    }

    /// Compresses what is written from now on.
    pub fn compressing(self, compression: Compression) -> io::Result<Self> {
        Ok(Self { to: self.to.compressing(compression)?, ..self })
    }

    /// Whether it is standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self.to.target(), Target::Standard(_))
    }

    /// Whether a person sees it as it comes.
    pub fn is_terminal(&self) -> bool {
        match self.to.target() {
            Target::Standard(stdout) => stdout.is_terminal(),
            Target::Special(file) => file.is_terminal(),
            Target::New(_) => false,
        }
    }

    /// How many columns the terminal has, if it is one that knows.
    pub fn terminal_width(&self) -> Option<usize> {
        let size = match self.to.target() {
            Target::Standard(stdout) => terminal_size::terminal_size_of(stdout),
            Target::Special(file) => terminal_size::terminal_size_of(file),
            Target::New(_) => None,
        };
        size.map(|(width, _)| usize::from(width.0))
    }

    /// Writes one object on a line of its own.
    pub fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        Ok(self.json_lines(&line)?)
    }

    /// Writes lines of JSON. What would steer a terminal is escaped on one, and means the same.
    pub fn json_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        match self.is_terminal() {
            true => self.write_all(&screen::guarded(lines, Notation::Json)),
            false => self.write_all(lines),
        }
    }

    /// Ends the output of work that has ended with `result`; a file gets its name if all went well.
    pub fn finish<T>(mut self, result: Result<T, impl Into<anyhow::Error>>) -> anyhow::Result<T> {
        let result = result.map_err(Into::into);
        if self.is_standard() {
            // Without a row, too: nobody can see that there is none.
            let open = check_standard_output();
            let _ = self.keep(open);
        }
        if result.is_ok() {
            let ended = self.to.end();
            let _ = self.keep(ended);
        }
        if let Some(error) = self.error.take() {
            // What is still buffered cannot be written either.
            let _ = self.to.into_target();
            return Err(anyhow!(error));
        }
        let value = result?;
        if let Target::New(file) = self.to.into_target()? {
            file.finish_unsynced().map_err(cannot_write)?;
        }
        Ok(value)
    }

    /// Keeps an error, and gives it with the name of where it happened.
    fn keep<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let told = || io::Error::new(error.kind(), format!("{}: {error}", self.name));
            if self.error.is_none() {
                self.error = Some(told());
            }
            told()
        })
    }
}

/// Says what was being done, where the system alone has said what is wrong.
fn cannot_write(error: tadoc::Error) -> anyhow::Error {
    match error {
        tadoc::Error::Io { path, source } => {
            anyhow::Error::from(source).context(format!("cannot write {}", path.display()))
        }
        other => other.into(),
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.to.write(bytes);
        self.keep(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.to.flush();
        self.keep(result)
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            // Not by the standard library, to which a closed descriptor is no error.
            Self::Standard(stdout) => {
                check_standard_output()?;
                Ok(rustix::io::write(stdout, bytes)?)
            }
            Self::Special(file) => file.write(bytes),
            Self::New(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(_) => Ok(()),
            Self::Special(file) => file.flush(),
            Self::New(file) => file.flush(),
        }
    }
}

/// An error if standard output was closed when the process was started.
pub fn check_standard_output() -> io::Result<()> {
    match closed::is_standard_output_closed() {
        true => Err(io::Error::other("it is closed; give it a file, or /dev/null")),
        false => Ok(()),
    }
}

/// Prints one JSON object on a line of its own to standard output.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut output = Output::new();
    let result = output.json(value);
    output.finish(result)
}

/// Prints text to standard output.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    let mut output = Output::new();
    let result = output.write_all(text.as_bytes());
    output.finish(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_gets_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut output = Output::create(&path, false).unwrap();
        output.write_all(b"all of it").unwrap();
        assert!(!path.exists() && names(folder.path())[0].starts_with("out.tmp-"));
        output.finish(anyhow::Ok(())).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"all of it");
        assert_eq!(names(folder.path()), ["out"]);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o600, 0o600);
        assert_eq!(mode & 0o111, 0);
    }

    #[test]
    fn what_fails_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut output = Output::create(&path, false).unwrap();
        output.write_all(b"half of it").unwrap();
        let failed: anyhow::Result<()> = Err(anyhow!("no more"));
        assert!(output.finish(failed).is_err());
        let mut output = Output::create(&path, false).unwrap();
        output.write_all(b"half of it").unwrap();
        drop(output);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        // One that comes up while the answer is written wins, too.
        let late = Output::create(&path, false).unwrap();
        fs::write(&path, "precious").unwrap();
        for refused in [late.finish(anyhow::Ok(())), Output::create(&path, false).map(drop)] {
            assert!(refused.unwrap_err().to_string().contains("exists already"));
        }
        let mut output = Output::create(&path, true).unwrap();
        output.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        output.finish(anyhow::Ok(())).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn devices_are_written_to_and_not_replaced() {
        let mut output = Output::create(Path::new("/dev/null"), true).unwrap();
        output.write_all(b"gone").unwrap();
        output.finish(anyhow::Ok(())).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let mut output = Output::create(Path::new("/dev/full"), false).unwrap();
        output.write_all(b"too much").unwrap();
        let error = output.finish(anyhow::Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("/dev/full: No space left"), "{error}");
        for wrong in ["-", "."] {
            assert!(Output::create(Path::new(wrong), true).is_err());
        }
    }
}
