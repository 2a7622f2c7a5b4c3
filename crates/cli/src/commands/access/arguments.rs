//! What the commands of random access have in common on the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueHint};
use tadoc::Lexer;
use tadoc::access::{self, Scope};

use super::Opened;
use super::place::{self, PlaceArguments};
use crate::arguments::{Index, Threads};
use crate::commands::backend::PoolArguments;
use crate::commands::{about, documents, open};
use crate::failure::print_error;
use crate::select;

/// How and where an archive is read.
#[derive(Debug, Args)]
pub struct ReadArguments {
    #[command(flatten)]
    work: WorkArguments,

    #[command(flatten)]
    place: PlaceArguments,
}

impl ReadArguments {
    /// Opens an archive and does the work on it, in a pool of threads.
    pub fn open<T: Send>(
        &self,
        archive: &Path,
        quiet: bool,
        work: impl FnOnce(&Opened<'_>) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        self.work.open(archive, self.place.pool()?, quiet, work)
    }
}

/// How an archive is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub struct WorkArguments {
    #[command(flatten)]
    threads: Threads,

    /// The most that is used of an index stored by `tadoc index`; the answer is the same
    #[arg(long, value_enum, default_value_t = Index::Fast)]
    index: Index,
}

impl WorkArguments {
    /// Opens an archive, in the pool that is given, and does the work on it, in a pool of threads.
    pub fn open<T: Send>(
        &self,
        archive: &Path,
        in_pool: Option<&PoolArguments>,
        quiet: bool,
        work: impl FnOnce(&Opened<'_>) -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        in_pool.map_or(Ok(()), place::prepare)?;
        self.threads.pool()?.install(|| {
            let corpus = open(archive)?;
            let documents = documents(&corpus, archive)?;
            let access = match in_pool {
                Some(pool) => place::open(pool, &corpus, quiet),
                None => access::Access::open(&corpus, self.index.into()),
            };
            let access = access.map_err(|error| about(archive, error))?;
            let lexer = match corpus.info().lexer.as_str() {
                name if name == Lexer::Words.name() => Lexer::Words,
                name if name == Lexer::Whitespace.name() => Lexer::Whitespace,
                other => bail!("{}: there is no lexer {other:?}", archive.display()),
            };
            let opened = Opened { archive, corpus: &corpus, access, documents, lexer };
            let done = work(&opened);
            if !quiet {
                place::tell_made_again(&opened.access);
            }
            done
        })
    }
}

/// Which documents are asked.
#[derive(Debug, Args)]
pub struct ScopeArguments {
    /// Ask of these documents only: names or globs; may be given several times
    ///
    /// A name is as `tadoc list` prints it. Where no document has that name it is a glob: * stands for any
    /// characters (/ too), ? for one, [a-z] for one of a set. Quote globs, so that the shell leaves them
    /// alone.
    #[arg(long, alias = "documents", value_name = "GLOB")]
    document: Vec<OsString>,
}

impl ScopeArguments {
    /// The documents; `None` if there are none, which is told.
    pub fn scope(&self, opened: &Opened<'_>) -> anyhow::Result<Option<Scope>> {
        if self.document.is_empty() {
            return Ok(Some(Scope::All));
        }
        let places = select::find_all(&[opened.documents], &self.document)?;
        if places.is_empty() {
            print_error("no document matches; `tadoc list` shows what the archive has");
            return Ok(None);
        }
        Ok(Some(Scope::Documents(places.into_iter().map(|place| place as u32).collect())))
    }
}

/// The archive and the words that are looked for in it.
#[derive(Debug, Args)]
pub struct PhraseArguments {
    /// The archive
    #[arg(value_name = "CORPUS", value_hint = ValueHint::FilePath)]
    pub archive: PathBuf,

    /// A word, or several words in a row with white space between them
    ///
    /// What stands between words in the text does not matter: "to be" is found in "to (be)" too. It is one
    /// argument, so quote several words.
    #[arg(value_name = "WORD or PHRASE", allow_hyphen_values = true)]
    phrase: OsString,
}

impl PhraseArguments {
    /// The bytes of the phrase.
    pub fn bytes(&self) -> &[u8] {
        self.phrase.as_encoded_bytes()
    }
}
