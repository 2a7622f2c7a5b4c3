//! The pool as a backend: a task is a chain of phases, behind the pruned rules that all tasks share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tadoc_core::{Answered, Backend, Limits, Task, View};
use tadoc_tasks::{Pruned, answer_with};

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
}

impl Backend for PoolBackend {
    fn name(&self) -> &'static str {
        "pool"
    }

    /// Runs a task, or goes on with it. The view must be the one that the pool gave last. What the pool itself has errors for is the
    /// [`Error`](crate::Error) in a [`tadoc_core::Error::Backend`].
    fn answer(&self, view: &View, task: Task, limits: &Limits) -> tadoc_core::Result<Answered> {
        let mut pool = self.pool();
        // Of one view there is one set of pruned rules.
        let base = Chain { base: true, name: "the pruned rules".into(), key: 1 };
        let pruned =
            Pruned::new(&mut pool.work(&base, self.persist, limits.memory)?, view.network())?;
        let key = digest(&[&task.identity()[..], &limits.identity()].concat(), 0);
        let chain = Chain { base: false, name: task.name().into(), key };
        let mut work = pool.work(&chain, self.persist, limits.memory)?;
        answer_with(&mut work, view, &pruned, task, limits)
    }
}

#[cfg(test)]
mod tests;
