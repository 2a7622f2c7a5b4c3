//! What the commands of random access have in common on the command line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueHint};
use tadoc::{Corpus, Document, OpenOptions};

use super::place::PlaceArguments;
use crate::arguments::Index;
use crate::commands::archives::{ReadArguments, warn_of_lexers};
use crate::commands::backend::PoolArguments;
use crate::failure::{print_error, print_note};
use crate::memory;

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
        work: impl FnOnce(&Corpus) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        self.work.open(archives, self.place.pool()?, OpenOptions::new(), quiet, work)
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
        options: OpenOptions,
        quiet: bool,
        work: impl FnOnce(&Corpus) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        if in_pool.is_some() && archives.len() > 1 {
            bail!("a pool holds one archive; read several without --backend pool");
        }
        let options = memory::limit(options).index(self.index.into());
        let options = match in_pool {
            Some(pool) => pool.place(options)?,
            None => options,
        };
        self.reading.open(archives, options, |corpus| {
            warn_of_lexers(&corpus);
            let done = work(&corpus);
            if !quiet {
                corpus.notes().iter().for_each(|note| print_note(note));
            }
            done
        })
    }
}

/// The documents that names and globs stand for, in the order of these.
fn documents_of(corpus: &Corpus, asked: &[impl AsRef<OsStr>]) -> tadoc::Result<Vec<Document>> {
    let mut documents = Vec::new();
    for name in asked {
        let query = corpus.query().documents(name.as_ref().as_encoded_bytes())?;
        let found = query.selected().expect("some were chosen").iter();
        documents.extend(found.filter_map(|&id| corpus.get(id)));
    }
    Ok(documents)
}

/// The one document that a name or glob stands for.
pub fn one_document(corpus: &Corpus, asked: &OsStr) -> anyhow::Result<Document> {
    let shown = asked.display();
    let mut found = documents_of(corpus, &[asked])?;
    match &found[..] {
        [_] => Ok(found.remove(0)),
        [] => bail!("no document matches {shown:?}"),
        several => {
            if several.iter().all(|document| document.name() == several[0].name()) {
                let archives: Vec<String> =
                    several.iter().map(|of| of.archive().0.display().to_string()).collect();
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
    pub fn find(&self, corpus: &Corpus, asked: &[OsString]) -> anyhow::Result<Vec<Document>> {
        let found = documents_of(corpus, asked).map_err(|error| {
            let is_file = |name: &&OsString| self.documents.is_empty() && Path::new(name).is_file();
            let is_missing = matches!(error, tadoc::Error::NoSuchDocument { .. });
            let error = anyhow::Error::from(error);
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
