//! Editing an archive: each edit is journaled behind it, and there for readers when it is committed.
//!
//! [`Session`] is an archive that this process edits, and nobody else meanwhile; `arguments` is what the commands have in
//! common. A command costs opening the archive's documents and journal, its own bytes, and a sync; nothing is decoded. What
//! happens in between is in docs/updates.md.

mod add;
mod append;
mod arguments;
mod batches;
mod change;
mod documents;
mod recompress;
mod stream;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use tadoc::edit::RecompressOptions;
use tadoc::edit::{Edit, Editor, Transaction};
use tadoc::text::unescape;
use tadoc::{EditsInfo, OpenOptions};

use self::arguments::{Durability, EditArguments};
use super::{about, summary};
use crate::failure::Outcome;
use crate::interrupt::Hold;
use crate::progress::Progress;

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
pub enum Editing {
    Insert(change::Insert),
    Append(append::Append),
    Delete(change::Delete),
    Replace(change::Replace),
    Add(add::Add),
    Remove(documents::Remove),
    Rename(documents::Rename),
    Edit(batches::Batches),
    Recompress(recompress::Recompress),
}

impl Editing {
    pub fn run(self, quiet: bool) -> anyhow::Result<Outcome> {
        match self {
            Self::Insert(command) => command.run(quiet),
            Self::Append(command) => command.run(quiet),
            Self::Delete(command) => command.run(quiet),
            Self::Replace(command) => command.run(quiet),
            Self::Add(command) => command.run(quiet),
            Self::Remove(command) => command.run(quiet),
            Self::Rename(command) => command.run(quiet),
            Self::Edit(command) => command.run(quiet),
            Self::Recompress(command) => command.run(quiet),
        }
    }
}

/// An archive that is being edited.
struct Session {
    archive: PathBuf,
    editor: Editor,
    durability: Durability,
    /// Bytes of edits from which on the archive is compressed again.
    recompress: Option<u64>,
    quiet: bool,
}

impl Session {
    /// Opens an archive to edit it; an error if another process does.
    fn open(archive: &Path, arguments: &EditArguments, quiet: bool) -> anyhow::Result<Self> {
        Self::open_with(archive, OpenOptions::new(), arguments, quiet)
    }

    /// The same, with options.
    fn open_with(
        archive: &Path,
        options: OpenOptions,
        arguments: &EditArguments,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        let editor = crate::memory::limit(options)
            .edit(archive)
            .map_err(|error| cannot_write(archive, error))?;
        Ok(Self {
            archive: archive.to_owned(),
            editor,
            durability: arguments.durability,
            recompress: arguments.recompress,
            quiet,
        })
    }

    /// Begins a transaction.
    fn begin(&self) -> anyhow::Result<Transaction> {
        self.editor.begin().map_err(|error| self.about(error))
    }

    /// The number of the document of a name, as it is or as `tadoc list` prints it.
    fn find(&self, transaction: &Transaction, asked: &OsStr) -> anyhow::Result<u32> {
        let exact = transaction.find(asked.as_encoded_bytes());
        let escaped = || transaction.find(&unescape(asked.to_str()?)?).ok();
        match exact {
            Ok(document) => Ok(document),
            Err(error) => escaped().ok_or_else(|| self.about(error)),
        }
    }

    /// Makes an edit.
    fn edit(&self, transaction: &mut Transaction, edit: &Edit<'_>) -> anyhow::Result<Option<u32>> {
        transaction.edit(edit).map_err(|error| self.about(error))
    }

    /// Commits the edits, as durable as was asked for.
    fn commit(&self, transaction: Transaction) -> anyhow::Result<()> {
        // A signal that comes now waits: a transaction torn in half is mended by the next writer, but told by `verify`.
        let _hold = Hold::new();
        transaction.commit(self.durability.into()).map_err(|error| self.about(error))
    }

    /// Makes and commits an edit of one document, and ends.
    fn change<'t>(
        self,
        document: &OsStr,
        edit: impl FnOnce(u32) -> Edit<'t>,
    ) -> anyhow::Result<Outcome> {
        let mut transaction = self.begin()?;
        let document = self.find(&transaction, document)?;
        self.edit(&mut transaction, &edit(document))?;
        self.commit(transaction)?;
        self.recompress_if_due()?;
        Ok(Outcome::Done)
    }

    /// Compresses the archive again if there are enough edits for that. They have to be committed.
    fn recompress_if_due(&self) -> anyhow::Result<()> {
        let Some(most) = self.recompress else { return Ok(()) };
        if weight(self.begin()?.pending()) <= most {
            return Ok(());
        }
        let progress = Progress::new(self.quiet);
        let report = self.editor.recompress(&RecompressOptions::default(), &progress);
        progress.finish();
        let report = report
            .map_err(|error| cannot_write(&self.archive, error))
            .context("all edits are made and kept, but the archive was not compressed again")?;
        summary(self.quiet, &format!("{}: {}", self.archive.display(), recompress::told(&report)));
        Ok(())
    }

    fn about(&self, error: tadoc::Error) -> anyhow::Error {
        about(&self.archive, error)
    }
}

/// What `--recompress` is compared with: the text of edits, or their journal where that is longer.
fn weight(pending: EditsInfo) -> u64 {
    pending.text_bytes.max(pending.journal_bytes)
}

/// An error in opening an archive to write it: what to do where that is not allowed.
fn cannot_write(archive: &Path, error: tadoc::Error) -> anyhow::Error {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    let error = about(archive, error);
    let cause = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    let kind = cause.map(io::Error::kind);
    match kind {
        Some(PermissionDenied | ReadOnlyFilesystem) => error.context(format!(
            "{} cannot be edited, as it may not be written; change its permissions, or edit a copy",
            archive.display()
        )),
        _ => error,
    }
}
