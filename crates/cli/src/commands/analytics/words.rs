//! Questions about single terms: `word-count`, `sort`, `inverted-index`, `term-vector` and `tfidf`.

use clap::{Args, ValueEnum};
use tadoc_engine::analytics::TfIdfOptions;
use tadoc_engine::analytics::columns::{TERM_COUNTS, TERM_DOCUMENTS, TERM_VECTORS, TERM_WEIGHTS};
use tadoc_engine::answer::Column;
use tadoc_engine::backend::{Backends, Run};
use tadoc_engine::view::Detail;
use tadoc_engine::{Limits, Task, View, analytics};

use super::arguments::{Shared, StrategyArgument};
use super::{Question, on_processor};
use crate::arguments::{at_least_one, examples};
use crate::commands::archives::WithArchive;
use crate::commands::backend::TaskBackendArguments;

/// Count how often each term occurs, most frequent first
///
/// Columns: term, count. Terms of the same count are in byte order.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc word-count corpus.tdc --top 20"
    "tadoc word-count corpus.tdc -i --stop-words english --stem english"
    "tadoc word-count corpus.tdc --match '^[0-9]+$' --documents 'logs/*'"
    "tadoc word-count 2023.tdc 2024.tdc -o words.parquet"
))]
pub struct WordCount {
    /// The N most frequent terms only
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    top: Option<usize>,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

/// Count how often each term occurs, by term
///
/// Columns: term, count. Terms are in byte order.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc sort corpus.tdc"
    "tadoc sort corpus.tdc -i --min-count 5 --format csv -o words.csv"
))]
pub struct Sort {
    /// The first N terms only
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    top: Option<usize>,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

/// List the documents that each term occurs in
///
/// Columns: term, document. Terms are in byte order, the documents of a term in the order of the corpus.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc inverted-index corpus.tdc"
    "tadoc inverted-index corpus.tdc -i --match '^err'"
    "tadoc inverted-index corpus.tdc --min-count 100 -o index.parquet"
))]
pub struct InvertedIndex {
    /// The first N documents of each term only
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    top: Option<usize>,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

/// Count the terms of each document, most frequent first
///
/// Columns: document, term, count. Terms of the same count are in byte order. With --format mtx it is a
/// sparse matrix: a row for each document, a column for each term of `tadoc sort`.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc term-vector corpus.tdc --top 5"
    "tadoc term-vector corpus.tdc -i --stop-words english --documents 'mail/*'"
    "tadoc term-vector corpus.tdc -o counts.mtx"
))]
pub struct TermVector {
    /// The N most frequent terms of each document only
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    top: Option<usize>,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

/// Weigh the terms of each document by TF-IDF
///
/// Columns: document, term, weight. The terms of a document are in byte order; with --top, heaviest first. Weights
/// are those of scikit-learn's TfidfTransformer. With --format mtx it is a sparse matrix: a row for each
/// document, a column for each term of `tadoc sort`. Terms below --min-count are left out before anything is weighed.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc tfidf corpus.tdc --top 10                        what each document is about"
    "tadoc tfidf corpus.tdc -i --stem english --norm l1"
    "tadoc tfidf corpus.tdc --min-count 2 -o weights.mtx    for SciPy, R or Julia"
))]
pub struct TfIdf {
    /// The N heaviest terms of each document only
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    top: Option<usize>,

    /// What makes the weights of long and short documents alike
    #[arg(long, value_enum, default_value_t = Norm::L2)]
    norm: Norm,

    /// Let terms of many documents weigh as much as those of few
    #[arg(long)]
    no_idf: bool,

    /// Do not weigh as if there were one more document, which has every term
    #[arg(long, conflicts_with = "no_idf")]
    no_smooth_idf: bool,

    /// Take one and the natural logarithm of a count instead of the count
    #[arg(long)]
    sublinear_tf: bool,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,
}

/// `--norm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Norm {
    /// The squares of a document's weights have the sum 1
    L2,
    /// A document's weights have the sum 1
    L1,
    /// Nothing does
    None,
}

/// The questions that are a task of one name and nothing more.
macro_rules! task {
    ($question:ident, $columns:ident, $is_matrix:literal, $detail:ident $(, $with_archive:ident)?) => {
        impl Question for $question {
            fn shared(&self) -> &Shared {
                &self.shared
            }

            fn columns(&self) -> &'static [Column] {
                $columns
            }

            $(
                fn with_archive(&self) -> Option<&WithArchive> {
                    Some(&self.$with_archive)
                }
            )?

            fn is_matrix(&self) -> bool {
                $is_matrix
            }

            fn detail(&self) -> Detail {
                Detail::$detail
            }

            fn limits(&self) -> Limits {
                self.shared.limits(self.top, self.strategy.strategy)
            }

            fn backend(&self) -> Option<&TaskBackendArguments> {
                Some(&self.backend)
            }

            fn answer(
                &self,
                backends: &Backends,
                view: &View,
                limits: &Limits,
            ) -> tadoc_engine::Result<Run> {
                backends.answer(view, Task::$question, limits)
            }
        }
    };
}

task!(WordCount, TERM_COUNTS, false, Counts);
task!(Sort, TERM_COUNTS, false, Counts);
task!(InvertedIndex, TERM_DOCUMENTS, false, Whole, with_archive);
task!(TermVector, TERM_VECTORS, true, Whole, with_archive);

impl Question for TfIdf {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn columns(&self) -> &'static [Column] {
        TERM_WEIGHTS
    }

    fn with_archive(&self) -> Option<&WithArchive> {
        Some(&self.with_archive)
    }

    fn is_matrix(&self) -> bool {
        true
    }

    fn limits(&self) -> Limits {
        self.shared.limits(self.top, self.strategy.strategy)
    }

    fn answer(&self, _: &Backends, view: &View, limits: &Limits) -> tadoc_engine::Result<Run> {
        let options = TfIdfOptions {
            norm: match self.norm {
                Norm::L2 => tadoc_engine::Norm::L2,
                Norm::L1 => tadoc_engine::Norm::L1,
                Norm::None => tadoc_engine::Norm::None,
            },
            use_idf: !self.no_idf,
            smooth_idf: !self.no_smooth_idf,
            sublinear_tf: self.sublinear_tf,
        };
        analytics::tfidf(view, options, limits).map(on_processor)
    }
}
