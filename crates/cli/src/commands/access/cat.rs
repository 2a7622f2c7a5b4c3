//! `tadoc cat`: the bytes of documents to standard output, in the order asked for.

use clap::Args;
use tadoc_engine::access::Index;

use super::arguments::{AccessArguments, DocumentOf, PrintedArguments};
use super::lines::Lines;
use crate::arguments::examples;
use crate::failure::{Outcome, message, print_error};
use crate::output::Output;

/// Print the bytes of documents, or some of their lines
///
/// Whole documents are compared with their digests, unless they were edited: what is damaged is
/// printed and told, and the exit code is 1.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc cat [OPTIONS] ARCHIVE DOCUMENT...\n       \
                      tadoc cat [OPTIONS] ARCHIVE... -d GLOB...",
    after_help = examples!(
        "tadoc cat corpus.tdc notes/todo.txt"
        "tadoc cat corpus.tdc part-1.txt part-2.txt > both.txt"
        "tadoc cat corpus.tdc 'logs/*' | grep ERROR"
        "tadoc cat 2023.tdc 2024.tdc -d 'logs/*' | grep ERROR"
        "tadoc cat corpus.tdc server.log --lines 1000:1020"
        "tadoc cat corpus.tdc server.log --lines -5:            the last five lines"
    )
)]
pub struct Cat {
    #[command(flatten)]
    printed: PrintedArguments,

    /// Only these lines of each document: A:B, A:, :B or N
    ///
    /// The first line is 1, B is among those printed, and -1 is the last line. Lines that a document does
    /// not have are not printed.
    #[arg(long, value_name = "A:B", allow_hyphen_values = true)]
    lines: Option<Lines>,

    #[command(flatten)]
    reading: AccessArguments,
}

impl Cat {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let (archives, asked) = self.printed.split()?;
        self.reading.open(&archives, quiet, |opened| {
            let documents = self.printed.find(opened, asked)?;
            if documents.is_empty() {
                return Ok(Outcome::Negative);
            }
            let mut output = Output::new();
            let mut damaged = Vec::new();
            let written = self.write(&documents, &mut output, &mut damaged);
            output.finish(written)?;
            damaged.iter().for_each(|error| print_error(&message(error.as_ref())));
            Ok(if damaged.is_empty() { Outcome::Done } else { Outcome::Negative })
        })
    }

    /// Writes documents; adds the errors of those that are damaged.
    fn write(
        &self,
        documents: &[DocumentOf<'_, '_>],
        output: &mut Output,
        damaged: &mut Vec<anyhow::Error>,
    ) -> anyhow::Result<()> {
        for documents in documents.chunk_by(|one, other| std::ptr::eq(one.opened, other.opened)) {
            let opened = documents[0].opened;
            if let Some(lines) = &self.lines {
                for &DocumentOf { document, .. } in documents {
                    let range = lines.range(opened, document)?;
                    opened.told(opened.access.write(document, range, output))?;
                }
                continue;
            }
            let places: Vec<usize> = documents.iter().map(|of| of.document as usize).collect();
            for ascending in places.chunk_by(|before, after| before < after) {
                let written = match opened.access.index() {
                    // One segment after the other is decoded, and none is kept.
                    Index::None => opened.archive.corpus.write_documents(ascending, output, &()),
                    _ => opened.access.write_documents(ascending, output),
                };
                match written {
                    Err(error @ tadoc_engine::Error::WrongDigest { .. }) => {
                        damaged.extend(opened.told(Err::<(), _>(error)).err());
                    }
                    written => {
                        opened.told(written)?;
                    }
                }
            }
        }
        Ok(())
    }
}
