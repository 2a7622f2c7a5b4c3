//! The six tasks by the names that commands give them.

use clap::ValueEnum;
use serde::Serialize;

use crate::rival;

/// Terms of a sequence, wherever nothing else is said.
pub const SEQUENCE_TERMS: usize = 3;

/// A task, as command lines have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskName {
    WordCount,
    Sort,
    InvertedIndex,
    TermVector,
    SequenceCount,
    RankedInvertedIndex,
}

impl TaskName {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::WordCount,
        Self::Sort,
        Self::InvertedIndex,
        Self::TermVector,
        Self::SequenceCount,
        Self::RankedInvertedIndex,
    ];

    /// The task on an archive.
    pub fn of_archive(self, n: usize) -> tadoc_engine::Task {
        match self {
            Self::WordCount => tadoc_engine::Task::WordCount,
            Self::Sort => tadoc_engine::Task::Sort,
            Self::InvertedIndex => tadoc_engine::Task::InvertedIndex,
            Self::TermVector => tadoc_engine::Task::TermVector,
            Self::SequenceCount => tadoc_engine::Task::SequenceCount { n },
            Self::RankedInvertedIndex => tadoc_engine::Task::RankedInvertedIndex { n },
        }
    }

    /// The same task on plain text.
    pub fn of_text(self, n: usize) -> rival::Task {
        match self {
            Self::WordCount => rival::Task::WordCount,
            Self::Sort => rival::Task::Sort,
            Self::InvertedIndex => rival::Task::InvertedIndex,
            Self::TermVector => rival::Task::TermVector,
            Self::SequenceCount => rival::Task::SequenceCount(n),
            Self::RankedInvertedIndex => rival::Task::RankedInvertedIndex(n),
        }
    }

    /// The name, which is also that of the `tadoc` command.
    pub fn name(self) -> &'static str {
        self.of_archive(SEQUENCE_TERMS).name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for task in TaskName::ALL {
            assert_eq!(TaskName::from_str(task.name(), false), Ok(task));
            assert_eq!(serde_json::to_value(task).unwrap(), task.name());
        }
    }
}
