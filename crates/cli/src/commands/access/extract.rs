//! `tadoc extract`: some bytes of a document.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::arguments::ReadArguments;
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::output::Output;

/// Print some bytes of a document
///
/// They are printed as they are. Where the document ends before, there are fewer; an offset past its end is an
/// error.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc extract corpus.tdc notes/todo.txt 0 100       the first 100 bytes"
    "tadoc extract corpus.tdc disk.log 1048576 4096 | xxd"
))]
pub struct Extract {
    /// The archive
    #[arg(value_name = "CORPUS", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    /// The document's name, as `tadoc list` prints it, or a glob that matches it alone
    #[arg(value_name = "DOCUMENT")]
    document: OsString,

    /// Where to begin, in bytes from 0
    #[arg(value_name = "OFFSET")]
    offset: u64,

    /// How many bytes
    #[arg(value_name = "LENGTH")]
    length: u64,

    #[command(flatten)]
    reading: ReadArguments,
}

impl Extract {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        self.reading.open(&self.archive, quiet, |opened| {
            let document = opened.document(&self.document)?;
            let bytes = opened.bytes(document);
            if self.offset > bytes {
                let name = opened.name(document).to_vec();
                return Err(tadoc::Error::OffsetPastEnd { name, offset: self.offset, bytes }.into());
            }
            let mut output = Output::new();
            let range = self.offset..self.offset.saturating_add(self.length);
            let written = opened.told(opened.access.write(document, range, &mut output));
            output.finish(written)?;
            Ok(Outcome::Done)
        })
    }
}
