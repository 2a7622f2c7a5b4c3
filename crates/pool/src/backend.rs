//! The pool as a backend: a task is a chain of phases, behind the pruned rules that all tasks share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tadoc_core::{Answered, Backend, Limits, Task, View};
use tadoc_tasks::{CustomTask, Phases, Pruned, Work, answer_with};

use crate::layout::digest;
use crate::{Chain, Persist, Pool};

/// Answers in a pool, on the view that the pool has.
pub struct PoolBackend {
    pool: Mutex<Pool>,
    persist: Persist,
}

impl PoolBackend {
    /// A backend in a pool.
    pub fn new(pool: Pool, persist: Persist) -> Self {
        Self { pool: Mutex::new(pool), persist }
    }

    /// The pool, which nobody else uses meanwhile.
    pub fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a task of your own, or goes on with it: a run is known again by the task's key. The view must be
    /// the one that the pool gave last.
    ///
    /// # Errors
    /// What the task and the pool give.
    pub fn run<T: CustomTask>(
        &self,
        view: &View,
        task: &T,
        memory: u64,
    ) -> tadoc_core::Result<T::Answer> {
        // No other task begins with 0.
        let key = task.key();
        let words = key.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let identity: Vec<u64> = [0, key.len() as u64, memory].into_iter().chain(words).collect();
        self.run_chain(view, task.name(), &identity, memory, |work, pruned| {
            task.run(&mut Phases::new(work, view, pruned))
        })
    }

    /// Runs a chain of phases behind the pruned rules.
    fn run_chain<A>(
        &self,
        view: &View,
        name: &str,
        identity: &[u64],
        memory: u64,
        run: impl FnOnce(&mut Work<'_>, &Pruned) -> tadoc_core::Result<A>,
    ) -> tadoc_core::Result<A> {
        let mut pool = self.pool();
        // Of one view there is one set of pruned rules.
        let base = Chain { base: true, name: "the pruned rules".into(), key: 1 };
        let pruned = Pruned::new(&mut pool.work(&base, self.persist, memory)?, view.network())?;
        let chain = Chain { base: false, name: name.into(), key: digest(identity, 0) };
        run(&mut pool.work(&chain, self.persist, memory)?, &pruned)
    }
}

impl Backend for PoolBackend {
    fn name(&self) -> &'static str {
        "pool"
    }

    /// Runs a task, or goes on with it. The view must be the one that the pool gave last. What the pool itself has errors for is the
    /// [`Error`](crate::Error) in a [`tadoc_core::Error::Backend`].
    fn answer(&self, view: &View, task: Task, limits: &Limits) -> tadoc_core::Result<Answered> {
        let identity = [&task.identity()[..], &limits.identity()].concat();
        self.run_chain(view, task.name(), &identity, limits.memory, |work, pruned| {
            answer_with(work, view, pruned, task, limits)
        })
    }
}
