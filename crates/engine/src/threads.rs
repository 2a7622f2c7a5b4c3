//! Threads, where the system may refuse to start as many as are wanted.

use std::error::Error as _;
use std::sync::OnceLock;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// The most threads that any work is done on.
pub const MOST_THREADS: usize = 1024;

/// One thread a core.
pub(crate) fn default_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

/// Makes sure that work can be done in the pool that the caller is in: where that is none, rayon's
/// global one, which would panic later where the system refuses its threads. One look, once it is
/// there.
///
/// # Errors
/// [`Error::Threads`] where the system has refused: for good, as rayon does not try again.
pub(crate) fn ready() -> Result<()> {
    static REFUSED: OnceLock<Option<String>> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return Ok(());
    }
    let refused = REFUSED.get_or_init(|| {
        // An error without a source says that somebody has made it before.
        let made = ThreadPoolBuilder::new().build_global();
        made.err().filter(|error| error.source().is_some()).map(|error| error.to_string())
    });
    match refused {
        None => Ok(()),
        Some(refused) => Err(Error::Threads { source: std::io::Error::other(refused.clone()) }),
    }
}

/// A pool of so many threads, at most [`MOST_THREADS`], or of one a core. Where the system refuses to start
/// them, it has fewer; where it refuses to start any, the pool is the current thread, which is then in no
/// other.
///
/// # Errors
/// [`Error::Threads`] where no thread can be started and the current one is in a pool already.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool> {
    let mut count = threads.unwrap_or_else(default_count).clamp(1, MOST_THREADS);
    loop {
        let refused = match ThreadPoolBuilder::new().num_threads(count).build() {
            Ok(pool) => return Ok(pool),
            Err(refused) => refused,
        };
        if count > 1 {
            count /= 2;
            continue;
        }
        let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        return alone.map_err(|_| Error::Threads { source: std::io::Error::other(refused) });
    }
}

/// Does work in a pool of threads. What rayon makes of it is compiled once and not once for a caller.
pub fn install<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(work);
    let mut result = None;
    let once: &mut (dyn FnMut() + Send) = &mut || result = work.take().map(|work| work());
    pool.install(once);
    result.expect("the work was done")
}

/// Starts a thread of a scope.
pub(crate) fn spawn<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    let started = Builder::new().spawn_scoped(scope, work);
    started.map_err(|source| Error::Threads { source })
}
