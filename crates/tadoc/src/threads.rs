//! Threads that work is done on.

use rayon::ThreadPool;

use crate::Result;

/// A pool of threads for the work that is done in it. Without one, work runs on rayon's global
/// pool, which panics where the system refuses to start threads.
///
/// ```
/// # fn main() -> tadoc::Result<()> {
/// let threads = tadoc::Threads::new(Some(2))?;
/// assert!(threads.count() <= 2);
/// assert_eq!(threads.install(|| 6 * 7), 42);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Threads(ThreadPool);

impl Threads {
    /// The most threads of a pool.
    pub const MOST: usize = tadoc_engine::threads::MOST_THREADS;

    /// Starts so many threads, at most [`Threads::MOST`]; `None` starts one a core. Where the
    /// system refuses some, there are fewer; where it refuses all, work is done on the current
    /// thread.
    ///
    /// # Errors
    /// [`Error::Threads`](crate::Error::Threads) where none can be started and the current one is
    /// in a pool already.
    pub fn new(count: Option<usize>) -> Result<Self> {
        tadoc_engine::threads::pool(count).map(Self)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Does work on these threads.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        tadoc_engine::threads::install(&self.0, work)
    }
}
