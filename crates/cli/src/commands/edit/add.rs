//! `tadoc add`: files and folders as new documents.
//!
//! They are read in pieces and journaled one after the other, as one transaction: memory is a piece, whatever the length of a
//! file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};
use tadoc::text::escape;
use tadoc::{Edit, Input, Observer, Phase, Source};

use super::Session;
use super::arguments::EditArguments;
use crate::arguments::examples;
use crate::commands::summary;
use crate::failure::Outcome;
use crate::inputs;
use crate::inputs::arguments::{InputArguments, warn_of_skipped};
use crate::progress::Progress;
use crate::units;

/// So much of a file is one edit.
const PIECE: u64 = 4 << 20;

/// Add files and folders to an archive
///
/// Documents are named as `tadoc compress` names them: with one folder given, by their paths inside it, otherwise by the
/// paths as given, without a leading /, ./ or ../. Either all of them are added or, if a name is taken or a file cannot be
/// read, none. They take the room of their text until the archive is compressed again (`tadoc recompress`).
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc add [OPTIONS] <CORPUS> <PATH>...",
    after_help = examples!(
        "tadoc add corpus.tdc notes/new.txt"
        "tadoc add corpus.tdc notes/ --force --recompress 64M"
        "tadoc add -z corpus.tdc /var/log/syslog.1.gz"
        "journalctl | tadoc add corpus.tdc - --name journal"
    )
)]
pub struct Add {
    /// The archive
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    archive: PathBuf,

    #[command(flatten)]
    inputs: InputArguments,

    /// Where a document of a name is there already, put the new one in its place
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    editing: EditArguments,
}

impl Add {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let start = Instant::now();
        let request = self.inputs.request(&self.archive)?;
        let mut session = Session::open(&self.archive, &self.editing, quiet)?;
        let progress = Progress::new(quiet);
        let collected = inputs::collect(&request, &mut |found| {
            // The walk looks for the wish to stop itself.
            let _ = progress.step(Phase::Finding, found, 0);
        })?;
        progress.finish();
        warn_of_skipped(&collected.skipped);
        self.check_names(&session, &collected.inputs)?;
        let at_once = session.interruptible()?;
        let documents = collected.inputs.len() as u64;
        let mut bytes = 0;
        for input in collected.inputs {
            bytes += add(&mut session, input)?;
        }
        session.commit()?;
        drop(at_once);
        let told = format!(
            "{}: {} added, {} of text, {}",
            self.archive.display(),
            units::counted(documents, "document"),
            units::size(bytes),
            units::duration(start.elapsed())
        );
        summary(quiet, &told);
        session.recompress_if_due()?;
        Ok(Outcome::Done)
    }

    /// That no name is given twice, and none is taken.
    fn check_names(&self, session: &Session, inputs: &[Input]) -> anyhow::Result<()> {
        let mut given = HashSet::new();
        for Input { name, .. } in inputs {
            if !given.insert(&name[..]) {
                return Err(tadoc::Error::DuplicateName { name: name.clone() }.into());
            }
            if !self.force && session.editor.find(name).is_ok() {
                bail!(
                    "{}: the archive has a document {:?} already, and nothing was added; give --force to put \
                     the new one in its place",
                    self.archive.display(),
                    escape(name)
                );
            }
        }
        Ok(())
    }
}

/// Adds an input, in the place of a document of that name; gives its length.
fn add(session: &mut Session, input: Input) -> anyhow::Result<u64> {
    let Input { name, source, modified, mode } = input;
    if let Ok(document) = session.editor.find(&name) {
        session.edit(&Edit::Remove { document })?;
    }
    let (told, mut from): (PathBuf, Box<dyn Read>) = match source {
        Source::Bytes(bytes) => ("memory".into(), Box::new(io::Cursor::new(bytes))),
        Source::File(path) => {
            let opened = File::open(&path).and_then(|file| {
                // No more than there is now: it may be growing.
                let bytes = file.metadata()?.len();
                Ok(file.take(bytes))
            });
            let opened = opened.with_context(|| cannot_read(&path))?;
            (path, Box::new(opened))
        }
        Source::Stream(path, open) => {
            let opened = open().with_context(|| cannot_read(&path))?;
            (path, opened)
        }
    };
    let mut text = Vec::new();
    let mut document = None;
    let mut bytes = 0;
    loop {
        text.clear();
        from.by_ref().take(PIECE).read_to_end(&mut text).with_context(|| cannot_read(&told))?;
        let text = &text[..];
        match document {
            None => document = session.edit(&Edit::Add { name: &name, modified, mode, text })?,
            Some(_) if text.is_empty() => return Ok(bytes),
            Some(document) => {
                session.edit(&Edit::Append { document, text })?;
            }
        }
        bytes += text.len() as u64;
    }
}

fn cannot_read(path: &std::path::Path) -> String {
    format!("cannot read {}, and nothing was added", path.display())
}
