//! Random access: any bytes, lines and words of an archive, and where words are, without unpacking the rest.
//!
//! [`Opened`] is an archive that is asked; `arguments` is what the commands have in common, `phrase` the words that they look
//! for, `place` where what they read lies, `places` how occurrences come in batches, so that an answer may be longer than
//! memory. Several archives are asked one after the other, and answer as one corpus. A command costs what the index that
//! is stored makes of it; without one, the segments that it meets are decoded.

mod arguments;
mod cat;
mod context;
mod extract;
mod find;
mod find_query;
mod head;
mod joined;
mod kwic;
mod lines;
mod phrase;
mod place;
mod places;
mod query;
mod sample;
mod search;
mod snippet;

use std::path::Path;
use std::sync::Arc;

use clap::Subcommand;
use tadoc_engine::{Document, Lexer, access};

use super::archives::Archive;
use crate::failure::Outcome;

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
pub enum Access {
    Cat(cat::Cat),
    Head(head::Head),
    Extract(extract::Extract),
    Search(search::Search),
    Count(search::Count),
    Kwic(kwic::Kwic),
    Find(find::Find),
    Sample(sample::Sample),
    Query(query::Query),
}

impl Access {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        match self {
            Self::Cat(command) => command.run(quiet),
            Self::Head(command) => command.run(quiet),
            Self::Extract(command) => command.run(quiet),
            Self::Search(command) => command.run(quiet),
            Self::Count(command) => command.run(quiet),
            Self::Kwic(command) => command.run(quiet),
            Self::Find(command) => command.run(quiet),
            Self::Sample(command) => command.run(quiet),
            Self::Query(command) => command.run(quiet),
        }
    }
}

/// An archive that is open for random access.
struct Opened<'c> {
    archive: &'c Archive,
    access: Arc<access::Access>,
    documents: &'c [Document],
    lexer: Lexer,
}

impl Opened<'_> {
    /// Where the archive is.
    fn path(&self) -> &Path {
        &self.archive.path
    }

    /// The name of a document.
    fn name(&self, document: u32) -> &[u8] {
        &self.documents[document as usize].name
    }

    /// How long a document is.
    fn bytes(&self, document: u32) -> u64 {
        self.documents[document as usize].bytes
    }

    /// What goes wrong in reading the archive is told with its path.
    fn told<T>(&self, result: tadoc_engine::Result<T>) -> anyhow::Result<T> {
        self.archive.told(result)
    }
}
