//! What can be asked of a view, and how the work may go.

use std::fmt;
use std::str::FromStr;

use crate::answer::{Column, columns};

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
    /// Documents with their terms and the weights of these.
    TfIdf(TfIdfOptions),
    /// Pairs of terms near each other, with their occurrences, most frequent first.
    Cooccurrence {
        /// How many terms apart the two of a pair may be; 1: next to each other.
        window: usize,
        /// Whether a pair is in the order of the text; otherwise the lesser term comes first.
        ordered: bool,
    },
    /// Pairs of terms near each other in the order of the text, with scores, highest first.
    Collocations {
        /// How many terms apart the two of a pair may be; 1: next to each other. NLTK counts both
        /// ends: its `window_size` is one more.
        window: usize,
        /// The score that puts pairs in order.
        measure: Measure,
    },
}

/// How terms are weighed by TF-IDF; the default is scikit-learn's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TfIdfOptions {
    /// What the weights of a document are divided by.
    pub norm: Norm,
    /// Terms of many documents weigh less.
    pub use_idf: bool,
    /// Document frequencies are smoothed, as if one more document had every term.
    pub smooth_idf: bool,
    /// A term frequency is 1 + ln(count) instead of the count.
    pub sublinear_tf: bool,
}

impl Default for TfIdfOptions {
    fn default() -> Self {
        Self { norm: Norm::L2, use_idf: true, smooth_idf: true, sublinear_tf: false }
    }
}

impl TfIdfOptions {
    /// What they are, in a number that no others have. It is on disk, so it never changes.
    fn identity(self) -> u64 {
        let Self { norm, use_idf, smooth_idf, sublinear_tf } = self;
        let norm = match norm {
            Norm::None => 0,
            Norm::L1 => 1,
            Norm::L2 => 2,
        };
        norm << 3 | u64::from(use_idf) << 2 | u64::from(smooth_idf) << 1 | u64::from(sublinear_tf)
    }
}

/// The norm that the weights of a document are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// No normalisation.
    None,
    /// The sum of the weights.
    L1,
    /// The root of the sum of their squares, so that the cosine of two documents is their dot
    /// product.
    #[default]
    L2,
}

/// What collocations are put in order by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Measure {
    /// Pointwise mutual information.
    Pmi,
    /// The likelihood ratio.
    #[default]
    LogLikelihood,
    /// Student's t.
    TScore,
    /// The logarithm of Dice's coefficient.
    LogDice,
}

impl Task {
    /// The most terms that a sequence may have.
    pub const LONGEST_SEQUENCE: usize = 8;

    /// The widest window of pairs.
    pub const WIDEST_WINDOW: usize = 64;

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
            Self::TfIdf(_) => "tfidf",
            Self::Cooccurrence { .. } => "cooccurrence",
            Self::Collocations { .. } => "collocations",
        }
    }

    /// The columns of its answer.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::WordCount | Self::Sort => columns::TERM_COUNTS,
            Self::InvertedIndex => columns::TERM_DOCUMENTS,
            Self::TermVector => columns::TERM_VECTORS,
            Self::SequenceCount { .. } => columns::SEQUENCE_COUNTS,
            Self::SequenceCountPerDocument { .. } | Self::RankedInvertedIndex { .. } => {
                columns::SEQUENCE_DOCUMENTS
            }
            Self::TfIdf(_) => columns::TERM_WEIGHTS,
            Self::Cooccurrence { .. } => columns::PAIR_COUNTS,
            Self::Collocations { .. } => columns::PAIR_SCORES,
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
            Self::TfIdf(options) => [8, options.identity()],
            Self::Cooccurrence { window, ordered } => {
                [9, (window as u64) << 1 | u64::from(ordered)]
            }
            Self::Collocations { window, measure } => {
                [10, (window as u64) << 8 | measure.identity()]
            }
        }
    }

    /// How many terms the keys of its answer have: 1, 2 for pairs, or `n` for sequences.
    pub fn terms_of_a_key(self) -> usize {
        match self {
            Self::SequenceCount { n }
            | Self::SequenceCountPerDocument { n }
            | Self::RankedInvertedIndex { n } => n,
            Self::Cooccurrence { .. } | Self::Collocations { .. } => 2,
            _ => 1,
        }
    }
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pmi, Self::LogLikelihood, Self::TScore, Self::LogDice];

    /// What it is, in a number that no other measure has. It is on disk, so it never changes.
    fn identity(self) -> u64 {
        match self {
            Self::Pmi => 0,
            Self::LogLikelihood => 1,
            Self::TScore => 2,
            Self::LogDice => 3,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tasks_have_one_identity() {
        let mut tasks = vec![Task::WordCount, Task::Sort, Task::InvertedIndex, Task::TermVector];
        for n in 1..=Task::LONGEST_SEQUENCE {
            tasks.extend([
                Task::SequenceCount { n },
                Task::SequenceCountPerDocument { n },
                Task::RankedInvertedIndex { n },
            ]);
        }
        for norm in [Norm::None, Norm::L1, Norm::L2] {
            for bits in 0..8 {
                let is = |bit: u32| bits >> bit & 1 == 1;
                let (use_idf, smooth_idf, sublinear_tf) = (is(0), is(1), is(2));
                tasks.push(Task::TfIdf(TfIdfOptions { norm, use_idf, smooth_idf, sublinear_tf }));
            }
        }
        for window in 1..=Task::WIDEST_WINDOW {
            tasks.extend([true, false].map(|ordered| Task::Cooccurrence { window, ordered }));
            tasks.extend(Measure::ALL.map(|measure| Task::Collocations { window, measure }));
        }
        let mut identities: Vec<[u64; 2]> = tasks.iter().map(|task| task.identity()).collect();
        identities.sort_unstable();
        identities.dedup();
        assert_eq!(identities.len(), tasks.len());
    }
}
