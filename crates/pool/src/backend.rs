//! The pool as a backend: a task is a chain of phases.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tadoc_core::{Answered, Backend, Limits, Task, View};
use tadoc_tasks::{CustomTask, Phases, answer_with};

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
        let chain = Chain { name: task.name().into(), key: digest(&identity, 0) };
        let mut pool = self.pool();
        task.run(&mut Phases::new(&mut pool.work(&chain, self.persist, memory)?, view))
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
        let chain = Chain { name: task.name().into(), key: digest(&identity, 0) };
        let mut pool = self.pool();
        answer_with(&mut pool.work(&chain, self.persist, limits.memory)?, view, task, limits)
    }
}
