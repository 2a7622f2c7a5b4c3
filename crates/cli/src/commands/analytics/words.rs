//! Questions about single terms: `word-count`, `sort`, `inverted-index`, `term-vector` and `tfidf`.

use clap::{Args, ValueEnum};
use tadoc::{Task, TfIdfOptions};

use super::arguments::{Shared, StrategyArgument};
use super::question;
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

    /// Disable IDF smoothing
    #[arg(long, conflicts_with = "no_idf")]
    no_smooth_idf: bool,

    /// Use 1 + ln(tf) instead of tf
    #[arg(long)]
    sublinear_tf: bool,

    #[command(flatten)]
    with_archive: WithArchive,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

/// `--norm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Norm {
    /// The squares of a document's weights have the sum 1
    L2,
    /// A document's weights have the sum 1
    L1,
    /// No normalisation
    None,
}

question!(WordCount, |_| Task::WordCount);
question!(Sort, |_| Task::Sort);
question!(InvertedIndex, |_| Task::InvertedIndex, with_archive);
question!(TermVector, |_| Task::TermVector, with_archive);
question!(
    TfIdf,
    |asked| Task::TfIdf(TfIdfOptions {
        norm: match asked.norm {
            Norm::L2 => tadoc::Norm::L2,
            Norm::L1 => tadoc::Norm::L1,
            Norm::None => tadoc::Norm::None,
        },
        use_idf: !asked.no_idf,
        smooth_idf: !asked.no_smooth_idf,
        sublinear_tf: asked.sublinear_tf,
    }),
    with_archive
);
