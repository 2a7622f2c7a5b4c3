//! `tadoc cat`: the bytes of documents to standard output, in the order asked for.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{about, documents, open};
use crate::arguments::examples;
use crate::failure::{Outcome, print_error};
use crate::output::Output;
use crate::select;

/// Print the bytes of documents
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc cat corpus.tdc notes/todo.txt"
    "tadoc cat corpus.tdc part-1.txt part-2.txt > both.txt"
    "tadoc cat corpus.tdc 'logs/*' | grep ERROR"
))]
pub struct Cat {
    /// The archive
    #[arg(value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// Names or globs of documents
    ///
    /// A name is as `tadoc list` prints it. Where no document has that name it is a glob: * stands for any
    /// characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the shell leaves them
    /// alone.
    #[arg(value_name = "DOCUMENT", required = true)]
    documents: Vec<OsString>,
}

impl Cat {
    pub fn run(self) -> anyhow::Result<Outcome> {
        let corpus = open(&self.archive)?;
        let all = documents(&corpus, &self.archive)?;
        let mut places = Vec::new();
        for document in &self.documents {
            places.append(&mut select::find(&[all], document)?);
        }
        if places.is_empty() {
            print_error("no document matches; `tadoc list` shows what the archive has");
            return Ok(Outcome::Negative);
        }
        let mut output = Output::new();
        let result = places
            .chunk_by(|before, after| before < after)
            .try_for_each(|ascending| corpus.write_documents(ascending, &mut output, &()).map(drop))
            .map_err(|error| about(&self.archive, error));
        output.finish(result)?;
        Ok(Outcome::Done)
    }
}
