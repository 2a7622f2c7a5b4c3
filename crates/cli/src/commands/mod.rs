//! The subcommands, a module each.

pub mod access;
pub mod analytics;
mod archives;
mod backend;
mod batch;
pub mod completions;
pub mod compress;
pub mod demo;
pub mod devices;
pub mod edit;
pub mod grep;
pub mod index;
pub mod info;
pub mod list;
pub mod man;
pub mod restore;
mod terms;
pub mod transcode;
pub mod verify;

use std::io::{self, IsTerminal};
use std::path::Path;

use tadoc::{Archive, OpenOptions};

use crate::arguments::{Arguments, Command, Threads};
use crate::failure::{self, Outcome};
use crate::memory;

/// Does what the command line says.
pub fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let quiet = arguments.quiet;
    memory::set(arguments.memory, &arguments.command);
    match arguments.command {
        Command::Compress(command) => command.run(quiet),
        Command::Restore(command) => on_all_threads(|| command.run(quiet)),
        Command::List(command) => command.run(),
        Command::Access(command) => command.run(quiet),
        Command::Info(command) => command.run(),
        Command::Verify(command) => on_all_threads(|| command.run(quiet)),
        Command::Transcode(command) => command.run(quiet),
        Command::Index(command) => on_all_threads(|| command.run(quiet)),
        Command::Edit(command) => command.run(quiet),
        Command::Analytics(command) => command.run(quiet),
        Command::Grep(command) => command.run(quiet),
        Command::Devices(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }
}

/// Does work of the library that is done in the pool it is called in. The pool that rayon would make itself
/// panics where no threads can be started.
fn on_all_threads(
    work: impl FnOnce() -> anyhow::Result<Outcome> + Send,
) -> anyhow::Result<Outcome> {
    Threads::default().pool()?.install(work)
}

/// Opens one archive.
fn open(archive: &Path) -> tadoc::Result<Archive> {
    memory::limit(OpenOptions::new()).archive(archive)
}

/// An error of the library in working on an archive, with the archive's path where it names no file.
fn about(archive: &Path, error: tadoc::Error) -> anyhow::Error {
    error.of_archive(archive).into()
}

/// Prints a line for people who watch: to standard error if that is a terminal.
fn summary(quiet: bool, line: &str) {
    if !quiet && io::stderr().is_terminal() {
        failure::print_line(&failure::printable(line));
    }
}
