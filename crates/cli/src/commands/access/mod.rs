//! Random access: any bytes, lines and words of an archive, and where words are, without unpacking the rest.
//!
//! [`Opened`] is an archive that is asked; `arguments` is what the commands have in common, `place` where what they read lies, `places` how
//! occurrences come in batches, so that an answer may be longer than memory. A command costs what the
//! index that is stored makes of it; without one, the segments that it meets are decoded.

mod arguments;
mod cat;
mod context;
mod extract;
mod find;
mod head;
mod kwic;
mod lines;
mod place;
mod places;
mod query;
mod sample;
mod search;
mod snippet;

use std::path::Path;

use clap::Subcommand;
use tadoc::{Corpus, Document, Lexer, access};

use super::about;
use crate::failure::{Outcome, print_error};
use crate::output::Output;
use crate::select;

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
    archive: &'c Path,
    corpus: &'c Corpus,
    access: access::Access<'c>,
    documents: &'c [Document],
    lexer: Lexer,
}

impl Opened<'_> {
    /// The name of a document.
    fn name(&self, document: u32) -> &[u8] {
        &self.documents[document as usize].name
    }

    /// How long a document is.
    fn bytes(&self, document: u32) -> u64 {
        self.documents[document as usize].bytes
    }

    /// The one document that a name or glob stands for.
    fn document(&self, asked: &std::ffi::OsStr) -> anyhow::Result<u32> {
        match select::find(&[self.documents], asked)?[..] {
            [place] => Ok(place as u32),
            [] => anyhow::bail!("no document matches {:?}", asked.display()),
            ref several => anyhow::bail!(
                "{:?} matches {} documents, and one is wanted",
                asked.display(),
                several.len()
            ),
        }
    }

    /// Prints documents that are asked for by names and globs, in that order.
    fn print(
        &self,
        asked: &[std::ffi::OsString],
        write: impl FnOnce(&[usize], &mut Output) -> anyhow::Result<()>,
    ) -> anyhow::Result<Outcome> {
        let mut places = Vec::new();
        for name in asked {
            places.append(&mut select::find(&[self.documents], name)?);
        }
        if places.is_empty() {
            print_error("no document matches; `tadoc list` shows what the archive has");
            return Ok(Outcome::Negative);
        }
        let mut output = Output::new();
        let written = write(&places, &mut output);
        output.finish(written)?;
        Ok(Outcome::Done)
    }

    /// What goes wrong in reading the archive is told with its path.
    fn told<T>(&self, result: tadoc::Result<T>) -> anyhow::Result<T> {
        result.map_err(|error| about(self.archive, error))
    }
}
