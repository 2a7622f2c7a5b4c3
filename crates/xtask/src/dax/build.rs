//! What runs in the guest: the pool crate's tests and the command, as cargo builds them for development, with their checks on;
//! and an archive with the answers to all tasks, for the tasks that are interrupted.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::project::Project;
use crate::{files, process};

/// The tasks of the command.
pub const TASKS: [&str; 6] = [
    "word-count",
    "sort",
    "inverted-index",
    "term-vector",
    "sequence-count",
    "ranked-inverted-index",
];
/// Folders of the project that the archive is made of: enough that a task lasts long enough to be interrupted.
const DOCUMENTS: [&str; 3] = ["crates/cli", "crates/core", "docs"];

/// What was built.
pub struct Built {
    /// The programs of tests, by their names.
    pub tests: Vec<(String, PathBuf)>,
    /// The command `tadoc`.
    pub command: PathBuf,
    /// The folder of the archive, `corpus.tdc`, and of a file of each task's name with its rows.
    pub answers: PathBuf,
}

/// Builds everything; the archive and its answers are in `folder`.
pub fn build(project: &Project, folder: &Path) -> Result<Built> {
    let tests = executables(project.cargo().args([
        "test",
        "--package",
        "tadoc-pool",
        "--lib",
        "--tests",
        "--no-run",
    ]))?;
    let commands = executables(project.cargo().args(["build", "--package", "tadoc-cli"]))?;
    let command = commands.into_iter().find(|(name, _)| name == "tadoc");
    let (_, command) = command.context("cargo built no command `tadoc`")?;

    let answers = folder.join("answers");
    files::remove_folder(&answers)?;
    files::create_folder(&answers)?;
    let archive = answers.join("corpus.tdc");
    let mut compress = Command::new(&command);
    compress.arg("compress").args(DOCUMENTS).arg("--output").arg(&archive);
    process::run(compress.current_dir(&project.root))?;
    for task in TASKS {
        let path = answers.join(task);
        let rows = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
        let mut answer = Command::new(&command);
        answer.arg(task).arg(&archive).args(["--backend", "cpu"]).stdout(rows);
        process::run_visibly(&mut answer)?;
    }
    Ok(Built { tests, command, answers })
}

/// Runs cargo and gives the programs that it built or found built, with the names of their targets.
fn executables(cargo: &mut Command) -> Result<Vec<(String, PathBuf)>> {
    let messages = process::output(cargo.args(["--message-format", "json-render-diagnostics"]))?;
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).context("what cargo says")?;
        if let (Some(name), Some(path)) =
            (message["target"]["name"].as_str(), message["executable"].as_str())
        {
            programs.push((name.to_owned(), PathBuf::from(path)));
        }
    }
    Ok(programs)
}
