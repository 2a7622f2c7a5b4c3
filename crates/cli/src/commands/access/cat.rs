//! `tadoc cat`: the bytes of documents to standard output, in the order asked for.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use tadoc::access::Index;

use super::Opened;
use super::arguments::ReadArguments;
use super::lines::Lines;
use crate::arguments::examples;
use crate::failure::{Outcome, message, print_error};
use crate::output::Output;

/// Print the bytes of documents, or some of their lines
///
/// Whole documents are compared with their digests, unless they were edited: what is damaged is
/// printed and told, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc cat corpus.tdc notes/todo.txt"
    "tadoc cat corpus.tdc part-1.txt part-2.txt > both.txt"
    "tadoc cat corpus.tdc 'logs/*' | grep ERROR"
    "tadoc cat corpus.tdc server.log --lines 1000:1020"
    "tadoc cat corpus.tdc server.log --lines -5:            the last five lines"
))]
pub struct Cat {
    /// The archive
    #[arg(value_name = "CORPUS", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// Names or globs of documents
    ///
    /// A name is as `tadoc list` prints it. Where no document has that name it is a glob: * stands for any
    /// characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the shell leaves them
    /// alone.
    #[arg(value_name = "DOCUMENT", required = true)]
    documents: Vec<OsString>,

    /// Only these lines of each document: A:B, A:, :B or N
    ///
    /// The first line is 1, B is among those printed, and -1 is the last line. Lines that a document does
    /// not have are not printed.
    #[arg(long, value_name = "A:B", allow_hyphen_values = true)]
    lines: Option<Lines>,

    #[command(flatten)]
    reading: ReadArguments,
}

impl Cat {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        self.reading.open(&self.archive, quiet, |opened| {
            let mut damaged = Vec::new();
            let outcome = opened.print(&self.documents, |places, output| {
                self.write(opened, places, output, &mut damaged)
            })?;
            damaged.iter().for_each(|error| print_error(&message(error)));
            Ok(if damaged.is_empty() { outcome } else { Outcome::Negative })
        })
    }

    /// Writes documents; gives the errors of those that are damaged.

    fn write(
        &self,
        opened: &Opened<'_>,
        places: &[usize],
        output: &mut Output,
        damaged: &mut Vec<anyhow::Error>,
    ) -> anyhow::Result<()> {
        if let Some(lines) = &self.lines {
            return places.iter().try_for_each(|&place| {
                let range = lines.range(opened, place as u32)?;
                opened.told(opened.access.write(place as u32, range, output).map(drop))
            });
        }
        for ascending in places.chunk_by(|before, after| before < after) {
            let written = match opened.access.index() {
                // One segment after the other is decoded, and none is kept.
                Index::None => opened.corpus.write_documents(ascending, output, &()),
                _ => opened.access.write_documents(ascending, output),
            };
            match written {
                Err(error @ tadoc::Error::WrongDigest { .. }) => {
                    damaged.extend(opened.told(Err::<(), _>(error)).err());
                }
                written => {
                    opened.told(written)?;
                }
            }
        }
        Ok(())
    }
}
