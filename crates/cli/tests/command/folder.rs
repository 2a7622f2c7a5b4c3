//! A temporary folder to run the command in, and what comes of a run.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, io, thread};

use tempfile::TempDir;

pub const TADOC: &str = env!("CARGO_BIN_EXE_tadoc");

pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With files of these names, each holding a few lines.
    pub fn with(names: &[&str]) -> Self {
        let folder = Self::new();
        for name in names {
            folder.write(name, format!("this is {name}\nand this is its end\n"));
        }
        folder
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Names in the folder itself, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(TADOC);
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[impl AsRef<OsStr>]) -> Run {
        Run(self.command(arguments).output().unwrap())
    }

    /// Runs with at most so many bytes of private memory; the arguments are the shell's to read.
    pub fn run_within(&self, bytes: u64, arguments: &str) -> Run {
        let script = format!("ulimit -d {} && exec {TADOC} {arguments}", bytes / 1024);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(self.0.path()).stdin(Stdio::null());
        Run(shell.output().unwrap())
    }

    /// Runs with these bytes on standard input.
    pub fn run_with(&self, arguments: &[impl AsRef<OsStr>], input: &[u8]) -> Run {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        let output = thread::scope(|scope| {
            scope.spawn(move || match to.write_all(input) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => panic!("{error}"),
                _ => {}
            });
            child.wait_with_output().unwrap()
        });
        Run(output)
    }
}

pub struct Run(Output);

impl Run {
    #[cfg(feature = "pool")]
    pub fn is_success(&self) -> bool {
        self.0.status.success()
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.0.status.code(),
            Some(code),
            "stdout: {}\nstderr: {}",
            String::from_utf8_lossy(&self.0.stdout),
            self.stderr()
        );
        self
    }

    /// Did what it was told, in silence.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        let run = self.exits(0);
        assert_eq!(run.stderr(), "");
        run
    }

    /// Standard error is one line of ours that says this.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        let stderr = self.stderr();
        assert!(
            stderr.starts_with("tadoc: ") && stderr.contains(text),
            "{stderr:?} lacks {text:?}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr:?}");
        self
    }

    /// The results of operations. The exit code and standard error say how many failed.
    #[track_caller]
    pub fn operations(self) -> Vec<serde_json::Value> {
        let results = self.json();
        match results.iter().filter(|result| result.get("error").is_some()).count() {
            0 => self.succeeds(),
            failed => self.exits(1).says(&format!("{failed} of {} operation", results.len())),
        };
        results
    }

    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0.stdout
    }

    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.0.stdout).unwrap()
    }

    /// Standard output as JSON, one value a line.
    #[track_caller]
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Text with words that repeat, and phrases that do.
pub fn prose(bytes: usize) -> Vec<u8> {
    const WORDS: [&str; 16] = [
        "the", "tide", "gauge", "reads", "a", "level", "of", "water", "every", "hour", "and",
        "sends", "it", "to", "station", "north",
    ];
    let mut text = Vec::with_capacity(bytes + 16);
    let mut state = 1u64;
    while text.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = state >> 33;
        if draw.is_multiple_of(64) {
            text.extend_from_slice(format!("{}\n", draw % 10_007).as_bytes());
        } else {
            text.extend_from_slice(WORDS[(draw % 16) as usize].as_bytes());
            text.push(b' ');
        }
    }
    text.truncate(bytes);
    text
}
