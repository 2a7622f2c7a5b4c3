//! What was found: each fault once, with the files and the command that repeat it, in a folder of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::child::{self, End, Outcome};
use super::victim::{Files, write_files};
use crate::files;

/// A file below this length may not make a command take more than [`MOST_MEMORY`].
const SMALL_FILE: usize = 1_000_000;
pub const MOST_MEMORY: u64 = 512 << 20;

/// What must not happen, whatever the bytes of a file are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// With where in the sources.
    Panic(String),
    Signal(i32),
    /// An exit code that means nothing.
    Exit(i32),
    Hang,
    Memory,
    /// Another answer than the right one, with an exit code that says that it is right.
    WrongAnswer,
    /// Something else that a check of kills and signals has found.
    Broken(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(place) => write!(to, "panic at {place}"),
            Self::Signal(signal) => write!(to, "ended by signal {signal}"),
            Self::Exit(code) => write!(to, "exit code {code}"),
            Self::Hang => write!(to, "hang"),
            Self::Memory => write!(to, "more than {} MiB", MOST_MEMORY >> 20),
            Self::WrongAnswer => write!(to, "wrong answer"),
            Self::Broken(what) => write!(to, "{what}"),
        }
    }
}

impl Fault {
    /// The fault that a run shows by itself, but for hangs, which are looked at again.
    pub fn of(run: &Outcome, files: &Files) -> Option<Self> {
        if let Some((_, told)) = run.stderr.split_once("panicked at ") {
            let place = told.split(['\n', ' ']).next().unwrap_or_default().trim_end_matches(':');
            // Of another crate's sources, what is behind the registry.
            let place = place.split_once("/registry/src/").map_or(place, |(_, path)| path);
            return Some(Self::Panic(place.to_owned()));
        }
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        let too_large = run.peak_bytes > MOST_MEMORY
            && bytes < SMALL_FILE
            && run.peak_bytes > child::own_memory();
        match run.end {
            End::TooLarge => Some(Self::Memory),
            End::Signal(signal) => Some(Self::Signal(signal)),
            End::Exit(code) if !(0..=2).contains(&code) => Some(Self::Exit(code)),
            _ => too_large.then_some(Self::Memory),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Panic(_) => "panic",
            Self::Signal(_) => "signal",
            Self::Exit(_) => "exit",
            Self::Hang => "hang",
            Self::Memory => "memory",
            Self::WrongAnswer => "wrong",
            Self::Broken(_) => "broken",
        }
    }
}

/// Where a fault was seen.
pub struct Seen<'s> {
    /// The victim, the mutation and the mutant's number.
    pub mutant: String,
    /// The name of the command.
    pub command: &'s str,
    /// The command as one would type it in the folder of the files.
    pub line: String,
    pub files: &'s Files,
    /// What it printed on standard error, or what was expected.
    pub told: &'s str,
}

/// A fault and how often it was seen.
pub struct Finding {
    pub times: u64,
    pub mutant: String,
    pub line: String,
}

/// All findings of a run, by command and fault.
pub struct Findings {
    folder: PathBuf,
    pub all: BTreeMap<(String, Fault), Finding>,
}

impl Findings {
    /// None yet; `folder`, which is emptied, is where they go.
    pub fn new(folder: &Path) -> Result<Self> {
        files::remove_folder(folder)?;
        files::create_folder(folder)?;
        Ok(Self { folder: folder.to_owned(), all: BTreeMap::new() })
    }

    /// Takes note of a fault. The first of a kind is told, and kept with its files in a folder, which is given.
    pub fn add(&mut self, fault: Fault, seen: &Seen<'_>) -> Result<Option<PathBuf>> {
        let key = (seen.command.to_owned(), fault);
        if let Some(finding) = self.all.get_mut(&key) {
            finding.times += 1;
            return Ok(None);
        }
        let number = self.all.len() + 1;
        let command = seen.command.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let name = format!("{number:03}-{command}-{}", key.1.word());
        let folder = self.folder.join(name);
        files::create_folder(&folder)?;
        write_files(&folder, seen.files)?;
        let told = seen.told.trim().to_owned();
        let Seen { mutant, line, .. } = seen;
        fs::write(
            folder.join("finding.txt"),
            format!("{}\n{mutant}\ntadoc {line}\n\n{told}\n", key.1),
        )?;
        println!("FOUND {}: {} ({mutant})", seen.command, key.1);
        println!("  cd {} && tadoc {line}", folder.display());
        if let Some(first) = told.lines().find(|line| !line.is_empty()) {
            println!("  {}", first.chars().take(160).collect::<String>());
        }
        let finding = Finding { times: 1, mutant: mutant.clone(), line: line.clone() };
        self.all.insert(key, finding);
        Ok(Some(folder))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::child;
    use super::*;

    /// The fault of a shell script that is run in place of the command.
    fn fault_of(script: &str, limit: Duration) -> (Option<Fault>, Outcome) {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["-c".to_owned(), script.to_owned()];
        let run = child::run(Path::new("/bin/sh"), folder.path(), &arguments, limit).unwrap();
        (Fault::of(&run, &vec![("a.tdc", vec![0; 10])]), run)
    }

    #[test]
    fn planted_faults_are_found() {
        let limit = Duration::from_secs(60);
        let panics = "echo \"thread 'main' panicked at src/a.rs:1:2:\" >&2; exit 101";
        assert_eq!(fault_of(panics, limit).0, Some(Fault::Panic("src/a.rs:1:2".into())));
        assert_eq!(fault_of("kill -SEGV $$", limit).0, Some(Fault::Signal(11)));
        assert_eq!(fault_of("exit 7", limit).0, Some(Fault::Exit(7)));
        for code in 0..=2 {
            assert_eq!(fault_of(&format!("exit {code}"), limit).0, None);
        }
        // It holds its input until the end of the line, which does not come.
        let holds = "head -c 700000000 /dev/zero | tail -n 1 >/dev/null";
        assert_eq!(fault_of(holds, limit).0, Some(Fault::Memory));
        let hangs = fault_of("while :; do :; done", Duration::from_millis(100));
        assert_eq!(hangs.1.end, End::TimedOut);
    }
}
