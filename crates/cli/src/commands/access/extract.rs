//! `tadoc extract`: some bytes of a document.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueHint};

use super::arguments::{AccessArguments, one_document};
use crate::arguments::examples;
use crate::failure::Outcome;
use crate::output::Output;

/// Print some bytes of a document
///
/// They are printed as they are. Where the document ends before, there are fewer; an offset past its end is an
/// error, and so is a document of the same name in two of the archives.
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc extract [OPTIONS] ARCHIVE... DOCUMENT OFFSET LENGTH",
    after_help = examples!(
        "tadoc extract corpus.tdc notes/todo.txt 0 100       the first 100 bytes"
        "tadoc extract corpus.tdc disk.log 1048576 4096 | xxd"
        "tadoc extract 2023.tdc 2024.tdc syslog.5 0 100      from the archive that has it"
    )
)]
pub struct Extract {
    /// The archives, the document, where to begin in bytes from 0, and how many bytes
    ///
    /// The document's name is as `tadoc list` prints it, or a glob that matches it alone.
    #[arg(
        value_name = "ARCHIVE|DOCUMENT|OFFSET|LENGTH",
        required = true,
        num_args = 4..,
        value_hint = ValueHint::FilePath
    )]
    given: Vec<OsString>,

    #[command(flatten)]
    reading: AccessArguments,
}

impl Extract {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let (archives, last) = self.given.split_at(self.given.len() - 3);
        let [document, offset, length] = last else { unreachable!("three are split off") };
        let (offset, length) = (bytes(offset, "OFFSET")?, bytes(length, "LENGTH")?);
        let archives: Vec<PathBuf> = archives.iter().map(PathBuf::from).collect();
        self.reading.open(&archives, quiet, |corpus| {
            let document = one_document(corpus, document)?;
            let bytes = document.bytes();
            if offset > bytes {
                let name = document.name().to_vec();
                return Err(tadoc::Error::OffsetPastEnd { name, offset, bytes }.into());
            }
            let mut output = Output::new();
            let range = offset..offset.saturating_add(length);
            let written = document.write_to(range, &mut output);
            output.finish(written)?;
            Ok(Outcome::Done)
        })
    }
}

/// A number of bytes.
fn bytes(given: &OsString, what: &str) -> anyhow::Result<u64> {
    match given.to_str().and_then(|text| text.parse().ok()) {
        Some(bytes) => Ok(bytes),
        None => bail!(
            "{what} is a whole number of bytes, and {:?} is none: tadoc extract ARCHIVE... DOCUMENT \
             OFFSET LENGTH",
            given.display()
        ),
    }
}
