//! Questions about terms that follow each other: `sequence-count` and `ranked-inverted-index`.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use tadoc::Task;

use super::arguments::{Shared, StrategyArgument};
use super::question;
use crate::arguments::{at_least_one, examples};
use crate::commands::archives::WithArchive;
use crate::commands::backend::TaskBackendArguments;

/// Count sequences of n terms, most frequent first
///
/// Columns: sequence (its terms with one space between them), count; with --per-document sequence, document,
/// count. Sequences do not cross documents, and skip over words that are left out.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc sequence-count corpus.tdc --top 20"
    "tadoc sequence-count corpus.tdc --n 2 -i --min-count 10"
    "tadoc sequence-count corpus.tdc --n 5 --per-document --top 3"
))]
pub struct SequenceCount {
    /// Terms of a sequence, up to 8
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = length())]
    n: usize,

    /// Count in each document by itself
    #[arg(long)]
    per_document: bool,

    /// The N most frequent sequences only; with --per-document, of each document
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

/// List the documents of each sequence of n terms, with most occurrences first
///
/// Columns: sequence (its terms with one space between them), document, count. Sequences are in the order of
/// their terms' bytes. Documents with the same count are in the order of the corpus.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc ranked-inverted-index corpus.tdc --top 1    where each sequence occurs most"
    "tadoc ranked-inverted-index corpus.tdc --n 1 -i   the same for words"
    "tadoc ranked-inverted-index corpus.tdc --min-count 10 -o index.parquet"
))]
pub struct RankedInvertedIndex {
    /// Terms of a sequence, up to 8; 1 is for words
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = length())]
    n: usize,

    /// The N documents with most occurrences of each sequence only
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

/// Reads how many terms a sequence has.
fn length() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=Task::LONGEST_SEQUENCE as u64)
}

question!(
    SequenceCount,
    |asked| match asked.per_document {
        true => Task::SequenceCountPerDocument { n: asked.n },
        false => Task::SequenceCount { n: asked.n },
    },
    with_archive
);
question!(RankedInvertedIndex, |asked| Task::RankedInvertedIndex { n: asked.n }, with_archive);
