//! A pool as a backend: which pool belongs to a question, and what is told about it.
//!
//! A pool is of one archive, or of several in one order, and has the view of one question at a time: an analyzer, and the documents that were
//! chosen. It is asked for a view; where it has none for this question, one is made and put into it, and from then on all lies in the pool. Opening a
//! view that is there costs one pass over it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tadoc_core::new_file::Permissions;
use tadoc_core::{Answered, Backend, Limits, Task, View};
use tadoc_pool::{Patience, Persist, Pool, PoolBackend, Resumption};
use tadoc_tasks::CustomTask;
use xxhash_rust::xxh64::{Xxh64, xxh64};

use super::{Choice, PoolReport};
use crate::analyzer::Analyzer;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::progress::Observer;
use crate::view::{self, Detail, Origin};

/// A file to work in, which is opened when the first view is asked for.
pub struct PoolFile {
    path: PathBuf,
    persist: Persist,
    patience: Patience,
    open: Mutex<Option<OpenPool>>,
}

struct OpenPool {
    backend: PoolBackend,
    /// The archives that it is of.
    archives: [u64; 2],
    /// The network of the view that was asked for last.
    network: Option<u64>,
}

impl PoolFile {
    /// A pool at this path, which need not be there yet.
    pub fn new(path: impl AsRef<Path>, persist: Persist) -> Self {
        let path = path.as_ref().to_owned();
        Self { path, persist, patience: Patience::default(), open: Mutex::default() }
    }

    /// The same, with another patience where another process has it.
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, Option<OpenPool>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of a question, in the pool. One that is not there is made whole, for whatever is asked next.
    pub(super) fn view(
        &self,
        corpora: &[&Corpus],
        analyzer: &Analyzer,
        documents: Option<&[u32]>,
        detail: Detail,
        observer: &dyn Observer,
    ) -> Result<(View, Origin)> {
        let archives = fingerprint(corpora);
        let mut open = self.lock();
        if open.as_ref().is_none_or(|open| open.archives != archives) {
            // One process can have a pool once.
            *open = None;
            let pool = open_pool(&self.path, corpora, self.patience)?;
            let backend = PoolBackend::new(pool, self.persist);
            *open = Some(OpenPool { backend, archives, network: None });
        }
        let open = open.as_mut().expect("it was just opened");
        let question = question(analyzer, documents);
        let stored = open.backend.pool().view(question, detail == Detail::Counts)?;
        // A pool does not know how many documents there are, and rows show their names.
        let count: u64 = corpora.iter().map(|corpus| corpus.summary().documents).sum();
        let is_of_these = |view: &View| {
            let last = view.network().documents().last();
            last.is_none_or(|&last| u64::from(last) < count)
        };
        let stored = stored.filter(is_of_these);
        let (view, origin) = match stored {
            Some(view) => (view, Origin::Pool),
            None => {
                let (made, origin) =
                    view::open(corpora, analyzer, documents, Detail::Whole, observer)?;
                let counts = tadoc_tasks::root_counts(made.network());
                let view = open.backend.pool().initialise(question, &made, counts, self.persist)?;
                (view, origin)
            }
        };
        open.network = Some(view.network().identity());
        Ok((view, origin))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was done for the answer that was given last.
    pub(super) fn report(&self) -> Option<PoolReport> {
        let open = self.lock();
        let pool = open.as_ref()?.backend.pool();
        let made = pool.resumptions().iter().flat_map(|resumption| resumption.made.clone());
        Some(PoolReport { medium: pool.medium(), bytes: pool.bytes(), phases: made.collect() })
    }

    /// What is to be told of the work so far.
    pub(super) fn notes(&self) -> Vec<String> {
        let open = self.lock();
        let Some(open) = open.as_ref() else { return Vec::new() };
        notes(open.backend.pool().resumptions())
    }
}

impl PoolFile {
    /// Runs a task of your own on the view that was given last.
    pub(super) fn run<T: CustomTask>(
        &self,
        view: &View,
        task: &T,
        memory: u64,
    ) -> tadoc_core::Result<T::Answer> {
        self.in_pool_of(view, |backend| backend.run(view, task, memory))
    }

    fn in_pool_of<A>(
        &self,
        view: &View,
        run: impl FnOnce(&PoolBackend) -> tadoc_core::Result<A>,
    ) -> tadoc_core::Result<A> {
        let open = self.lock();
        let own = |open: &&OpenPool| open.network == Some(view.network().identity());
        match open.as_ref().filter(own) {
            Some(open) => run(&open.backend),
            None => Err(tadoc_core::Error::backend(Error::OtherView)),
        }
    }
}

impl Backend for PoolFile {
    fn name(&self) -> &'static str {
        Choice::Pool.name()
    }

    /// Runs a task on the view that was given last.
    fn answer(&self, view: &View, task: Task, limits: &Limits) -> tadoc_core::Result<Answered> {
        tadoc_tasks::check(view, task)?;
        self.in_pool_of(view, |backend| backend.answer(view, task, limits))
    }
}

/// What is to be told of chains of phases: of all what was given up, and of the last one, which is the task, where it was resumed.
pub fn notes(chains: &[Resumption]) -> Vec<String> {
    let discarded = chains.iter().flat_map(|resumption| &resumption.discarded);
    let mut notes: Vec<String> = discarded.map(|what| format!("discarded: {what}")).collect();
    let Some(task) = chains.last() else { return notes };
    let chain = &task.chain;
    match (&task.operations, task.finished.last()) {
        (Some((phase, done, of)), _) => notes
            .push(format!("resumed: {chain} in phase `{phase}`, {done} of {of} operations done")),
        (None, Some(_)) if task.made.is_empty() => {
            notes.push(format!("the pool has {chain} already"));
        }
        (None, Some(last)) => notes.push(format!("resumed: {chain} behind phase `{last}`")),
        (None, None) => {}
    }
    notes
}

/// Opens or makes the pool of corpora. Nobody may read it who may not read all the archives.
pub(crate) fn open_pool(path: &Path, corpora: &[&Corpus], patience: Patience) -> Result<Pool> {
    let all: tadoc_core::Result<Vec<Permissions>> =
        corpora.iter().map(|corpus| corpus.archive().permissions()).collect();
    let shared = Permissions::shared(all?);
    if let Some(shared) = &shared {
        shared.create_if_missing(path)?;
    }
    let pool = Pool::open(path, fingerprint(corpora), patience)?;
    // Only now is it known to be a pool, and not another file whose mode is none of our business.
    if let Some(shared) = &shared {
        shared.narrow(path)?;
    }
    Ok(pool)
}

/// How archives are known again: one by its own fingerprint, several by those of all.
fn fingerprint(corpora: &[&Corpus]) -> [u64; 2] {
    match corpora {
        [corpus] => corpus.archive().fingerprint(),
        _ => {
            let mut hash = Xxh64::new(0);
            let mut bytes = 0_u64;
            for [own, sum] in corpora.iter().map(|corpus| corpus.archive().fingerprint()) {
                bytes = bytes.wrapping_add(own);
                hash.update(&own.to_le_bytes());
                hash.update(&sum.to_le_bytes());
            }
            [bytes, hash.digest()]
        }
    }
}

/// How a question is known again. Another version of tadoc may make other terms.
fn question(analyzer: &Analyzer, documents: Option<&[u32]>) -> u64 {
    let mut hash = Xxh64::new(xxh64(env!("CARGO_PKG_VERSION").as_bytes(), 0));
    hash.update(&analyzer.fingerprint().to_le_bytes());
    if let Some(documents) = documents {
        hash.update(&(documents.len() as u64).to_le_bytes());
        documents.iter().for_each(|number| hash.update(&number.to_le_bytes()));
    }
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyzer::{Language, StopWords};

    #[test]
    fn questions_are_told_apart() {
        let english = StopWords::of(Language::English).unwrap();
        let analyzers = [
            Analyzer::new(),
            Analyzer::new().fold_case(true),
            Analyzer::new().stem(Some(Language::English)),
            Analyzer::new().stem(Some(Language::German)),
            Analyzer::new().stop_words(english),
            Analyzer::new().stop_words(StopWords::from_lines(b"a\nb\n")),
            Analyzer::new().stop_words(StopWords::from_lines(b"ab\n")),
            Analyzer::new().matching("").unwrap(),
            Analyzer::new().matching("a").unwrap(),
        ];
        let mut found = Vec::new();
        for analyzer in &analyzers {
            for documents in [None, Some(&[][..]), Some(&[0][..]), Some(&[0, 1][..])] {
                assert_eq!(question(analyzer, documents), question(&analyzer.clone(), documents));
                found.push(question(analyzer, documents));
            }
        }
        let all = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), all);
    }

    #[test]
    fn words_of_a_list_may_come_in_any_order() {
        let analyzer = |list: &[u8]| Analyzer::new().stop_words(StopWords::from_lines(list));
        assert_eq!(question(&analyzer(b"a\nb\n"), None), question(&analyzer(b"b\na\n"), None));
    }
}
