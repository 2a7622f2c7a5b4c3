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

use tadoc_engine::Corpus;

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
    tadoc_engine::threads::install(&Threads::default().pool()?, work)
}

/// Opens an archive; what goes wrong is told with its path.
fn open(archive: &Path) -> anyhow::Result<Corpus> {
    Corpus::open_with(archive, &memory::options()).map_err(|error| about(archive, error))
}

/// An error of the library in working on an archive, with the archive's path where it does not tell a path
/// itself.
fn about(archive: &Path, error: tadoc_engine::Error) -> anyhow::Error {
    let tells = match &error {
        tadoc_engine::Error::Cancelled
        | tadoc_engine::Error::Io { .. }
        | tadoc_engine::Error::Exists { .. } => true,
        other => other.path() == Some(archive),
    };
    let error = anyhow::Error::from(error);
    if tells { error } else { error.context(archive.display().to_string()) }
}

/// Prints a line for people who watch: to standard error if that is a terminal.
fn summary(quiet: bool, line: &str) {
    if !quiet && io::stderr().is_terminal() {
        failure::print_line(&failure::printable(line));
    }
}
