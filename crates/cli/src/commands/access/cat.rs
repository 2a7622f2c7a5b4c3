//! `tadoc cat`: the bytes of documents to standard output, in the order asked for.

use clap::Args;
use tadoc::access::Index;

use super::arguments::{AccessArguments, DocumentOf, PrintedArguments};
use super::lines::Lines;
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::output::Output;

/// Print the bytes of documents, or some of their lines
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
            let written = self.write(&documents, &mut output);
            output.finish(written)?;
            Ok(Outcome::Done)
        })
    }

    fn write(&self, documents: &[DocumentOf<'_, '_>], output: &mut Output) -> anyhow::Result<()> {
        for documents in documents.chunk_by(|one, other| std::ptr::eq(one.opened, other.opened)) {
            let opened = documents[0].opened;
            // Whole documents without an index: one segment after the other is decoded, and none is kept.
            if self.lines.is_none() && opened.access.index() == Index::None {
                let places: Vec<usize> = documents.iter().map(|of| of.document as usize).collect();
                places.chunk_by(|before, after| before < after).try_for_each(|ascending| {
                    let corpus = &opened.archive.corpus;
                    opened.told(corpus.write_documents(ascending, output, &()).map(drop))
                })?;
                continue;
            }
            for &DocumentOf { document, .. } in documents {
                let range = match &self.lines {
                    Some(lines) => lines.range(opened, document)?,
                    None => 0..opened.bytes(document),
                };
                opened.told(opened.access.write(document, range, output))?;
            }
        }
        Ok(())
    }
}
