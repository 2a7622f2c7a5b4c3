//! The processor as a backend: the tasks over volatile storage.

use tadoc_core::{Answered, Backend, Limits, Task, View};

use crate::Result;
use crate::custom::{CustomTask, Phases};
use crate::tasks::answer_with;
use crate::work::Work;

/// Answers on the processor, on all threads of the rayon pool that it is called in.
#[derive(Debug, Default)]
pub struct CpuBackend;

impl CpuBackend {
    /// Runs a task of your own, which may take so many bytes of memory beside the view and its answer.
    ///
    /// # Errors
    /// What the task gives.
    pub fn run<T: CustomTask>(&self, view: &View, task: &T, memory: u64) -> Result<T::Answer> {
        task.run(&mut Phases::new(&mut Work::volatile(memory), view))
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn answer(&self, view: &View, task: Task, limits: &Limits) -> Result<Answered> {
        answer_with(&mut Work::volatile(limits.memory), view, task, limits)
    }
}
