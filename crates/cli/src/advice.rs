//! What to do about an error of the library, in the words of the command line.
//!
//! The library says what was being done, what was found and what was expected; which flag or
//! subcommand helps is known here only. `tests/errors.txt` shows every error with its advice.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

#[cfg(feature = "gpu")]
use tadoc::GpuError;
#[cfg(feature = "pool")]
use tadoc::PoolError;
use tadoc::text::escape;
use tadoc::{ArchiveError, Error};

const FETCH_AGAIN: &str = "fetch or copy the archive again";
const FROM_A_COPY: &str = "restore the archive from a copy";
const NEWER: &str = "use a newer tadoc";
const ON_PROCESSOR: &str = "use `--backend cpu`";

/// An error and its causes, outermost first.
pub fn chain<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The kind of the system's error behind an error, if there is one.
pub fn kind_of(error: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    chain(error).find_map(|cause| {
        let shared = cause.downcast_ref::<Arc<io::Error>>().map(|error| &**error);
        cause.downcast_ref::<io::Error>().or(shared).map(io::Error::kind)
    })
}

/// What to do about an error; empty if the error says all there is to say.
pub fn about(error: &(dyn StdError + 'static)) -> String {
    let mut advice = chain(error).find_map(of_one).unwrap_or_default();
    if kind_of(error) == Some(io::ErrorKind::FileTooLarge) {
        let separator = if advice.is_empty() { "" } else { "; " };
        advice += separator;
        advice += "raise the limit for files (`ulimit -f`), or write to another file system";
    }
    advice
}

/// What to do about an error of the library, its causes left aside.
fn of_one(error: &(dyn StdError + 'static)) -> Option<String> {
    let advice = match error.downcast_ref().map(Error::innermost) {
        Some(Error::NotWords { words, .. }) => {
            return Some(format!(
                "to look for these words in a row, give {words:?}; to look for exactly these \
                 characters, use `tadoc grep -F`"
            ));
        }
        Some(Error::IsFolder { name }) => {
            let folder = name.strip_suffix(b"/").unwrap_or(name);
            return Some(format!("ask for '{}/*'", escape(folder)));
        }
        Some(error) => of_engine(error),
        None => None,
    };
    #[cfg(feature = "gpu")]
    let advice = advice.or_else(|| error.downcast_ref().and_then(of_gpu));
    advice.or_else(|| error.downcast_ref().and_then(of_archive)).map(str::to_owned)
}

fn of_engine(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Archive(error) => return of_archive(error),
        #[cfg(feature = "gpu")]
        Error::Gpu(error) => return of_gpu(error),
        #[cfg(feature = "pool")]
        Error::Pool(error) => return of_pool(error),
        Error::Exists { .. } => "give another name, or --force to replace it",
        Error::DuplicateName { .. } => {
            "a name can be used once: leave one out, or compress from a common folder"
        }
        Error::FileAndFolder { .. } => "give one of them another name",
        Error::Changed { .. } => "compress a copy or a snapshot of it",
        Error::LongLine { .. } => "raise --memory, or leave out `--split lines`",
        Error::Ambiguous { .. } | Error::SeveralArchives { .. } => "name one archive",
        Error::NoSuchDocument { .. } => "`tadoc list` shows what it has",
        Error::UnsafeName { .. } => "use `tadoc cat` to read it",
        Error::WrongDigest { .. } => FROM_A_COPY,
        Error::WrongIndex { .. } => "`tadoc index` makes a new one",
        Error::TooLittleMemory { .. } => "raise --memory",
        Error::TooMany { .. } => "ask about fewer documents or archives",
        Error::NoGpuBackend => "use `--backend cpu`, or build tadoc with the feature `gpu`",
        Error::NoPoolBackend => "use `--backend cpu`, or build tadoc with the feature `pool`",
        Error::NoPool => "give one with `--pool FILE`",
        Error::NoReadsInPool => ON_PROCESSOR,
        Error::NoStopWords { .. } => "give a list of your own with `--stop-words FILE`",
        Error::UnknownLexer { .. } | Error::UnknownBuilder { .. } => NEWER,
        Error::RangePastEnd { .. } => "give a smaller length",
        Error::DocumentExists { .. } => "give another name, or remove or rename that one first",
        Error::DocumentTooLong { .. } => "add the text as another document",
        Error::CorpusFull { .. } => "begin another archive",
        Error::NotInSnapshot { .. } => {
            "put that into a batch of its own, or give `--offsets sequence`"
        }
        Error::HasEdits { .. } => "run `tadoc recompress` first",
        Error::NoWord { .. } => {
            "give a word or words in a row, or use `tadoc grep -F` to look for characters"
        }
        Error::EditorFailed { .. } => {
            "what was committed is kept: make the other edits again when the cause is gone"
        }
        Error::Threads { .. } => {
            "allow more processes (`ulimit -u`) or more memory, or end other processes"
        }
        _ => return None,
    })
}

fn of_archive(error: &ArchiveError) -> Option<&'static str> {
    Some(match error {
        ArchiveError::NotAnArchive { .. } => "expected a file made by `tadoc compress`",
        ArchiveError::UnsupportedVersion { .. } | ArchiveError::UnsupportedJournal { .. } => NEWER,
        ArchiveError::TooManySegments { .. } => "raise --memory, so that segments are larger",
        ArchiveError::Truncated { .. } | ArchiveError::BytesBehindArchive { .. } => FETCH_AGAIN,
        ArchiveError::Checksum { .. } => FROM_A_COPY,
        ArchiveError::Malformed { .. } | ArchiveError::Grammar(_) => {
            "it was not written by tadoc, or by a broken version: compress the text again"
        }
        ArchiveError::NamesTooLong { .. } => "use shorter names or several archives",
        ArchiveError::TemporaryFile { .. } => {
            "give another folder in the variable TMPDIR, or raise --memory"
        }
        ArchiveError::MemoryLimit { .. } => "--memory SIZE sets another limit",
        ArchiveError::Exists { .. } => "give another name, or --force to replace it",
        ArchiveError::StoredView { .. } => "delete it, or make it again with `tadoc index --view`",
        ArchiveError::DamagedJournal { .. } => {
            "restore the archive from a copy, or keep these and drop the rest with \
             `tadoc recompress --keep-whole`"
        }
        ArchiveError::JournalFailed { .. } => {
            "what was acknowledged is kept: when the cause is gone, make the other edits again"
        }
        ArchiveError::Locked { .. } => "wait until it ends, or work on a copy",
        ArchiveError::Replaced { .. } => {
            "run the command again for the edits that were not acknowledged"
        }
        _ => return None,
    })
}

#[cfg(feature = "gpu")]
fn of_gpu(error: &GpuError) -> Option<&'static str> {
    Some(match error {
        GpuError::NoDevice { .. } => {
            "`tadoc devices` lists what there is, `--backend cpu` does without"
        }
        GpuError::TooLittleMemory { .. } => "ask about less, or use `--backend cpu`",
        GpuError::TooMuchToMerge { .. } => "raise --memory, or use `--backend cpu`",
        GpuError::Unsupported { .. } | GpuError::Compile { .. } => ON_PROCESSOR,
        GpuError::Device { .. } => {
            "it may have been reset or taken away, `--backend cpu` does without it"
        }
        _ => return None,
    })
}

#[cfg(feature = "pool")]
fn of_pool(error: &PoolError) -> Option<&'static str> {
    use PoolError as Error;
    Some(match error {
        Error::Core(error) => return of_archive(error),
        Error::NoRoom { .. } => "make room, or give it another place with --pool",
        Error::InUse { .. } => "wait for it, or give another file with --pool",
        Error::NotAPool { .. } => "give another file with --pool",
        Error::OtherVersion { .. } | Error::OtherArchive { .. } | Error::DamagedHeader { .. } => {
            "delete it, or give another file with --pool"
        }
        Error::FailingDevice { .. } => "give it another place with --pool",
        Error::Unsupported { .. } => ON_PROCESSOR,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
