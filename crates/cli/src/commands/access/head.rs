//! `tadoc head`: how documents begin.

use std::io::Write;

use clap::Args;

use super::arguments::{AccessArguments, DocumentOf, PrintedArguments};
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
        for (number, &DocumentOf { opened, document }) in documents.iter().enumerate() {
            if documents.len() > 1 || self.with_archive {
                let gap = if number > 0 { "\n" } else { "" };
                let archive = match self.with_archive {
                    true => format!("{}:", screen::path(opened.path())),
                    false => String::new(),
                };
                let name = screen::name(opened.name(document));
                writeln!(output, "{gap}==> {archive}{name} <==")?;
            }
            let range = match self.bytes {
                Some(bytes) => 0..bytes.min(opened.bytes(document)),
                None => Lines::first(self.lines).range(opened, document)?,
            };
            opened.told(opened.access.write(document, range, output))?;
        }
        Ok(())
    }
}
