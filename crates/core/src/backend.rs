//! The contract of what runs tasks.

use crate::answer::Answer;
use crate::{Limits, Step, Strategy, Task, View};

/// An answer and the strategy that produced it.
pub struct Answered {
    /// The answer.
    pub answer: Box<dyn Answer>,
    /// The strategy that was taken.
    pub strategy: Strategy,
    /// Why it was: what either would have cost, by the backend's estimate; empty if it was asked for.
    pub reason: String,
    /// What its steps took, as far as they are done and the backend tells.
    pub steps: Vec<Step>,
}

/// Where a task runs. A backend gets a view and a task and gives the answer; it opens no files, and
/// gives the same answer as every other one.
pub trait Backend: Send + Sync {
    /// The name that the command uses.
    fn name(&self) -> &'static str;

    /// Runs a task.
    ///
    /// # Errors
    /// [`Error::CountsOnly`](crate::Error::CountsOnly) and [`Error::BadLength`](crate::Error::BadLength) for questions that no
    /// backend answers; what a backend has errors of its own for is the source of an [`Error::Backend`](crate::Error::Backend).
    fn answer(&self, view: &View, task: Task, limits: &Limits) -> crate::Result<Answered>;
}
