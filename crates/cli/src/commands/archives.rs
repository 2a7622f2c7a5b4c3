//! The archives that a command reads: how they are given, opened, and told apart in answers.
//!
//! Every reading command opens its archives here. Several are asked as one corpus: their documents
//! are numbered one archive after the other. Opening costs the summary and journal of each archive;
//! its documents are read when they are first asked for.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use tadoc::{Column, Corpus, DocumentId, OpenOptions, Query, Rows, Value};

use crate::arguments::Threads;
use crate::failure::{print_error, print_warning};

/// The archives, where a command has no other positional arguments.
#[derive(Debug, Args)]
pub struct ArchiveArguments {
    /// The archive, or several that are asked as one corpus
    ///
    /// The documents of an archive follow those of the archive before it. Documents of the same name
    /// in two archives stay two documents.
    #[arg(value_name = "ARCHIVE", required = true, value_hint = ValueHint::FilePath)]
    pub archives: Vec<PathBuf>,
}

/// How archives are read. Every reading command has these arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct ReadArguments {
    #[command(flatten)]
    threads: Threads,
}

impl ReadArguments {
    /// Opens archives as one corpus and does the work on it, in a pool of threads.
    pub fn open<T: Send>(
        &self,
        paths: &[PathBuf],
        options: OpenOptions,
        work: impl FnOnce(Corpus) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        self.install(|| work(options.open(paths)?))
    }

    /// Does work in a pool of threads.
    pub fn install<T: Send>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        self.threads.pool()?.install(work)
    }
}

/// Warns if archives were compressed with different lexers.
pub fn warn_of_lexers(corpus: &Corpus) {
    let lexers: Vec<String> = corpus.archives().map(|(_, archive)| archive.info().lexer).collect();
    if let Some(other) = lexers.iter().position(|lexer| *lexer != lexers[0]) {
        let paths: Vec<&Path> = corpus.archives().map(|(path, _)| path).collect();
        print_warning(&format!(
            "words are not the same thing in all archives: {} was compressed with --lexer {}, \
             {} with {}",
            paths[0].display(),
            lexers[0],
            paths[other].display(),
            lexers[other]
        ));
    }
}

/// Which documents are asked.
#[derive(Debug, Args)]
pub struct DocumentArguments {
    /// Only these documents: names or globs; may be given several times
    ///
    /// A name is as `tadoc list` prints it. Where no document has that name it is a glob: * stands
    /// for any characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the shell
    /// leaves them alone.
    #[arg(short, long, alias = "document", value_name = "GLOB")]
    pub documents: Vec<OsString>,
}

impl DocumentArguments {
    /// A question about the documents asked for; `None` if there are none, which is told.
    pub fn of(&self, query: Query) -> anyhow::Result<Option<Query>> {
        let mut query = query;
        for name in &self.documents {
            query = query.documents(name.as_encoded_bytes())?;
        }
        if query.selected().is_some_and(<[DocumentId]>::is_empty) {
            print_error("no document matches; `tadoc list` shows what an archive has");
            return Ok(None);
        }
        Ok(Some(query))
    }
}

/// `--with-archive`, for answers by document.
#[derive(Debug, Args)]
pub struct WithArchive {
    /// Tell which archive each row is of, in a first column `archive`
    #[arg(long)]
    pub with_archive: bool,
}

impl WithArchive {
    /// The columns of the answer, with that of the archive if it is asked for.
    pub fn columns(&self, columns: &'static [Column]) -> &'static [Column] {
        if !self.with_archive {
            return columns;
        }
        let archive = [Column::text("archive")];
        // Once in a process, for a table that lives as long.
        Vec::leak(archive.iter().chain(columns).copied().collect())
    }

    /// Calls `write` with rows, with the archive of each if it is asked for; `columns` are those of
    /// [`WithArchive::columns`].
    pub fn write<'r, T>(
        &self,
        columns: &'static [Column],
        rows: &'r dyn Rows,
        archive_of: &'r (dyn Fn(u64) -> &'r Path + Sync),
        write: impl FnOnce(&dyn Rows) -> T,
    ) -> T {
        match self.with_archive {
            true => write(&RowsWithArchive { columns, rows, archive_of }),
            false => write(rows),
        }
    }
}

/// The most columns that an answer has.
pub const MOST_COLUMNS: usize = 16;

/// Rows with a first column for the archive that each is of.
struct RowsWithArchive<'r> {
    columns: &'static [Column],
    rows: &'r dyn Rows,
    /// The archive of a row.
    archive_of: &'r (dyn Fn(u64) -> &'r Path + Sync),
}

impl Rows for RowsWithArchive<'_> {
    fn columns(&self) -> &'static [Column] {
        self.columns
    }

    fn len(&self) -> u64 {
        self.rows.len()
    }

    fn visit(&self, rows: Range<u64>, each: &mut dyn FnMut(&[Value<'_>])) {
        let mut row = rows.start;
        self.rows.visit(rows, &mut |values| {
            let mut all = [Value::Count(0); MOST_COLUMNS];
            all[0] = Value::Text((self.archive_of)(row).as_os_str().as_encoded_bytes());
            all[1..=values.len()].copy_from_slice(values);
            each(&all[..=values.len()]);
            row += 1;
        });
    }
}
