//! The archives that a command reads: how they are given, opened, and told apart in answers.
//!
//! Every reading command opens its archives here. Several are asked as one corpus: their documents
//! are numbered one archive after the other. Opening costs the summary and journal of each archive;
//! its documents are read when they are first asked for.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use tadoc_engine::access::Scope;
use tadoc_engine::answer::{Column, Rows, Value};
use tadoc_engine::{Corpus, Document};

use super::about;
use crate::arguments::Threads;
use crate::failure::{print_error, print_warning};
use crate::{memory, select};

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
    /// Opens archives and does the work on them, in a pool of threads.
    pub fn open<T: Send>(
        &self,
        paths: &[PathBuf],
        work: impl FnOnce(Archives) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        self.install(|| {
            let archives = paths.iter().map(|path| {
                let corpus = self.corpus(path).map_err(|error| about(path, error))?;
                Ok(Archive { path: path.clone(), corpus })
            });
            work(Archives(archives.collect::<anyhow::Result<_>>()?))
        })
    }

    /// Does work in a pool of threads.
    pub fn install<T: Send>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        tadoc_engine::threads::install(&self.threads.pool()?, work)
    }

    /// Opens one archive.
    pub fn corpus(&self, path: &Path) -> tadoc_engine::Result<Corpus> {
        Corpus::open_with(path, &memory::options())
    }
}

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    pub path: PathBuf,
    pub corpus: Corpus,
}

impl Archive {
    /// Its documents, in byte order of their names.
    pub fn documents(&self) -> anyhow::Result<&[Document]> {
        self.told(self.corpus.documents())
    }

    /// Adds the archive's path to an error of the library.
    pub fn told<T>(&self, result: tadoc_engine::Result<T>) -> anyhow::Result<T> {
        result.map_err(|error| about(&self.path, error))
    }
}

/// Open archives, in the order in which they were given.
#[derive(Debug)]
pub struct Archives(Vec<Archive>);

impl std::ops::Deref for Archives {
    type Target = [Archive];

    fn deref(&self) -> &[Archive] {
        &self.0
    }
}

impl Archives {
    /// The documents of each archive.
    pub fn tables(&self) -> anyhow::Result<Vec<&[Document]>> {
        self.iter().map(Archive::documents).collect()
    }

    /// Warns if the archives were compressed with different lexers.
    pub fn warn_of_lexers(&self) {
        let lexers: Vec<String> = self.iter().map(|archive| archive.corpus.info().lexer).collect();
        if let Some(other) = lexers.iter().position(|lexer| *lexer != lexers[0]) {
            print_warning(&format!(
                "words are not the same thing in all archives: {} was compressed with --lexer {}, \
                 {} with {}",
                self[0].path.display(),
                lexers[0],
                self[other].path.display(),
                lexers[other]
            ));
        }
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

/// Chosen documents of archives.
#[derive(Debug)]
pub enum Chosen {
    /// All of them.
    All,
    /// Some of them, ascending; numbered one archive after the other.
    Documents(Vec<usize>),
}

impl DocumentArguments {
    /// The documents asked for; `None` if there are none, which is told.
    pub fn choose(&self, tables: &[&[Document]]) -> anyhow::Result<Option<Chosen>> {
        if self.documents.is_empty() {
            return Ok(Some(Chosen::All));
        }
        let places = select::find_all(tables, &self.documents)?;
        if places.is_empty() {
            print_error("no document matches; `tadoc list` shows what an archive has");
            return Ok(None);
        }
        Ok(Some(Chosen::Documents(places)))
    }
}

impl Chosen {
    /// The chosen documents of each archive, given how many documents each has.
    pub fn scopes(&self, counts: impl Iterator<Item = usize>) -> Vec<Scope> {
        let Self::Documents(places) = self else { return counts.map(|_| Scope::All).collect() };
        let (mut left, mut first) = (&places[..], 0);
        counts
            .map(|count| {
                let (own, later) = left.split_at(left.partition_point(|&at| at < first + count));
                let scope = own.iter().map(|&place| (place - first) as u32).collect();
                (left, first) = (later, first + count);
                Scope::Documents(scope)
            })
            .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_documents_are_parted_by_archive() {
        let scopes = |chosen: Chosen| chosen.scopes([3, 0, 2].into_iter());
        let some = |places: &[u32]| Scope::Documents(places.to_vec());
        assert_eq!(scopes(Chosen::All), [Scope::All, Scope::All, Scope::All]);
        assert_eq!(
            scopes(Chosen::Documents(vec![0, 2, 4])),
            [some(&[0, 2]), some(&[]), some(&[1])]
        );
        assert_eq!(scopes(Chosen::Documents(vec![3])), [some(&[]), some(&[]), some(&[0])]);
    }
}
