//! What can be asked of a view, and how the work may go.

use std::fmt;
use std::str::FromStr;

/// The most terms that a sequence may have.
pub const LONGEST_SEQUENCE: usize = 8;

/// The widest window of pairs.
pub const WIDEST_WINDOW: usize = 64;

/// One of the analytics. What each answer is, exactly, stands with the answer's type in the `tadoc` crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Task {
    /// Terms with their occurrences, most frequent first.
    WordCount,
    /// Terms with their occurrences, by term.
    Sort,
    /// Terms with the documents that they occur in.
    InvertedIndex,
    /// Documents with their terms and counts, most frequent first.
    TermVector,
    /// Sequences of `n` terms with their occurrences, most frequent first.
    SequenceCount {
        /// Terms of a sequence.
        n: usize,
    },
    /// Documents with their sequences of `n` terms and counts, most frequent first.
    SequenceCountPerDocument {
        /// Terms of a sequence.
        n: usize,
    },
    /// Sequences of `n` terms with the documents that they occur in and their counts there.
    RankedInvertedIndex {
        /// Terms of a sequence.
        n: usize,
    },
}

impl Task {
    /// The name that the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::WordCount => "word-count",
            Self::Sort => "sort",
            Self::InvertedIndex => "inverted-index",
            Self::TermVector => "term-vector",
            Self::SequenceCount { .. } => "sequence-count",
            Self::SequenceCountPerDocument { .. } => "sequence-count --per-document",
            Self::RankedInvertedIndex { .. } => "ranked-inverted-index",
        }
    }

    /// What it is, in numbers that no other task has. They are on disk, so they never change.
    pub fn identity(self) -> [u64; 2] {
        match self {
            Self::WordCount => [1, 0],
            Self::Sort => [2, 0],
            Self::InvertedIndex => [3, 0],
            Self::TermVector => [4, 0],
            Self::SequenceCount { n } => [5, n as u64],
            Self::SequenceCountPerDocument { n } => [6, n as u64],
            Self::RankedInvertedIndex { n } => [7, n as u64],
        }
    }

    /// How many terms the keys of its answer have: 1, or `n` for sequences.
    pub fn terms_of_a_key(self) -> usize {
        match self {
            Self::SequenceCount { n }
            | Self::SequenceCountPerDocument { n }
            | Self::RankedInvertedIndex { n } => n,
            _ => 1,
        }
    }
}

/// What is wanted of an answer, and what it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Which way to go; `None` leaves it to the backend.
    pub strategy: Option<Strategy>,
    /// Terms, sequences or pairs that occur less often in all are left out.
    pub least: u64,
    /// At most so many rows; where an answer has groups (the terms of a document, the documents of a term
    /// or sequence), at most so many of each group.
    pub top: Option<usize>,
    /// Bytes that the work may take, beside the view and the answer.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { strategy: None, least: 1, top: None, memory: DEFAULT_MEMORY }
    }
}

impl Limits {
    /// What they are, in numbers. They are on disk, so they never change.
    pub fn identity(&self) -> [u64; 5] {
        let strategy = match self.strategy {
            None => 0,
            Some(Strategy::TopDown) => 1,
            Some(Strategy::BottomUp) => 2,
        };
        let top = self.top.map_or(u64::MAX, |top| top as u64);
        [strategy, self.least, u64::from(self.top.is_some()), top, self.memory]
    }
}

/// Bytes that the work on a task may take if nothing else is said.
pub const DEFAULT_MEMORY: u64 = 4 << 30;

/// Which way a traversal goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Weights go from the root down to the rules.
    TopDown,
    /// Tables go from the rules up to the root.
    BottomUp,
}

impl Strategy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::TopDown, Self::BottomUp];

    /// The name that the command uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::TopDown => "top-down",
            Self::BottomUp => "bottom-up",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|strategy| strategy.name() == name)
            .ok_or_else(|| format!("expected top-down or bottom-up, found `{name}`"))
    }
}
