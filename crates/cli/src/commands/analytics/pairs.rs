//! Questions about terms that stand near each other: `cooccurrence` and `collocations`.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use tadoc::Task;

use super::arguments::{Shared, StrategyArgument};
use super::question;
use crate::arguments::{at_least_one, examples};
use crate::commands::backend::TaskBackendArguments;

/// Count pairs of terms that stand near each other, most frequent first
///
/// Columns: first, second, count. Every two places of one document that are at most --window apart are a
/// pair. The lesser term by its bytes is the first one; with --ordered, the one that stands first in the text.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc cooccurrence corpus.tdc -i --stop-words english --top 50"
    "tadoc cooccurrence corpus.tdc --window 10 --min-count 5 -o pairs.csv"
    "tadoc cooccurrence corpus.tdc --window 1 --ordered"
))]
pub struct Cooccurrence {
    /// How far apart the terms of a pair may be, up to 64; 1: next to each other
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = window())]
    window: usize,

    /// Tell pairs by which term comes first in the text
    #[arg(long)]
    ordered: bool,

    /// The N most frequent pairs only
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    top: Option<usize>,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

/// Find pairs of terms that come together more often than by chance
///
/// Columns: first, second, count, pmi, log_likelihood, t_score, log_dice. Pairs are in the order of the text, and
/// by the chosen measure descending. Scores are those of NLTK's BigramAssocMeasures (whose window_size
/// is --window + 1), and
/// --min-count does not change them. Rare pairs have high scores by chance, --measure pmi above all:
/// leave them out with --min-count.
#[derive(Debug, Args)]
#[command(after_help = examples!(
    "tadoc collocations corpus.tdc -i --top 20"
    "tadoc collocations corpus.tdc -i --measure pmi --min-count 5 --top 20"
    "tadoc collocations corpus.tdc --window 4 --stop-words english"
))]
pub struct Collocations {
    /// How far apart the terms of a pair may be, up to 64; 1: next to each other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = window())]
    window: usize,

    /// The score that puts pairs in order
    #[arg(long, value_enum, default_value_t = Measure::LogLikelihood)]
    measure: Measure,

    /// The N pairs of the highest scores only
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    top: Option<usize>,

    #[command(flatten)]
    shared: Shared,

    #[command(flatten)]
    strategy: StrategyArgument,

    #[command(flatten)]
    backend: TaskBackendArguments,
}

/// `--measure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// The likelihood ratio: sure signs first
    LogLikelihood,
    /// Pointwise mutual information: terms that hardly come alone first
    Pmi,
    /// Student's t: frequent pairs first
    TScore,
    /// The logarithm of Dice's coefficient, which compares between corpora of different sizes
    LogDice,
}

/// Reads a window.
fn window() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=Task::WIDEST_WINDOW as u64)
}

question!(Cooccurrence, |asked| Task::Cooccurrence {
    window: asked.window,
    ordered: asked.ordered
});
question!(Collocations, |asked| Task::Collocations {
    window: asked.window,
    measure: match asked.measure {
        Measure::LogLikelihood => tadoc::Measure::LogLikelihood,
        Measure::Pmi => tadoc::Measure::Pmi,
        Measure::TScore => tadoc::Measure::TScore,
        Measure::LogDice => tadoc::Measure::LogDice,
    },
});
