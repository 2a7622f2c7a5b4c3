//! `tadoc add`: files and folders as new documents.
//!
//! They are read in pieces and journaled one after the other, as one transaction: memory is a piece, whatever the length of a
//! file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};
use tadoc::edit::{Edit, Transaction};
use tadoc::text::escape;
use tadoc::{Input, Observer, OpenOptions, Phase, Source, TextDigest, Timestamp};

use super::Session;
use super::arguments::EditArguments;
use crate::arguments::{Threads, examples};
use crate::commands::{about, summary};
use crate::failure::{Outcome, print_warning};
use crate::inputs;
use crate::inputs::arguments::{InputArguments, warn_of, warn_of_unreadable};
use crate::progress::Progress;
use crate::units;

/// So much of a file is one edit.
const PIECE: u64 = 4 << 20;
/// So many copies are named; of others the number is told.
const NAMED: usize = 10;

/// Add files and folders to an archive
///
/// Documents are named as those of the archive: files below the folder that its names are relative
/// to, which `tadoc compress` records, by their paths from there. Others are named as `tadoc
/// compress` names them: with one folder given, by their paths inside it, otherwise by the paths as
/// given, without a leading /, ./ or ../. Either all of them are added or, if a name is taken or a
/// file cannot be read, none. A text that is there already under another name is added and told.
/// Documents take the room of their text until the archive is compressed again (`tadoc
/// recompress`).
#[derive(Debug, Args)]
#[command(
    override_usage = "tadoc add [OPTIONS] <CORPUS> <PATH>...",
    after_help = examples!(
        "tadoc add corpus.tdc notes/new.txt"
        "tadoc add corpus.tdc notes/ --replace --recompress 64M"
        "tadoc add logs.tdc -C /srv/host2 log --prefix host2/"
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
    replace: bool,

    #[command(flatten)]
    editing: EditArguments,
}

impl Add {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        let start = Instant::now();
        let mut request = self.inputs.request(&self.archive)?;
        let session = Session::open(&self.archive, &self.editing, quiet)?;
        let mut transaction = session.begin()?;
        request.names_from = transaction.names_from();
        let progress = Progress::new(quiet);
        let collected = inputs::collect(&request, &mut |found| {
            // The walk looks for the wish to stop itself.
            let _ = progress.step(Phase::Finding, found, 0);
        })?;
        progress.finish();
        warn_of(&collected);
        self.check_names(&transaction, &collected.inputs)?;
        let mut added = Vec::new();
        for input in collected.inputs {
            let name = input.name.clone();
            let (path, opened) = open(input.source);
            let from = match opened {
                Err(error) if request.skip_unreadable => {
                    warn_of_unreadable(&path, &error.to_string());
                    continue;
                }
                opened => opened.with_context(|| cannot_read(&path))?,
            };
            let attributes = (input.modified, input.mode);
            let (bytes, digest) = add(&session, &mut transaction, &name, attributes, &path, from)?;
            added.push(Added { name, bytes, digest });
        }
        session.commit(transaction)?;
        self.warn_of_copies(&added)?;
        let bytes = added.iter().map(|added| added.bytes).sum();
        let told = format!(
            "{}: {} added, {} of text, {}",
            self.archive.display(),
            units::counted(added.len() as u64, "document"),
            units::size(bytes),
            units::duration(start.elapsed())
        );
        summary(quiet, &told);
        session.recompress_if_due()?;
        Ok(Outcome::Done)
    }

    /// Says which of the documents are there under another name, too: they count twice.
    fn warn_of_copies(&self, added: &[Added]) -> anyhow::Result<()> {
        let find = || -> tadoc::Result<Vec<(usize, Vec<u8>)>> {
            let corpus = OpenOptions::new().archive(&self.archive)?;
            let documents = corpus.documents()?;
            let new: HashSet<&[u8]> = added.iter().map(|added| &added.name[..]).collect();
            let digests: Vec<TextDigest> = added.iter().map(|added| added.digest.clone()).collect();
            let among = |place: usize| !new.contains(&documents[place].name[..]);
            let found = corpus.find_copies(&digests, among)?;
            let named = |(number, place): (usize, Option<usize>)| {
                Some((number, documents[place?].name.clone()))
            };
            Ok(found.into_iter().enumerate().filter_map(named).collect())
        };
        let copies = Threads::default().pool()?.install(find);
        let copies = copies.map_err(|error| about(&self.archive, error))?;
        for (number, other) in copies.iter().take(NAMED) {
            print_warning(&format!(
                "{:?} has the same bytes as {:?}, which was there already: both count from now on",
                escape(&added[*number].name),
                escape(other)
            ));
        }
        if copies.len() > NAMED {
            print_warning(&format!(
                "{} more have the same bytes as documents that were there already",
                copies.len() - NAMED
            ));
        }
        Ok(())
    }

    /// That no name is given twice, and none is taken.
    fn check_names(&self, transaction: &Transaction, inputs: &[Input]) -> anyhow::Result<()> {
        let mut given = HashSet::new();
        for Input { name, .. } in inputs {
            if !given.insert(&name[..]) {
                return Err(tadoc::Error::DuplicateName { name: name.clone() }.into());
            }
            if !self.replace && transaction.find(name).is_ok() {
                bail!(
                    "{}: the archive has a document {:?} already, and nothing was added; give --replace to put \
                     the new one in its place",
                    self.archive.display(),
                    escape(name)
                );
            }
        }
        Ok(())
    }
}

/// A document that was added.
struct Added {
    name: Vec<u8>,
    bytes: u64,
    digest: TextDigest,
}

/// Opens an input; gives what it is called in errors, too.
fn open(source: Source) -> (PathBuf, io::Result<Box<dyn Read>>) {
    match source {
        Source::Bytes(bytes) => ("memory".into(), Ok(Box::new(io::Cursor::new(bytes)))),
        Source::File(path) => {
            let opened = File::open(&path).and_then(|file| {
                // No more than there is now: it may be growing.
                let bytes = file.metadata()?.len();
                Ok(Box::new(file.take(bytes)) as Box<dyn Read>)
            });
            (path, opened)
        }
        Source::Stream(path, open) => {
            let opened = open().map(|stream| stream as Box<dyn Read>);
            (path, opened)
        }
    }
}

/// Adds a document, in the place of one of that name; gives its length and digest.
fn add(
    session: &Session,
    transaction: &mut Transaction,
    name: &[u8],
    (modified, mode): (Option<Timestamp>, Option<u32>),
    path: &Path,
    mut from: Box<dyn Read>,
) -> anyhow::Result<(u64, TextDigest)> {
    if let Ok(document) = transaction.find(name) {
        session.edit(transaction, &Edit::Remove { document })?;
    }
    let mut text = Vec::new();
    let mut document = None;
    let mut bytes = 0;
    let mut digest = TextDigest::default();
    loop {
        text.clear();
        from.by_ref().take(PIECE).read_to_end(&mut text).with_context(|| cannot_read(path))?;
        let text = &text[..];
        digest.update(text);
        match document {
            None => {
                document = session.edit(transaction, &Edit::Add { name, modified, mode, text })?
            }
            Some(_) if text.is_empty() => return Ok((bytes, digest)),
            Some(document) => {
                session.edit(transaction, &Edit::Append { document, text })?;
            }
        }
        bytes += text.len() as u64;
    }
}

fn cannot_read(path: &std::path::Path) -> String {
    format!("cannot read {}, and nothing was added", path.display())
}
