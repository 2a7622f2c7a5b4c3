//! What the commands of editing have in common on the command line.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum, ValueHint};

use crate::units;

/// `--durability`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Durability {
    /// Each edit is on disk before its result is told and the next one is made
    Operation,
    /// All edits of a batch are on disk before their results are told
    Batch,
    /// Edits are written and not synced: a crash of the machine may lose the last ones
    None,
}

impl From<Durability> for tadoc::edit::Durability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::Operation | Durability::Batch => Self::Sync,
            Durability::None => Self::None,
        }
    }
}

/// How edits are made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct EditArguments {
    /// When edits are there for good
    #[arg(long, value_enum, default_value_t = Durability::Batch)]
    pub durability: Durability,

    /// Compress the archive again when its edits have more than SIZE, such as 64M [default: never]
    ///
    /// What counts is the text of the edits, or their journal where that takes more. See `tadoc recompress`.
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub recompress: Option<u64>,
}

/// The document that is edited.
#[derive(Debug, Args)]
pub struct DocumentArguments {
    /// The archive
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub archive: PathBuf,

    /// The document's name, as `tadoc list` prints it
    #[arg(value_name = "DOCUMENT")]
    pub document: OsString,
}

/// The bytes that come.
#[derive(Debug, Args)]
pub struct TextArguments {
    /// The bytes [default: those of standard input]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<OsString>,
}

impl TextArguments {
    /// The bytes; reads standard input to its end if they are not given.
    pub fn bytes(self) -> anyhow::Result<Vec<u8>> {
        if let Some(text) = self.text {
            return Ok(text.into_encoded_bytes());
        }
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
        Ok(bytes)
    }
}
