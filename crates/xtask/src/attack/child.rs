//! One run of the command as a child process: bounded in processor time, memory and output, with its peak memory as the
//! system tells it at its end (`wait4`). Costs a look at the process every few milliseconds.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tadoc_testing::processor_time;
use wait4::{ResUse, Wait4};

/// A child that takes longer is ended, whatever it waits for.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// A child that takes more memory is ended, so that it takes none from others.
const MOST_MEMORY: u64 = 1 << 30;
/// A child that prints more is ended, and what it printed is not compared. Small, because the system takes what this
/// process has had at most for the least that a child of it had (`exec` keeps the mark).
const MOST_OUTPUT: u64 = 4 << 20;
/// Of standard error, so many bytes are kept.
const MOST_ERRORS: usize = 16 << 10;
/// The first looks at a child follow each other so quickly, later ones more slowly.
const FIRST_LOOK: Duration = Duration::from_micros(400);
const LAST_LOOK: Duration = Duration::from_millis(8);

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// It was ended for taking too long.
    TimedOut,
    /// It was ended for taking too much memory.
    TooLarge,
    /// It was ended for printing more than is kept.
    TooLong,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    pub end: End,
    pub wall: Duration,
    pub peak_bytes: u64,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Outcome {
    /// What it wrote and how it exited, if it exited.
    pub fn code(&self) -> Option<i32> {
        match self.end {
            End::Exit(code) => Some(code),
            _ => None,
        }
    }
}

/// The command with arguments, in a folder, with both outputs in files there.
pub fn command(binary: &Path, folder: &Path, arguments: &[String]) -> Result<Command> {
    let create = |name: &str| {
        let path = folder.join(name);
        File::create(&path).with_context(|| format!("creating {}", path.display()))
    };
    let mut command = Command::new(binary);
    command
        .args(arguments)
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "2")
        .env("RUST_BACKTRACE", "0")
        .env_remove("RUST_LOG")
        .env_remove(ALLOCATING[0].0)
        .env_remove(ALLOCATING[1].0)
        .stdin(Stdio::null())
        .stdout(create(STDOUT)?)
        .stderr(create(STDERR)?);
    Ok(command)
}

/// Names of the files that a child's outputs go to. They are hidden, so that none is taken for a leftover.
pub const STDOUT: &str = ".stdout";
pub const STDERR: &str = ".stderr";

/// Runs the command to its end, or until it has taken the processor time that it is given.
pub fn run(binary: &Path, folder: &Path, arguments: &[String], limit: Duration) -> Result<Outcome> {
    let start = Instant::now();
    let child = command(binary, folder, arguments)?.spawn();
    let mut child = child.with_context(|| format!("running {}", binary.display()))?;
    let stdout = folder.join(STDOUT);
    let mut look = FIRST_LOOK;
    let mut ended = None;
    let used = loop {
        if let Some(used) = child.try_wait4().context("waiting for a child")? {
            break used;
        }
        let excess = if start.elapsed() > LONGEST_WAIT || processor_time(child.id()) > limit {
            Some(End::TimedOut)
        } else if look == LAST_LOOK && memory(&child.id().to_string()) > MOST_MEMORY {
            Some(End::TooLarge)
        } else if look == LAST_LOOK && fs::metadata(&stdout).is_ok_and(|m| m.len() > MOST_OUTPUT) {
            Some(End::TooLong)
        } else {
            None
        };
        if excess.is_some() {
            ended = excess;
            break end(child)?;
        }
        std::thread::sleep(look);
        look = (look * 5 / 4).min(LAST_LOOK);
    };
    let wall = start.elapsed();
    if ended.is_none() && fs::metadata(&stdout)?.len() > MOST_OUTPUT {
        ended = Some(End::TooLong);
    }
    let exit = match (used.status.code(), used.status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    };
    let errors = fs::read(folder.join(STDERR))?;
    Ok(Outcome {
        end: ended.unwrap_or(exit),
        wall,
        peak_bytes: used.rusage.maxrss,
        stdout: read_some(&stdout)?,
        stderr: String::from_utf8_lossy(&errors[..errors.len().min(MOST_ERRORS)]).into_owned(),
    })
}

/// What a child printed, or so much of it that it is seen to be too much.
fn read_some(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_OUTPUT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Kills a child and waits for it.
fn end(mut child: Child) -> Result<ResUse> {
    child.kill().context("ending a child")?;
    child.wait4().context("waiting for a child")
}

/// The memory that a process has had at most, as far as the system tells it now.
fn memory(process: &str) -> u64 {
    let kibibytes = status(process, "VmHWM:");
    let kibibytes = kibibytes.trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap_or(0) * 1024
}

/// The memory that this process has had at most: no child is told to have had less.
pub fn own_memory() -> u64 {
    memory("self")
}

/// The signals that this process ignores: bit n - 1 stands for signal n.
pub fn ignored_signals() -> u64 {
    u64::from_str_radix(status("self", "SigIgn:").trim(), 16).unwrap_or(0)
}

/// What the system says about a process; nothing where it does not.
fn status(process: &str, what: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    line.unwrap_or_default().to_owned()
}

/// How this process allocates: large blocks go back to the system at once, so that it stays small.
const ALLOCATING: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "65536")];

/// Begins this process again, with an allocator that keeps little. Comes back if that was done, or cannot be.
pub fn stay_small() {
    if std::env::var_os(ALLOCATING[0].0).is_none()
        && let Ok(own) = std::env::current_exe()
    {
        let _ = Command::new(own).args(std::env::args_os().skip(1)).envs(ALLOCATING).exec();
    }
}
