//! Every task, once.

use tadoc_core::{Measure, Norm, Task, TfIdfOptions};

/// All tasks, with windows and lengths that are no default.
pub const TASKS: [Task; 10] = [
    Task::WordCount,
    Task::Sort,
    Task::InvertedIndex,
    Task::TermVector,
    Task::SequenceCount { n: 3 },
    Task::SequenceCountPerDocument { n: 2 },
    Task::RankedInvertedIndex { n: 2 },
    Task::TfIdf(TfIdfOptions {
        norm: Norm::L2,
        use_idf: true,
        smooth_idf: true,
        sublinear_tf: false,
    }),
    Task::Cooccurrence { window: 4, ordered: false },
    Task::Collocations { window: 2, measure: Measure::LogLikelihood },
];
