//! `tadoc cat`: the bytes of documents to standard output, in the order asked for.

use clap::Args;
use tadoc::{Corpus, Document, DocumentId};

use super::arguments::{AccessArguments, PrintedArguments};
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
        self.reading.open(&archives, quiet, |corpus| {
            let documents = self.printed.find(corpus, asked)?;
            if documents.is_empty() {
                return Ok(Outcome::Negative);
            }
            let mut output = Output::new();
            let mut damaged = Vec::new();
            let written = self.write(corpus, &documents, &mut output, &mut damaged);
            output.finish(written)?;
            let outcome = if damaged.is_empty() { Outcome::Done } else { Outcome::Negative };
            damaged.into_iter().for_each(|error| print_error(&message(&error.into())));
            Ok(outcome)
        })
    }

    /// Writes documents; adds the errors of those that are damaged.
    fn write(
        &self,
        corpus: &Corpus,
        documents: &[Document],
        output: &mut Output,
        damaged: &mut Vec<tadoc::Error>,
    ) -> tadoc::Result<()> {
        if let Some(lines) = &self.lines {
            for document in documents {
                document.write_to(lines.range(document)?, output)?;
            }
            return Ok(());
        }
        let documents: Vec<DocumentId> = documents.iter().map(Document::id).collect();
        corpus.write_documents(&documents, output, &mut |error| damaged.push(error))?;
        Ok(())
    }
}
