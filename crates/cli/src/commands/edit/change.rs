//! `tadoc insert`, `delete` and `replace`: one change to the text of a document.

use clap::Args;
use tadoc::edit::Edit;

use super::Session;
use super::arguments::{DocumentArguments, EditArguments, TextArguments};
use crate::arguments::examples;
use crate::failure::Outcome;

/// Put bytes into a document
///
/// They come before the byte at OFFSET; an offset that is the document's length puts them at its end.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc insert corpus.tdc notes/todo.txt 0 --text 'First of all: '"
    "tadoc insert corpus.tdc page.html 1024 < paragraph.html"
))]
pub struct Insert {
    #[command(flatten)]
    which: DocumentArguments,

    /// Where, in bytes from 0
    #[arg(value_name = "OFFSET")]
    offset: u64,

    #[command(flatten)]
    text: TextArguments,

    #[command(flatten)]
    editing: EditArguments,
}

impl Insert {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let text = &self.text.bytes()?;
        let session = Session::open(&self.which.archive, &self.editing, quiet)?;
        let offset = self.offset;
        session.change(&self.which.document, |document| Edit::Insert { document, offset, text })
    }
}

/// Take bytes out of a document
///
/// All of them have to be there.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc delete corpus.tdc notes/todo.txt 0 14"
))]
pub struct Delete {
    #[command(flatten)]
    which: DocumentArguments,

    /// Where they start, in bytes from 0
    #[arg(value_name = "OFFSET")]
    offset: u64,

    /// How many bytes
    #[arg(value_name = "LENGTH")]
    length: u64,

    #[command(flatten)]
    editing: EditArguments,
}

impl Delete {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let session = Session::open(&self.which.archive, &self.editing, quiet)?;
        let (offset, length) = (self.offset, self.length);
        session.change(&self.which.document, |document| Edit::Delete { document, offset, length })
    }
}

/// Put bytes in the place of others
///
/// The bytes that go have to be there; those that come may be fewer or more.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc replace corpus.tdc notes/todo.txt 0 5 --text Second"
    "tadoc replace corpus.tdc page.html 1024 88 < paragraph.html"
))]
pub struct Replace {
    #[command(flatten)]
    which: DocumentArguments,

    /// Where those start that go, in bytes from 0
    #[arg(value_name = "OFFSET")]
    offset: u64,

    /// How many bytes go
    #[arg(value_name = "LENGTH")]
    length: u64,

    #[command(flatten)]
    text: TextArguments,

    #[command(flatten)]
    editing: EditArguments,
}

impl Replace {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let text = &self.text.bytes()?;
        let session = Session::open(&self.which.archive, &self.editing, quiet)?;
        let (offset, length) = (self.offset, self.length);
        let replace = |document| Edit::Replace { document, offset, length, text };
        session.change(&self.which.document, replace)
    }
}
