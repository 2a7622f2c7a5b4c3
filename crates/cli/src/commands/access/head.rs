//! `tadoc head`: how documents begin.

use std::io::Write;

use clap::Args;
use tadoc::Document;

use super::arguments::{AccessArguments, PrintedArguments};
use super::lines::Lines;
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::output::Output;
use crate::screen;

/// Print the first lines or bytes of documents
///
/// Of several documents, each begins with a line that tells its name.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc head [OPTIONS] ARCHIVE DOCUMENT...\n       \
                      tadoc head [OPTIONS] ARCHIVE... -d GLOB...",
    after_help = examples!(
        "tadoc head corpus.tdc notes/todo.txt"
        "tadoc head corpus.tdc 'logs/*' -n 3"
        "tadoc head 2023.tdc 2024.tdc -d 'logs/*' -n 3 --with-archive"
        "tadoc head corpus.tdc image.svg -c 512"
    )
)]
pub struct Head {
    #[command(flatten)]
    printed: PrintedArguments,

    /// How many lines
    #[arg(short = 'n', long, value_name = "LINES", default_value_t = 10)]
    lines: u64,

    /// How many bytes, instead of lines
    #[arg(short = 'c', long, value_name = "BYTES", conflicts_with = "lines")]
    bytes: Option<u64>,

    /// Tell the archive with the name of each document
    #[arg(long)]
    with_archive: bool,

    #[command(flatten)]
    reading: AccessArguments,
}

impl Head {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let (archives, asked) = self.printed.split()?;
        self.reading.open(&archives, quiet, |corpus| {
            let documents = self.printed.find(corpus, asked)?;
            if documents.is_empty() {
                return Ok(Outcome::Negative);
            }
            let mut output = Output::new();
            let written = self.write(&documents, &mut output);
            output.finish(written)?;
            Ok(Outcome::Done)
        })
    }

    fn write(&self, documents: &[Document], output: &mut Output) -> anyhow::Result<()> {
        for (number, document) in documents.iter().enumerate() {
            if documents.len() > 1 || self.with_archive {
                let gap = if number > 0 { "\n" } else { "" };
                let archive = match self.with_archive {
                    true => format!("{}:", screen::path(document.archive().0)),
                    false => String::new(),
                };
                let name = screen::name(document.name());
                writeln!(output, "{gap}==> {archive}{name} <==")?;
            }
            let range = match self.bytes {
                Some(bytes) => 0..bytes.min(document.bytes()),
                None => Lines::first(self.lines).range(document)?,
            };
            document.write_to(range, output)?;
        }
        Ok(())
    }
}
