//! The processor as a backend: the tasks over volatile storage.
//!
//! The pruned rules of the network that was asked last are kept, as every task over words begins with them: a second question costs
//! its own phases alone. They are 20 bytes a rule and at most 8 a symbol of the rules.

use std::sync::{Mutex, PoisonError};

use tadoc_core::{Answered, Backend, Limits, Network, Task, View};

use crate::Result;
use crate::custom::{CustomTask, Phases};
use crate::pruned::Pruned;
use crate::tasks::{answer_with, check};
use crate::work::Work;

/// Answers on the processor, on all threads of the rayon pool that it is called in.
#[derive(Debug, Default)]
pub struct CpuBackend {
    /// The pruned rules of the network that was asked last, by its identity.
    kept: Mutex<Option<(u64, Pruned)>>,
}

impl CpuBackend {
    /// Runs a task of your own, which may take so many bytes of memory beside the view and its answer.
    ///
    /// # Errors
    /// What the task gives.
    pub fn run<T: CustomTask>(&self, view: &View, task: &T, memory: u64) -> Result<T::Answer> {
        let mut work = Work::volatile(memory);
        let pruned = self.pruned(&mut work, view.network())?;
        task.run(&mut Phases::new(&mut work, view, &pruned))
    }

    /// The pruned rules of a network.
    fn pruned(&self, work: &mut Work<'_>, network: &Network) -> Result<Pruned> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |(identity, _): &&(u64, Pruned)| *identity == network.identity();
        if let Some((_, pruned)) = kept().as_ref().filter(own) {
            return Ok(pruned.clone());
        }
        let pruned = Pruned::new(work, network)?;
        *kept() = Some((network.identity(), pruned.clone()));
        Ok(pruned)
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn answer(&self, view: &View, task: Task, limits: &Limits) -> Result<Answered> {
        check(view, task)?;
        let mut work = Work::volatile(limits.memory);
        let pruned = self.pruned(&mut work, view.network())?;
        answer_with(&mut work, view, &pruned, task, limits)
    }
}
