//! `tadoc man`: manual pages, one for the command and one for each subcommand.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, CommandFactory, ValueHint};

use crate::arguments::{Arguments, examples};
use crate::failure::Outcome;

/// Write manual pages into a folder
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc man ~/.local/share/man/man1"
))]
pub struct Man {
    /// The folder; made if it is not there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
}

impl Man {
    pub fn run(self) -> anyhow::Result<Outcome> {
        fs::create_dir_all(&self.directory)
            .and_then(|()| clap_mangen::generate_to(Arguments::command(), &self.directory))
            .with_context(|| {
                format!("cannot write manual pages to {}", self.directory.display())
            })?;
        Ok(Outcome::Done)
    }
}
