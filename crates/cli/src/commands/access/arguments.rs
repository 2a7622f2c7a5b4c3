//! What the commands of random access have in common on the command line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueHint};
use tadoc_engine::access::{self, Scope};
use tadoc_engine::{Document, Lexer};

use super::Opened;
use super::place::{self, PlaceArguments};
use crate::arguments::Index;
use crate::commands::archives::{Archive, DocumentArguments, ReadArguments};
use crate::commands::backend::PoolArguments;
use crate::failure::print_error;
use crate::select;

/// How and where archives are read.
#[derive(Debug, Args)]
pub struct AccessArguments {
    #[command(flatten)]
    work: WorkArguments,

    #[command(flatten)]
    place: PlaceArguments,
}

impl AccessArguments {
    /// Opens archives and does the work on them, in a pool of threads.
    pub fn open<T: Send>(
        &self,
        archives: &[PathBuf],
        quiet: bool,
        work: impl FnOnce(&[Opened<'_>]) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        self.work.open(archives, self.place.pool()?, quiet, work)
    }
}

/// How archives are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct WorkArguments {
    #[command(flatten)]
    reading: ReadArguments,

    /// The most that is used of an index stored by `tadoc index`; the answer is the same
    #[arg(long, value_enum, default_value_t = Index::Fast)]
    index: Index,
}

impl WorkArguments {
    /// Opens archives, in the pool that is given, and does the work on them, in a pool of threads.
    pub fn open<T: Send>(
        &self,
        archives: &[PathBuf],
        in_pool: Option<&PoolArguments>,
        quiet: bool,
        work: impl FnOnce(&[Opened<'_>]) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        if in_pool.is_some() && archives.len() > 1 {
            bail!("a pool holds one archive; read several without --backend pool");
        }
        in_pool.map_or(Ok(()), place::prepare)?;
        self.reading.open(archives, |archives| {
            archives.warn_of_lexers();
            let opened: Vec<Opened<'_>> = archives
                .iter()
                .map(|archive| self.open_one(archive, in_pool, quiet))
                .collect::<anyhow::Result<_>>()?;
            let done = work(&opened);
            if !quiet {
                opened.iter().for_each(|opened| place::tell_made_again(&opened.access));
            }
            done
        })
    }

    fn open_one<'c>(
        &self,
        archive: &'c Archive,
        in_pool: Option<&PoolArguments>,
        quiet: bool,
    ) -> anyhow::Result<Opened<'c>> {
        let corpus = &archive.corpus;
        let documents = archive.documents()?;
        let access = archive.told(match in_pool {
            Some(pool) => place::open(pool, corpus, quiet),
            None => access::Access::open(corpus, self.index.into()),
        })?;
        let lexer = match corpus.info().lexer.as_str() {
            name if name == Lexer::Words.name() => Lexer::Words,
            name if name == Lexer::Whitespace.name() => Lexer::Whitespace,
            other => bail!("{}: there is no lexer {other:?}", archive.path.display()),
        };
        Ok(Opened { archive, access: access.into(), documents, lexer })
    }
}

impl DocumentArguments {
    /// The documents of each archive that are asked; `None` if there are none, which is told.
    pub(super) fn scopes(&self, opened: &[Opened<'_>]) -> anyhow::Result<Option<Vec<Scope>>> {
        let tables = tables(opened);
        let chosen = self.choose(&tables)?;
        Ok(chosen.map(|chosen| chosen.scopes(tables.iter().map(|documents| documents.len()))))
    }
}

fn tables<'o>(opened: &'o [Opened<'_>]) -> Vec<&'o [Document]> {
    opened.iter().map(|opened| opened.documents).collect()
}

/// A document of one of the archives.
#[derive(Clone, Copy)]
pub struct DocumentOf<'o, 'c> {
    pub opened: &'o Opened<'c>,
    pub document: u32,
}

/// The documents that names and globs stand for, in the order of these.
fn documents_of<'o, 'c>(
    opened: &'o [Opened<'c>],
    asked: &[impl AsRef<OsStr>],
) -> anyhow::Result<Vec<DocumentOf<'o, 'c>>> {
    let tables = tables(opened);
    let mut documents = Vec::new();
    for name in asked {
        for mut place in select::find(&tables, name.as_ref())? {
            let mut archives = opened.iter();
            let of = loop {
                let opened = archives.next().expect("places are of documents");
                match place.checked_sub(opened.documents.len()) {
                    None => break DocumentOf { opened, document: place as u32 },
                    Some(later) => place = later,
                }
            };
            documents.push(of);
        }
    }
    Ok(documents)
}

/// The one document that a name or glob stands for.
pub fn one_document<'o, 'c>(
    opened: &'o [Opened<'c>],
    asked: &OsStr,
) -> anyhow::Result<DocumentOf<'o, 'c>> {
    let shown = asked.display();
    match documents_of(opened, &[asked])?[..] {
        [of] => Ok(of),
        [] => bail!("no document matches {shown:?}"),
        ref several => {
            let first = several[0].opened.name(several[0].document);
            if several.iter().all(|of| of.opened.name(of.document) == first) {
                let archives: Vec<String> =
                    several.iter().map(|of| of.opened.path().display().to_string()).collect();
                bail!("{shown:?} is in {}; give one of these archives", archives.join(" and in "));
            }
            bail!("{shown:?} matches {} documents, and one is wanted", several.len())
        }
    }
}

/// Archives and documents that are printed: one archive and names, or several with --documents.
#[derive(Debug, Args)]
pub struct PrintedArguments {
    /// The archive, and names or globs of documents; with --documents, archives only
    ///
    /// A name is as `tadoc list` prints it. Where no document has that name it is a glob: * stands for any
    /// characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the shell leaves them
    /// alone.
    #[arg(value_name = "ARCHIVE|DOCUMENT", required = true, value_hint = ValueHint::FilePath)]
    given: Vec<OsString>,

    /// Documents of several archives: names or globs; may be given several times
    #[arg(short, long, alias = "document", value_name = "GLOB")]
    documents: Vec<OsString>,
}

impl PrintedArguments {
    /// The archives, and the documents to print.
    pub fn split(&self) -> anyhow::Result<(Vec<PathBuf>, &[OsString])> {
        if !self.documents.is_empty() {
            return Ok((self.given.iter().map(PathBuf::from).collect(), &self.documents));
        }
        let (archive, documents) = self.given.split_first().expect("clap requires one");
        if documents.is_empty() {
            bail!(
                "the documents to print are missing: give their names behind the archive, or all of \
                 them with -d '*'"
            );
        }
        Ok((vec![archive.into()], documents))
    }

    /// The documents to print, in the order asked for; none is told, and so is what looks like a second
    /// archive.
    pub fn find<'o, 'c>(
        &self,
        opened: &'o [Opened<'c>],
        asked: &[OsString],
    ) -> anyhow::Result<Vec<DocumentOf<'o, 'c>>> {
        let found = documents_of(opened, asked).map_err(|error| {
            let is_file = |name: &&OsString| self.documents.is_empty() && Path::new(name).is_file();
            let is_missing = matches!(
                error.downcast_ref::<tadoc_engine::Error>(),
                Some(tadoc_engine::Error::NoSuchDocument { .. })
            );
            match asked.iter().find(is_file).filter(|_| is_missing) {
                Some(file) => error.context(format!(
                    "{:?} is taken for a document; to read several archives, name documents with -d",
                    file.display()
                )),
                None => error,
            }
        })?;
        if found.is_empty() {
            print_error("no document matches; `tadoc list` shows what an archive has");
        }
        Ok(found)
    }
}
