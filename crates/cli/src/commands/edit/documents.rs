//! `tadoc remove` and `rename`: documents that go, and that are called otherwise.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use tadoc::edit::Edit;
use tadoc::match_names;

use super::Session;
use super::arguments::{DocumentArguments, EditArguments};
use crate::arguments::examples;
use crate::failure::{Outcome, print_error};

/// Take documents out of an archive
///
/// All of them or, if one is not there, none. Their text takes room until the archive is compressed again (`tadoc
/// recompress`), and stays in copies of the archive.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc remove corpus.tdc notes/todo.txt"
    "tadoc remove corpus.tdc --glob 'logs/2023-*' 'logs/2022-*'"
))]
pub struct Remove {
    /// The archive
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// Names of documents, as `tadoc list` prints them
    #[arg(value_name = "DOCUMENT", required = true)]
    documents: Vec<OsString>,

    /// Take a name that no document has as a glob
    ///
    /// In a glob, * stands for any characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the
    /// shell leaves them alone.
    #[arg(long)]
    glob: bool,

    #[command(flatten)]
    editing: EditArguments,
}

impl Remove {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let session = Session::open(&self.archive, &self.editing, quiet)?;
        let mut transaction = session.begin()?;
        let mut numbers = Vec::new();
        if self.glob {
            let documents = transaction.documents();
            let names: Vec<&[u8]> = documents.iter().map(|document| &document.name[..]).collect();
            for glob in &self.documents {
                for place in match_names(&names, glob.as_encoded_bytes())? {
                    numbers.push(transaction.find(names[place])?);
                }
            }
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.is_empty() {
                print_error("no document matches; `tadoc list` shows what the archive has");
                return Ok(Outcome::Negative);
            }
        } else {
            for name in &self.documents {
                numbers.push(session.find(&transaction, name)?);
            }
            numbers.sort_unstable();
            numbers.dedup();
        }
        for document in numbers {
            session.edit(&mut transaction, &Edit::Remove { document })?;
        }
        session.commit(transaction)?;
        session.recompress_if_due()?;
        Ok(Outcome::Done)
    }
}

/// Give a document another name
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc rename corpus.tdc notes/todo.txt notes/done.txt"
))]
pub struct Rename {
    #[command(flatten)]
    which: DocumentArguments,

    /// The new name; taken as it is
    #[arg(value_name = "NAME")]
    name: OsString,

    #[command(flatten)]
    editing: EditArguments,
}

impl Rename {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let session = Session::open(&self.which.archive, &self.editing, quiet)?;
        let name = self.name.as_encoded_bytes();
        session.change(&self.which.document, |document| Edit::Rename { document, name })
    }
}
