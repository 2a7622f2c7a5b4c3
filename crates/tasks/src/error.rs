//! Errors of tasks: questions that cannot be asked, and what storage reports.

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a task has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The view has counts instead of a root: it does not know where terms occur.
    #[error("the view has counts only, but the task needs to know where terms occur")]
    CountsOnly,
    /// A length outside of its limits.
    #[error(
        "{what} of {given} terms was asked for: at least {least} and at most {most} are supported"
    )]
    BadLength {
        /// What has this length: a sequence or a window.
        what: &'static str,
        /// The length.
        given: usize,
        /// The least that is supported.
        least: usize,
        /// The most.
        most: usize,
    },
    /// A corpus that is too large for the task.
    #[error("{what} is not supported")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// The storage failed: no room, no memory, a device that does not write.
    #[error(transparent)]
    Storage(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// An error of a storage.
    pub fn of_storage(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Storage(Box::new(error))
    }
}
