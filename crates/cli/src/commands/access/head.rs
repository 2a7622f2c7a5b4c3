//! `tadoc head`: how documents begin.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Opened;
use super::arguments::ReadArguments;
use super::lines::Lines;
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::output::Output;
use crate::screen;

/// Print the first lines or bytes of documents
///
/// Of several documents, each begins with a line that tells its name.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc head corpus.tdc notes/todo.txt"
    "tadoc head corpus.tdc 'logs/*' -n 3"
    "tadoc head corpus.tdc image.svg -c 512"
))]
pub struct Head {
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

    /// How many lines
    #[arg(short = 'n', long, value_name = "LINES", default_value_t = 10)]
    lines: u64,

    /// How many bytes, instead of lines
    #[arg(short = 'c', long, value_name = "BYTES", conflicts_with = "lines")]
    bytes: Option<u64>,

    #[command(flatten)]
    reading: ReadArguments,
}

impl Head {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        self.reading.open(&self.archive, quiet, |opened| {
            opened.print(&self.documents, |places, output| self.write(opened, places, output))
        })
    }

    fn write(
        &self,
        opened: &Opened<'_>,
        places: &[usize],
        output: &mut Output,
    ) -> anyhow::Result<()> {
        for (number, &place) in places.iter().enumerate() {
            let document = place as u32;
            if places.len() > 1 {
                let gap = if number > 0 { "\n" } else { "" };
                let name = screen::name(opened.name(document));
                writeln!(output, "{gap}==> {name} <==")?;
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
